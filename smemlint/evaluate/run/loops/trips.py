"""How often a loop still goes round, where evaluation knows it though the compiler does not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.analysis.trip_count import step_of
from smemlint.evaluate.machine.dispatch import unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.comparison import COMPARISONS
from smemlint.evaluate.values.number import Int
from smemlint.ir import Binary, Cast, Expr, Literal, Loop, Name, Unary
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import HANDED, holds, variables_set
from smemlint.ir.walk import names_in, walk

Ints = NDArray[np.int64]
_MOST = 1 << 40
MOST_COUNTED = 4096
"""Iterations from which on the compiler keeps any loop as one."""


def iterations_left(m: Machine, s: Loop, *, alike: bool = False) -> int | None:
    """Iterations that are left of a loop whose counter runs by a known step to a known end; None: not known.

    The lane that goes round most often counts. alike: only where all lanes go round as often. The condition
    is one that was just found to be known.
    """
    c = s.condition
    if not isinstance(c, Binary) or c.op not in ("<", "<=", ">", ">=", "!=") or s.step is None:
        return None
    if not isinstance(c.left, Name) or not is_plain(c.right):
        return None
    counter = c.left.id
    set_there = set_by(s)
    if counter in set_there or set_there & names_in(c.right):
        return None
    now, end, step = unseen(m, c.left), unseen(m, c.right), _counter_step(m, s.step, counter)
    if not (isinstance(now, Int) and now.known and isinstance(end, Int) and end.known) or step is None:
        return None
    op, by = step
    at, to = (
        np.broadcast_to(np.asarray(x.const, dtype=np.int64), (m.threads.size,))[m.may] for x in (now, end)
    )
    if not len(at) or (alike and ((at != at[0]).any() or (to != to[0]).any())):
        return None
    if op in ("+", "-"):
        return _counted(c.op, at, to, by if op == "+" else -by)
    return times_round(c.op, int(at.max()), int(to.min()), op, by)


def _counted(op: str, at: Ints, to: Ints, by: int) -> int | None:
    """Iterations of a counter that grows by `by`."""
    if by == 0 or (op in ("<", "<=") and by < 0) or (op in (">", ">=") and by > 0):
        return None
    way = (to - at) * (1 if by > 0 else -1) + (op in ("<=", ">="))
    left = int(np.maximum(-(-way // abs(by)), 0).max())
    return left if left < _MOST else None


def times_round(condition: str, value: int, end: int, op: str, by: int) -> int | None:
    """Iterations of a counter, gone through one by one; None for too many."""
    holds = COMPARISONS[condition]
    for trips in range(MOST_COUNTED):
        if not holds(value, end):
            return trips
        value = stepped(op, value, by)
    return None


def stepped(op: str, value: int, by: int) -> int:
    """What a counter is after a step."""
    if op in ("+", "-"):
        return value + by if op == "+" else value - by
    if op in ("<<", ">>"):
        return value << by if op == "<<" else value >> by
    return value * by if op == "*" else value // by if by else value


def is_plain(e: Expr) -> bool:
    """Whether an expression only reads variables."""
    kinds = (Name, Literal, Binary, Cast, Unary)
    plain = all(isinstance(n, kinds) or not isinstance(n, Expr) for n in walk(e))
    return plain and not holds(e, (), HANDED)


@by_identity
def set_by(s: Loop) -> frozenset[str]:
    """Variables that the body assigns to, or whose address it takes."""
    return variables_set(walk(s.body), HANDED)


def _counter_step(m: Machine, e: Expr, counter: str) -> tuple[str, int] | None:
    """(operator, number) of the step expression."""
    op, value = step_of(e, counter) or ("", e)
    if isinstance(value, int):
        return op, value
    if not op or not is_plain(value):
        return None
    by = unseen(m, value)
    if not isinstance(by, Int) or not by.known or not isinstance(by.const, int):
        return None
    if (op in ("*", "/") and by.const < 2) or (op in ("<<", ">>") and not 0 < by.const < 32):
        return None
    return op, by.const
