"""Loads of what nothing reads: nvcc does not make them."""

from __future__ import annotations

from smemlint.evaluate.analysis.parts_read.elements import elements_read
from smemlint.evaluate.language.accesses import mention
from smemlint.evaluate.language.names import shared_named
from smemlint.evaluate.machine.dispatch import unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.number import Int
from smemlint.ir import Assign, Call, Index, Name, Scalar, Unary
from smemlint.ir.expr import uncast
from smemlint.ir.types import element_type
from smemlint.ir.uses import array_of, holds


def is_for_nothing(m: Machine, e: Assign) -> bool:
    """Return whether an element of shared memory goes to one of the thread's own that nothing reads."""
    f, value = m.frame.function, uncast(e.value)
    if f is None or m.host or m.task.as_written:
        return False
    if not isinstance(e.target, Index) or not isinstance(value, Index):
        return False
    own = e.target.base
    read = elements_read(f).get(own.id) if isinstance(own, Name) else None
    root = array_of(value)
    o = shared_named(m, root)
    if read is None or o is None or holds(value, (Assign, Call, Unary)):
        return False
    at = unseen(m, e.target.index)
    if not isinstance(at, Int) or not at.known or not isinstance(at.const, int) or at.const in read:
        return False
    t = element_type(o.type)
    if isinstance(t, Scalar):
        mention(m, "load", o, t, value)
    return True
