"""Arms of an `if` that are the same code but for the shared arrays that they read: nvcc chooses the address,
then loads (`if (c) v = a[i]; else v = b[j];` is `v = c ? a[i] : b[j];`, docs/dev/joining.md).

In: an `if`. Out: the code that runs in its place, if there is such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from smemlint.ir import (
    STEPS,
    Asm,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Construct,
    Evaluate,
    Expr,
    If,
    Index,
    Lambda,
    Name,
    Stmt,
    Unary,
    UnknownExpr,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import holds, only_statement
from smemlint.ir.walk import names_in

_DOES = (Assign, Asm, Call, Construct, Index, Lambda, UnknownExpr)


@by_identity
def one_arm(s: If) -> tuple[Evaluate, ...]:
    """What both arms do, with a choice wherever they read different elements; nothing where they differ in
    more, or where the condition may not be asked twice."""
    if s.constexpr or s.otherwise is None or not _is_plain(s.condition):
        return ()
    then, otherwise = _assignments(s.then), _assignments(s.otherwise)
    if not then or otherwise is None or then.keys() != otherwise.keys():
        return ()
    changed = {a.target.id for a in then.values() if isinstance(a.target, Name)}
    if changed & names_in(s.condition) or (
        len(then) > 1 and not _are_independent((*then.values(), *otherwise.values()), changed)
    ):
        return ()
    found: list[Evaluate] = []
    for key, a in then.items():
        b = otherwise[key]
        value = _unified(s.condition, a.value, b.value) if a.op == b.op else None
        if value is None:
            return ()
        found.append(Evaluate(replace(a, value=value)))
    return tuple(found)


@by_identity
def in_another_order(s: If) -> bool:
    """Whether the two arms give the same variables in another order."""
    then, otherwise = _assignments(s.then), _assignments(s.otherwise) if s.otherwise is not None else None
    return list(then or ()) != list(otherwise or ())


def _assignments(s: Stmt) -> Mapping[str, Assign] | None:
    """By target the assignments that an arm is, of variables, or one of anything; an arm may be an `if` whose
    arms are one."""
    one = only_statement(s)
    body = one_arm(one) if isinstance(one, If) else one.body if isinstance(one, Block) else (one,)
    found: dict[str, Assign] = {}
    for part in body:
        if not isinstance(part, Evaluate) or not isinstance(part.expr, Assign):
            return None
        if len(body) > 1 and not isinstance(part.expr.target, Name):
            return None
        found[show(part.expr.target)] = part.expr
    return found if len(found) == len(body) else None


def _are_independent(assignments: tuple[Assign, ...], changed: set[str]) -> bool:
    """Whether no value needs a variable that is set beside it."""
    return all(
        names_in(a.value).isdisjoint(changed) and (a.op == "=" or isinstance(a.target, Name))
        for a in assignments
    )


def _is_plain(e: Expr) -> bool:
    """Whether asking twice is asking once."""
    return not holds(e, _DOES, (*STEPS, "*"))


def _unified(c: Expr, a: Expr, b: Expr) -> Expr | None:
    """One expression for two that differ in the elements they read."""
    if show(a) == show(b):
        return a
    if isinstance(a, Index | Conditional) and isinstance(b, Index | Conditional):
        return Conditional(c, a, b, a.place)
    if isinstance(a, Cast) and isinstance(b, Cast) and a.type == b.type:
        inner = _unified(c, a.operand, b.operand)
        return None if inner is None else replace(a, operand=inner)
    if isinstance(a, Unary) and isinstance(b, Unary) and a.op == b.op and a.op not in STEPS:
        inner = _unified(c, a.operand, b.operand)
        return None if inner is None else replace(a, operand=inner)
    if isinstance(a, Binary) and isinstance(b, Binary) and a.op == b.op and a.op not in ("&&", "||", ","):
        left, right = _unified(c, a.left, b.left), _unified(c, a.right, b.right)
        if left is None or right is None or (left is not a.left and right is not a.right):
            return None  # of a result of two choices nvcc keeps both ways
        return replace(a, left=left, right=right)
    return None
