"""Loops of host code that do the same again and again: of measurements two iterations tell all, of those that
fill data one of the first few stands for the rest."""

from __future__ import annotations

from smemlint.evaluate.control_flow.masks import snapshot
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.value import same
from smemlint.ir import If, Loop, Switch
from smemlint.ir.jumps import jumps_in
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import names_in, walk

FIRST_ROUNDS = 1
"""Iterations of a loop that only fills data which are run before one stands for the rest."""


def repeating(m: Machine, s: Loop, counter: str | None) -> Snapshot | None:
    """The state after an iteration that may be like all that follow; None where they can differ."""
    if not m.host or counter is None or counter in names_in(s.body):
        return None
    return snapshot(m)


def repeated(m: Machine, before: Snapshot | None, counter: str | None) -> bool:
    """Whether one more iteration changed nothing but the counter, which then is what it may be at the end."""
    if before is None or counter is None:
        return False
    own = m.find(counter)
    now = snapshot(m)
    for o, cells in now.cells.items():
        earlier = before.cells.get(o)
        if o is own or earlier is cells:
            continue
        if earlier is None or cells.keys() != earlier.keys():
            return False
        if any(not same(v, earlier[at]) for at, v in cells.items()):
            return False
    m.forget(frozenset({counter}))
    return True


def only_fills(m: Machine, s: Loop, trips: int, started: bool) -> bool:
    """Whether a loop of host code went round so often without a launch that one of more rounds than are run
    one by one may stand for the others. started: whether something in it was started."""
    return m.host and trips == FIRST_ROUNDS and not started and _is_straight(s)


@by_identity
def _is_straight(s: Loop) -> bool:
    """Whether no way parts in the body of a loop, and none leads out."""
    return not jumps_in(s.body) and not any(isinstance(n, If | Switch) for n in walk(s.body))
