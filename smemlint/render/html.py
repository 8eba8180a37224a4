"""The report as one page that needs nothing else: findings by cost, sources with heat, maps with sliders."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from smemlint.diagnose import cost
from smemlint.diagnose.group import Group, by_cost, groups
from smemlint.diagnose.model import Access, Diagnostic, Report
from smemlint.render.json import dumps
from smemlint.render.style import PLAIN, Look
from smemlint.render.summary import count, summary_line
from smemlint.render.views.bank_words import facts, phase, remarks
from smemlint.rules.words import ways_text
from smemlint.system.visible import pieces, visible, visible_path
from smemlint.view.bankmap import BankMap
from smemlint.view.gallery import Exhibit, Strip

_MOST_LINES = 6000
"""Lines of one source that are shown."""


def render(report: Report, look: Look = PLAIN) -> str:
    """The whole page; color: no meaning here."""
    exhibits = {str(at): each for at, each in enumerate(report.exhibits)}
    style, script = _part("report.css"), _part("report.js")
    data = _data({at: _exhibit(each) for at, each in exhibits.items()})
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src 'unsafe-inline'; script-src '{_hash(script)}'"
    )
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>smemlint report</title>\n<style>{style}</style>\n</head>\n<body>\n",
            "<h1>Shared-memory bank conflicts</h1>\n",
            f'<p class="dim">{_text(summary_line(report.summary))}</p>\n',
            *_problems(report),
            *_findings(report),
            *_sources(report, exhibits),
            f'<script type="application/json" id="data">{data}</script>\n',
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _part(name: str) -> str:
    return files("smemlint.render").joinpath("page").joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _data(exhibits: Mapping[str, Any]) -> str:
    """JSON that no tag of the page ends."""
    text = dumps({"exhibits": exhibits}, indent=None)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").strip()


def _text(said: str) -> str:
    return escape(visible(said))


def _problems(report: Report) -> Iterator[str]:
    if report.problems:
        yield '<h2>Not analysed, or not all of it</h2>\n<ul class="plain">'
        yield from (f"<li>{_text(str(problem))}</li>" for problem in report.problems)
        yield "</ul>\n"


def _findings(report: Report) -> Iterator[str]:
    yield "<h2>Findings, the costliest first</h2>\n"
    if not report.diagnostics:
        yield "<p>None.</p>\n"
        return
    yield '<div class="scroll"><table class="findings">\n<thead><tr><th></th><th>finding</th><th>where</th>'
    yield '<th class="num">ways</th><th class="num">wavefronts</th><th class="num">at best</th>'
    yield '<th class="wide">fix</th></tr></thead>\n<tbody>\n'
    for group in by_cost(groups(report.diagnostics)):
        yield _finding(group)
    yield "</tbody></table></div>\n"


def _finding(group: Group) -> str:
    """The row of one cause: its costliest place, the other ones, what all of them cost together."""
    found, together = group.lead, group.cost
    ways = "" if found.worst_ways is None else ways_text(found.worst_ways)
    waves = cost.number(together.own.wavefronts) if together is not None else ""
    ideal = cost.number(together.own.floor) if together is not None else ""
    places = f", in {len(group.all)} places" if group.others else ""
    share = f'<br><span class="dim">{_text(group.cost_words or "")}</span>' if together is not None else ""
    fix = found.fix.code or found.fix.words if found.fix is not None and found.fix.edits else ""
    fix = fix.replace("`, `", ", ")  # code of several places, as notes quote it
    severity = found.severity.value
    return (
        f'<tr><td class="sev {severity}">{severity}</td>'
        f"<td>{_text(found.code)} {_text(found.message + places)}{share}</td>"
        f'<td>{_link(found)}<br><span class="dim">{_text(found.kernel)}</span>{_others(group)}</td>'
        f'<td class="num" data-label="ways">{ways}</td><td class="num" data-label="wavefronts">{waves}</td>'
        f'<td class="num" data-label="at best">{ideal}</td>'
        f'<td class="wide"><code>{_text(fix)}</code></td></tr>\n'
    )


def _link(found: Diagnostic, text: str = "") -> str:
    path, line = found.place.path, found.place.line
    said = text or escape(f"{visible_path(path)}:{line}").replace("/", "/<wbr>")
    return f'<a href="#{_anchor(path, line)}">{said}</a>'


def _others(group: Group) -> str:
    """`also 850, 860`: the lines of the other places, each a link; with the file where it is another one."""
    links: dict[str, None] = {}
    for d in sorted(group.others, key=lambda d: (d.place.path, d.place.line)):
        same = d.place.path == group.lead.place.path
        if same and d.place.line == group.lead.place.line:
            continue
        links[_link(d, str(d.place.line) if same else "")] = None
    return f"<br>also {', '.join(links)}" if links else ""


def _anchor(path: str, line: int) -> str:
    return escape(f"{visible_path(path)}:{line}".replace(" ", "%20"), quote=True)


def _sources(report: Report, exhibits: Mapping[str, Exhibit]) -> Iterator[str]:
    costs = _costs(report)
    drawn: dict[str, dict[int, list[str]]] = {}
    for at, each in exhibits.items():
        view = each.now.view
        drawn.setdefault(view.path, {}).setdefault(view.line, []).append(at)
    named = [path for path in report.texts if path in costs or path in drawn]
    if not named:
        return
    yield "<h2>Sources</h2>\n"
    named.sort(key=lambda path: -sum(w - i for w, i in costs.get(path, {}).values()))
    for number, path in enumerate(named):
        yield from _source(
            path, report.texts[path], costs.get(path, {}), drawn.get(path, {}), number < 5 and path in drawn
        )


def _costs(report: Report) -> dict[str, dict[int, tuple[int, int]]]:
    """By file and line: wavefronts and ideal of one block, of the kernel and launch where that line costs
    the most."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    for kernel in report.kernels:
        lines: dict[tuple[str, int], list[Access]] = {}
        for access in kernel.accesses:
            if access.wavefronts is not None:
                lines.setdefault((access.place.path, access.place.line), []).append(access)
        for (path, line), accesses in lines.items():
            waves = sum(a.wavefronts or 0 for a in accesses)
            ideal = sum(a.ideal or 0 for a in accesses)
            held = found.setdefault(path, {}).get(line, (0, 0))
            if waves - ideal >= held[0] - held[1]:
                found[path][line] = (waves, ideal)
    return found


