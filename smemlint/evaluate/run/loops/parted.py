"""Lanes that leave a loop after different numbers of iterations: each holds what its own last one left."""

from __future__ import annotations

import numpy as np

from smemlint.evaluate.machine.machine import Machine, Mask
from smemlint.evaluate.memory.several import one_of, options_of
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.run.loops.iterations import changes_of
from smemlint.evaluate.values.number import Int, Pointer, Symbol, Value
from smemlint.evaluate.values.objects import Snapshot

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

    for o, at in changes_of(start.cells, {o: o.cells for o in start.cells}):
        if at in o.cells:
            o.cells[at] = value(o.cells[at])
