"""Expressions without operands: literals, what the hardware gives, `sizeof`, `this`, lambdas."""

from __future__ import annotations

from smemlint.evaluate.accesses import escape
from smemlint.evaluate.conversions import type_of
from smemlint.evaluate.dispatch import lvalue, rvalue
from smemlint.evaluate.layout import TYPES
from smemlint.evaluate.machine import Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import Closure, Int, Other, Pointer, Value, is_uniform
from smemlint.ir import (
    Binary,
    Call,
    FloatLiteral,
    Lambda,
    Literal,
    SizeOf,
    Special,
    StringLiteral,
    This,
    Type,
    Unary,
    UnknownExpr,
)
from smemlint.ir.types import INT, ULONG


def literal_value(m: Machine, e: Literal) -> Value:
    return Int(e.value, e.type)


def float_value(m: Machine, e: FloatLiteral) -> Value:
    return Other(e.type, True, None, e.value)


def string_value(m: Machine, e: StringLiteral) -> Value:
    return Other(None, True)


def special_value(m: Machine, e: Special) -> Value:
    m.asked.add((e.name, e.axis))
    v = m.specials.get((e.name, e.axis))
    return v if v is not None else Other(INT, False)


def this_value(m: Machine, e: This) -> Value:
    return m.frame.this or Other(None, True)


def this_place(m: Machine, e: This) -> Pointer | Value:
    return m.frame.this or Other()


def lambda_value(m: Machine, e: Lambda) -> Value:
    return Closure(e, m.frame, m.resolve(e.closure) if e.closure is not None else None)


def size_of_value(m: Machine, e: SizeOf) -> Value:
    t: Type
    if isinstance(e.of, TYPES):
        t = m.resolve(e.of)
    else:
        m.silent += 1
        p = lvalue(m, e.of)
        m.silent -= 1
        t = (
            p.pointee
            if isinstance(p, Pointer) and not isinstance(e.of, Unary | Call | Binary)
            else type_of(p)
        )
        if isinstance(e.of, Unary) and e.of.op == "*" and isinstance(p, Pointer):
            t = p.pointee
    n = m.types.align_of(t) if e.align else m.types.size_of(t)
    if n is None:
        return m.unknowns.value(ULONG, "sizeof", low=1)
    return Int(n, ULONG)


def unknown_value(m: Machine, e: UnknownExpr) -> Value:
    values = [rvalue(m, part) for part in e.parts]
    for v in values:
        if isinstance(v, Pointer) and v.object.storage == "shared":
            escape(v)
            m.note("unknown-expression", f"{e.reason}, given the address of `{v.object.name}`", e.place)
    uniform = bool(values) and all(is_uniform(v) for v in values)
    return Other(None, uniform, Unresolved("unknown-expression", e.reason, e.place))
