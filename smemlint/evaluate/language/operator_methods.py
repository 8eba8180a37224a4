"""Operators of records as they stand in a template: `*it`, `++it`, `a != b`, `total += x` before clang knows
that a class of the program, or a function for it, declares them."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.language.expression_types import Typed, type_of_expression
from smemlint.evaluate.language.meant import choices_here
from smemlint.evaluate.language.overloads import (
    declared_operators,
    free_operators,
    methods_of,
    takes_own,
    taking,
)
from smemlint.evaluate.machine.machine import Machine
from smemlint.ir import (
    Assign,
    Binary,
    Call,
    Expr,
    Function,
    InitList,
    Literal,
    Member,
    Name,
    Place,
    RecordRef,
    Type,
    Unary,
)

_POSTFIX = ("x++", "x--")


def operator_method(m: Machine, e: Unary | Binary | Assign) -> Expr | None:
    """The call of a method or function that an operator means; None where it is the language's own. Nobody
    uses what it gives where nobody uses the operator's value."""
    called = _operator_call(m, e)
    if called is not None and m.context.discarded is e:
        m.context.discarded = called
    return called


def _operator_call(m: Machine, e: Unary | Binary | Assign) -> Expr | None:
    op = e.op.replace("x", "")
    declared, outside = declared_operators(m.module), free_operators(m.module, op)
    if op not in declared and not (op == "!=" and "==" in declared) and not outside:
        return None
    first, rest = _operands(e)
    if rest and isinstance(rest[0], InitList):
        return None
    known = [m.module.functions[id] for id in {c.id for c in choices_here(m, e.place)}]
    if len(known) == 1 and known[0].name == f"operator{op}":
        if known[0].record is None:
            return Call(Name(known[0].id, known[0].name, e.place), (first, *rest), e.place)
        return Call(Member(first, known[0].name, place=e.place), rest, e.place)
    found = type_of_expression(m, first)
    if outside and (called := _function(m, outside, found, (first, *rest), e.place)) is not None:
        return called
    if found is None or not isinstance(found.type, RecordRef):
        return None
    if op == "=" and not _assigns_others(m, found.type, rest[0]):
        return None
    if _has(m, found.type, op, len(rest)):
        return Call(Member(first, f"operator{op}", place=e.place), rest, e.place)
    if op == "!=" and _has(m, found.type, "==", 1):
        return Unary("!", Call(Member(first, "operator==", place=e.place), rest, e.place), e.place)
    return None


def _function(
    m: Machine,
    functions: Sequence[Function],
    first: Typed | None,
    operands: tuple[Expr, ...],
    at: Place | None,
) -> Expr | None:
    """The call of the only function of an operator that takes such operands, one of them of a class."""
    others = [type_of_expression(m, e) for e in operands[1:]]
    given = [t.type if t is not None else None for t in (first, *others)]
    if not any(isinstance(t, RecordRef) for t in given):
        return None
    fitting = taking(m, functions, given)
    return Call(Name(fitting[0][0].id, fitting[0][0].name, at), operands, at) if len(fitting) == 1 else None


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
