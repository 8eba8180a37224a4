"""The format for people: each finding with its source lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from smemlint.diagnose.group import Group
from smemlint.diagnose.model import Diagnostic, Report
from smemlint.fix.model import Suggestion
from smemlint.render.order import left_out, shown
from smemlint.render.snippet import Line, Mark, snippet
from smemlint.render.style import PLAIN, SEVERITY_COLOR, Look, paint, wrapped
from smemlint.render.summary import summary_lines
from smemlint.rules.words import ways_text
from smemlint.score.load import NOMINAL
from smemlint.system.visible import visible, visible_path


def render(report: Report, look: Look = PLAIN) -> str:
    last = "\n".join([*left_out(report, look), *summary_lines(report.summary, look.width)]) + "\n"
    return "".join([*findings(report, look), last])


def findings(report: Report, look: Look = PLAIN) -> Iterator[str]:
    """Each finding, with the empty line behind it."""
    return (group_text(g, report.texts, look) + "\n" for g in shown(report, look))


def group_text(group: Group, texts: Mapping[str, str], look: Look = PLAIN) -> str:
    """One finding: headline, place, source with carets, its other places, notes."""
    diagnostic, color = group.lead, look.color
    tint = SEVERITY_COLOR[diagnostic.severity]
    place = diagnostic.place
    head = f"{diagnostic.severity.value}[{diagnostic.code}]"
    places = f", in {len(group.all)} places" if group.others else ""
    title = wrapped(visible(f"{head} {diagnostic.name}: {diagnostic.title}{places}"), look.width, 2)
    title[0] = title[0].removeprefix(head)
    marks = [Mark(place, visible(diagnostic.here), True)]
    marks += [Mark(label.place, visible(label.text), False) for label in diagnostic.also]
    gutter = len(str(max(m.place.line for m in marks)))
    margin = " " * gutter
    arrow = paint("-->", "blue", color=color)
    lines = [paint(head, tint, "bold", color=color) + paint(title[0], "bold", color=color)]
    lines += [paint(line, "bold", color=color) for line in title[1:]]
    lines.append(f"{margin}{arrow} {visible_path(place.path)}:{place.line}:{place.column}")
    lines.append(paint(f"{margin} |", "blue", color=color))
    width = look.width - gutter - 3
    source = snippet(texts.get(place.path), [m for m in marks if m.place.path == place.path], width)
    lines += [_line(line, gutter, tint, color) for line in source]
    for path in dict.fromkeys(m.place.path for m in marks if m.place.path != place.path):
        others = [m for m in marks if m.place.path == path]
        first = others[0].place
        where = f"{visible_path(path)}:{first.line}:{first.column}"
        lines.append(f"{margin}{paint(':::', 'blue', color=color)} {where}")
        lines += [_line(line, gutter, tint, color) for line in snippet(texts.get(path), others, width)]
    equals = paint("=", "blue", color=color)
    for note in _notes(group):
        said = wrapped(visible(note), look.width, gutter + 3)
        lines += [f"{margin} {equals} {said[0]}", *said[1:]]
    return "\n".join(lines) + "\n"


def _line(line: Line, gutter: int, tint: str, color: bool) -> str:
    if line.kind == "gap":
        return paint(line.text, "blue", color=color)
    number = "" if line.number is None else str(line.number)
    bar = paint(f"{number:>{gutter}} |", "blue", color=color)
    style = {"primary": (tint, "bold"), "secondary": ("blue", "bold")}.get(line.kind)
    text = paint(line.text, *style, color=color) if style else line.text
    return f"{bar} {text}".rstrip()


def _notes(group: Group) -> Iterable[str]:
    d, together = group.lead, group.cost
    if group.others:
        yield f"also: {places(group)}"
    if together is not None:
        yield f"cost: {group.cost_words}"
    yield from d.notes
    yield from fix_notes(d.fix, open_loops=together is not None and together.kernel.open)


def places(group: Group) -> str:
    """`lines 842, 850 (4-way), line 860 (2-way)`: the other places of a finding, by what they cost."""
    lines: dict[tuple[str, str], list[int]] = {}
    for d in sorted(group.others, key=lambda d: (d.place.path, d.place.line)):
        where = "" if d.place.path == group.lead.place.path else f"{visible_path(d.place.path)}, "
        numbers = lines.setdefault((where, _ways(d)), [])
        if d.place.line not in numbers:
            numbers.append(d.place.line)
    return "; ".join(
        f"{where}{'line' if len(numbers) == 1 else 'lines'} {', '.join(map(str, numbers))}{ways}"
        for (where, ways), numbers in lines.items()
    )


def _ways(d: Diagnostic) -> str:
    return f" ({ways_text(d.worst_ways)}-way)" if d.worst_ways is not None else ""


def fix_notes(fix: Suggestion | None, *, open_loops: bool = False) -> tuple[str, ...]:
    """What is said of a fix, a line each. open_loops: some of the kernel's loops have no known length."""
    if fix is None:
        return ()
    if fix.edits is not None:
        gain = (f"gain: {said}",) if (said := gain_text(fix, open_loops=open_loops)) else ()
        if fix.safe:
            return (f"fix [*]: {fix.words}", *gain)
        return (f"fix [unsafe]: {fix.words}", *gain, f"unsafe: {fix.unsafe_because}")
    if fix.refused is None:
        return (f"fix: {fix.words}",)
    tried = fix.refused.code == "not-worth-it" and fix.kind == "layout"  # no layout to name
    if tried or fix.refused.code == "no-better-layout":
        return (f"no fix: {fix.refused.text}",)
    if fix.kind == "layout" and fix.refused.code != "struct-layout":
        return (f"no fix: {fix.words}: {fix.refused.text}",)
    return (f"fix [by hand]: {fix.words}", f"no edit: {fix.refused.text}")


def gain_text(fix: Suggestion, *, open_loops: bool = False) -> str:
    """What a fix buys, for the kernel as a whole; '' where the kernel's wavefronts are not all known.

    open_loops: loops of unknown length are among what is counted, each as NOMINAL iterations.
    """
    if fix.kernel is None or not fix.kernel[0]:
        return ""
    before, after = fix.kernel
    less = f"{saved:.0%}" if (saved := (before - after) / before) >= 0.01 else "under 1%"
    said = f"the kernel's shared-memory wavefronts {before:,} -> {after:,} ({less} less)"
    if open_loops:
        said += f", a loop of unknown length counted as {NOMINAL} iterations"
    if fix.blocks_per_sm is None:
        return said
    old, new = fix.blocks_per_sm
    return f"{said}, blocks per SM {old}{f' -> {new}' if new != old else ', as before'}"
