"""What the compiler knows before a kernel runs: constants, and how often a loop goes round."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from math import gcd

from smemlint.evaluate.analysis.trip_count import other_ends, step_of
from smemlint.evaluate.machine.dispatch import unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.run.loops.rounds import constant_here, rounds
from smemlint.evaluate.run.loops.trips import set_by, times_round
from smemlint.evaluate.values.number import Int, form_of, subtract
from smemlint.evaluate.values.value import Pointer, Value
from smemlint.ir import (
    STEPS,
    Asm,
    Assign,
    Binary,
    Block,
    Call,
    Conditional,
    Construct,
    Continue,
    Declare,
    Evaluate,
    Expr,
    Goto,
    Lambda,
    Loop,
    Name,
    Scalar,
    Unary,
    Var,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import LONG
from smemlint.ir.uses import HANDED, holds, target_of, variables_set
from smemlint.ir.walk import names_in, walk


@by_identity
def counter_of(s: Loop) -> str | None:
    """The variable that the loop's condition looks at."""
    c = s.condition
    if isinstance(c, Binary) and isinstance(c.left, Name):
        return c.left.id
    found = names_in(c) & variables_set(walk((c, s.step, s.body)))
    return min(found) if len(found) == 1 else None


def start_of(s: Loop, var: Var) -> Expr | None:
    """What a variable is when a loop begins, where that is written: in `for (j = 0; ...)`, or where it is
    declared."""
    for n in walk(s.init):
        if isinstance(n, Assign) and isinstance(n.target, Name) and n.target.id == var.id:
            return n.value if n.op == "=" else None
    return var.init


def rest_first(m: Machine, s: Loop) -> bool:
    """Whether what the copies of a loop of unknown length leave over runs before them, unless a whole number
    that the loop changes begins as a constant."""
    for id in _loop_carried(s):
        o = m.find(id)
        if o is not None and o.var is not None and isinstance(o.type, Scalar) and o.type.kind != "float":
            init = start_of(s, o.var)
            if init is not None and begins_constant(m, init):
                return False
    return not _is_short(m, s)


def counts_from(m: Machine, s: Loop) -> int:
    """Return the number with which the whole numbers that a loop changes begin; 0 where one begins with 0, or
    with what is no constant."""
    found = 0
    for id in _counted(s):
        o = m.find(id)
        if o is not None and o.var is not None and isinstance(o.type, Scalar) and o.type.kind != "float":
            init = start_of(s, o.var)
            start = constant_here(unseen(m, init)) if init is not None and begins_constant(m, init) else None
            if not start:
                return 0
            found = gcd(found, start)
    return found


@by_identity
def _counted(s: Loop) -> frozenset[str]:
    """Those that the loop's step sets to what they were before and more, or its body, if there is no step."""
    step = s.body if s.step is None else s.step
    found = {t.id for n in walk(step) if _goes_on(n) and isinstance(t := target_of(n), Name)}
    return frozenset(found) & frozenset(_loop_carried(s))


def _goes_on(n: object) -> bool:
    """Whether a node sets something to what it was before and more."""
    if isinstance(n, Assign) and n.op == "=":
        return isinstance(n.target, Name) and n.target.id in names_in(n.value)
    return target_of(n) is not None


def _is_short(m: Machine, s: Loop) -> bool:
    """Whether the ends of a loop are a constant apart, though sums may wrap: copies leave nothing over."""
    c = s.condition
    o = m.find(c.left.id) if isinstance(c, Binary) and isinstance(c.left, Name) else None
    init = None if o is None or o.var is None else start_of(s, o.var)
    if init is None or not isinstance(c, Binary) or holds((init, c.right), (Assign, Call), STEPS):
        return False
    first, last = unseen(m, init), unseen(m, c.right)
    if not isinstance(first, Int) or not isinstance(last, Int) or first.form is None or last.form is None:
        return False
    return not form_of(subtract(last, first, LONG)).terms


