"""Lanes that leave a loop after different numbers of iterations: each holds what its own last one left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from smemlint.evaluate.machine.machine import Exit, Machine, Mask
from smemlint.evaluate.machine.state import Join
from smemlint.evaluate.memory.several import one_of, options_of
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.run.loops.iterations import changes_of
from smemlint.evaluate.values.lanes import some
from smemlint.evaluate.values.number import Int, Symbol
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.value import Cells, Pointer, Value
from smemlint.ir.types import BOOL

TOGETHER, WARPS, LANES = range(3)
_WARP = 32
_REASON = Unresolved("loop-carried", "lanes leave a loop after different numbers of iterations")


def parting_of(c: Int, lanes: Mask) -> int:
    """Whether a condition sends all of some lanes one way, or warps, or the lanes of a warp, different
    ones."""
    if c.uniform:
        return TOGETHER
    if any(s.varying and not s.shared for mono in c.terms for s in mono):
        return LANES
    for part in (c.const, *c.terms.values()):
        of = np.broadcast_to(np.asarray(part), lanes.shape)
        held = np.where(lanes, of, 0).reshape(-1, _WARP)
        first = np.take_along_axis(held, lanes.reshape(-1, _WARP).argmax(axis=1)[:, None], axis=1)
        if (lanes.reshape(-1, _WARP) & (held != first)).any():
            return LANES
    return WARPS


def each_its_own(m: Machine, start: Snapshot, since: int, apart: int) -> None:
    """Give each lane or warp, whichever leaves by itself, its own of the unknowns that a loop made. start:
    the state before it; since: how many unknowns there were then."""
    if apart == TOGETHER or m.host:
        return
    own = _owner(m, since, apart)
    for o, at in changes_of(start.cells, {o: o.cells for o in start.cells}):
        if at in o.cells:
            o.cells[at] = own(o.cells[at])


Waiting = list[tuple[Join, Mask, int]]
"""Join points ahead: who had left for each for sure, and how many ways there were."""


def waiting(m: Machine) -> Waiting:
    """The join points ahead as they are now."""
    return [(j, j.kept, len(j.ways)) for j in m.ahead()]


def part_ways(m: Machine, start: Snapshot, since: int, before: Waiting, inside: Mask) -> int:
    """The same for what lanes took along that left an iteration which stands for many while others stayed;
    returns how those parted who surely left. before: the join points before it; inside: who began it."""
    apart = TOGETHER
    for j, kept, count in before if not m.host else ():
        if j.kept is not kept:
            apart = max(apart, parting(j.kept & ~kept, inside))
        for i in range(count, len(j.ways)):
            way = j.ways[i]
            how = parting(way.may, inside) if way.together else LANES
            if how != TOGETHER:
                j.ways[i] = _parted(way, start, _owner(m, since, how))
    return apart


def parting(lanes: Mask, inside: Mask) -> int:
    """How the lanes that leave part from those that stay, if any do."""
    if not some(lanes) or not some(inside & ~lanes):
        return TOGETHER
    return parting_of(Int(lanes.astype(np.int64), BOOL), inside)


def _parted(way: Exit, start: Snapshot, own: Callable[[Value], Value]) -> Exit:
    cells = dict(way.state.cells)
    for o, at in changes_of(start.cells, cells):
        if cells[o] is way.state.cells[o]:
            cells[o] = Cells(cells[o])
        cells[o][at] = own(cells[o][at])
    value = None if way.value is None else own(way.value)
    return replace(way, state=Snapshot(cells, way.state.havoc), value=value)


def _owner(m: Machine, since: int, apart: int) -> Callable[[Value], Value]:
    """What gives a value own unknowns for those that were made since."""
    own: dict[Symbol, Symbol] = {}

    def number(v: Int) -> Int:
        made = {s for mono in v.terms for s in mono if s.order > since and not s.varying}
        if not made:
            return v
        for s in made - own.keys():
            own[s] = m.unknowns.fresh(
                s.name,
                varying=True,
                low=s.low,
                high=s.high,
                multiple=s.multiple,
                rank=s.rank,
                reason=s.reason or _REASON,
                choice=s.choice,
                shared=apart == WARPS,
            )
        return Int(v.const, v.type, {tuple(own.get(s, s) for s in mono): c for mono, c in v.terms.items()})

    def value(v: Value) -> Value:
        if isinstance(v, Int):
            return number(v)
        if not isinstance(v, Pointer):
            return v
        ways = options_of(v)
        if any(number(o.when) is not o.when or number(o.offset) is not o.offset for o in ways):
            to = [Pointer(o.object, number(o.offset), v.pointee, v.integer) for o in ways]
            return one_of(m, to, v.object.name, varying=True)
        return Pointer(v.object, number(v.offset), v.pointee, v.integer)

    return value
