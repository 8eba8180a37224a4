"""Loops that each lane runs another number of times (`j <= t`), as nvcc runs them.

It puts iterations into straight lines, and what is left over runs apart: lanes of one request then stand at
different iterations. The rule and its measurements: docs/dev/joining.md.
"""

from __future__ import annotations

import re

import numpy as np

from smemlint.evaluate.analysis.trip_count import countable
from smemlint.evaluate.compiler.unroll import Ints, run_time_copies, uneven_lines
from smemlint.evaluate.control_flow.masks import restore, snapshot
from smemlint.evaluate.control_flow.recurrence import difference
from smemlint.evaluate.language.conversions import truth
from smemlint.evaluate.machine.dispatch import unseen
from smemlint.evaluate.machine.machine import Exits, Machine
from smemlint.evaluate.run.loops.carried import planned
from smemlint.evaluate.run.loops.compile_time import begins_constant, is_compile_time, start_of
from smemlint.evaluate.run.loops.iterations import (
    Cell,
    IterationLog,
    State,
    changes_of,
    iterate,
    line_up,
    take_turns,
    trial,
)
from smemlint.evaluate.run.loops.uncounted import may_wrap, steps_of
from smemlint.evaluate.values import affine
from smemlint.evaluate.values.number import Int, add, collapse, formed, scale
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.value import Pointer, Value, same
from smemlint.evaluate.values.widths import common_type
from smemlint.ir import Binary, Call, Expr, Goto, Loop, Member, Name, Return
from smemlint.ir.expr import uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.types import LONG
from smemlint.ir.uses import holds
from smemlint.ir.walk import names_in, walk
from smemlint.patterns import pattern

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_TOGETHER = pattern(r"sync|shfl|ballot|__any|__all|__match|__reduce|barrier")
"""Names of functions that lanes run together: what nvcc makes of a loop with one is not modelled."""
_ATOMIC = pattern(r"atomic")
"""Functions that may be loops themselves: machine code makes no more copies around them."""


def run_uneven(m: Machine, s: Loop, exits: Exits, c: Int, pragma: int | None) -> bool:
    """Run a loop in which the lanes that enter it do not stay equally long, as the compiler cuts it; False
    where it is none, or stays as it is written. c: its condition before the first iteration."""
    if m.host or m.silent or m.task.as_written or not c.known or s.label or not _cuttable(s):
        return False
    ends = _counter_and_bound(m, s)
    if ends is None or not _lanes_differ(m, ends[0], ends[1]):
        return False
    entry_must, entry_may = m.must, m.may
    start = snapshot(m)
    counts, special = m.code_size.counts, m.code_size.special
    steps, stays = m.effort.steps, m.turns.stays
    after = trial(m, s, exits)
    size = *m.code_size.since(counts)[:2], m.code_size.special > special
    changes = changes_of(start.cells, after)
    again = _counter_and_bound(m, s)
    counter, bound, op = ends
    by = _by(again[0], counter) if again is not None and same(again[1], bound) else None
    restore(m, start)
    m.code_size.touched, m.code_size.operations = counts[:2]
    trips = None if by is None else _trips(counter, bound, op, by, m)
    if trips is None or m.turns.stays > stays or len(set(trips[entry_may].tolist())) < 2:
        return False
    copies, late = run_time_copies(*size, pragma)
    late = 1 if _has(s, _ATOMIC) else late
    if any(not is_compile_time(m, e) for e in steps_of(s)):
        # nvcc counts the iterations only where the sum cannot wrap, and cuts them once.
        copies, late = (1, 1) if may_wrap(m, s) else (copies, 1)
    elif counter.type.kind == "uint" and abs(by or 1) > 1:
        copies = 1
    first = _rest_first(m, s, changes)
    lines = uneven_lines(np.where(entry_may, trips, 0), copies, late, rest_first=first)
    count = sum(n for _, n in lines)
    if copies * late == 1:
        return False
    long = (
        count * (m.effort.steps - steps) > 4 * m.effort.budget.loop_steps
        or count > m.effort.budget.iterations
    )
    if long or _has(s, _TOGETHER):
        text = "lanes leave a loop one after the other, and its iterations run as they are written"
        m.assume("loop-as-written", text, s.place)
        return False
    steady = _steady(m, s, exits, start, after)
    m.straight()
    done = np.zeros(m.threads.size, dtype=np.int64)
    log = IterationLog()
    for mask, n in lines:
        _begin(steady, done, 1 if first else copies, s)
        done = done + np.where(mask, n, 0)
        for _ in range(n):
            m.straight()
            m.next_turn()
            m.must, m.may = entry_must & mask, entry_may & mask
            log.begin(m)
            iterate(m, s, exits)
            log.end(m)
    sizes = tuple(n for _, n in lines)
    line_up(m, sizes, log)
    take_turns(m, sizes, log.turns, copies, None if copies == 2 else False)
    m.turns.uneven.update(log.turns)
    exits.iterations.clear()  # these are lines of machine code, not iterations
    m.must, m.may = m.threads.nobody, m.threads.nobody
    return True


