"""Operators of records as they stand in a template: `*it`, `++it`, `a != b`, `total += x` before clang knows
that a class of the program declares them."""

from __future__ import annotations

from smemlint.evaluate.language.expression_types import type_of_expression
from smemlint.evaluate.language.overloads import declared_operators, methods_of, takes_own
from smemlint.evaluate.machine.machine import Machine
from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Expr,
    InitList,
    Literal,
    Member,
    RecordRef,
    Type,
    Unary,
)

_POSTFIX = ("x++", "x--")


def operator_method(m: Machine, e: Unary | Binary | Assign) -> Expr | None:
    """The call of a method that an operator means; None where it is the language's own."""
    declared = declared_operators(m.module)
    if not declared:
        return None
    op = e.op.replace("x", "")
    if op not in declared and not (op == "!=" and "==" in declared):
        return None
    first, rest = _operands(e)
    if rest and isinstance(rest[0], InitList):
        return None
    found = type_of_expression(m, first)
    if found is None or not isinstance(found.type, RecordRef):
        return None
    if op == "=" and not _assigns_others(m, found.type, rest[0]):
        return None
    if _has(m, found.type, op, len(rest)):
        return Call(Member(first, f"operator{op}", place=e.place), rest, e.place)
    if op == "!=" and _has(m, found.type, "==", 1):
        return Unary("!", Call(Member(first, "operator==", place=e.place), rest, e.place), e.place)
    return None


def _assigns_others(m: Machine, t: RecordRef, value: Expr) -> bool:
    """Whether a value that is none of its class is given to an object whose class says what that means."""
    own = methods_of(m, t, "operator=")
    if all(takes_own(f) for f in own):
        return False
    given = type_of_expression(m, value)
    return given is None or given.type != t


def _has(m: Machine, t: Type, op: str, count: int) -> bool:
    """Whether a record has a method for an operator with so many arguments."""
    return any(len(f.parameters) == count for f in methods_of(m, t, f"operator{op}"))


def _operands(e: Unary | Binary | Assign) -> tuple[Expr, tuple[Expr, ...]]:
    """The object of an operator, and the arguments of its method."""
    if isinstance(e, Unary):
        return e.operand, (Literal(0),) if e.op in _POSTFIX else ()
    if isinstance(e, Binary):
        return e.left, (e.right,)
    return e.target, (e.value,)
