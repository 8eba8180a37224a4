"""Launches with numbers that follow from `main` having no arguments: exact is what others tell as well.

A kernel is evaluated again without these numbers. What it tells then holds for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from smemlint.evaluate import Grade
from smemlint.evaluate.analysis.facts import code_of
from smemlint.evaluate.model import Assumption
from smemlint.ir import Function, Launch, Module
from smemlint.score import Conflict, KernelAnalysis

NO_ARGUMENTS = Assumption("no-arguments", "`main` is run without arguments")
_CLOSED = (Grade.EXACT, Grade.ASSUMED, Grade.BOUND)
_DIGITS = 9


def open_launch(module: Module, kernel: Function, launch: Launch) -> Launch | None:
    """The launch without what the command line may change; None where that changes no address."""
    relevant = code_of(module).slice(kernel, frozenset()).relevant
    names = {p.name for p in kernel.parameters if p.id in relevant}
    changing = {n for n in launch.defaults if n == "grid" or n.partition(".")[0] in names}
    if not changing:
        return None
    of_grid = "grid" in changing
    open_ = replace(
        launch,
        arguments={k: n for k, n in launch.arguments.items() if k not in changing},
        variants=(),
        grid=(None, None, None) if of_grid else launch.grid,
        dynamic=None if of_grid else launch.dynamic,
    )
    return None if open_ == launch else open_


def as_default(
    analysis: KernelAnalysis, launch: Launch | None, analyse: Callable[[Launch], KernelAnalysis | None]
) -> KernelAnalysis:
    """Mark what depends on the command line in the analysis of a launch as assumed. launch: the same without
    what may change; analyse: one evaluation, None where nothing is left to spend."""
    if launch is None or all(c.grade is not Grade.EXACT for c in analysis.conflicts):
        return analysis
    other = analyse(launch)
    always = {} if other is None or other.stopped else _told(other.conflicts)
    here = _told(analysis.conflicts)
    return replace(
        analysis,
        conflicts=tuple(
            c if c.grade is not Grade.EXACT or here[_site(c)] == always.get(_site(c)) else _assumed(c)
            for c in analysis.conflicts
        ),
    )


def _told(conflicts: Iterable[Conflict]) -> dict[tuple[object, ...], set[float | None]]:
    """By site: its ways, 0 of what costs nothing; None where they are not one number."""
    found: dict[tuple[object, ...], set[float | None]] = {}
    for c in conflicts:
        closed = c.grade in _CLOSED and c.ways is not None and c.ways == c.ways_low
        ways = 0.0 if c.wavefronts == 0 else round(c.ways or 0, _DIGITS) if closed else None
        found.setdefault(_site(c), set()).add(ways)
    return found


def _site(c: Conflict) -> tuple[object, ...]:
    return (c.site.place, c.site.op, c.site.array, c.joined)


def _assumed(c: Conflict) -> Conflict:
    trace = replace(c.trace, assumptions=(NO_ARGUMENTS, *c.trace.assumptions))
    return replace(c, trace=trace, grade=Grade.ASSUMED)
