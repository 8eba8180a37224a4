"""Conditions whose arms read file-scope variables, and are computed for all lanes.

    s[2 * t] = r;
    if (f < g) f += q;              // q is loaded in any case: both stores are one, STS.64
    s[2 * t + 1] = f;

Such a variable, or a fixed element of it, is there for everyone, so that it may be loaded for nothing where
that spares a branch: nothing then parts what stands before the condition from what stands after it. Measured
with nvcc 13.0 (docs/dev/joining.md, "One straight line").
"""

from __future__ import annotations

from smemlint.evaluate.analysis.arms.branch_left import NO_TYPES, Changed, Left, branch_left, is_same_code
from smemlint.evaluate.analysis.arms.sunk_values import sinks
from smemlint.evaluate.analysis.parts_read.computed_halves import types_of
from smemlint.evaluate.machine.dispatch import lvalue, unseen
from smemlint.evaluate.machine.functions import called
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.run.speculated import COMPUTE, SETS, Arm, parts_of_statement
from smemlint.evaluate.values.number import form_of
from smemlint.evaluate.values.value import Pointer, is_uniform
from smemlint.ir import (
    STEPS,
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Call,
    Conditional,
    Construct,
    Expr,
    FloatLiteral,
    If,
    Index,
    Lambda,
    Literal,
    Member,
    Name,
    Scalar,
    Special,
    Stmt,
    Unary,
    UnknownExpr,
)
from smemlint.ir.expr import is_element
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import array_of, holds, variables_set
from smemlint.ir.walk import names_in, walk
from smemlint.records import record
from smemlint.toolkit.compiled import Code, code_of_call
from smemlint.toolkit.model import Effect
from smemlint.toolkit.table import effect_of

_OF_ONE, _OF_BOTH = 5, 6
"""Loads and operations of an `if` without `else`, and of both arms: more are left to a branch."""
_MOST_SET = 2
"""Variables that the arms set: so are more."""
_OPERATORS = frozenset((*COMPUTE, "~", "!"))
_ON_MEMORY = (Effect.LOAD, Effect.STORE, Effect.ATOMIC)


@record(slots=True)
class _Work:
    """What arms take. asked: file-scope variables that the condition has read; kinds: of what they read."""

    m: Machine
    asked: frozenset[str]
    kinds: set[str]
    amount: int = 0


def leaves_a_branch(
    m: Machine, condition: Expr, arms: tuple[Arm, Arm], *, touches: bool, together: bool, stored: int = 0
) -> Left:
    """Return what a condition leaves that keeps stores apart. touches: the arms access memory, in more than
    what runs for both; together: all lanes take the same arm; stored: their stores that run for both."""
    if is_selected(m, condition, arms):
        return Left.CHOICE
    then, otherwise = arms
    stores = sum(_stores(arm) for arm in arms if arm is not None)
    f = m.frame.function
    if touches and stores > stored:
        return Left.BRANCH
    if stores and f is not None and id(condition) in sinks(f) and not (together and m.context.unrolled):
        return Left.BRANCH
    if touches and (then is None or otherwise is None or _elements(then) != _elements(otherwise)):
        alike = not (together and stores) and otherwise is not None and is_same_code(then, otherwise)
        left = Left.PERHAPS if alike else Left.BRANCH
    else:
        types = NO_TYPES if f is None else types_of(f)
        left = branch_left(then, otherwise, together=together, changed=_loop_changes(m), types=types)
    if left is Left.CHOICE or not m.context.unrolled or (stores and not stores == stored == 1):
        return left
    if together:
        return _in_copies(m, condition, arms, left)
    if left is Left.BRANCH and not stores and is_asked_in_front(m, condition, together):
        return Left.PERHAPS  # each round may go on in a copy of the loop for its arm
    return left


