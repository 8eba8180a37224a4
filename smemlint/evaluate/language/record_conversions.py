"""Records that stand where a pointer or a number is meant: their conversion functions.

Where clang knows the types it calls these itself; in a template it leaves `s[i]`, `*s`, `s + i` and an
argument as they are written.
"""

from __future__ import annotations

from smemlint.evaluate.language.inlining import Reference, invoke
from smemlint.evaluate.language.overloads import methods_of, record_bindings
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.objects import temporary
from smemlint.evaluate.values.value import Pointer, RecordValue, Value
from smemlint.ir import (
    CONVERSION_NAME,
    Function,
    Literal,
    PointerTo,
    RecordRef,
    Scalar,
    TemplateArgument,
    Type,
)


def by_conversion(m: Machine, v: RecordValue | Pointer, t: Type | None) -> Value | None:
    """What a record (or the one that lies at an address) becomes as a t, None: as a pointer; None where it
    has no conversion function for that."""
    if isinstance(v, RecordValue):
        v = temporary(v, v.type)
    if not isinstance(v.pointee, RecordRef):
        return None
    fit = [(_fit(m, f, v, t), f) for f in methods_of(m, v.pointee, CONVERSION_NAME)]
    best = max((fit for fit, _ in fit), default=0)
    if not best:
        return None
    f = next(f for fit, f in fit if fit == best)
    result = invoke(m, [f], (), _arguments(m, f, v, t) or (), v, None)
    return result.place if isinstance(result, Reference) else result


def _fit(m: Machine, f: Function, this: Pointer, t: Type | None) -> int:
    """How well what a conversion function gives suits a type; 0: not at all."""
    if f.template:
        return 0 if _arguments(m, f, this, t) is None else 1
    returns = m.types.resolve(f.returns, record_bindings(m, f, this))
    if t is None or isinstance(t, PointerTo):
        if not isinstance(returns, PointerTo):
            return 0
        return 2 if t is None or returns.to == t.to else 1
    if isinstance(t, Scalar) and isinstance(returns, Scalar):
        return 2 if returns == t else 1
    return 2 if returns == t else 0


def _arguments(m: Machine, f: Function, this: Pointer, t: Type | None) -> tuple[TemplateArgument, ...] | None:
    """The template arguments with which a conversion function gives a t; None where none are found."""
    deduced = dict(record_bindings(m, f, this))
    own = [p.id for p in f.template]
    if t is None or not m.types.patterns.match(m.types.resolve(f.returns, deduced), t, deduced):
        return None
    found = [deduced.get(id) for id in own]
    given = tuple(
        Literal(b.const, b.type) if isinstance(b, Int) and isinstance(b.const, int) else b for b in found
    )
    return None if any(g is None or isinstance(g, tuple) for g in given) else given  # type: ignore[return-value]
