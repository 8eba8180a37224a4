"""Ladders of conditions of which all arms end with a store to one place: one store, or one in each arm.

    if (a) s[i] = w; else if (b) s[i] = u + v; else s[i] = 0;       // one, of the value that was chosen
    if (a) s[i] = w; else if (b) s[i] = u; else s[i] = 0;           // one in each arm

The innermost two arms decide: they become one where one of them computes what it stores, and then the arm
around joins them. A load in any arm keeps all apart. Read from machine code of 500 bodies, nvcc 13.0 for
sm_90 (docs/dev/joining.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from smemlint.evaluate.analysis.arms.sunk_values import sinks
from smemlint.evaluate.analysis.parts_read.halves import is_own, loads
from smemlint.ir import (
    Assign,
    Call,
    Expr,
    FloatLiteral,
    Function,
    If,
    Index,
    Literal,
    Name,
    Stmt,
)
from smemlint.ir.expr import is_element, may_have_effect, uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import assignment, last_statement, only_statement
from smemlint.ir.walk import nodes_of, walk
from smemlint.records import record
from smemlint.toolkit.compiled import Code, code_of_call


class Made(Enum):
    """Whether nvcc makes one of several things, or leaves them apart; PERHAPS: it is not known."""

    ONE = auto()
    PERHAPS = auto()
    APART = auto()


@record(frozen=True, eq=False, slots=True)
class Ladder:
    """Conditions, outermost first, and what their arms store. made: what becomes of their stores; looped:
    that is sure only in loops that disappear."""

    conditions: tuple[If, ...]
    ends: tuple[Assign, ...]
    made: Made
    looped: bool


@by_identity
def ladders(f: Function) -> Mapping[int, Ladder]:
    """By id() of each `if` in one: the outermost ladders of three arms or more."""
    found: dict[int, Ladder] = {}
    for n in nodes_of(f.body):
        if not isinstance(n, If) or id(n) in found:
            continue
        ends = _last_of(n)
        given = tuple(e for e in ends if e is not None)
        if len(ends) < 3 or len(given) < len(ends) or len({show(e.target) for e in given}) > 1:
            continue
        inside = tuple(x for x in walk(n) if isinstance(x, If) and x.otherwise is not None)
        values = [e.value for e in given]
        looped = any(is_own(f, x) for v in values for x in walk(v)) or any(loads(f, v) for v in values[1:])
        one = Ladder(inside, given, _merged_store(f, inside, values), looped)
        found |= {id(x): one for x in inside}
    return found


def _last_of(s: Stmt | None) -> list[Assign | None]:
    """What all arms of a ladder store at their ends; None of one that does something else there."""
    last = last_statement(s)
    if isinstance(last, If) and last.otherwise is not None:
        return [*_last_of(last.then), *_last_of(last.otherwise)]
    given = assignment(last)
    return [given if given is not None and given.op == "=" and is_element(given.target) else None]


def _merged_store(f: Function, conditions: tuple[If, ...], values: list[Expr]) -> Made:
    inner = [x for x in conditions if len(_last_of(x)) == 2]
    at_hand = all(isinstance(uncast(e.value), _AT_HAND) for x in inner for e in _last_of(x) if e is not None)
    arms = [arm for x in conditions for arm in (x.then, x.otherwise)]
    alone = all(only_statement(arm) is last_statement(arm) for arm in arms)
    if not alone or len(inner) > 1 or any(id(x.condition) in sinks(f) for x in conditions):
        return Made.PERHAPS
    loading = [loads(f, v) for v in values]
    if any(loading) or at_hand:
        return Made.PERHAPS if all(loading) else Made.APART
    calls = (n.callee for v in values for n in walk(v) if isinstance(n, Call))
    known = all(code_of_call(getattr(c, "name", "")) in (Code.OPERATION, Code.STRAIGHT) for c in calls)
    plain = not any(may_have_effect(n) for v in values for n in walk(v))
    # a number in front, or beside a ladder in the first arm, may keep its own store
    nested = not isinstance(last_statement(conditions[0].otherwise), If)
    numbers = [isinstance(uncast(v), Literal | FloatLiteral) for v in values]
    own = {show(n) for v in values for n in walk(v) if isinstance(n, Index) and is_own(f, n)}
    asked = {show(n) for x in conditions for n in walk(x.condition) if isinstance(n, Index) and is_own(f, n)}
    doubtful = numbers[0] or (nested and any(numbers)) or bool(own & asked)
    return Made.ONE if known and plain and not doubtful else Made.PERHAPS


_AT_HAND = (Name, Literal, FloatLiteral)
