"""Values of which both arms of a condition load one part, and in which nothing else differs: nvcc chooses the
address, then loads, whatever else the arms do (docs/dev/joining.md).

In: the code of two arms. Out: the elements of each, by pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from smemlint.evaluate.analysis.purity import computes
from smemlint.ir import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Declare,
    Evaluate,
    Expr,
    FloatLiteral,
    If,
    Index,
    Literal,
    Member,
    Name,
    Stmt,
    Switch,
    Unary,
    UnknownExpr,
)
from smemlint.ir.expr import is_element, may_have_effect
from smemlint.ir.jumps import jumps_in
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import assignment, only_statement, statements
from smemlint.ir.walk import names_in, walk

Pair: TypeAlias = tuple[Expr | Stmt, Expr | Stmt]
_LEFT_ALONE = ("&&", "||", ",")
_NUMBERS = (Name, Literal, FloatLiteral, Index, Member)
"""What is at hand, or loaded: of these the value is chosen."""


def chosen_values(
    then: Expr | Stmt | None, otherwise: Expr | Stmt | None, *, tail: bool = False
) -> list[Pair]:
    """The elements of two arms of which one is loaded: of `c ? a : b`, or of what both arms of an `if` set.
    tail: lanes may differ in which arm they take: then what is the same code but for its numbers is one."""
    if then is None or otherwise is None:
        return []
    if not _is_statement(then) or not _is_statement(otherwise):
        both = not _is_statement(then) and not _is_statement(otherwise)
        return (_differences(then, otherwise, tail) or _differences(then, otherwise) or []) if both else []
    pairs = _met_in_turn(then, otherwise) if tail else None
    if pairs is not None:
        return pairs
    one, other = _assigned_last(then), _assigned_last(otherwise)
    pairs = []
    for name, a in one.items():
        b = other.get(name)
        if b is not None and a.op == b.op:
            pairs += _differences(a.value, b.value) or []
    return pairs


def is_of_one_value(then: Expr | Stmt | None, otherwise: Expr | Stmt | None, *, tail: bool = False) -> bool:
    """Whether all arms of a ladder give one value that differs in an element alone (tail: or in numbers)."""
    one: Expr | Stmt | None = only_statement(then)
    other: Expr | Stmt | None = only_statement(otherwise)
    if isinstance(other, If):
        if not is_of_one_value(other.then, other.otherwise, tail=tail):
            return False
        other = only_statement(other.then)
    return not isinstance(one, Block | If) and len(chosen_values(one, other, tail=tail)) == 1


@by_identity
def ladder(s: Switch) -> If | None:
    """`if`, `else if`, `else` for a switch whose cases all give one value, which nvcc treats alike."""
    arms = _arms(s)
    if arms is None or any(jumps_in(arm) for _, arm in arms) or any(map(may_have_effect, walk(s.value))):
        return None
    if any(isinstance(n, Call | Index) for n in walk(s.value)):
        return None
    rest = next((at for at, (labels, _) in enumerate(arms) if None in labels), None)
    if rest is None and _is_each_value(s.value, [x for labels, _ in arms for x in labels]):
        rest = len(arms) - 1
    if rest is None or len(arms) < 2:
        return None
    found: Stmt = arms.pop(rest)[1]
    for labels, arm in reversed(arms):
        asked = [Binary("==", s.value, label, s.place) for label in labels if label is not None]
        condition = asked[0]
        for one in asked[1:]:
            condition = Binary("||", condition, one, s.place)
        found = If(condition, arm, found, place=s.place)
    assert isinstance(found, If)
    return found if is_of_one_value(found.then, found.otherwise) or _is_of_values(found) else None


def _is_of_values(s: If) -> bool:
    """Whether all arms of a ladder give some variable a value that differs in an element alone, and the rest
    of them is no call, which may hold a way of its own."""
    return bool(_set_by_all(s)) and not any(isinstance(n, Call) for n in walk((s.then, s.otherwise)))


def _arms(s: Switch) -> list[tuple[list[Expr | None], Block]] | None:
    """What runs for which labels (None: all others); None where one case falls into the next."""
    arms: list[tuple[list[Expr | None], Block]] = []
    labels: list[Expr | None] = []
    for case in s.cases:
        labels.append(case.value)
        if isinstance(case.value, UnknownExpr):
            return None
        whole = case.body[0] if len(case.body) == 1 else None
        body = whole.body if isinstance(whole, Block) else case.body
        if not body:
            continue
        ends = isinstance(body[-1], Break)
        if not ends and case is not s.cases[-1]:
            return None
        arms.append((labels, Block(body[:-1] if ends else body)))
        labels = []
    return None if labels else arms


def _is_each_value(e: Expr, labels: list[Expr | None]) -> bool:
    """Whether `x & 3` has no value but these."""
    mask = e.right.value if isinstance(e, Binary) and e.op == "&" and isinstance(e.right, Literal) else None
    named = {x.value for x in labels if isinstance(x, Literal)}
    return mask is not None and named == set(range(len(labels))) and len(labels) == mask + 1


def _met_in_turn(then: Expr | Stmt, otherwise: Expr | Stmt) -> list[Pair] | None:
    """The elements of arms that do the same one after the other; None where they do not."""
    one, other = statements(then), statements(otherwise)
    if len(one) != len(other):
        return None
    pairs: list[Pair] = []
    for i, (s, t) in enumerate(zip(one, other, strict=True)):
        x, y = assignment(s), assignment(t)
        if x is None or y is None or isinstance(s, Declare) is not isinstance(t, Declare) or x.op != y.op:
            return None
        if isinstance(s, Evaluate) and (
            show(x.target) != show(y.target) or not (isinstance(x.target, Name) or i == len(one) - 1)
        ):
            return None
        met = _differences(x.value, y.value, tail=True)
        if met is None:
            return None
        pairs += met
    return pairs


def _is_statement(x: Expr | Stmt) -> bool:
    return isinstance(x, Block | Evaluate | If | Declare)


def _assigned_last(arm: Expr | Stmt) -> dict[str, Assign]:
    """By variable the assignments of an arm whose values are needed behind it alone; none where it is more
    than a line. An arm that is an `if` gives what both of its arms give."""
    one = only_statement(arm) if isinstance(arm, Block | If) else arm
    if isinstance(one, If):
        return _set_by_all(one)
    found: dict[str, Assign] = {}
    done: set[str] = set()
    own: dict[str, Expr] = {}
    for s in statements(arm):
        e = s.expr if isinstance(s, Evaluate) else s.var.init if isinstance(s, Declare) else None
        if e is None or any(may_have_effect(n) for n in walk(e) if n is not e):
            return {}
        if isinstance(s, Declare):
            own[s.var.id] = e
        elif isinstance(e, Assign) and names_in(e.value) & own.keys():
            e = replace(e, value=_put_in(e.value, own))
        read = names_in(e.value) | names_in(e.target) if isinstance(e, Assign) else names_in(e)
        for name in read & found.keys():
            del found[name]
        if isinstance(e, Assign) and isinstance(e.target, Name):
            if e.target.id not in done:
                found[e.target.id] = e
            done.add(e.target.id)
        elif isinstance(e, Assign):
            found.clear()  # a load does not move past a store
        elif may_have_effect(e):
            return {}
    return found


def _set_by_all(s: If) -> dict[str, Assign]:
    """What both arms of an `if` give, as the first one gives it."""
    other = _assigned_last(s.otherwise) if s.otherwise is not None else {}
    return {
        name: a
        for name, a in _assigned_last(s.then).items()
        if (b := other.get(name)) is not None and a.op == b.op and _differences(a.value, b.value)
    }


def _put_in(e: Expr, own: Mapping[str, Expr]) -> Expr:
    """An expression with what variables of the arm begin with in their places."""
    if isinstance(e, Name):
        return own.get(e.id, e)
    if isinstance(e, Cast | Unary):
        return replace(e, operand=_put_in(e.operand, own))
    if isinstance(e, Binary):
        return replace(e, left=_put_in(e.left, own), right=_put_in(e.right, own))
    return e


def _differences(a: Expr | Stmt, b: Expr | Stmt, tail: bool = False) -> list[Pair] | None:
    """The elements in which two values differ, each operation in at most one operand; None where they differ
    in more. tail: numbers may differ as well, in all operands."""
    if not tail and show(a) == show(b):
        return [] if not any(isinstance(n, Call) for n in walk(a)) else None
    if is_element(a) and is_element(b):
        return [(a, b)]
    if tail and isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        return []
    if isinstance(a, Cast) and isinstance(b, Cast) and a.type == b.type:
        return _differences(a.operand, b.operand, tail)
    if isinstance(a, Unary) and isinstance(b, Unary) and a.op == b.op == "-":
        return _differences(a.operand, b.operand, tail)
    if tail and isinstance(a, Call) and isinstance(b, Call):
        return _met_arguments(a, b)
    if not isinstance(a, Binary) or not isinstance(b, Binary) or a.op != b.op or a.op in _LEFT_ALONE:
        return None
    if tail:
        left, right = _differences(a.left, b.left, tail), _differences(a.right, b.right, tail)
        return None if left is None or right is None else left + right
    for x, y, p, q in ((a.left, b.left, a.right, b.right), (a.right, b.right, a.left, b.left)):
        if show(x) == show(y) and not any(is_element(n) for n in walk(x)):
            return _differences(p, q)
    return None


def _met_arguments(a: Call, b: Call) -> list[Pair] | None:
    """Of two calls of one function that only computes."""
    if not computes(a) or show(a.callee) != show(b.callee) or len(a.arguments) != len(b.arguments):
        return None
    pairs: list[Pair] = []
    for x, y in zip(a.arguments, b.arguments, strict=True):
        met = _differences(x, y, tail=True)
        if met is None:
            return None
        pairs += met
    return pairs
