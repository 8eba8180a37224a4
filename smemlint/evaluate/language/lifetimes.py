"""Objects with destructors: which have one, and what is noted when their lives begin."""

from __future__ import annotations

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.objects import Object
from smemlint.ir import Block, Function, Module, RecordRef, Type
from smemlint.ir.memo import by_identity


@by_identity
def has_destructors(module: Module) -> bool:
    """Return whether any class of a program has a destructor."""
    return any(name.startswith("~") for r in module.records.values() for name in r.methods)


def destructor_of(m: Machine, t: Type) -> Function | None:
    """Return the destructor of a class that does something."""
    found = m.types.record_of(t) if isinstance(t, RecordRef) and has_destructors(m.module) else None
    if found is None:
        return None
    own = found[0].name.split("<", 1)[0].rsplit("::", 1)[-1]
    for id in found[0].methods.get(f"~{own}", ()):
        f = m.module.functions.get(id)
        if f is not None and not (isinstance(f.body, Block) and not f.body.body):
            return f
    return None


def begin_life(m: Machine, o: Object) -> None:
    """Note a variable or temporary of device code whose destructor is to run."""
    if not m.host and destructor_of(m, o.type) is not None:
        m.frame.live.append(o)
