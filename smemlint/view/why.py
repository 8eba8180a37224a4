"""How one number came about: names, loops, addresses lane by lane, banks; or where certainty was lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from smemlint.evaluate.model import Trace, Unresolved
from smemlint.ir import Module
from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.view.choose import Seen, view_of
from smemlint.view.formula import by_lane, by_thread
from smemlint.view.help import HELP
from smemlint.view.names import Origin, loops_around, origins
from smemlint.view.requests import Requests, map_of, pick, requests_of
from smemlint.view.site import SiteView, leader_of

_PARTNERS = 8
"""Accesses that are joined with this one, told at most."""


@record(frozen=True, slots=True)
class Line:
    """A line of a source."""

    path: str
    line: int
    text: str


@record(frozen=True, slots=True)
class Lost:
    """Why there is no number, or a range. code, text: as in docs/limits.md. at: where it happened, when
    known. helps: what would bring a number back, '' when nothing is known to."""

    code: str
    text: str
    at: Line | None
    helps: str


@record(frozen=True, slots=True)
class Derivation:
    """From the index as written to the number.

    origins: what the names mean. loops: around the access, outermost first. formula: bytes of each lane as a
    form of threadIdx or the lane, '' where there is none. step: bytes from one visit of a warp to the next,
    None where it is not one number. left_out: unknown parts that all lanes share. joined: other accesses that
    the compiler makes one of. lost: where there is no single number.
    """

    view: SiteView
    origins: tuple[Origin, ...]
    loops: tuple[Line, ...]
    formula: str
    step: int | None
    left_out: tuple[str, ...]
    joined: tuple[Line, ...]
    lost: Lost | None


def derivation(
    seen: list[Seen],
    module: Module,
    texts: Mapping[str, bytes],
    shown: Callable[[str], str],
    path: str,
) -> Derivation:
    """The derivation of the first of some instances and launches of an access."""
    conflict, analysis = seen[0].conflict, seen[0].analysis
    place = conflict.site.place

    def line(path: str, number: int) -> Line:
        lines = texts.get(path, b"").split(b"\n")
        text = lines[number - 1].decode("utf-8", "replace") if 0 < number <= len(lines) else ""
        return Line(shown(path), number, " ".join(text.split()))

    leader = leader_of(conflict, analysis)
    found = requests_of(leader.trace)
    loops = loops_around(place, list(module.functions.values()))
    reason = conflict.reason
    lost = None
    if reason is not None:
        at = reason.at
        lost = Lost(
            reason.code,
            reason.text,
            line(at.path, at.line) if at is not None else None,
            HELP.get(reason.code, ""),
        )
    known = found if not isinstance(found, Unresolved) and found.drawn else None
    return Derivation(
        view=view_of(seen, path),
        origins=origins(place, analysis, module, texts, shown),
        loops=tuple(line(p.path, p.line) for loop in loops if (p := loop.place) is not None),
        formula=_formula(known, analysis) if known is not None else "",
        step=_step(known) if known is not None else None,
        left_out=leader.trace.shifts.names,
        joined=_joined(conflict, analysis, line),
        lost=lost,
    )


def _formula(found: Requests, analysis: KernelAnalysis) -> str:
    at = pick(found)
    if at is None:
        return ""
    same = found.executed() & (found.visit == found.visit[at])
    told = None
    if found.warps is not None and not found.access.op.endswith("matrix"):
        told = by_thread(found.offsets[same], found.warps[same], analysis.launch.block)
    drawn = map_of(found, at)
    row = np.array([-1 if offset is None else offset for offset in drawn.offsets], dtype=np.int64)
    return told or by_lane(row) or ""


def _step(found: Requests) -> int | None:
    """Bytes that the first active lane of a warp moves from visit to visit."""
    at = pick(found)
    if at is None or found.warps is None or found.visits < 2:
        return None
    rows = np.flatnonzero(found.executed() & (found.warps == found.warps[at]))
    lane = int((found.offsets[at] >= 0).argmax())
    steps = set(np.diff(found.offsets[rows, lane]).tolist())
    return int(steps.pop()) if len(steps) == 1 and bool((found.offsets[rows, lane] >= 0).all()) else None


def _joined(
    conflict: Conflict, analysis: KernelAnalysis, line: Callable[[str, int], Line]
) -> tuple[Line, ...]:
    def same(trace: Trace) -> bool:
        return trace.group is not None and trace.group == conflict.trace.group

    others = [c for c in analysis.conflicts if c is not conflict and same(c.trace)]
    told = (Line(line(p.path, p.line).path, p.line, c.site.expression) for c in others if (p := c.site.place))
    return tuple(dict.fromkeys(told))[:_PARTNERS]
