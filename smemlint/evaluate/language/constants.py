"""Expressions without operands: literals, what the hardware gives, `sizeof`, `this`, lambdas."""

from __future__ import annotations

from smemlint.evaluate.language.accesses import escape, load
from smemlint.evaluate.language.conversions import type_of
from smemlint.evaluate.language.initialisers import value_for
from smemlint.evaluate.language.packs import length_of
from smemlint.evaluate.language.places import place_of
from smemlint.evaluate.machine.dispatch import begun, lvalue, rvalue, unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.machine.state import CAUGHT
from smemlint.evaluate.memory.text import literal, spelled
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.types.matching import TYPES
from smemlint.evaluate.values.floats import rounded
from smemlint.evaluate.values.number import Int, in_words
from smemlint.evaluate.values.objects import at_home
from smemlint.evaluate.values.value import (
    Cells,
    Closure,
    Object,
    Other,
    Pointer,
    RecordValue,
    Value,
    is_uniform,
)
from smemlint.ir import (
    Binary,
    Call,
    FloatLiteral,
    Lambda,
    Literal,
    Name,
    OpaqueType,
    PackSize,
    RecordRef,
    SizeOf,
    Special,
    StringLiteral,
    This,
    Type,
    Unary,
    UnknownExpr,
    Var,
)
from smemlint.ir.expr import NOT_UNDERSTOOD
from smemlint.ir.memo import by_identity
from smemlint.ir.types import INT, ULONG, is_reference
from smemlint.ir.walk import names_in


def literal_value(m: Machine, e: Literal) -> Value:
    return _number(e)


@by_identity
def _number(e: Literal) -> Int:
    return Int(in_words(e.value), e.type)


def float_value(m: Machine, e: FloatLiteral) -> Value:
    return Other(e.type, True, None, rounded(e.value, e.type))


def string_value(m: Machine, e: StringLiteral) -> Value:
    text = spelled(e.value) if m.host else None
    return Other(None, True) if text is None else literal(text)


def special_value(m: Machine, e: Special) -> Value:
    m.journal.asked.add((e.name, e.axis))
    v = m.threads.specials.get((e.name, e.axis))
    return v if v is not None else Other(INT, False)


def this_value(m: Machine, e: This) -> Value:
    return m.frame.this or Other(None, True)


def this_place(m: Machine, e: This) -> Pointer | Value:
    return m.frame.this or Other()


def lambda_value(m: Machine, e: Lambda) -> Value:
    """A lambda, with what it captures by value as it is now."""
    t = m.resolve(e.closure) if e.closure is not None else None
    captured: dict[str, Object] = {}
    for var in e.captures:
        captured[var.id] = _init_capture(m, var)
    copied = {n.id for n in e.copies}
    if e.copies_all:
        copied |= (
            _named(e.body) - {n.id for n in e.references} - {p.id for p in e.parameters} - captured.keys()
        )
    for id in sorted(copied):
        o = m.find(id)
        if o is not None and o.storage == "local" and id not in m.memory.globals:
            captured[id] = _copy(m, o, e)
    this = m.frame.this
    if e.copies_this and this is not None:
        here = load(m, this, e.place)
        o = Object("this", "this", this.pointee, "local", cells=Cells(_cells_of(here)), havoc=True)
        return Closure(e, m.frame, t, captured, Pointer(o, Int(0), this.pointee))
    return Closure(e, m.frame, t, captured)


_named = by_identity(names_in)


def _init_capture(m: Machine, var: Var) -> Object:
    """What `[x = expr]` makes."""
    t = m.resolve(var.type)
    assert var.init is not None
    if is_reference(t):
        return Object(var.id, var.name, t, "local", var, Cells({0: place_of(m, var.init)}))
    v = value_for(m, t, var.init)
    o = Object(var.id, var.name, type_of(v) if isinstance(t, OpaqueType) else t, "local", var, havoc=True)
    o.cells = Cells(at_home(o, 0, _cells_of(v)))
    return o


def _copy(m: Machine, o: Object, e: Lambda) -> Object:
    """A variable as it is now; of a reference, what it refers to."""
    target = o.cells.get(0)
    if not m.host and isinstance(o.type, RecordRef):
        made = begun(m, Name(o.id, o.name, e.place))
        if isinstance(made, RecordValue) and made.cells:
            own = Object(o.id, o.name, o.type, "local", o.var, uniform=o.uniform, havoc=o.havoc)
            own.cells.update(at_home(own, 0, made.cells))
            return own
    if not (is_reference(o.type) and isinstance(target, Pointer)):
        return Object(o.id, o.name, o.type, "local", o.var, Cells(o.cells), o.uniform, havoc=o.havoc)
    held = load(m, target, e.place)
    return Object(o.id, o.name, target.pointee, "local", o.var, Cells(_cells_of(held)), havoc=True)


def _cells_of(v: Value) -> dict[int, Value]:
    return v.cells if isinstance(v, RecordValue) else {0: v}


def size_of_value(m: Machine, e: SizeOf) -> Value:
    """Return what `sizeof` or `alignof` gives; an unknown number where the layout is not known for sure."""
    t: Type
    if isinstance(e.of, TYPES):
        t = m.resolve(e.of)
    else:
        p = unseen(m, e.of, lvalue)
        t = (
            p.pointee
            if isinstance(p, Pointer) and not isinstance(e.of, Unary | Call | Binary)
            else type_of(p)
        )
        if isinstance(e.of, Unary) and e.of.op == "*" and isinstance(p, Pointer):
            t = p.pointee
    n = m.types.align_of(t) if e.align else m.types.size_of(t)
    if n is None or m.types.is_loose(t):
        return m.unknowns.value(ULONG, "sizeof", low=1)
    return Int(n, ULONG)


def pack_size_value(m: Machine, e: PackSize) -> Value:
    n = length_of(m, e.pack)
    return m.unknowns.value(ULONG, "sizeof...", low=0) if n is None else Int(n, ULONG)


def unknown_value(m: Machine, e: UnknownExpr) -> Value:
    thrown = m.context.caught
    if e.reason == CAUGHT and thrown is not None and thrown.value is not None:
        return thrown.value
    values = [rvalue(m, part) for part in e.parts]
    for v in values:
        if isinstance(v, Pointer) and v.object.storage == "shared":
            escape(v)
            m.note("unknown-expression", f"{e.reason}, given the address of `{v.object.name}`", e.place)
    if e.reason == NOT_UNDERSTOOD and len(e.parts) > 1 and not m.host:
        target = unseen(m, e.parts[0], lvalue)  # it may be assigned
        if isinstance(target, Pointer) and target.object.storage == "local":
            target.object.lose()
    uniform = bool(values) and all(is_uniform(v) for v in values)
    return Other(None, uniform, Unresolved("unknown-expression", e.reason, e.place))