def _in_copies(m: Machine, condition: Expr, arms: tuple[Arm, Arm], left: Left) -> Left:
    """What a condition that all lanes share leaves in loops that disappear: where no round changes it, these
    go on in a copy for each arm. left: what it leaves by itself."""
    calls = (n for n in walk(arms) if isinstance(n, Call))
    plain = all(code_of_call(called(n)) in (Code.OPERATION, Code.STRAIGHT, Code.CALL) for n in calls)
    same = all(exits.changes.leave(condition) for exits in m.context.unrolled)
    if same and plain and len(m.frames) == 1 and not any(is_element(n) for n in walk(condition)):
        return Left.CHOICE
    counts = not names_in(condition).isdisjoint(m.context.constants)
    return left if counts else Left.PERHAPS


def is_asked_in_front(m: Machine, condition: Expr, together: bool) -> bool:
    """Return whether a condition is the same in all rounds of a loop that disappears, and for all lanes."""
    loops = m.context.unrolled
    if not loops or not loops[-1].changes.variables.isdisjoint(names_in(condition)):
        return False
    return together or is_one_for_all(m, condition)


def is_one_for_all(m: Machine, e: Expr) -> bool:
    """Return whether a condition asks what all lanes share, also where the launch tells it. False of one that
    may set a variable, which is not evaluated again, and while nothing is logged."""
    if m.silent or _is_impure(e):
        return False  # what is asked in silence has no line
    if isinstance(e, Unary) and e.op == "!":
        return is_one_for_all(m, e.operand)
    sides = (e.left, e.right) if isinstance(e, Binary) else (e,)
    if isinstance(e, Binary) and e.op in ("&&", "||"):
        return all(is_one_for_all(m, side) for side in sides)
    steps = m.effort.steps
    shared = all(is_uniform(unseen(m, side)) for side in sides)
    m.effort.steps = steps  # it was counted when the program asked
    return shared


@by_identity
def _is_impure(e: Expr) -> bool:
    calls = (n.callee for n in walk(e) if isinstance(n, Call))
    known = all(code_of_call(getattr(c, "name", "")) is not None for c in calls)
    return not known or holds(e, (Assign, Asm, Construct, UnknownExpr), STEPS)


def reaches_memory(m: Machine, e: Expr | Stmt) -> bool:
    """Return whether code accesses other memory than the thread's own."""
    for n in walk(e):
        if isinstance(n, Unary) and n.op == "*":
            return True
        if isinstance(n, Call) and isinstance(n.callee, Name) and effect_of(n.callee.name) in _ON_MEMORY:
            return True
        root = array_of(n) if isinstance(n, Index) else None
        own = m.frame.variables.get(root.id) if isinstance(root, Name) else None
        if root is not None and (own is None or not isinstance(own.type, ArrayOf)):
            return True
    return False


def _loop_changes(m: Machine) -> Changed | None:
    """What the rounds of the loop around change, and the counters that the optimiser knows."""
    around = next((exits for exits in reversed(m.context.loops) if not exits.switch), None)
    return None if around is None else (around.changes.variables, m.context.constants)


@by_identity
def _stores(arm: Expr | Stmt) -> int:
    return sum(isinstance(n, Assign) and is_element(n.target) for n in walk(arm))


@by_identity
def _elements(arm: Expr | Stmt) -> frozenset[str]:
    """The elements that an arm reads, as text: those of both arms are loaded in front of them."""
    stored = {id(n.target) for n in walk(arm) if isinstance(n, Assign) and n.op == "="}
    elements = (n for n in walk(arm) if is_element(n))
    return frozenset(show(n) for n in elements if id(n) not in stored)


@by_identity
def loads_the_same(at: If | Conditional) -> bool:
    """Return whether both arms of a condition read an element."""
    return at.otherwise is not None and not _elements(at.then).isdisjoint(_elements(at.otherwise))


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
    parts = _operands(n)
    if parts is None:
        return False
    work.amount += n.op != "=" if isinstance(n, Assign) else isinstance(n, Binary | If | Conditional)
    return all(_is_light(work, x) for x in parts)


def _operands(n: Expr | Stmt) -> tuple[Arm, ...] | None:
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
    if holds(n, (Asm, Assign, Call, Construct, Lambda), STEPS):
        return False
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
