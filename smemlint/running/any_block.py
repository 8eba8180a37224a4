"""What holds for every block of whole warps, whichever of the tried shapes it has.

A block of run-time size is tried with a few shapes. One warp whose place in the block is unknown tells which
of their answers do not depend on the shape at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from smemlint.evaluate import Grade
from smemlint.evaluate.model import Assumption
from smemlint.ir import Launch
from smemlint.score import Conflict, KernelAnalysis
from smemlint.score.model import STATED
from smemlint.score.site import free_in_part

WHOLE_WARPS = Assumption("whole-warps", "a block of whole warps; any shape gives the same")
_CLOSED = (Grade.EXACT, Grade.ASSUMED)
_ROUNDING = 1e-9
_DIGITS = 9


def any_of(launches: Sequence[Launch]) -> Launch:
    """One warp of any block of the family that these shapes are of; of numbers, those that all pass."""
    first = launches[0]
    common = {k: v for k, v in first.arguments.items() if all(x.arguments.get(k) == v for x in launches)}
    dynamic = first.dynamic if all(x.dynamic == first.dynamic for x in launches) else None
    return replace(
        first,
        block=(32, 1, 1),
        warp=True,
        arguments=common,
        variants=(),
        dynamic=dynamic,
        grid=(None, None, None),
    )


def with_any_block(
    tried: Sequence[KernelAnalysis], analyse: Callable[[], KernelAnalysis]
) -> list[KernelAnalysis]:
    """The analyses of shapes of one family, with what holds for all of it told as such. analyse: gives what
    one warp of any of its blocks tells."""
    told = [a for a in tried if a.conflicts and not a.stopped]
    if not told:
        return list(tried)
    warp = analyse()
    if warp.stopped:
        return list(tried)
    ways = _ways(warp.conflicts)
    for a in told:
        for site, own in _ways(a.conflicts).items():
            if own is None or abs(own - (ways.get(site) or 0)) > _ROUNDING:
                ways.pop(site, None)
    free = {_site(c) for c in warp.conflicts} - {_site(c) for c in warp.conflicts if not free_in_part(c)}
    return [_marked(a, ways, free) for a in tried]


def is_the_same(shape: KernelAnalysis, warp: KernelAnalysis) -> bool:
    """Whether one warp of any block has the accesses that it has under one shape, and the same is told of
    each: one answer that all visits have in common, a number, a range or none at all."""
    if shape.stopped or warp.stopped:
        return False
    own, any_block = _answers(shape.conflicts), _answers(warp.conflicts)
    return own.keys() == any_block.keys() and all(
        answer is not None and answer == any_block[site] for site, answer in own.items()
    )


def _answers(conflicts: Iterable[Conflict]) -> dict[tuple[object, ...], set[tuple[object, ...]] | None]:
    """By site: what is told of its ways; None where that is nothing, or not the same at each visit."""
    found: dict[tuple[object, ...], set[tuple[object, ...]] | None] = {}
    for c in conflicts:
        key, told = _site(c), found.setdefault(_site(c), set())
        if c.grade is Grade.UNRESOLVED or len({w for w, _ in c.ways_by_visit}) > 1:
            found[key] = None
        elif told is not None:
            ends = (None if w is None else round(w, _DIGITS) for w in (c.ways_low, c.ways))
            told.add((*ends, c.stride, c.reason.code if c.reason else ""))
    return found


def _ways(conflicts: Iterable[Conflict]) -> dict[tuple[object, ...], float | None]:
    """By site: the ways that each visit has, 0 of what costs nothing, None where they are not one number."""
    found: dict[tuple[object, ...], float | None] = {}
    for c in conflicts:
        each = {w for w, _ in c.ways_by_visit}
        # of a bound with equal ends only the count is not known
        closed = c.grade in (*_CLOSED, Grade.BOUND) and len(each) == 1 and c.ways == c.ways_low
        free = c.grade is not Grade.UNRESOLVED and c.wavefronts == 0  # another access brings the value
        ways = 0.0 if free else c.ways if closed else None
        key = _site(c)
        found[key] = ways if key not in found or found[key] == ways else None
    return found


def _site(c: Conflict) -> tuple[object, ...]:
    return (c.site.place, c.site.op, c.site.width, c.site.array, c.joined)


def _marked(
    a: KernelAnalysis, ways: dict[tuple[object, ...], float | None], free: Collection[tuple[object, ...]]
) -> KernelAnalysis:
    told = tuple(
        c if ways.get(_site(c)) is None else _mark(c, a.launch, free=_site(c) in free) for c in a.conflicts
    )
    return replace(a, conflicts=told)


def _mark(c: Conflict, launch: Launch, *, free: bool) -> Conflict:
    """Warps that the launch makes whole need no assumption, nor does what has no conflict either where the
    last lanes are missing."""
    return (
        _as_proved(c) if makes_whole_warps(launch) or (free and launch.family == "any x") else _as_assumed(c)
    )


def makes_whole_warps(launch: Launch) -> bool:
    """Whether every shape of the launch's family has whole warps: rows of 32 threads, or multiples of 32."""
    return not launch.family.endswith("x") or launch.family == "whole x"


def _as_assumed(c: Conflict) -> Conflict:
    return _told(c, (WHOLE_WARPS, *_others(c)), c.grade)


def _as_proved(c: Conflict) -> Conflict:
    """Where any block gives the same, nothing is assumed of it."""
    sure = c.grade in _CLOSED and all(x.kind in STATED for x in _others(c))
    return _told(c, _others(c), Grade.EXACT if sure else c.grade)


def _others(c: Conflict) -> tuple[Assumption, ...]:
    return tuple(x for x in c.trace.assumptions if x.kind != "block-shape")


def _told(c: Conflict, assumptions: tuple[Assumption, ...], grade: Grade) -> Conflict:
    return replace(c, trace=replace(c.trace, assumptions=assumptions), grade=grade, any_block=True)
