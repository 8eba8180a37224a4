"""Loops of host code that do the same again and again, as measurements do: two iterations tell all."""

from __future__ import annotations

from smemlint.evaluate.control_flow.masks import snapshot
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.number import same
from smemlint.evaluate.values.objects import Snapshot
from smemlint.ir import Loop
from smemlint.ir.walk import names_in


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
