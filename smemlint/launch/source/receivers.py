"""Which methods a call by `.` or `->` means: two classes of one program often have methods of one name, of
which one starts kernels (`CpuSolver::run`, `GpuSolver::run`)."""

from __future__ import annotations

from smemlint.ir import (
    Call,
    Construct,
    Declare,
    Function,
    Member,
    Module,
    Name,
    PointerTo,
    RecordRef,
    StaticMember,
    This,
    Type,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import walk

MOST_BASES = 8


def methods_meant(module: Module, f: Function, n: Member | StaticMember) -> frozenset[str] | None:
    """Ids of the methods that a member named in f may be; None where its class is not known, does not define
    it, or may stand for another."""
    owner = _class_of(f, n)
    found: set[str] = set()
    waiting = [owner] if owner is not None else []
    for name in waiting:
        record = module.records.get(name)
        if record is None or record.virtual or record.specialisations or len(waiting) > MOST_BASES:
            return None
        found.update(record.methods.get(n.name, ()))
        for base in record.written_bases:
            if not isinstance(base, RecordRef):
                return None
            waiting.append(base.name)
    return frozenset(found) if found and all(id in module.functions for id in found) else None


def made_to_call(module: Module, n: Call) -> frozenset[str]:
    """Ids of the call operators of an object that is made to be called: `launch<T>()(p, stream)`."""
    made = n.callee.type if isinstance(n.callee, Construct) else None
    record = module.records.get(made.name) if isinstance(made, RecordRef) else None
    return frozenset(record.methods.get("operator()", ())) if record is not None else frozenset()


def _class_of(f: Function, n: Member | StaticMember) -> str | None:
    if isinstance(n, StaticMember):
        return _record(n.owner)
    if isinstance(n.base, This):
        return f.record
    return (
        _record(_types(f.body).get(n.base.id) or _parameter(f, n.base.id))
        if isinstance(n.base, Name)
        else None
    )


def _parameter(f: Function, id: str) -> Type | None:
    return next((p.type for p in f.parameters if p.id == id), None)


def _record(t: Type | None) -> str | None:
    while isinstance(t, PointerTo):
        t = t.to
    return t.name if isinstance(t, RecordRef) else None


@by_identity
def _types(body: object) -> dict[str, Type]:
    return {n.var.id: n.var.type for n in walk(body) if isinstance(n, Declare)}
