"""Words that expressions use, and questions about expressions."""

from __future__ import annotations

from smemlint.ir.nodes import Cast, Construct, Expr

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
