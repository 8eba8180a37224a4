"""Loads in the arms of a condition that the optimiser makes for all lanes, in front of it.

    if (i < t) v += sums[i];        // of a loop that disappears: the sums are loaded together
    v = t > 3 ? low[0] : high[0];   // both are loaded, then one is chosen

A fixed element of an array of known size, also in a record, is there for everyone, so that it may be loaded
for nothing where that spares a branch: where the arms do no more than a few operations on such elements and
set variables.
Measured with nvcc 13.0 (docs/dev/joining.md, "Loads that move before a condition").
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from smemlint.evaluate.machine.dispatch import lvalue, rvalue, unseen
from smemlint.evaluate.machine.machine import Event, Machine
from smemlint.evaluate.values.number import Int, form_of
from smemlint.evaluate.values.value import Pointer
from smemlint.ir import (
    STEPS,
    Asm,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Declare,
    Evaluate,
    Expr,
    FloatLiteral,
    Index,
    Literal,
    Member,
    Name,
    Scalar,
    Special,
    Stmt,
    This,
    Unary,
)
from smemlint.ir.uses import holds, variables_set
from smemlint.ir.walk import names_in, walk
from smemlint.records import record

Arm: TypeAlias = "Expr | Stmt | None"
_MOST = {"float": 5, "int": 6, "uint": 6}
"""Loads and operations of both arms, by the kind of the elements: more are left to a branch."""
SETS = frozenset(("=", "+=", "-=", "*=", "&=", "|=", "^="))
COMPUTE = ("+", "-", "*", "&", "|", "^", "<<", ">>", "<", ">", "<=", ">=", "==", "!=")


@record(slots=True)
class _Work:
    """What an arm takes. found: the elements and variables that it reads."""

    found: list[Expr] = field(default_factory=list)
    operations: int = 0


def speculate(m: Machine, c: Int, arms: tuple[Arm, Arm], *, guessed: bool) -> bool:
    """Load for all lanes what nvcc loads in front of a condition; return whether it loads anything there.
    guessed: evaluation took sizes for large to decide the condition."""
    if m.silent or m.host or m.task.as_written:
        return False
    if c.known and isinstance(c.const, int) and not guessed and not form_of(c).terms:
        return False  # the compiler knows which one it is
    each = _Work(), _Work()
    if not all(_is_simple(m, arm, work) for arm, work in zip(arms, each, strict=True)):
        return False
    several = all(sum(isinstance(e, Index | Member) for e in work.found) > 1 for work in each)
    if several and len(variables_set(walk(arms))) < 2:
        return False  # two in each arm of one value are left to a branch
    found = [e for work in each for e in work.found]
    own = {e.id for e in found if isinstance(e, Name) and e.id not in m.memory.shared}
    loads = [e for e in found if not isinstance(e, Name) or e.id not in own]
    kinds = {_kind(m, e) for e in loads}
    if len(kinds) != 1 or not kinds < _MOST.keys():
        return False
    (kind,) = kinds
    converted = sum(_is_converted(m, name) for name in own) if kind == "float" else 0
    if sum(work.operations for work in each) + converted + len(loads) > _MOST[kind]:
        return False
    size = m.code_size.counts
    for e in loads:
        rvalue(m, e)
    m.code_size.counts = size
    return True


def spare(m: Machine, since: int) -> None:
    """Note that the loads in the arms cost nothing: `speculate` made them in front. since: where in the log
    the arms begin."""
    m.journal.idle |= {e.order for e in m.log[since:] if isinstance(e, Event)}


def _is_simple(m: Machine, n: Arm, work: _Work) -> bool:
    """Whether code does nothing but set local variables to what it computes of fixed elements. Adds to work
    what that takes."""
    if n is None or isinstance(n, Literal | FloatLiteral | Special):
        return True
    if isinstance(n, Name):
        work.found.append(n)
        return _is_static(m, n) if n.id in m.memory.shared else n.id not in m.memory.globals
    if isinstance(n, Index | Member):
        work.found.append(n)
        return _is_fixed(m, n)
    if isinstance(n, Assign):
        work.operations += n.op != "="
        local = isinstance(n.target, Name) and n.target.id not in m.memory.shared
        return local and n.op in SETS and _is_simple(m, n.value, work)
    if isinstance(n, Binary):
        work.operations += 1
        return n.op in COMPUTE and all(_is_simple(m, x, work) for x in (n.left, n.right))
    parts = _subexpressions(n)
    return parts is not None and all(_is_simple(m, x, work) for x in parts)


def parts_of_statement(n: Expr | Stmt) -> tuple[Arm, ...] | None:
    """Return what a statement is made of that only computes; None of other code."""
    if isinstance(n, Block):
        return n.body
    if isinstance(n, Evaluate):
        return (n.expr,)
    return (n.var.init,) if isinstance(n, Declare) and n.var.storage == "local" else None


def _subexpressions(n: Expr | Stmt) -> tuple[Arm, ...] | None:
    """What a statement, or a sign, is made of; None of code that does more."""
    if isinstance(n, Cast) or (isinstance(n, Unary) and n.op in ("-", "~", "+")):
        return (n.operand,)
    return parts_of_statement(n)


def _is_fixed(m: Machine, e: Index | Member) -> bool:
    """Whether the compiler knows where an element or a member lies in a static variable."""
    root: Expr = e
    while isinstance(root, Index | Member):
        if isinstance(root, Index) and not _is_constant(m, root.index):
            return False
        root = root.base
    p = unseen(m, e, lvalue) if isinstance(root, Name | This) else None
    if not isinstance(p, Pointer) or p.object.storage != "shared" or p.object.var is None:
        return False
    at = p.offset
    known = isinstance(at.const, int) and not at.terms and not form_of(at).terms
    return known and p.object.var.storage == "shared"


def _is_constant(m: Machine, e: Expr) -> bool:
    """Whether the compiler knows an index: no loop that stays one changes it."""
    names = names_in(e)
    if holds(e, (Asm, Assign, Call, Index), STEPS):
        return False
    if not names.isdisjoint(m.context.counters - m.context.constants):
        return False
    if m.context.renews(names):
        return False
    v = unseen(m, e)
    return isinstance(v, Int) and v.known and isinstance(v.const, int) and not form_of(v).terms


def _is_static(m: Machine, n: Name) -> bool:
    o = m.memory.shared.get(n.id)
    return o is not None and o.var is not None and o.var.storage == "shared"


def _is_converted(m: Machine, name: str) -> bool:
    """Whether a variable is an integer that the compiler does not know."""
    o = m.frame.variables.get(name)
    whole = o is not None and isinstance(o.type, Scalar) and o.type.kind in ("int", "uint")
    return whole and name not in m.context.constants


def _kind(m: Machine, e: Expr) -> str:
    """The kind of an element of four bytes, or of such a variable; of others that is empty."""
    p = unseen(m, e, lvalue)
    t = p.pointee if isinstance(p, Pointer) else None
    return t.kind if isinstance(t, Scalar) and t.size == 4 else ""
