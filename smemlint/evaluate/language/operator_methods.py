"""Operators of records as they stand in a template: `*it`, `++it`, `a != b`, `total += x` before clang knows
that a class of the program declares them."""

from __future__ import annotations

from smemlint.evaluate.language.overloads import declared_operators, methods_of
from smemlint.evaluate.language.places import type_at
from smemlint.evaluate.machine.machine import Machine
from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Expr,
    InitList,
    Literal,
    Member,
    PointerTo,
    RecordRef,
    Type,
    Unary,
)

_POSTFIX = ("x++", "x--")


def operator_method(m: Machine, e: Unary | Binary | Assign) -> Expr | None:
    """The call of a method that an operator means; None where it is the language's own."""
    declared = declared_operators(m.module)
    if not declared or e.op == "=":
        return None
    op = e.op.replace("x", "")
    if op not in declared and not (op == "!=" and "==" in declared):
        return None
    first, rest = _operands(e)
    if rest and isinstance(rest[0], InitList):
        return None
    t = _type(m, first)
    if _returned(m, t, op, len(rest)) is not None:
        return Call(Member(first, f"operator{op}", place=e.place), rest, e.place)
    if op == "!=" and _returned(m, t, "==", 1) is not None:
        return Unary("!", Call(Member(first, "operator==", place=e.place), rest, e.place), e.place)
    return None


def _operands(e: Unary | Binary | Assign) -> tuple[Expr, tuple[Expr, ...]]:
    """The object of an operator, and the arguments of its method."""
    if isinstance(e, Unary):
        return e.operand, (Literal(0),) if e.op in _POSTFIX else ()
    if isinstance(e, Binary):
        return e.left, (e.right,)
    return e.target, (e.value,)


def _type(m: Machine, e: Expr) -> Type | None:
    """The type of an operand, where nothing must run to tell it: `i`, `a[k].b`, `i + 1`."""
    if not isinstance(e, Unary | Binary):
        return type_at(m, e)
    first, rest = _operands(e)
    t = _returned(m, _type(m, first), e.op.replace("x", ""), len(rest))
    return t.to if isinstance(t, PointerTo) and t.reference else t


def _returned(m: Machine, t: Type | None, op: str, count: int) -> Type | None:
    """What a record's method for an operator with so many arguments returns; None where it has none."""
    found = m.types.record_of(t) if isinstance(t, RecordRef) else None
    if found is None or t is None:
        return None
    methods = [f for f in methods_of(m, t, f"operator{op}") if len(f.parameters) == count]
    return m.types.resolve(methods[0].returns, found[1]) if methods else None
