"""By which statements code is left."""

from __future__ import annotations

from typing import get_args

from smemlint.ir.memo import by_identity
from smemlint.ir.nodes import Break, Continue, Goto, Return, Stmt
from smemlint.ir.walk import children

_STATEMENTS = get_args(Stmt)
_JUMPS = (Break, Continue, Goto, Return)
_MOST = 1 << 16
"""Statements that are remembered: more than one file has, for what is forgotten is asked for again by all
that stand around it."""


def jumps_in(s: Stmt) -> frozenset[type]:
    """Return which of break, continue, goto and return stand at or below a statement, also in lambdas."""
    return _known(s)


def _found(s: Stmt) -> frozenset[type]:
    found = {type(s)} if isinstance(s, _JUMPS) else set()
    waiting = list(children(s))
    while waiting:
        node = waiting.pop()
        if isinstance(node, _STATEMENTS):
            found |= jumps_in(node)
        else:
            waiting += children(node)
    return frozenset(found)


_known = by_identity(_found, _MOST)
