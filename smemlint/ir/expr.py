"""Words that expressions use, and questions about expressions."""

from __future__ import annotations

from typing import TypeGuard

from smemlint.ir.nodes import (
    Asm,
    Assign,
    Cast,
    Construct,
    Expr,
    Index,
    Lambda,
    Member,
    Name,
    Unary,
    UnknownExpr,
)

STEPS = ("++x", "--x", "x++", "x--")
"""The operators of a Unary that change what they stand at."""
NOT_UNDERSTOOD = "not understood by clang"
"""Of an UnknownExpr: its parts are those of an operator or call that clang could not resolve."""
CONVERSION_NAME = "operator conversion"
"""The one name of all conversion functions of a record; `Function.returns` tells them apart."""
PLACED = "new at"
"""The function that `new (p) T(...)` calls: it is given p as a `T *`, and what the object begins as."""
OBJECT = -1
"""Among the numbers of arguments: the object that a method is called on."""
UNREAD = -2
"""Among them: the program declares the function, and no file defines it."""
SHARED = ("shared", "extern_shared")
"""The storages of a Var in shared memory."""
UNSHARED = "unnamed-union"
"""The code of the UnknownStmt behind a `__shared__` that does nothing."""


def uncopied(e: Expr) -> Expr:
    """The expression below the casts and copies around it."""
    while True:
        if isinstance(e, Cast):
            e = e.operand
        elif isinstance(e, Construct) and len(e.arguments) == 1:
            e = e.arguments[0]
        else:
            return e


def uncast(e: Expr) -> Expr:
    """The expression below the casts around it."""
    while isinstance(e, Cast):
        e = e.operand
    return e


def is_element(e: object) -> TypeGuard[Index | Member | Unary]:
    """Whether an expression is an element of an array, a member, or what a pointer leads to."""
    return isinstance(e, Index | Member) or (isinstance(e, Unary) and e.op == "*")


def is_lvalue(e: object) -> bool:
    """Whether an expression is the name of a variable, or of a part of one."""
    return isinstance(e, Name) or is_element(e)


def may_have_effect(n: object) -> bool:
    """Whether a node by itself may do more than give a value; calls are not looked into."""
    return isinstance(n, Assign | Asm | Construct | Lambda | UnknownExpr) or (
        isinstance(n, Unary) and n.op in STEPS
    )