@by_identity
def _loop_carried(s: Loop) -> tuple[str, ...]:
    """Variables from outside of a loop, or of its head, that it changes."""
    inside = {n.var.id for n in walk(s.body) if isinstance(n, Declare)}
    targets = map(target_of, walk((s.body, s.step)))
    return tuple(dict.fromkeys(t.id for t in targets if isinstance(t, Name) and t.id not in inside))


def compile_time_trips(m: Machine, s: Loop) -> int | None:
    """Iterations of the loop that begins, where the compiler knows them: nothing that the launch or memory
    tells decides when it ends."""
    trips = trips_by_formula(m, s)
    if trips is None and not m.host:
        trips = rounds(m, s) if all(is_compile_time(m, e) for e in other_ends(s)) else None
    if trips is None or m.host or _in_each_iteration(m, s, trips):
        return trips
    m.context.loops[-1].told = True
    return None


def _in_each_iteration(m: Machine, s: Loop, trips: int) -> bool:
    """Whether a loop goes round as often in each iteration of the loops around that stay loops: where it does
    not, these tell how often, and the compiler does not know it."""
    within: tuple[Hashable, ...] = (id(s), m.frame.instance, tuple([f.call for f in m.frames]))
    steady = True
    for exits in reversed(m.context.loops[:-1]):
        if not exits.switch and not exits.label:
            seen = exits.inner.setdefault(within, [])
            seen.append(trips)
            steady &= seen[0] == trips or not exits.stays
            within = (*within, exits.round)
    return steady


def trips_by_formula(m: Machine, s: Loop) -> int | None:
    """Iterations of a loop that compares its counter, which goes in steps."""
    c = _step_apart(s)
    if not isinstance(c, Binary) or c.op not in ("<", "<=", ">", ">=", "!="):
        return None
    if not m.host and not all(is_compile_time(m, e) for e in other_ends(s)):
        return None
    if not isinstance(c.left, Name):
        return None
    step = _counter_step(m, s, c.left.id)
    if step is None or not names_in(c.right).isdisjoint(_loop_carried(s)):
        return None
    start, end = _start(m, s, c.left), compile_time(m, c.right)
    if start is not None and end is not None:
        return _at_least(s, times_round(c.op, start, end, *step))
    return None if m.host else _trips_by_distance(m, s, c, unseen(m, c.left), step)


def _start(m: Machine, s: Loop, counter: Name) -> int | None:
    """What the compiler knows a counter to begin with."""
    o = m.find(counter.id)
    init = None if o is None or o.var is None else start_of(s, o.var)
    staying = m.context.counters - m.context.constants
    known = init is None or names_in(init).isdisjoint(staying)
    return constant_here(unseen(m, counter)) if known else None


def _step_apart(s: Loop) -> Expr | None:
    """The condition of a loop, without a step in it that stands between the test and the next round anyway:
    `i++ < n` of a `while`, `++i < n` behind a `do`."""
    c = s.condition
    if not isinstance(c, Binary) or not isinstance(c.left, Unary) or c.left.op not in STEPS:
        return c
    return replace(c, left=c.left.operand) if c.left.op.startswith("x") == s.test_first else c


def _at_least(s: Loop, trips: int | None) -> int | None:
    """A loop that asks at its end runs once in any case."""
    return trips if trips is None or s.test_first else max(trips, 1)


