"""What ends with a scope: destructors run where lanes come to its end, and where they leave it."""

from __future__ import annotations

from smemlint.evaluate.language.inlining import invoke
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.number import Int, Pointer
from smemlint.evaluate.values.objects import Object
from smemlint.ir import Block, Function, RecordRef, Type


def destructor_of(m: Machine, t: Type) -> Function | None:
    """The destructor of a class that does something."""
    found = m.types.record_of(t) if isinstance(t, RecordRef) else None
    if found is None:
        return None
    own = found[0].name.split("<", 1)[0].rsplit("::", 1)[-1]
    for id in found[0].methods.get(f"~{own}", ()):
        f = m.module.functions.get(id)
        if f is not None and not (isinstance(f.body, Block) and not f.body.body):
            return f
    return None


def begin_life(m: Machine, o: Object) -> None:
    """Note a variable of device code whose destructor is to run."""
    if not m.host and destructor_of(m, o.type) is not None:
        m.frame.live.append(o)


def end_lives(m: Machine, since: int, returned: Object | None = None) -> None:
    """Run the destructors of the variables that were declared since, the last one first. returned: the one
    that lives on with the caller."""
    for o in reversed(m.frame.live[since:]):
        f = destructor_of(m, o.type) if o is not returned else None
        if f is not None and m.anyone():
            invoke(m, [f], (), (), Pointer(o, Int(0), o.type), f.place)
