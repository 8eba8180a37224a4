"""Join points: where the ways out of a branch, a loop, a switch or a function meet.

Who leaves under a condition that nobody can decide takes a copy of the state along. Where ways meet, every
variable becomes what one of them brings, and one selector says which: the conditions themselves where each
way depends on one of them and no two can hold, else an unknown with as many values as there are ways. So the
ways can be looked at one by one later, and variables that were set together stay together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

import numpy as np

from smemlint.evaluate.control_flow.masks import changes_since, restore, snapshot
from smemlint.evaluate.machine.machine import Exit, Join, Machine, Mask, Undecided
from smemlint.evaluate.memory.merging import merge
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.choices import taken
from smemlint.evaluate.values.lanes import every, some
from smemlint.evaluate.values.number import Int, lanes_equal, multiply, subtract
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.pieces import even
from smemlint.evaluate.values.value import Cells, Object, Value, same
from smemlint.ir.types import BOOL

Selected = Sequence[tuple[Int, Mask, Value]]
"""For each way: a value that is 1 where it is taken, its lanes, what it brings."""
WARP = 32
MOST_APART = 4
"""Ways of different lanes for which all combinations are told apart."""
MOST_PAIRED = 12
"""Conditions that are held against each other."""
Brought: TypeAlias = "tuple[Int, Exit, dict[int, Value]]"
"""A value that is 1 where a way is taken, the way, and what an object holds on it."""
_REASON = Unresolved("data-dependent", "which of several ways is taken depends on data")


def suppose(m: Machine, c: Int, together: bool) -> None:
    """What runs from here on runs where an undecided condition holds."""
    m.context.undecided.append(Undecided(c, together))
    note_way(m, c)


def note_way(m: Machine, c: Int) -> None:
    """From here on a condition holds; host code keeps of one that is made of several that it does."""
    told = taken(c, truth=True)
    if m.host and not told and not c.known and c.uniform:
        told = taken(m.unknowns.derived("truth", c, Int(0), BOOL, 0, 1), truth=True)
    m.context.way = {**m.context.way, **told}


def leave(m: Machine, join: Join, inner: Sequence[Join], value: Value | None = None) -> None:
    """The lanes of the mask go to a join point. inner: the join points between here and there."""
    conditions = m.context.undecided[join.outside :]
    passed = [way for j in inner for way in j.ways]
    together = all(c.together for c in conditions) and all(_keeps_whole(way, m.may) for way in passed)
    if not conditions and not passed:
        join.gone = join.gone | m.may
    elif not m.host:
        for j in inner:
            j.passed = True
        under, _ = m.under(m.must)
        join.left[under] = join.left.get(under, m.threads.nobody) | m.may
        join.strays = join.strays | (parting(m, join, inner, m.may) if together else m.may)
    if not join.followed:
        pass
    elif conditions or passed:
        alone = conditions[0].condition if len(conditions) == 1 and not passed else None
        keys = tuple(c.condition.key() for c in conditions)
        under = None if None in keys else (keys, tuple(map(id, passed)))
        join.ways.append(Exit(m.may, snapshot(m), alone, together, value, under))
    else:
        join.kept = join.kept | m.may
    m.must, m.may = m.threads.nobody, m.threads.nobody


def _keeps_whole(way: Exit, lanes: Mask) -> bool:
    """Whether of some lanes that a way was open to, either all went there or none."""
    return way.together and not (some(lanes & way.may) and some(lanes & ~way.may))


def parting(m: Machine, join: Join, inner: Sequence[Join], lanes: Mask) -> Mask:
    """Those of some lanes that leave lanes of their warp behind, as they go to a join point together."""
    behind = join.lanes & ~join.gone & ~lanes
    for j in m.ahead():
        if not any(j is k for k in (join, *inner)):
            behind = behind & ~j.gone
    if not some(behind):
        return m.threads.nobody
    warps = np.any(behind.reshape(-1, WARP), axis=1, keepdims=True)
    parted: Mask = (lanes.reshape(-1, WARP) & warps).reshape(-1)
    return parted


def sure(m: Machine, must: Mask) -> Mask:
    """Lanes that are surely here, of those that surely were where ways part."""
    must = must & m.may
    for j in m.ahead():
        must = must & ~j.strays
    return must


def left_before(m: Machine, c: Int) -> Mask:
    """Lanes that left on their way to here if a condition holds: who is here although it does, is none of
    them (behind `case 2: if (c) break; case 0: if (c) continue;` those that came from case 2)."""
    found = m.threads.nobody
    key = None if c.known else c.key()
    if key is not None:
        for way in (way for j in m.ahead() for way in j.ways):
            if way.condition is not None and way.condition.key() == key:
                found = found | way.may
    return found


def left_whole(m: Machine, strayed: Sequence[tuple[Join, Mask]], lanes: Mask) -> None:
    """All lanes of an arm left for one join point, in whatever steps: none of them strayed from the others.
    strayed: the join points around, and who had strayed to them before."""
    changed = [(i, j, before) for i, (j, before) in enumerate(strayed) if j.strays is not before]
    if len(changed) != 1:
        return
    i, j, before = changed[0]
    if not all(c.together for c in m.context.undecided[j.outside :]):
        return  # some lanes may not even be here
    loops = [k for k, _ in strayed if k is not m.frame.end]
    inner = loops if j is m.frame.end else loops[i + 1 :]
    j.strays = before | (j.strays & parting(m, j, inner, lanes))


def meet(m: Machine, join: Join) -> list[Int]:
    """Make the present state that of all ways to a join point. Returns 1 for each way where it is taken."""
    if not join.ways:
        return []
    ways, join.ways = join.ways, []
    present = m.may | join.kept
    for j in m.ahead():
        present = present | j.kept
    selectors = _selectors(m, ways, present)
    _merge_states(m, list(zip(selectors, ways, strict=True)), present)
    return selectors


def _selectors(m: Machine, ways: Sequence[Exit], present: Mask) -> list[Int]:
    """For each way, 1 where it is taken. present: lanes that may come with the present state."""
    if len(ways) == 1 and not some(ways[0].may & present):
        return [Int(1, BOOL)]
    lanes = np.array([way.may for way in ways])
    if not (lanes.sum(axis=0) + (present & lanes.any(axis=0)) > 1).any():
        return [Int(1, BOOL)] * len(ways)
    groups = _simultaneous(ways)
    conditions = [ways[g[0]].condition for g in groups]
    known = [c for c in conditions if c is not None]
    if len(known) == len(groups) and (len(groups) == 1 or _exclude_each_other(known)):
        return _per_way(groups, known)
    varying = not m.host and not all(way.together for way in ways)
    taken_by: list[Mask] = [np.asarray(lanes[g].any(axis=0)) for g in groups]
    if not (m.host or varying) and any((mask != taken_by[0]).any() for mask in taken_by):
        # Some lanes may go one way while others go another.
        if len(groups) <= MOST_APART:
            chosen = [m.unknowns.value(BOOL, "which way", low=0, high=1) for _ in groups]
            here = [_only_in(c, lanes, m.threads.present) for c, lanes in zip(chosen, taken_by, strict=True)]
            return _per_way(groups, _first_of(here))
        varying = True
    reason = _REASON if varying else None
    return _per_way(groups, m.unknowns.selector(len(groups) + 1, "which way", varying=varying, reason=reason))


def _simultaneous(ways: Sequence[Exit]) -> list[list[int]]:
    """The numbers of the ways, those together that are taken at the same time, by different lanes."""
    groups: list[list[int]] = []
    for i, way in enumerate(ways):
        for g in groups if way.under is not None else ():
            if ways[g[0]].under == way.under and not any(some(way.may & ways[j].may) for j in g):
                g.append(i)
                break
        else:
            groups.append([i])
    return groups


def _first_of(conditions: Sequence[Int]) -> list[Int]:
    """Each condition where none of those before it holds."""
    found, others = [], Int(1, BOOL)
    for c in conditions:
        found.append(multiply(others, c, BOOL))
        others = subtract(others, found[-1], BOOL)
    return found


def _per_way(groups: Sequence[Sequence[int]], selectors: Sequence[Int]) -> list[Int]:
    """What selects a group selects each of its ways."""
    of = {i: c for g, c in zip(groups, selectors, strict=True) for i in g}
    return [of[i] for i in range(len(of))]


def _exclude_each_other(conditions: Sequence[Int]) -> bool:
    """Whether no two conditions can hold, as their values alone show."""
    if len(conditions) > MOST_PAIRED:
        return False
    both = [multiply(a, b, BOOL) for a, b in combinations(conditions, 2)]
    return all(not p.terms and lanes_equal(p.const, 0) for p in both)


def _merge_states(m: Machine, ways: Sequence[tuple[Int, Exit]], present: Mask) -> None:
    changed: set[Object] = set()
    for _, way in ways:
        way.state.complete(m.memory.begun)
        changed |= changes_since(way.state)
    if not changed:
        return
    for o in dict.fromkeys([o for _, way in ways for o in way.state.cells if o in changed]):
        if o.storage != "local":
            continue
        held = [(c, way, way.state.cells[o]) for c, way in ways if o in way.state.cells]
        held = _even(m, o, held)
        havoc = o.havoc or any(way.state.havoc[o] for _, way, _ in held)
        for at in _unlike(o.cells, [cells for _, _, cells in held]):
            _merge_cell(m, o, at, held, present)
        o.havoc = havoc


def _unlike(now: Mapping[int, Value], brought: Sequence[Mapping[int, Value]]) -> list[int]:
    """Where not all ways hold just what is there at present. Nearly all is the same: this is asked of every
    element of an array."""
    found: list[int] = []
    for at, v in now.items():
        for cells in brought:
            if cells.get(at) is not v:
                found.append(at)
                break
    return found + [at for at in dict.fromkeys(at for cells in brought for at in cells) if at not in now]


def _even(m: Machine, o: Object, held: list[Brought]) -> list[Brought]:
    """The same bytes cut into the same parts on all ways and at present."""
    for _ in range(2):
        for i, (c, way, cells) in enumerate(held):
            both = even(cells, o.cells, m.unknowns)
            if both is not None:
                held[i], o.cells = (c, way, both[0]), Cells(both[1])
    return held


def _merge_cell(
    m: Machine, o: Object, at: int, held: Sequence[tuple[Int, Exit, dict[int, Value]]], present: Mask
) -> None:
    now = o.cells.get(at)
    brought: list[tuple[Int, Mask, Value]] = []
    for c, way, cells in held:
        v = cells.get(at)
        if v is None:
            if _is_unknown(m, o, way.state.havoc[o]):
                o.cells.pop(at, None)  # unknown on this way
                return
            continue
        brought.append((c, way.may, v))
    if now is None:
        if _is_unknown(m, o, o.havoc):
            return
        now = brought[0][2]
    if any(v is not now and not same(v, now) for _, _, v in brought):
        o.cells[at] = one_of(m, brought, now, present)
    elif at not in o.cells:
        o.cells[at] = now


def _is_unknown(m: Machine, o: Object, havoc: bool) -> bool:
    """Whether a part of an object that nothing is said of holds something that is not known, and not what
    nobody set."""
    outside = m.host and o.var is not None and o.var.storage in ("global", "static")
    return (havoc and (m.host or not o.uniform)) or outside


def one_of(m: Machine, ways: Selected, now: Value, present: Mask) -> Value:
    """What the ways bring, each in its lanes; `now` elsewhere and, in the lanes `present`, where no way is
    taken."""
    result = now
    open_lanes = ~present
    for _, may, v in reversed(ways):
        lanes = may & open_lanes
        if some(lanes):
            result = v if every(lanes) else merge(m, Int(lanes.astype(np.int64), BOOL), v, result)
        open_lanes = open_lanes & ~may
    for c, may, v in ways:
        if not c.known:
            result = merge(m, _only_in(c, may, m.threads.present), v, result)
    return result


def _only_in(c: Int, lanes: Mask, present: Mask) -> Int:
    """c in some lanes, 0 in the others."""
    if not some(present & ~lanes):
        return c
    kept = lanes.astype(np.int64)
    return Int(c.const * kept, BOOL, {mono: x * kept for mono, x in c.terms.items()})


def merge_at(m: Machine, way: Exit, lanes: Mask) -> None:
    """Make the present state, in some lanes, that of a way where its condition holds."""
    assert way.condition is not None
    _merge_states(m, [(way.condition, replace(way, may=lanes))], m.threads.present)


def bring(m: Machine, way: Exit, lanes: Mask) -> None:
    """Make the present state, in some lanes, that of a way."""
    if not some(m.threads.present & ~lanes):
        restore(m, way.state)
    else:
        _merge_states(m, [(Int(1, BOOL), replace(way, may=lanes))], ~lanes)


def merge_into(m: Machine, c: Int, then: Snapshot) -> None:
    """The present state is the one of `else`; make it `c ? then : else`."""
    way = Exit(m.threads.present, then, c, together=True)
    _merge_states(m, [(c, way)], m.threads.present)
