"""Conditions that move a pointer, and set a few variables beside at most: `if (c) p += 4;`, `c ? p + 4 : p`.

nvcc makes a choice of them, and no branch (see `compiler/joining/chosen_pointers.py`).
"""

from __future__ import annotations

from enum import Enum, auto

from smemlint.ir import (
    STEPS,
    Assign,
    Binary,
    Call,
    Conditional,
    Evaluate,
    Expr,
    If,
    Index,
    Literal,
    Name,
    Stmt,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import assignment, holds, statements


class Moves(Enum):
    """Of two pointers that a condition chooses from, the one that the other is made of: it stays where it is
    on its way."""

    FROM_FIRST = auto()
    FROM_SECOND = auto()
    PERHAPS = auto()
    """Either, or it is no choice but a branch."""


@by_identity
def moves(code: If | Conditional) -> Moves | None:
    """Return what may become of a pointer that one way of a condition moves; None: it is no choice, or both
    ways move it."""
    if isinstance(code, Conditional):
        if _is_further(code.otherwise, code.then):
            return Moves.FROM_FIRST
        return Moves.FROM_SECOND if _is_further(code.then, code.otherwise) else Moves.PERHAPS
    sets = _computing(code.then) if _only_sets(code.then) else None
    if not sets:
        return None
    if code.otherwise is None:
        return Moves.FROM_SECOND if len(sets) == 1 and _is_step(sets[0]) else Moves.PERHAPS
    ladder = statements(code.otherwise)
    return Moves.PERHAPS if len(ladder) == 1 and isinstance(ladder[0], If) and moves(ladder[0]) else None


def _is_further(e: Expr, start: Expr) -> bool:
    """Whether an expression is another one and a number."""
    return isinstance(e, Binary) and e.op in ("+", "-") and show(e.left) == show(start)


def _is_step(s: Stmt) -> bool:
    """Whether a statement moves on what it sets."""
    a = assignment(s)
    return a is None or a.op in ("+=", "-=") or (a.op == "=" and _is_further(a.value, a.target))


def _only_sets(arm: Stmt | None) -> bool:
    """Whether an arm sets variables, and reads no memory for that."""
    return all(
        isinstance(s, Evaluate)
        and ((isinstance(s.expr, Assign) and isinstance(s.expr.target, Name)) or _is_increment(s.expr))
        and not holds(s, (Index, Call), ("*",))
        for s in statements(arm)
    )


def _is_increment(e: object) -> bool:
    return isinstance(e, Unary) and e.op in STEPS and isinstance(e.operand, Name)


def _computing(arm: Stmt | None) -> list[Stmt]:
    """The statements of an arm that compute what they set."""
    found: tuple[Stmt, ...] = statements(arm)
    return [s for s in found if not _is_plain(assignment(s))]


def _is_plain(a: Assign | None) -> bool:
    return a is not None and a.op == "=" and isinstance(a.value, Literal | Name)
