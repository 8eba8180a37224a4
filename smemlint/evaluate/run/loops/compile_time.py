"""What the compiler knows before a kernel runs: constants, and how often a loop goes round."""

from __future__ import annotations

from dataclasses import replace

from smemlint.evaluate.analysis.trip_count import other_ends, step_of
from smemlint.evaluate.machine.dispatch import unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.run.loops.gone_round import parts_of, rounds, tested
from smemlint.evaluate.run.loops.trips import set_by, times_round
from smemlint.evaluate.values.number import Int, Pointer, Value, form_of, subtract
from smemlint.evaluate.values.objects import Object
from smemlint.ir import (
    STEPS,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    Evaluate,
    Expr,
    Goto,
    Index,
    InitList,
    Lambda,
    Literal,
    Loop,
    Member,
    Name,
    PackSize,
    Scalar,
    SizeOf,
    StaticMember,
    Unary,
    Var,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import LONG
from smemlint.ir.uses import HANDED, holds, target_of
from smemlint.ir.walk import names_in, walk


def counter_of(s: Loop) -> str | None:
    """The variable that the loop's condition looks at."""
    c = s.condition
    return c.left.id if isinstance(c, Binary) and isinstance(c.left, Name) else tested(s)


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
    for id in _changed(s):
        o = m.find(id)
        if o is not None and o.var is not None and isinstance(o.type, Scalar) and o.type.kind != "float":
            init = start_of(s, o.var)
            if init is not None and begins_constant(m, init):
                return False
    return not _is_short(m, s)


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
def _changed(s: Loop) -> tuple[str, ...]:
    """Variables from outside of a loop, or of its head, that it changes."""
    inside = {n.var.id for n in walk(s.body) if isinstance(n, Declare)}
    targets = map(target_of, walk((s.body, s.step)))
    return tuple(dict.fromkeys(t.id for t in targets if isinstance(t, Name) and t.id not in inside))


def compile_time_trips(m: Machine, s: Loop) -> int | None:
    """Iterations, where the compiler knows them: a counter that runs between constants."""
    trips = _trips_by_formula(m, s)
    return _by_going_round(m, s) if trips is None else trips


def _trips_by_formula(m: Machine, s: Loop) -> int | None:
    """Iterations of a loop that compares its counter, which goes in steps."""
    c = _step_apart(s)
    if not isinstance(c, Binary) or c.op not in ("<", "<=", ">", ">=", "!="):
        return None
    if not m.host and not all(is_compile_time(m, e) for e in other_ends(s)):
        return None
    if not isinstance(c.left, Name):
        return None
    step = _step(m, s, c.left.id)
    if step is None or not names_in(c.right).isdisjoint(_changed(s)):
        return None
    o = m.find(c.left.id)
    start = _start(m, o) if o is not None else None
    if isinstance(start, Pointer | Int) and not m.host:
        trips = _trips_by_distance(m, s, c, start, step)
        if trips is not None or isinstance(start, Pointer):
            return trips
    if not is_compile_time(m, c.right):
        return None
    if o is None or not isinstance(start, Int) or not start.known or not isinstance(start.const, int):
        return None
    if o.var is not None:
        init = start_of(s, o.var)
        if init is None or not is_compile_time(m, init) or m.constant(init, m.bindings) != start.const:
            return None
    end = m.constant(c.right, m.bindings)
    if end is None:
        return None
    return _at_least(s, times_round(c.op, start.const, end, *step))


def _start(m: Machine, o: Object) -> Value | None:
    """What a counter is as a loop begins: what other lanes hold has no part in it (of a counter that
    is declared in front of an `if`, or went through a loop before)."""
    v = o.cells.get(0)
    if not isinstance(v, Int) or not v.known or isinstance(v.const, int):
        return v
    here = v.const[m.may]
    return Int(int(here[0]), v.type) if len(here) and (here == here[0]).all() else v


def _step_apart(s: Loop) -> Expr | None:
    """The condition of a loop, without a step in it that stands between the test and the next round anyway:
    `i++ < n` of a `while`, `++i < n` behind a `do`."""
    c = s.condition
    if not isinstance(c, Binary) or not isinstance(c.left, Unary) or c.left.op not in STEPS:
        return c
    return replace(c, left=c.left.operand) if c.left.op.startswith("x") == s.test_first else c


def _by_going_round(m: Machine, s: Loop) -> int | None:
    """Iterations, where the compiler finds them by running the counter from a constant on."""
    counter = None if m.host else tested(s)
    o = None if counter is None else m.find(counter)
    start = _start(m, o) if o is not None else None
    if counter is None or o is None or o.var is None or not isinstance(o.type, Scalar):
        return None
    if not isinstance(start, Int) or not start.known or not isinstance(start.const, int):
        return None
    init = start_of(s, o.var)
    if init is None or not is_compile_time(m, init) or m.constant(init, m.bindings) != start.const:
        return None
    return rounds(m, s, counter, start.const, o.type, lambda e: is_compile_time(m, e))


def _at_least(s: Loop, trips: int | None) -> int | None:
    """A loop that asks at its end runs once in any case."""
    return trips if trips is None or s.test_first else max(trips, 1)


def _trips_by_distance(
    m: Machine, s: Loop, c: Binary, start: Pointer | Int, step: tuple[str, int]
) -> int | None:
    """Iterations of `for (p = first; p != last; p += k)` and of `for (i = 8 * w; i < 8 * w + 8; i++)`, where
    the compiler knows the distance though not where it begins."""
    if step[0] not in ("+", "-") or set_by(s) & names_in(c.right):
        return None
    last = unseen(m, c.right)
    size = 1
    if isinstance(start, Pointer):
        bytes_ = m.types.size_of(start.pointee)
        if not isinstance(last, Pointer) or last.object is not start.object or not bytes_:
            return None
        size, start, last = bytes_, start.offset, last.offset
    elif not isinstance(last, Int) or start.form is None or last.form is None or start.type.kind != "int":
        return None  # sums of unsigned numbers may wrap
    distance = form_of(subtract(last, start, LONG))
    if distance.terms or distance.const % size:
        return None
    return _at_least(s, times_round(c.op, 0, distance.const // size, *step))


def _step(m: Machine, s: Loop, id: str) -> tuple[str, int] | None:
    """(operator, constant) by which a loop's counter goes on in each iteration."""
    if m.host:
        return None if s.step is None else _step_of(m, s.step, id)
    steps = [*(_steps_in_body(s) if s.step is None else parts_of(s.step)), *_steps_asked(s)]
    own = [e for e in steps if isinstance(t := target_of(e, HANDED), Name) and t.id == id]
    sure = len(own) == 1 and (s.step is None or id not in set_by(s))
    return _step_of(m, own[0], id) if sure else None


@by_identity
def _steps_asked(s: Loop) -> tuple[Expr, ...]:
    """What sets variables in the condition of a loop."""
    return tuple(n for n in walk(s.condition) if isinstance(n, Assign | Unary) and target_of(n, HANDED))


@by_identity
def _steps_in_body(s: Loop) -> tuple[Expr, ...]:
    """What sets variables in the body of a `while`, in every iteration; twice what some iterations may leave
    out."""
    if any(isinstance(n, Continue | Goto) for n in walk(s.body)):
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
    if op and is_compile_time(m, value):
        by = m.constant(value, m.bindings)
        if by is not None and (by > 0 or op in ("+", "-")) and not (op in ("*", "/") and by < 2):
            return op, by
    return None


def is_compile_time(m: Machine, e: Expr, depth: int = 0) -> bool:
    """Whether the compiler can know an expression: nothing that the launch or memory tells is in it."""
    if isinstance(e, Literal | PackSize | SizeOf | StaticMember):
        return True
    if isinstance(e, Unary):
        return e.op in ("+", "-", "~", "!") and is_compile_time(m, e.operand, depth)
    if isinstance(e, Binary):
        return is_compile_time(m, e.left, depth) and is_compile_time(m, e.right, depth)
    if isinstance(e, Cast):
        return is_compile_time(m, e.operand, depth)
    if isinstance(e, Conditional):
        return all(is_compile_time(m, x, depth) for x in (e.condition, e.then, e.otherwise))
    if isinstance(e, Member | Index | InitList):
        return _is_of_a_constant(m, e, depth)
    if isinstance(e, Name):
        if e.id in m.bindings or e.id in m.context.constants:
            return True
        o = m.find(e.id)
        var = m.module.globals.get(e.id) if o is None else o.var
        if var is not None and var.storage == "constant" and not var.const:
            return False  # constant memory
        if o is None:
            return var is not None or e.id not in m.module.functions
        if o.var is None or o.var.storage == "param":
            return False
        if o.var.init is None or depth >= 6 or not is_compile_time(m, o.var.init, depth + 1):
            return False
        value = o.cells.get(0)
        if isinstance(value, Int) and value.known and isinstance(value.const, int):
            return value.const == m.constant(o.var.init, m.bindings)  # else it was changed since
        return True
    return False


def _is_of_a_constant(m: Machine, e: Expr, depth: int) -> bool:
    """Whether this is a constant record or array, or a part of one, made of what the compiler knows."""
    if isinstance(e, Member):
        return not e.arrow and _is_of_a_constant(m, e.base, depth)
    if isinstance(e, Index):
        return is_compile_time(m, e.index, depth) and _is_of_a_constant(m, e.base, depth)
    if isinstance(e, InitList):
        return all(is_compile_time(m, x, depth) for x in e.elements)
    if not isinstance(e, Name) or depth >= 6:
        return False
    o = m.find(e.id)
    var = m.module.globals.get(e.id) if o is None else o.var
    if var is None or not var.const or var.init is None or var.storage == "param":
        return False
    return _is_of_a_constant(m, var.init, depth + 1)


def begins_constant(m: Machine, init: Expr | None) -> bool:
    """Whether a variable begins with a constant, also within loops around that stay loops."""
    if init is None or not is_compile_time(m, init):
        return False
    return names_in(init).isdisjoint(m.context.counters - m.context.constants)
