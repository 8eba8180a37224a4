"""Addresses with which both arms of a condition begin: the optimiser makes them once, in front of it.

if (c) s[2 * t] = 1; else x = s[2 * t];
"""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.ir import (
    Binary,
    Call,
    Conditional,
    Declare,
    Expr,
    Index,
    Literal,
    Name,
    Special,
    Unary,
)
from smemlint.ir.expr import is_element, uncast
from smemlint.ir.show import show
from smemlint.ir.uses import assignment, statements
from smemlint.ir.walk import children


def reads_alike(then: object, otherwise: object) -> int:
    """Return how many reads both arms begin with, with the same arithmetic between them: the optimiser makes
    them once, in front."""
    found = 0
    for one, other in zip(_reads_and_sets(then), _reads_and_sets(otherwise), strict=False):
        if one != other:
            break
        found += one[0]
    return found


def leads(then: object, otherwise: object) -> str | None:
    """Return the address, as text, that both arms make before anything else."""
    one, other = next(_reads_and_sets(then), None), next(_reads_and_sets(otherwise), None)
    return one[1] if one is not None and other is not None and one[1] == other[1] else None


def is_plain(e: Expr | None) -> bool:
    """Return whether the address of an element takes nothing that is computed but sums with numbers."""
    while isinstance(e, Index):
        if not _is_plain_index(e.index):
            return False
        e = uncast(e.base)
    return isinstance(e, Name)


def _is_plain_index(e: Expr) -> bool:
    e = uncast(e)
    if isinstance(e, Binary) and e.op in ("+", "-") and isinstance(uncast(e.right), Literal):
        return _is_plain_index(e.left)
    return isinstance(e, Name | Special | Literal)


def _reads_and_sets(arm: object) -> Iterator[tuple[bool, str]]:
    """What an arm does, in order, as far as it only computes and sets variables: whether a step reads an
    element, and its text."""
    if isinstance(arm, Expr):
        yield from _of_value(arm)
        return
    for s in statements(arm):
        if isinstance(s, Declare) and s.var.init is None:
            continue
        a = assignment(s)
        if a is None:
            return
        yield from _of_value(a.value)
        if not isinstance(a.target, Name):
            yield (a.op != "=", show(a.target))
            return
        if a.op != "=":
            yield False, show(a)


def _of_value(e: Expr) -> Iterator[tuple[bool, str]]:
    e = uncast(e)
    if is_element(e):
        yield True, show(e)
    elif isinstance(e, Binary | Unary | Call | Conditional):
        for part in e.arguments if isinstance(e, Call) else children(e):
            if isinstance(part, Expr):
                yield from _of_value(part)
        yield False, show(e)
