"""A profile beside the prediction: agreement first, then each difference with its likely cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from textwrap import wrap
from typing import Any

from smemlint.profile.join import (
    AGREES,
    DIFFERS,
    OTHER,
    SILENT,
    UNSEEN,
    WITHIN,
    Comparison,
    Told,
    Verdict,
    Whole,
)
from smemlint.profile.model import Profile
from smemlint.profile.names import base_name
from smemlint.render.json import dumps
from smemlint.render.summary import count
from smemlint.rules.words import ways_text
from smemlint.system.visible import visible, visible_path

VERSION = 1
_ORDER = (DIFFERS, UNSEEN, SILENT, OTHER, WITHIN, AGREES)


def render_comparison(
    profile: Profile, found: Comparison, *, width: int = 80, all_lines: bool = False
) -> str:
    """The text. all_lines: lines that agree as well."""
    return "\n".join(_lines(profile, found, width, all_lines)) + "\n"


def _lines(profile: Profile, found: Comparison, width: int, all_lines: bool) -> Iterator[str]:
    ran = f"{len(profile.kernels)} {'launch' if len(profile.kernels) == 1 else 'launches'}"
    yield f"{visible_path(profile.path)}: {profile.kind}, {ran}"
    yield from wrap(agreement(found), width, subsequent_indent="    ")
    for file, line, then, now in found.changed:
        yield f"{visible_path(file)} has changed since the profile was taken, first in line {line}:"
        yield f"    profile: {visible(then)[: width - 13]}"
        yield f"    now:     {visible(now)[: width - 13]}"
    for name, why in found.missing:
        yield from wrap(f"not compared: {visible(name)}: {visible(why)}", width, subsequent_indent="    ")
    for whole in found.wholes:
        yield from wrap(_whole(whole), width, subsequent_indent="    ")
    if found.wholes:
        yield "the export has no lines: `--page source --print-source cuda,sass` gives them"
    shown = [v for v in found.verdicts if all_lines or v.category not in (AGREES, WITHIN)]
    for category in _ORDER:
        some = [v for v in shown if v.category == category]
        if some:
            yield ""
            yield f"{category} ({len(some)})"
            for verdict in some:
                yield from _verdict(verdict, width)


def _whole(whole: Whole) -> str:
    """`k, block 32,8: measured 561,152 wavefronts / 102,400 at best = 5.48-way; told 5.48-way`"""
    block = f", block {','.join(map(str, whole.block))}" if whole.block else ""
    text = f"{visible(base_name(whole.kernel) or '?')}{block}: measured {whole.wavefronts:,} wavefronts"
    if whole.ideal is not None:
        ways = whole.wavefronts / whole.ideal if whole.ideal else 1.0
        text += f" / {whole.ideal:,} at best = {ways_text(ways)}-way"
    return f"{text}; told {_told(whole.told)}"


def agreement(found: Comparison) -> str:
    """The counts in one sentence."""
    compared = [v for v in found.verdicts if v.category != OTHER and not v.cause.startswith("library code")]
    if not compared and found.wholes:
        same = sum(w.category in (AGREES, WITHIN) for w in found.wholes)
        noun = "launch agrees" if len(found.wholes) == 1 else "launches agree"
        return f"{same} of {len(found.wholes)} {noun}, each as a whole"
    if not compared:
        return "no line with shared-memory wavefronts could be compared"
    agree, within = (sum(v.category == c for v in compared) for c in (AGREES, WITHIN))
    conflicted = [v for v in compared if v.conflicted]
    told = sum((v.told.low or 0) > 1.05 for v in conflicted)
    text = f"{agree} of {count(len(compared), 'line')} with shared-memory wavefronts agree"
    text += f", {within} within the range that was told" if within else ""
    for category, noun in ((DIFFERS, "differ"), (SILENT, "without a number"), (UNSEEN, "not predicted")):
        n = sum(v.category == category for v in compared)
        text += f", {n} {noun}" if n else ""
    return f"{text}; {told} of {len(conflicted)} with conflicts were told"


def _verdict(verdict: Verdict, width: int) -> Iterator[str]:
    line = verdict.measured
    op = f" {line.op}" if line.op else ""
    measured = f"{line.wavefronts:,} wavefronts"
    if line.ideal is not None:
        measured += f" / {line.ideal:,} at best = {ways_text(line.ways or 0)}-way"
    block = f" block {','.join(map(str, verdict.block))}" if verdict.block else ""
    kernel = visible(base_name(verdict.kernel) or "?")
    yield f"  {visible_path(PurePath(line.file).name)}:{line.line}{op} in {kernel}{block}"
    yield f"      measured {measured}; told {_told(verdict.told)}"
    if verdict.cause:
        yield from wrap(
            visible(verdict.cause), width, initial_indent=" " * 6 + "cause: ", subsequent_indent=" " * 8
        )


def _told(told: Told) -> str:
    if told.low is None or told.high is None:
        return told.reason or "nothing"
    if told.high - told.low < 0.005:
        return f"{ways_text(told.high)}-way"
    return f"{ways_text(told.low)} to {ways_text(told.high)}-way"


def render_comparison_json(profile: Profile, found: Comparison) -> str:
    categories: Sequence[str] = _ORDER
    data: dict[str, Any] = {
        "version": VERSION,
        "profile": profile.path,
        "kind": profile.kind,
        "counts": {category: found.count(category) for category in categories},
        "lines": [
            {
                "kernel": v.kernel,
                "block": list(v.block) if v.block else None,
                "file": v.measured.file,
                "line": v.measured.line,
                "op": v.measured.op or None,
                "measured": {
                    "wavefronts": v.measured.wavefronts,
                    "ideal": v.measured.ideal,
                    "ways": round(v.measured.ways, 4) if v.measured.ways is not None else None,
                },
                "told": {
                    "ways_low": round(v.told.low, 4) if v.told.low is not None else None,
                    "ways": round(v.told.high, 4) if v.told.high is not None else None,
                    "wavefronts_block": v.told.wavefronts,
                    "ideal_block": v.told.ideal,
                    "reason": v.told.reason or None,
                },
                "category": v.category,
                "cause": v.cause or None,
            }
            for v in found.verdicts
        ],
        "kernels": [
            {
                "kernel": w.kernel,
                "block": list(w.block) if w.block else None,
                "measured": {"wavefronts": w.wavefronts, "ideal": w.ideal},
                "told": {
                    "ways_low": round(w.told.low, 4) if w.told.low is not None else None,
                    "ways": round(w.told.high, 4) if w.told.high is not None else None,
                    "wavefronts_block": w.told.wavefronts,
                    "ideal_block": w.told.ideal,
                    "reason": w.told.reason or None,
                },
                "category": w.category,
            }
            for w in found.wholes
        ],
        "not_compared": [{"kernel": name, "reason": why} for name, why in found.missing],
        "changed": [
            {"file": file, "line": line, "profile": then, "now": now}
            for file, line, then, now in found.changed
        ],
    }
    return dumps(data, indent=1)