def _lanes_differ(m: Machine, counter: Int, bound: Int) -> bool:
    """Whether lanes differ in how far they are from the end of a loop."""
    return not isinstance(collapse(bound.const - counter.const, m.may), int)


def _cuttable(s: Loop) -> bool:
    """Whether nvcc may make copies of the body with a rest that runs apart."""
    return countable(s) and not _returns(s)


@by_identity
def _returns(s: Loop) -> bool:
    return holds(s.body, (Return, Goto))


def _has(s: Loop, names: re.Pattern[str]) -> bool:
    """Whether the body calls a function of some such name."""
    return any(
        isinstance(n, Call)
        and isinstance(n.callee, Name | Member)
        and names.search(n.callee.name) is not None
        for n in walk(s.body)
    )


def _counter_and_bound(m: Machine, s: Loop) -> tuple[Int, Int, str] | None:
    """The loop's counter and what it is held against, both known, and how."""
    c = s.condition
    if not isinstance(c, Binary) or c.op not in _TURNED:
        return None
    left, right, op = c.left, c.right, c.op
    if not isinstance(uncast(left), Name) or _number(m, right) is None:
        return None
    if not _is_set(s, left):
        left, right, op = right, left, _TURNED[op]
    a, b = _number(m, left), _number(m, right)
    if a is None or b is None or not _is_set(s, left):
        return None
    return a, b, op


def _is_set(s: Loop, e: Expr) -> bool:
    """Whether a variable's name stands in what the loop does at the end of an iteration, or in its body."""
    name = uncast(e)
    parts = s.body if s.step is None else s.step
    return isinstance(name, Name) and name.id in names_in(parts)


def _number(m: Machine, e: Expr) -> Int | None:
    v = truth(m, unseen(m, e))
    return v if v.known else None


def _by(after: Int, before: Int) -> int | None:
    """By how much the counter changed, as one number for all lanes."""
    d = difference(after, before)
    return d.const if d is not None and d.known and isinstance(d.const, int) and d.const else None


def _trips(counter: Int, bound: Int, op: str, by: int, m: Machine) -> Ints | None:
    """How often each lane runs the loop."""
    t = common_type(counter.type, bound.type)
    a, b = (np.broadcast_to(np.asarray(v.const, dtype=np.int64), (m.threads.size,)) for v in (counter, bound))
    if t.kind == "uint" and ((a[m.may] < 0).any() or (b[m.may] < 0).any()):
        return None
    if (op in ("<", "<=")) is not (by > 0) and op != "!=":
        return None
    far = (b - a) * (1 if by > 0 else -1) + (op in ("<=", ">="))
    step = abs(by)
    if op == "!=" and ((far[m.may] < 0).any() or (far[m.may] % step).any()):
        return None
    trips: Ints = np.maximum(-(-far // step), 0)
    return trips


def _rest_first(m: Machine, s: Loop, changes: dict[Cell, tuple[Value | None, Value]]) -> bool:
    """What is left over runs first, unless a number that the loop changes begins as a constant."""
    for (o, _), (old, _) in changes.items():
        init = start_of(s, o.var) if o.var is not None else None
        known = isinstance(old, Int) and old.known and isinstance(old.const, int)
        if known and init is not None and begins_constant(m, init):
            assert isinstance(old, Int)
            if m.constant(init, m.bindings) == old.const:
                return False
    return True


def _steady(
    m: Machine, s: Loop, exits: Exits, start: Snapshot, after: State
) -> dict[Cell, tuple[Int | Pointer, int]]:
    """What goes by the same number in every iteration: what it is before the loop, and that number. after:
    what a trial iteration from there leaves."""
    plan = planned(m, s, exits, start, after)
    restore(m, start)
    found: dict[Cell, tuple[Int | Pointer, int]] = {}
    for (o, at), kind in plan.kinds.items():
        old = start.cells.get(o, {}).get(at)
        d = difference(after.get(o, {}).get(at), old)
        if kind != "affine" or d is None or not d.known or not isinstance(d.const, int):
            continue
        if isinstance(old, Int | Pointer):
            found[o, at] = old, d.const
    return found


def _begin(steady: dict[Cell, tuple[Int | Pointer, int]], done: Ints, copies: int, s: Loop) -> None:
    """Set what goes in steps to where each lane is: so many iterations on, a multiple of `copies` for all
    that the compiler knows."""
    turn = affine.atom("line", id(s), divides=affine.power_of_two_in(copies))
    count = formed(Int(done, LONG), turn)
    for (o, at), (old, by) in steady.items():
        if isinstance(old, Pointer):
            moved = formed_sum(old.offset, count, by)
            o.cells[at] = Pointer(old.object, moved, old.pointee, old.integer)
        else:
            o.cells[at] = formed_sum(old, count, by)


def formed_sum(old: Int, count: Int, by: int) -> Int:
    """old + count * by."""
    return add(old, scale(count, by, old.type), old.type)