def _source(
    path: str,
    text: str,
    costs: Mapping[int, tuple[int, int]],
    drawn: Mapping[int, Sequence[str]],
    shown: bool,
) -> Iterator[str]:
    waves, ideal = sum(w for w, _ in costs.values()), sum(i for _, i in costs.values())
    hottest = max([w - i for w, i in costs.values()], default=0)
    yield f'<details class="file"{" open" if shown else ""}><summary>{escape(visible_path(path))} '
    yield f'<span class="dim">{waves:,} wavefronts a block, {ideal:,} at best</span></summary>\n'
    yield '<div class="scroll"><table class="code"><tbody>\n'
    lines = text.splitlines()
    for number, line in enumerate(lines[:_MOST_LINES], 1):
        yield _line(path, number, line, costs.get(number), drawn.get(number, ()), hottest)
    yield "</tbody></table></div>"
    if len(lines) > _MOST_LINES:
        yield f'<p class="dim">{len(lines) - _MOST_LINES:,} more lines</p>'
    yield "</details>\n"


def _line(
    path: str,
    number: int,
    line: str,
    cost: tuple[int, int] | None,
    exhibits: Sequence[str],
    hottest: int,
) -> str:
    said, heat, data = "", "", ""
    if cost is not None:
        waves, ideal = cost
        said = f"{ways_text(waves / ideal)}-way" if ideal else "0"
        data = f' data-wavefronts="{waves}" data-at-best="{ideal}"'
        if waves > ideal and hottest:
            heat = f' class="hot" style="--h:{0.12 + 0.38 * (waves - ideal) / hottest:.2f}"'
    if exhibits:
        at = " ".join(exhibits)
        said = f'<button data-at="{at}" aria-expanded="false" title="bank map">{said or "map"}</button>'
    code = escape("".join(shown for _, shown in pieces(line.expandtabs(8))))
    return (
        f'<tr id="{_anchor(path, number)}"{heat}{data}><td class="ln num">{number}</td>'
        f'<td class="ways num">{said}</td><td class="src">{code}</td></tr>\n'
    )


def _exhibit(exhibit: Exhibit) -> dict[str, Any]:
    view = exhibit.now.view
    return {
        "title": f"{view.op} {visible(' '.join(view.expression.split()))}, {visible(view.launch.kernel)}",
        "now": _strip(exhibit.now),
        "after": _strip(exhibit.after) if exhibit.after is not None else None,
        "fix": visible(exhibit.fix) + (f" ({exhibit.bytes_added:+d} B)" if exhibit.bytes_added else ""),
        "words": visible(exhibit.words),
    }


def _strip(strip: Strip) -> dict[str, Any]:
    first = strip.frames[0] if strip.frames else None
    return {
        "facts": facts(strip.view),
        "no_map": strip.view.no_map,
        "maps": [_map(strip, bank_map) for bank_map in strip.maps],
        "frames": {f"{frame.warp}:{frame.visit}": frame.map for frame in strip.frames},
        "first": [first.warp, first.visit] if first is not None else None,
    }


def _map(strip: Strip, bank_map: BankMap) -> dict[str, Any]:
    return {
        "said": f"{count(len(bank_map.passes), 'wavefront')}, {bank_map.ideal} at best",
        "ideal": bank_map.ideal,
        "conflicted": list(bank_map.conflicted),
        "remarks": remarks(strip.view, bank_map),
        "passes": [
            {
                "phase": phase(bank_map, at),
                "served": [[s.bank, s.word, list(s.lanes)] for s in each.served],
            }
            for at, each in enumerate(bank_map.passes)
        ],
    }