def _trips_by_distance(m: Machine, s: Loop, c: Binary, start: Value, step: tuple[str, int]) -> int | None:
    """Iterations of `for (p = first; p != last; p += k)` and of `for (i = 8 * w; i < 8 * w + 8; i++)`, where
    the compiler knows the distance though not where it begins."""
    if step[0] not in ("+", "-") or set_by(s) & names_in(c.right) or not _only_reads(c.right):
        return None
    last = unseen(m, c.right)
    size = 1
    if isinstance(start, Pointer):
        bytes_ = m.types.size_of(start.pointee)
        if not isinstance(last, Pointer) or last.object is not start.object or not bytes_:
            return None
        if constant_here(unseen(m, c)) is None:
            return None
        size, start, last = bytes_, start.offset, last.offset
    elif not isinstance(start, Int) or start.form is None or (start.type.kind != "int" and c.op != "!="):
        return None  # sums of unsigned numbers may wrap
    elif not isinstance(last, Int) or last.form is None:
        return None
    distance = form_of(subtract(last, start, LONG))
    if distance.terms or distance.const % size:
        return None
    return _at_least(s, times_round(c.op, 0, distance.const // size, *step))


def _counter_step(m: Machine, s: Loop, id: str) -> tuple[str, int] | None:
    """(operator, constant) by which a loop's counter goes on in each iteration."""
    if m.host:
        return None if s.step is None else _step_of(m, s.step, id)
    steps = [*(_steps_in_body(s) if s.step is None else _parts_of(s.step)), *_steps_asked(s)]
    own = [e for e in steps if isinstance(t := target_of(e, HANDED), Name) and t.id == id]
    sure = len(own) == 1 and (s.step is None or id not in set_by(s))
    sure = sure and names_in(own[0]).isdisjoint({*_loop_carried(s)} - {id})
    return _step_of(m, own[0], id) if sure else None


def _parts_of(e: Expr) -> tuple[Expr, ...]:
    """The parts of `i++, j--`."""
    return (*_parts_of(e.left), *_parts_of(e.right)) if isinstance(e, Binary) and e.op == "," else (e,)


@by_identity
def _steps_asked(s: Loop) -> tuple[Expr, ...]:
    """What sets variables in the condition of a loop."""
    return tuple(n for n in walk(s.condition) if isinstance(n, Assign | Unary) and target_of(n, HANDED))


@by_identity
def _steps_in_body(s: Loop) -> tuple[Expr, ...]:
    """What sets variables in the body of a `while`, in every iteration; twice what some iterations may leave
    out."""
    if any(isinstance(n, Continue) or (isinstance(n, Goto) and not n.over) for n in walk(s.body)):
        return ()
    found: list[Expr] = []
    for part in s.body.body if isinstance(s.body, Block) else (s.body,):
        sure = isinstance(part, Evaluate | Declare)
        for n in walk(part):
            if isinstance(n, Conditional | Lambda) or (isinstance(n, Binary) and n.op in ("&&", "||")):
                sure = False
        for n in walk(part):
            if isinstance(n, Assign | Unary) and target_of(n, HANDED) is not None:
                found += [n] if sure else [n, n]
    return tuple(found)


def _step_of(m: Machine, e: Expr, id: str) -> tuple[str, int] | None:
    """(operator, constant) of the step expression, for the counter `id`."""
    op, value = step_of(e, id) or ("", e)
    if isinstance(value, int):
        return op, value
    if op:
        by = compile_time(m, value)
        if by is not None and (by > 0 or op in ("+", "-")) and not (op in ("*", "/") and by < 2):
            return op, by
    return None


def is_compile_time(m: Machine, e: Expr) -> bool:
    """Whether the compiler can know an expression: nothing that the launch or memory tells is in it."""
    return compile_time(m, e) is not None


def compile_time(m: Machine, e: Expr) -> int | None:
    """The number that the compiler knows an expression to be."""
    if not _only_reads(e) or not names_in(e).isdisjoint(m.context.counters - m.context.constants):
        return None
    return constant_here(unseen(m, e))


@by_identity
def _only_reads(e: Expr) -> bool:
    return not holds(e, (Asm, Assign, Call, Construct, Lambda), HANDED)


def begins_constant(m: Machine, init: Expr | None) -> bool:
    """Whether a variable begins with a constant, also within loops around that stay loops."""
    return init is not None and is_compile_time(m, init)
