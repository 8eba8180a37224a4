"""Loops: enumerated while the bound is known, else one generic iteration (`generic`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from math import prod
from typing import TypeAlias

from smemlint.evaluate.compiler.unroll import Lines, near_a_limit, only_late, run_time_copies, straight_lines
from smemlint.evaluate.control_flow.host_loops import only_fills, repeated, repeating
from smemlint.evaluate.control_flow.join_points import meet, sure
from smemlint.evaluate.control_flow.launch_choices import LoopOfLaunch
from smemlint.evaluate.control_flow.masks import changes_since, decode, restore, snapshot
from smemlint.evaluate.control_flow.settling import choice_at, leave_open, settle, settled_at
from smemlint.evaluate.library.atomics import same_for_all
from smemlint.evaluate.machine.dispatch import run
from smemlint.evaluate.machine.machine import Event, Exits, Machine, Mask
from smemlint.evaluate.run.conditionals import asked
from smemlint.evaluate.run.loops.compile_time import (
    compile_time_trips,
    counter_of,
    counts_from,
    rest_first,
)
from smemlint.evaluate.run.loops.doubling import run_doubling
from smemlint.evaluate.run.loops.exit_blocks import ExitBlock, Ways, exits_of
from smemlint.evaluate.run.loops.generic import Left, pragma_of, run_generic
from smemlint.evaluate.run.loops.iterations import (
    IterationLog,
    Work,
    begins_at_once,
    enter,
    is_endless,
    iterate,
    lanes_change,
    leave,
    line_up,
    note_loop,
    repeats,
    take_turns,
)
from smemlint.evaluate.run.loops.read_again import Again, read_again
from smemlint.evaluate.run.loops.stored_in import asks_its_counter, note_stored
from smemlint.evaluate.run.loops.triangles import stays_around
from smemlint.evaluate.run.loops.trips import iterations_left
from smemlint.evaluate.run.loops.uncounted import is_counted
from smemlint.evaluate.run.loops.uneven import run_uneven
from smemlint.evaluate.run.statements import end_scope
from smemlint.evaluate.values.choices import Way
from smemlint.evaluate.values.lanes import some
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.value import Pointer
from smemlint.ir import (
    STEPS,
    Assign,
    Block,
    Break,
    Call,
    Continue,
    Expr,
    Goto,
    If,
    Labeled,
    Loop,
    Name,
    Unary,
)
from smemlint.ir.jumps import jumps_in
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import holds
from smemlint.ir.walk import walk

_WAYS = 16
"""Iterations of a loop that may be left at any of them which are looked at one by one."""
_FEW = 8
"""How many times the usual steps a loop has whose iterations are not alike."""
_COPIES = 8
"""Iterations of a loop that disappears that are looked at together, where they are too many."""
_LONG = 64
"""Iterations of a straight line up to which a loop is not cut short in its middle."""
_VISITS = 6
"""Iterations of a long loop that are run, trials included, before one stands for all that are left."""


def run_labeled(m: Machine, s: Labeled) -> None:
    """Statements that `goto` leaves, or begins again."""
    if s.again:
        run_loop(m, Loop(None, None, None, s.body, place=s.place, label=s.label))
        return
    _labeled(m, s.label, lambda: run(m, s.body))


def _labeled(m: Machine, label: str, body: Callable[[], None]) -> None:
    exits, must, way = m.exits(label=label), m.must, m.context.way
    m.context.loops.append(exits)
    body()
    _meet(m, exits, way)
    leave(m)
    if exits.uncertain and m.context.loops:
        m.context.loops[-1].uncertain = True
    m.may = m.may | exits.broken
    m.must = sure(m, must)


def run_loop(m: Machine, s: Loop) -> None:
    if s.init is None:
        _until_left(m, s)
        return
    live = len(m.frame.live)
    run(m, s.init)
    _until_left(m, s)
    end_scope(m, s.init.body if isinstance(s.init, Block) else (s.init,), live)


def _until_left(m: Machine, s: Loop) -> None:
    """Run a loop, and then what lanes do on their way out of it, where they may leave one by one."""
    ways = None if m.host or m.task.as_written else exits_of(s)
    if ways is None or not any(_one_by_one(m, block) for block in ways.blocks):
        _go_round(m, s)
        return
    out = Goto(f"out of {id(s)}")
    _labeled(m, out.label, lambda: _with_exit_blocks(m, ways, len(ways.blocks), out))


def _with_exit_blocks(m: Machine, ways: Ways, count: int, out: Goto) -> None:
    """Run a loop and the first so many of its exit blocks. out: from where it ends by itself."""
    if not count:
        _go_round(m, ways.loop)
        return
    block = ways.blocks[count - 1]

    def before() -> None:
        _with_exit_blocks(m, ways, count - 1, out)
        run(m, out)

    _labeled(m, block.label, before)
    if not m.anyone():
        return
    must = m.must
    if ways.loop.condition is not None or len(ways.blocks) > 1:
        m.must = m.threads.nobody  # those of one round may come alone: only one way out gathers all
    run(m, block.body)
    m.must = must & m.may


def _one_by_one(m: Machine, block: ExitBlock) -> bool:
    """Whether lanes may come to an exit block in different rounds, and access shared memory there."""
    return any(_is_shared(m, base) for base in block.bases) and not all(
        same_for_all(m, c) for c in block.conditions
    )


def _is_shared(m: Machine, base: Name) -> bool:
    o = m.frame.variables.get(base.id)
    held = None if o is None else o.cells.get(0)
    return o is None or (held.object if isinstance(held, Pointer) else o).storage == "shared"


def _go_round(m: Machine, s: Loop) -> None:
    entry_must, entry_may, turn = m.must, m.may, m.turns.turn
    tests, begins = s.test_first, (*m.under(entry_must), entry_must) if is_endless(s) else None
    exits, way = m.exits(label=s.label), m.context.way
    exits.again, exits.began = bool(s.label), m.journal.order
    around = prod(outer.rounds for outer in m.context.loops)
    enter(m, exits)
    left = m.threads.nobody
    trips = 0
    began = latest = m.effort.steps
    alike, length = False, 0
    trip = compile_time_trips(m, s)
    exits.rounds = _VISITS if trip is None else min(trip, _VISITS)
    pragma = pragma_of(m, s, trip)
    counted = not m.host and (trip is not None or is_counted(m, s))
    ends: frozenset[int] = frozenset()
    log = IterationLog()
    body: tuple[int, int, int] | None = None
    guards, beside, local = 0, 0, (False, False)
    launched = LoopOfLaunch(m, s)
    line, unknowns = m.lines.region, m.unknowns.count
    most, entered = (0, 0, 0), m.code_size.counts
    gone, for_all, reached = True, False, m.effort.reached
    cut = Lines((1,), 1)
    once: Snapshot | None = None
    counter = counter_of(s)
    stays = stays_around(m, s, trip, counter)
    exits.stays = trip is None or stays is True
    exits.changes = m.code.changes(s, m.frame.function)
    constants, counters = m.context.constants, m.context.counters
    if counter is not None:
        m.context.counters = counters | {counter}
        m.context.constants = constants - {counter} if exits.stays else constants | {counter}
    limit = m.effort.budget.iterations if m.effort.steps < m.effort.budget.steps // 2 else 8
    while True:
        head = _head(m, s, left) if s.test_first or trips else None
        if s.condition is not None and (s.test_first or trips):
            guesses = m.unknowns.guesses
            c = asked(m, s.condition, 0 if trips == (not s.test_first) else None)
            head = head if head is not None and changes_since(head[0]) else None
            if not c.known or m.unknowns.guesses != guesses:
                settled = _settled(m, s, c)
                if settled is None and head is not None:
                    s = _back_to(m, s, head)
                    continue
                if settled is None:
                    _left_open(m, s, exits, c)
                    for_all = not trips
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
        spent = _is_spent(m, began, log.starts, alike=alike and trips >= 3 and not whole)
        unsure = exits.uncertain and trips >= (2 if trip is None or trip * around > _WAYS else _WAYS)
        unsure = unsure and _may_leave(s)
        limit = _fewer(m, s, limit, trips, m.effort.reached > reached)
        amid = (trip is not None or not gone) and cut.lines[0] <= _LONG and trips % cut.lines[0]
        heavy = cut.lines[0] * length > _FEW * m.effort.budget.loop_steps
        if unsure or ((trips >= limit or spent) and (heavy or not amid)):
            at = m.lines.region if gone and trip is not None else None
            known_left, line_left = (None, None) if trip is None else (trip - trips, None if heavy else cut)
            left = _cut_short(m, s, exits, head, left, known_left, line_left)
            _go_on(m, at, m.effort.reached > reached)
            break
        if trips in ends:
            m.onward()
        if not gone or trips in ends:
            m.next_turn()
        log.begin(m)
        before = Work(m.code_size.counts, m.code_size.special, len(m.log), m.lines.region)
        exits.round = trips
        iterate(m, s, exits)
        trips += 1
        launched.went_round(trips)
        done = m.code_size.since(before.counts)
        most = max(most[0], done[0]), max(most[1], done[1]), max(most[2], done[2])
        # Iterations that do the same work: one more can stand for the others.
        alike = m.effort.steps - latest == length and repeats(m, [at for at, _ in log.starts[-2:]])
        length, latest = m.effort.steps - latest, m.effort.steps
        if trips == 2 and repeated(m, once, counter):
            break
        once = repeating(m, s, counter) if trips == 1 and m.anyone() else None
        if trips == 1:
            again = Again() if m.host else read_again(m.log[before.logged :], counter)
            body = done[0] - again.loads, done[1], m.code_size.special - before.special
            own = m.code.guards(m.frame.function, s) if trip is not None and not m.host else 0
            guards = done[2] + own
            local = (False, False) if m.host else m.code.turns_local(m.frame.function, s)
            known = trip is not None
            beside = again.beside
            lines = straight_lines(
                trip, *body, pragma, known=known, guards=guards, stays=stays, local=local, beside=beside
            )
            gone = trip is not None and len(lines.lines) <= 1
            ends = frozenset(accumulate(lines.lines)) if trip is not None else frozenset(range(1, limit + 1))
            exits.stays = not gone
            cut = Lines((_COPIES,), _COPIES) if gone else Lines(lines.lines[:1], lines.step)
            if not gone:
                _separate(m, before)
                begin = log.starts[0] if m.lines.region == before.region else (before.logged, m.lines.region)
                log.starts[0] = begin
                m.context.constants -= {counter}
        log.end(m)
        if not m.anyone():
            break
    if not gone:
        if body is not None:
            _line_up(m, s, log, trip, body, pragma, guards, stays, beside)
            note_stored(m, s, log.starts[0][0], late=False, copied=trip is not None and cut.lines[0] > 1)
        m.turns.stays += 1
        m.straight()
        for_all |= trips != 1 or len(exits.iterations) != 1  # one round does not tell what others would do
    elif trip is not None:
        size = most[:2] if asks_its_counter(s) or body is None else body[:2]
        _note_gone(m, s, log, pragma, late=only_late(trip, *size, guards, local, beside))
        # Copies whose guard lets no lane in are there all the same.
        work = most[0] * trip, most[1] * trip, guards * trip
        now = m.code_size.counts
        m.code_size.counts = entered
        m.code_size.add(work)
        m.code_size.counts = tuple(map(max, now, m.code_size.counts))  # type: ignore[assignment]
    if for_all or not gone or trip is None:
        surely = trip is not None or not tests or begins_at_once(exits, begins)
        note_loop(m, exits, turn, unknowns, line, surely=surely, for_all=for_all)
    m.turns.turn, m.context.constants, m.context.counters = turn, constants, counters
    _meet(m, exits, way)
    exits.ended.copied |= exits.stays and counted
    leave(m)
    m.may = (left | exits.broken | m.may) & entry_may
    m.must = sure(m, entry_must)
    launched.ended(exits.end, trips if trip is None else trip, stays=not gone)


def _note_gone(m: Machine, s: Loop, log: IterationLog, pragma: int | None, *, late: bool) -> None:
    """Note what the compiler knows of a loop that disappears; late: in machine code, without a pragma."""
    if not late or pragma is not None:
        m.turns.copy(log.made)
    elif log.starts:
        note_stored(m, s, log.starts[0][0], late=True, copied=False)


def _is_spent(m: Machine, began: int, starts: list[tuple[int, int]], *, alike: bool) -> bool:
    """Whether a loop has had its share of steps. Of iterations that are alike that is less, but where the
    number of the iteration lets other lanes in: that is not decided for all that are left."""
    steps, usual = m.effort.steps - began, m.effort.budget.loop_steps
    if not alike or steps > _FEW * usual:
        return steps > _FEW * usual
    return steps > usual and not lanes_change(m, [at for at, _ in starts])


def _left_open(m: Machine, s: Loop, exits: Exits, c: Int) -> None:
    """Run the rounds of a loop whose condition nobody can decide, or scale alone."""
    if not run_doubling(m, s, exits, c):
        run_generic(m, s, exits, c, Left(iterations_left(m, s) if c.known else None))


def _fewer(m: Machine, s: Loop, limit: int, trips: int, started: bool) -> int:
    """How many iterations of a loop are run one by one: of one that only fills data none after the first."""
    fills = only_fills(m, s, trips, started) and (iterations_left(m, s) or 0) > limit
    return trips if fills else limit


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
    """What to go back to, of a condition that may set something: `while (i-- > 0)`, `while (next(i))`."""
    sets = s.condition is not None and _has_side_effects(s.condition)
    return (snapshot(m), m.must, m.may, left, len(m.log)) if sets else None


def _cut_short(
    m: Machine,
    s: Loop,
    exits: Exits,
    head: Head | None,
    left: Mask,
    known: int | None,
    line: Lines | None,
) -> Mask:
    """Let one iteration stand for those that are left (`known` of them); returns who left before. line:
    of how many of them it stands in, where the compiler knows how many there are."""
    if head is None:
        left_early = exits.uncertain and _may_leave(s)
        known = iterations_left(m, s, alike=left_early) if known is None else known
        open_ = exits.next.passed or left_early
        run_generic(m, s, exits, Int(1), Left() if open_ else Left(known, line))
        return left
    exits.end.kept, exits.end.gone = exits.end.kept & ~head[2], exits.end.gone & ~head[2]
    run_generic(m, _back_to(m, s, head), exits, Int(1))
    return head[3]


def _go_on(m: Machine, line: int | None, accessed: bool) -> None:
    """Go on in the line before a loop was cut short: one that disappears parts nothing around it. line: None
    of one that stays."""
    if line is not None and not accessed:
        m.lines.region = line


def _may_leave(s: Loop) -> bool:
    """Whether anything in the body may leave it: a later round may do so too."""
    return not jumps_in(s.body) <= {Continue}


@by_identity
def _has_side_effects(e: Expr) -> bool:
    """Whether an expression assigns, or calls what the program may have written."""
    calls = (n.callee for n in walk(e) if isinstance(n, Call))
    return holds(e, Assign, STEPS) or any(not isinstance(callee, Name) or callee.id for callee in calls)


def _back_to(m: Machine, s: Loop, head: Head) -> Loop:
    """Go back to before the condition was asked; returns the loop that asks it in its body."""
    restore(m, head[0])
    m.must, m.may = head[1], head[2]
    del m.log[head[4] :]
    return _asked_inside(s)


@by_identity
def _asked_inside(s: Loop) -> Loop:
    assert s.condition is not None
    leave = If(Unary("!", s.condition), Break(), None, place=s.place)
    unroll = 1 if s.unroll is None else s.unroll
    return Loop(None, None, s.step, Block((leave, s.body)), unroll=unroll, place=s.place)


def _line_up(
    m: Machine,
    s: Loop,
    log: IterationLog,
    trip: int | None,
    body: tuple[int, int, int],
    pragma: int | None,
    guards: int,
    stays: bool | None,
    beside: int,
) -> None:
    """Put the iterations of a loop that stays into straight lines. body: its accesses and operations."""
    known = trip is not None
    trips = trip if trip is not None else len(log.starts)
    lines = straight_lines(trips, *body, pragma, known=known, guards=guards, stays=stays, beside=beside)
    early, _ = run_time_copies(*body, pragma, beside=beside)
    if trip and beside and pragma is None and stays is None and near_a_limit(trip, *body, guards, beside):
        m.turns.told.update(log.turns)
    if not known and m.context.loops[-1].told and early > 1:
        # Of few rounds what the copies leave over may disappear as well, or stay a loop.
        ends = lines.lines.count(1)
        lines = replace(lines, lines=(*lines.lines[: len(lines.lines) - ends], *([ends] if ends else [])))
        m.turns.told.update(log.turns)
    if not known:
        line_up(m, lines.lines, log)
        # Two copies leave one iteration over, which stands in no loop.
        lone = None if early == 2 else False
        begun = counts_from(m, s)
        take_turns(
            m, lines.lines, log.turns, early, lone, adrift=rest_first(m, s), begun=begun, touches=body[0]
        )
    elif early == 1:
        take_turns(m, lines.lines, log.turns, 1, True)
    else:
        take_turns(m, lines.lines, log.turns, early if pragma else 0, None, touches=body[0])


def _settled(m: Machine, s: Loop, c: Int) -> Int | None:
    """The condition as the way that host code is run settles it; None where both ways are open."""
    choice = choice_at(m, s)
    way = settled_at(m, choice)
    if way is None:
        leave_open(m, choice)
        return None
    settle(m, c, way)
    return Int(way)


def _meet(m: Machine, exits: Exits, way: Way) -> None:
    """Join the ways out. way: what was known before they parted."""
    if exits.end.ways or some(exits.end.kept):
        m.context.way = way
    # What the first rounds set is no more likely than what those set that one stood for.
    defaults, m.context.defaults = m.context.defaults, m.context.defaults and not exits.since
    meet(m, exits.end)
    m.context.defaults = defaults


def _separate(m: Machine, before: Work) -> None:
    """The first iteration turned out not to be in line with what stands before the loop."""
    went_on = m.lines.region == before.region
    turn = m.turns.turn
    m.onward(before.region)
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
