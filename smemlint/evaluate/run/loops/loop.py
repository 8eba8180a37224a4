"""Loops: enumerated while the bound is known, else one generic iteration.

In the generic iteration what the loop changes is a closed form of the iteration number (start + delta * k),
or an unknown that is the same for all lanes, or an unknown of each lane. Two trial iterations tell which; if
the loop is met again, the forms of the earlier visit are taken and verified instead.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod
from operator import add
from typing import TypeAlias

import numpy as np

from smemlint.evaluate.compiler.unroll import run_time_copies, straight_lines
from smemlint.evaluate.control_flow.host_loops import repeated, repeating
from smemlint.evaluate.control_flow.join_points import meet, sure
from smemlint.evaluate.control_flow.launch_choices import LoopOfLaunch
from smemlint.evaluate.control_flow.masks import decode, restore, snapshot
from smemlint.evaluate.control_flow.settling import choice_at, settle
from smemlint.evaluate.language.conversions import truth
from smemlint.evaluate.language.destructors import full
from smemlint.evaluate.machine.dispatch import run
from smemlint.evaluate.machine.machine import Event, Exit, Exits, Machine, Mask, Undecided
from smemlint.evaluate.memory.local_memory import here
from smemlint.evaluate.run.loops.carried import Draft, Plan, foreseen, planned, verified
from smemlint.evaluate.run.loops.compile_time import compile_time_trips, counter_of, rest_first
from smemlint.evaluate.run.loops.iterations import (
    Attempt,
    State,
    Work,
    iterate,
    line_up,
    note_iterations,
    repeats,
    take_turns,
    trial,
)
from smemlint.evaluate.run.loops.parted import each_its_own, part_ways, parting_of, waiting
from smemlint.evaluate.run.loops.trips import iterations_left
from smemlint.evaluate.run.loops.uncounted import uncounted
from smemlint.evaluate.run.loops.uneven import run_uneven
from smemlint.evaluate.run.statements import end_scope
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.choices import Way
from smemlint.evaluate.values.lanes import some
from smemlint.evaluate.values.number import Int, Symbol
from smemlint.evaluate.values.objects import Cells, Snapshot
from smemlint.ir import Assign, Block, Break, Expr, Goto, If, Labeled, Loop, Return, Unary
from smemlint.ir.memo import by_identity
from smemlint.ir.types import BOOL
from smemlint.ir.walk import walk
from smemlint.records import record

_WAYS = 16
"""Iterations of a loop that may be left at any of them which are looked at one by one."""
_VISITS = 6
"""Iterations of a long loop that are run, trials included, before one stands for all that are left."""
_FOR_ALL = 2
"""The same of a loop of unknown length: a trial, and the one that stands for all."""


def run_labeled(m: Machine, s: Labeled) -> None:
    """Statements that `goto` leaves, or begins again."""
    if s.again:
        run_loop(m, Loop(None, None, None, s.body, place=s.place, label=s.label))
        return
    exits, must, way = m.exits(label=s.label), m.must, m.context.way
    m.context.loops.append(exits)
    run(m, s.body)
    _meet(m, exits, way)
    m.context.loops.pop()
    if exits.uncertain and m.context.loops:
        m.context.loops[-1].uncertain = True
    m.may = m.may | exits.broken
    m.must = sure(m, must)


def run_loop(m: Machine, s: Loop) -> None:
    if s.init is None:
        _go_round(m, s)
        return
    live = len(m.frame.live)
    run(m, s.init)
    _go_round(m, s)
    end_scope(m, s.init.body if isinstance(s.init, Block) else (s.init,), live)


def _go_round(m: Machine, s: Loop) -> None:
    entry_must, entry_may, turn = m.must, m.may, m.turns.turn
    exits, way = m.exits(label=s.label), m.context.way
    exits.again = bool(s.label)
    around = prod(outer.rounds for outer in m.context.loops)
    m.context.loops.append(exits)
    left = m.threads.nobody
    trips = 0
    began = latest = m.effort.steps
    alike, length = False, 0
    trip = compile_time_trips(m, s)
    exits.rounds = _VISITS if trip is None else min(trip, _VISITS)
    pragma = _pragma(m, s, trip)
    ends: frozenset[int] = frozenset()
    starts: list[tuple[int, int]] = []
    turns: list[int] = []
    ended: list[int] = []
    body: tuple[int, int, bool] | None = None
    guards = 0
    launched = LoopOfLaunch(m, s)
    unknowns = m.unknowns.count
    most, entered = (0, 0, 0), (m.code_size.touched, m.code_size.operations, m.code_size.guards)
    gone, reached = True, m.effort.reached
    once: Snapshot | None = None
    counter = counter_of(s)
    constants, counters = set(m.context.constants), m.context.counters
    m.context.counters = counters if counter is None else counters | {counter}
    limit = m.effort.budget.iterations if m.effort.steps < m.effort.budget.steps // 2 else 8
    while True:
        head = _head(m, s, left) if s.test_first or trips else None
        if s.condition is not None and (s.test_first or trips):
            guesses = m.unknowns.guesses
            c = here(m, ar.truth_of(truth(m, full(m, s.condition)), m.unknowns))
            if not c.known or m.unknowns.guesses != guesses:
                settled = _settled(m, s, c)
                if settled is None and head is not None:
                    s = _back_to(m, s, head)
                    continue
                if settled is None:
                    _generic(m, s, exits, c, iterations_left(m, s) if c.known else None)
                    break
                c = settled
            if not trips and trip is None and run_uneven(m, s, exits, c, pragma):
                left, gone = entry_may, False
                break
            launched.asked(c)
            taken = decode(m, c)
            left = _stay_behind(m, exits, taken.may, left)
            m.must, m.may = taken.must, taken.may
        if not m.anyone():
            break
        # In a loop that disappears its accesses join from iteration to iteration: none can stand for others.
        whole = gone and trip is not None and 2 * length * trip * around <= m.effort.budget.steps
        whole = whole and m.effort.reached > reached
        few = 1 if alike and trips >= 3 and not whole else 8
        spent = m.effort.steps - began > few * m.effort.budget.loop_steps
        unsure = exits.uncertain and trips >= (2 if trip is None or trip * around > _WAYS else _WAYS)
        if trips >= limit or spent or unsure:
            left = _cut_short(m, s, exits, head, left, None if trip is None else trip - trips)
            break
        if trips in ends:
            m.straight()
        if not gone or trips in ends:
            m.next_turn()
        starts.append((len(m.log), m.lines.region))
        before = Work(
            m.code_size.touched,
            m.code_size.operations,
            m.code_size.guards,
            m.code_size.special,
            len(m.log),
            m.lines.region,
        )
        iterate(m, s, exits)
        trips += 1
        launched.went_round(trips)
        done = (
            m.code_size.touched - before.touched,
            m.code_size.operations - before.operations,
            m.code_size.guards - before.guards,
        )
        most = max(most[0], done[0]), max(most[1], done[1]), max(most[2], done[2])
        # Iterations that do the same work: one more can stand for the others.
        alike = m.effort.steps - latest == length and repeats(m, [at for at, _ in starts[-2:]])
        length, latest = m.effort.steps - latest, m.effort.steps
        if trips == 2 and repeated(m, once, counter):
            break
        once = repeating(m, s, counter) if trips == 1 and m.anyone() else None
        if trips == 1:
            body = *done[:2], m.code_size.special > before.special
            own = m.code.guards(m.frame.function, s) if trip is not None and not m.host else 0
            guards = done[2] + own
            lines = straight_lines(trip, *body, pragma, known=trip is not None, guards=guards)
            gone = trip is not None and len(lines.lines) <= 1
            ends = frozenset(accumulate(lines.lines)) if trip is not None else frozenset(range(1, limit + 1))
            if not gone:
                _separate(m, before)
                starts[0] = (before.logged, m.lines.region) if m.lines.region != before.region else starts[0]
            elif counter is not None:
                m.context.constants.add(counter)
        turns.append(m.turns.turn)
        ended.append(m.lines.region)
        if not m.anyone():
            break
    if not gone:
        if body is not None:
            visits = Visits(starts, turns, ended)
            _line_up(m, s, visits, trip, body, pragma, guards)
        m.turns.stays += 1
        m.straight()
        note_iterations(m, exits, turn, unknowns)
    elif trip is not None:
        # Copies whose guard lets no lane in are there all the same.
        work = most[0] * trip, most[1] * trip, guards * trip
        now = m.code_size.touched, m.code_size.operations, m.code_size.guards
        m.code_size.touched, m.code_size.operations, m.code_size.guards = map(
            max, now, map(add, entered, work)
        )
    m.turns.turn, m.context.constants, m.context.counters = turn, constants, counters
    _meet(m, exits, way)
    m.context.loops.pop()
    m.may = (left | exits.broken | m.may) & entry_may
    m.must = sure(m, entry_must)
    launched.ended(exits.end, trips)


def _stay_behind(m: Machine, exits: Exits, taken: Mask, left: Mask) -> Mask:
    """Returns all lanes that left by the condition. taken: those that it lets in now."""
    if taken is m.may:
        return left
    left = left | (m.may & ~taken)
    exits.end.kept = exits.end.kept | left
    exits.end.gone = exits.end.gone | left
    return left


Head: TypeAlias = tuple[Snapshot, Mask, Mask, Mask, int]
"""Before the condition of a loop is asked: the state, the masks, who left before, where in the log."""


def _head(m: Machine, s: Loop, left: Mask) -> Head | None:
    """What to go back to, of a condition that sets something: `while (i-- > 0)`."""
    sets = s.condition is not None and _assigns(s.condition)
    return (snapshot(m), m.must, m.may, left, len(m.log)) if sets else None


def _cut_short(m: Machine, s: Loop, exits: Exits, head: Head | None, left: Mask, known: int | None) -> Mask:
    """Let one iteration stand for those that are left, `known` if that is known; returns who left before."""
    if head is None:
        known = iterations_left(m, s, alike=exits.uncertain) if known is None else known
        open_ = exits.next.passed or (exits.uncertain and _may_leave(s))
        _generic(m, s, exits, Int(1), None if open_ else known)
        return left
    exits.end.kept, exits.end.gone = exits.end.kept & ~head[2], exits.end.gone & ~head[2]
    _generic(m, _back_to(m, s, head), exits, Int(1))
    return head[3]


@by_identity
def _may_leave(s: Loop) -> bool:
    """Whether anything in the body may leave it: a later round may do so too."""
    return any(isinstance(n, Break | Return | Goto) for n in walk(s.body))


@by_identity
def _assigns(e: Expr) -> bool:
    return any(
        isinstance(n, Assign) or (isinstance(n, Unary) and n.op in ("x++", "x--", "++x", "--x"))
        for n in walk(e)
    )


def _back_to(m: Machine, s: Loop, head: Head) -> Loop:
    """Go back to before the condition was asked; returns the loop that asks it in its body."""
    restore(head[0])
    m.must, m.may = head[1], head[2]
    del m.log[head[4] :]
    return _asked_inside(s)


@by_identity
def _asked_inside(s: Loop) -> Loop:
    assert s.condition is not None
    leave = If(Unary("!", s.condition), Break(), None, place=s.place)
    unroll = 1 if s.unroll is None else s.unroll
    return Loop(None, None, s.step, Block((leave, s.body)), unroll=unroll, place=s.place)


@record(frozen=True, slots=True)
class Visits:
    """Iterations that were run: where in the log each begins and its region there, its turn, its region
    at its end."""

    starts: list[tuple[int, int]]
    turns: list[int]
    ended: list[int]


def _line_up(
    m: Machine,
    s: Loop,
    visits: Visits,
    trip: int | None,
    body: tuple[int, int, bool],
    pragma: int | None,
    guards: int,
) -> None:
    """Put the iterations of a loop that stays into straight lines. body: its accesses and operations."""
    known = trip is not None
    trips = trip if trip is not None else len(visits.starts)
    lines = straight_lines(trips, *body, pragma, known=known, guards=guards)
    if not known:
        line_up(m, lines.lines, visits.starts, visits.ended)
    early, _ = run_time_copies(*body, pragma)
    if not known:
        # Two copies leave one iteration over, which stands in no loop.
        lone = None if early == 2 else False
        take_turns(m, lines.lines, visits.turns, early, lone, adrift=rest_first(m, s))
    elif early == 1:
        take_turns(m, lines.lines, visits.turns, 1, True)
    else:
        take_turns(m, lines.lines, visits.turns, 0, None)


def _settled(m: Machine, s: Loop, c: Int) -> Int | None:
    """The condition as the way that host code is run settles it; None where both ways are open."""
    choice = choice_at(m, s)
    if choice is None or m.task.paths is None:
        return None
    way = m.task.paths.settled.get(choice)
    if way is None:
        m.task.paths.leave_open(choice)
        return None
    settle(m, c, way)
    return Int(way)


def _meet(m: Machine, exits: Exits, way: Way) -> None:
    """Join the ways out. way: what was known before they parted."""
    if exits.end.ways or some(exits.end.kept):
        m.context.way = way
    meet(m, exits.end)


def _pragma(m: Machine, s: Loop, trip: int | None) -> int | None:
    """What decides over unrolling before its size does: 1 where iterations cannot be put into one line."""
    if s.unroll is not None or trip is not None or m.host:
        return s.unroll
    return None if m.code.countable(s) and not uncounted(m, s) else 1


def _separate(m: Machine, before: Work) -> None:
    """The first iteration turned out not to be in line with what stands before the loop."""
    went_on = m.lines.region == before.region
    turn = m.turns.turn
    m.straight()
    m.next_turn()
    for event in m.log[before.logged :]:
        if event.region == before.region:
            event.region = m.lines.region
        elif m.lines.parents.get(event.region) == before.region:
            m.lines.parents[event.region] = m.lines.region
        if isinstance(event, Event) and event.turn == turn:
            event.turn = m.turns.turn
    if not went_on:
        m.straight()


def _generic(m: Machine, s: Loop, exits: Exits, asked: Int, left: int | None = None) -> None:
    """One iteration (as many as the compiler lines up) that stands for all that are left, `left` if known.

    asked: whether there is a first one. The mask is then that of the lanes that leave by the condition.
    """
    exits.rounds, exits.since = _FOR_ALL, m.unknowns.count
    # What was there before the loop is no more likely than what it sets.
    defaults, m.context.defaults = m.context.defaults, False
    start = snapshot(m)
    draft = _draft(m, s, start)
    if draft is None or not _speculate(m, s, exits, asked, left, start, draft):
        plan, size = _planned(m, s, exits, start, draft)
        _stand_in(m, s, exits, asked, left, start, plan, size)
    m.context.defaults = defaults


def _draft(m: Machine, s: Loop, start: Snapshot) -> Draft | None:
    """What an earlier visit of a loop says of this one, to be verified."""
    return foreseen(m, s, start) if (id(s), m.frame.instance) in m.memo.trials else None


def _speculate(
    m: Machine, s: Loop, exits: Exits, asked: Int, left: int | None, start: Snapshot, draft: Draft
) -> bool:
    """In a trial of a loop around this one: run the iteration that stands for all as an earlier visit says.
    False, and all as before, where it does not end so."""
    if not m.silent:
        return False
    spent = m.memo.trials[id(s), m.frame.instance]
    size = m.code_size
    before, attempt = (size.touched, size.operations, size.guards), Attempt(m, exits)
    if _stand_in(m, s, exits, asked, left, start, draft.plan(), spent[0], draft):
        now = size.touched, size.operations, size.guards
        size.touched, size.operations, size.guards = map(add, now, spent[1])
        return True
    attempt.undo(m)
    restore(start)
    size.touched, size.operations, size.guards = before
    return False


def _note_line(m: Machine, s: Loop, early: int, copies: int) -> None:
    """Note what one straight line says of a loop of unknown length. early: the copies of the optimiser."""
    turns, turn = m.turns, m.turns.turn
    if early == 1:
        turns.lone[turn] = False
        return
    turns.copied[turn] = copies
    turns.halved[turn] = early // 2
    if rest_first(m, s):
        turns.adrift.add(turn)
    if early > 2:
        turns.rest[turn] = copies


def _stand_in(
    m: Machine,
    s: Loop,
    exits: Exits,
    asked: Int,
    left: int | None,
    start: Snapshot,
    plan: Plan,
    size: tuple[int, int, bool],
    draft: Draft | None = None,
) -> bool:
    """Run the generic iteration, as many copies of it as the compiler lines up. size: accesses and operations
    of one; draft: what the plan was foreseen by, to be verified; returns whether it was."""
    must, may, way = m.must, m.may, m.context.way
    pragma = _pragma(m, s, None)
    line = straight_lines(None, *size, pragma)
    counted = plan.counted
    plan.set(m, draft.count if draft is not None else _iterations(m, 1 if m.silent else max(line.step, 1)))
    taken = decode(m, asked)
    passed = may if counted or not asked.known else may & ~taken.may
    going = may if asked.known else taken.may  # who surely leaves now does not come back
    m.must, m.may = m.must & going, m.may & going
    m.straight()
    m.next_turn()
    copies = 1 if m.host else min(line.lines[0], max(left or line.lines[0], 1))  # none beyond the last
    early, _ = run_time_copies(*size, pragma)
    if left is None and not m.host:
        _note_line(m, s, early, copies)
    weight, times, opened = m.context.weight, m.context.times, m.context.open
    m.context.weight *= max((left or 0) // copies, 1)
    m.context.times *= 1 / copies if left is None else max(left, 1) / (max(left // copies, 1) * copies)
    m.context.open += left is None
    if not asked.known:
        m.context.undecided.append(Undecided(m.unknowns.value(BOOL, "runs", low=0, high=1), taken.together))
    done = m.code_size.touched, m.code_size.operations, m.code_size.guards
    inside, logged = (m.must, m.may), len(m.log)
    holds, reached = True, m.effort.reached
    apart = parting_of(asked, may)
    # The first time is past: others may have left since.
    m.must = m.must if asked.known or taken.together else m.must & taken.must
    for i in range(1 if m.silent else copies):
        if i == 1 and m.effort.reached == reached:
            break  # without an access the others would only count
        if s.condition is not None:
            c = here(m, ar.truth_of(truth(m, full(m, s.condition)), m.unknowns))
            apart = max(apart, parting_of(c, m.may))
            if i == 0 and left is None and (c.known or c.varying):
                again = decode(m, c)
                if some(again.may):
                    m.must, m.may = again.must, again.may
        if i == 0:
            inside = m.must, m.may
        if draft is not None and not np.array_equal(m.may, going):
            holds = False  # lanes that stay behind would not have changed
            break
        before, began = waiting(m), m.may
        iterate(m, s, exits)
        apart = max(apart, part_ways(m, start, exits.since, before, began))
        if draft is not None:
            holds = draft.holds(snapshot(m).cells)
        if not holds or not m.anyone():
            break
    if left is None and holds and m.anyone():
        _only_first(m, inside[1] & ~m.must, logged)
    if (m.silent or m.effort.reached == reached) and m.anyone():  # the other copies would only count
        m.code_size.touched += (copies - 1) * (m.code_size.touched - done[0])
        m.code_size.operations += (copies - 1) * (m.code_size.operations - done[1])
        m.code_size.guards += (copies - 1) * (m.code_size.guards - done[2])
    if not asked.known:
        m.context.undecided.pop()
    m.context.weight, m.context.times, m.context.open = weight, times, opened
    m.straight()
    m.context.way = way
    if not holds:
        return False
    if counted:
        plan.set(m, _iterations(m))
        m.may = may
    elif copies > 1 and not m.silent and m.anyone():
        _leave_after_any(m, s, exits, plan, start, inside)
    each_its_own(m, start, exits.since, apart)
    if some(passed) and not counted:
        _pass_by(m, asked, passed, start, taken.together)
    m.must = must & m.may
    return True


def _pass_by(m: Machine, asked: Int, passed: Mask, start: Snapshot, together: bool) -> None:
    """Some lanes do not go round once: they keep the state before the loop."""
    never = ar.logical_not(asked, m.unknowns)
    head = m.join()
    head.ways.append(Exit(passed, start, None if asked.known else never, together))
    meet(m, head)
    m.may = m.may | passed


def _planned(
    m: Machine, s: Loop, exits: Exits, start: Snapshot, draft: Draft | None
) -> tuple[Plan, tuple[int, int, bool]]:
    """What a generic iteration begins with, and the accesses and operations of one. draft: what an earlier
    visit says."""
    key = id(s), m.frame.instance
    size = m.code_size
    before, special = (size.touched, size.operations, size.guards), size.special
    if draft is not None and not draft.refuted:
        spent = m.memo.trials[key]
        if verified(m, s, exits, start, draft):
            # The code is as large as where all trials ran.
            size.touched, size.operations, size.guards = map(add, before, spent[1])
            return draft.plan(), spent[0]
        size.touched, size.operations, size.guards = before
    first = _first(m, s, exits)
    one = size.touched - before[0], size.operations - before[1], size.special > special
    restore(start)
    plan = planned(m, s, exits, start, first)
    all_trials = size.touched - before[0], size.operations - before[1], size.guards - before[2]
    m.memo.trials[key] = one, all_trials
    return plan, one


def _only_first(m: Machine, lanes: Mask, since: int) -> None:
    """Lanes that may leave in any iteration take part in the first one, and perhaps in no other. since:
    position in the log before it."""
    if some(lanes):
        for e in m.log[since:]:
            if isinstance(e, Event):
                e.must = e.must & ~lanes


def _first(m: Machine, s: Loop, exits: Exits) -> State:
    """The first trial of a loop: what it starts is started, if the loop runs at all."""
    m.effort.firsts += m.host
    try:
        return trial(m, s, exits)
    finally:
        m.effort.firsts -= m.host


def _leave_after_any(
    m: Machine, s: Loop, exits: Exits, plan: Plan, start: Snapshot, inside: tuple[Mask, Mask]
) -> None:
    """The state is the one after any iteration, not only after the last copy of it. start: the state before
    the loop; inside: the lanes that go round."""
    leaving = m.must, m.may
    restore(start)
    plan.set(m, _iterations(m))
    m.must, m.may = inside
    for o, cells in trial(m, s, exits).items():
        o.cells = Cells(cells)
    m.must, m.may = leaving


def _iterations(m: Machine, multiple: int = 1) -> Symbol:
    return m.unknowns.fresh("iteration", low=0, rank=1, multiple=multiple)
