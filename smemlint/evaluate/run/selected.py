"""Conditions whose arms read file-scope variables, and are computed for all lanes.

    s[2 * t] = r;
    if (f < g) f += q;              // q is loaded in any case: both stores are one, STS.64
    s[2 * t + 1] = f;

Such a variable, or a fixed element of it, is there for everyone, so that it may be loaded for nothing where
that spares a branch: nothing then parts what stands before the condition from what stands after it. Measured
with nvcc 13.0 (docs/dev/joining.md, "One straight line").
"""

from __future__ import annotations

from smemlint.evaluate.machine.dispatch import lvalue, unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.run.speculated import COMPUTE, SETS, Arm, parts_of_statement
from smemlint.evaluate.values.number import Pointer, form_of
from smemlint.ir import (
    Assign,
    Binary,
    Conditional,
    Expr,
    FloatLiteral,
    If,
    Index,
    Literal,
    Member,
    Name,
    Scalar,
    Special,
    Stmt,
    Unary,
)
from smemlint.ir.uses import variables_set
from smemlint.ir.walk import names_in, walk
from smemlint.records import record

_OF_ONE, _OF_BOTH = 5, 6
"""Loads and operations of an `if` without `else`, and of both arms: more are left to a branch."""
_MOST_SET = 2
"""Variables that the arms set: so are more."""
_OPERATORS = frozenset((*COMPUTE, "~", "!"))


@record(slots=True)
class _Work:
    """What arms take. asked: file-scope variables that the condition has read; kinds: of what they read."""

    m: Machine
    asked: frozenset[str]
    kinds: set[str]
    amount: int = 0


def is_selected(m: Machine, condition: Expr, arms: tuple[Arm, Arm]) -> bool:
    """Whether all lanes compute both arms of a condition, which read no memory but file-scope variables."""
    work = _Work(m, frozenset(names_in(condition)) & m.memory.globals.keys(), set())
    if not all(_is_light(work, arm) for arm in arms) or len(work.kinds) > 1:
        return False
    most = _OF_ONE if arms[1] is None else _OF_BOTH
    return work.amount <= most and len(variables_set(walk(arms))) <= _MOST_SET


def _is_light(work: _Work, n: Arm) -> bool:
    """Whether code does nothing but set variables to what it computes of what is at hand. Counts what that
    takes."""
    if n is None or isinstance(n, Literal | FloatLiteral | Special):
        return True
    if isinstance(n, Name | Index | Member):
        return _is_at_hand(work, n)
    parts = _parts(n)
    if parts is None:
        return False
    work.amount += n.op != "=" if isinstance(n, Assign) else isinstance(n, Binary | If | Conditional)
    return all(_is_light(work, x) for x in parts)


def _parts(n: Expr | Stmt) -> tuple[Arm, ...] | None:
    """What code computes with; None of code that does more."""
    if isinstance(n, Assign) and n.op in SETS and isinstance(n.target, Name):
        return (n.target, n.value)
    if isinstance(n, Binary) and n.op in _OPERATORS:
        return n.left, n.right
    if isinstance(n, Unary) and n.op in _OPERATORS:
        return (n.operand,)
    if isinstance(n, If | Conditional):
        return n.condition, n.then, n.otherwise
    return parts_of_statement(n)


def _is_at_hand(work: _Work, n: Name | Index | Member) -> bool:
    """Whether a number is a local variable, or a file-scope one in a place that the compiler knows."""
    m = work.m
    if not names_in(n).isdisjoint(m.context.counters - m.context.constants):
        return isinstance(n, Name)
    p = unseen(m, n, lvalue)
    if not isinstance(p, Pointer) or not isinstance(p.pointee, Scalar):
        return False
    work.kinds.add(f"float {p.pointee.size}" if p.pointee.kind == "float" else "int")
    if p.object.storage == "local":
        return True
    fixed = p.offset.known and isinstance(p.offset.const, int) and not form_of(p.offset).terms
    var = p.object.var
    if not fixed or p.object.id not in m.memory.globals or var is None or var.volatile:
        return False
    work.amount += not (isinstance(n, Name) and n.id in work.asked)
    return p.object.storage != "shared"
