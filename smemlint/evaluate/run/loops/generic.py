"""The iteration that stands for all that are left of a loop, and the trials that tell what it begins with.

What the loop changes is then a closed form of the iteration number (start + delta * k), or an unknown that is
the same for all lanes, or an unknown of each lane. A trial iteration tells which, and the generic one
verifies it; if the loop is met again, the forms of the earlier visit are verified instead.
"""

from __future__ import annotations

from smemlint.evaluate.analysis.trip_count import countable
from smemlint.evaluate.compiler.unroll import Lines, run_time_copies, straight_lines
from smemlint.evaluate.control_flow.join_points import meet
from smemlint.evaluate.control_flow.masks import decode, restore, snapshot
from smemlint.evaluate.language.conversions import truth
from smemlint.evaluate.language.destructors import full
from smemlint.evaluate.machine.machine import Event, Exit, Exits, Machine, Mask, Undecided
from smemlint.evaluate.memory.local_memory import here
from smemlint.evaluate.run.loops.attempts import Attempt, Checkpoint, HostCheckpoint
from smemlint.evaluate.run.loops.carried import (
    TRIALS,
    Draft,
    Plan,
    drafted,
    foreseen,
    is_sure,
    keep,
    revised,
    verified,
)
from smemlint.evaluate.run.loops.compile_time import counts_from, rest_first
from smemlint.evaluate.run.loops.iterations import (
    State,
    iterate,
    start_off,
    trial,
)
from smemlint.evaluate.run.loops.parted import each_its_own, part_ways, parting_of, waiting
from smemlint.evaluate.run.loops.uncounted import uncounted
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.lanes import equal_masks, some
from smemlint.evaluate.values.number import Int, Symbol
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.value import Cells
from smemlint.ir import Loop
from smemlint.ir.types import BOOL
from smemlint.records import record

_FOR_ALL = 2
"""About how often what a loop of unknown length holds is run: a trial, and the one that stands for all."""


def pragma_of(m: Machine, s: Loop, trip: int | None) -> int | None:
    """What decides over unrolling before its size does: 1 where iterations cannot be put into one line."""
    if s.unroll is not None or trip is not None or m.host:
        return s.unroll
    return None if countable(s) and not uncounted(m, s) else 1


@record(frozen=True, slots=True)
class Left:
    """What is left of a loop. rounds: None: not known; line: rounds of a straight line, and its step, where
    the compiler knows how many there are."""

    rounds: int | None = None
    line: Lines | None = None


_UNKNOWN = Left()


def run_generic(m: Machine, s: Loop, exits: Exits, asked: Int, left: Left = _UNKNOWN) -> None:
    """One iteration (as many as the compiler lines up) that stands for all that are left.

    asked: whether there is a first one. The mask is then that of the lanes that leave by the condition.
    """
    exits.rounds, exits.since = _FOR_ALL, m.unknowns.count
    # What was there before the loop is no more likely than what it sets.
    defaults, m.context.defaults = m.context.defaults, False
    start = snapshot(m)
    draft = _draft(m, s, start)
    if draft is None or not _speculate(m, s, exits, asked, left, start, draft):
        _tried_out(m, s, exits, asked, left, start, draft)
    m.context.defaults = defaults


def _draft(m: Machine, s: Loop, start: Snapshot) -> Draft | None:
    """What an earlier visit of a loop says of this one, to be verified."""
    return foreseen(m, s, start) if (id(s), m.frame.instance) in m.memo.trials else None


def _speculate(
    m: Machine, s: Loop, exits: Exits, asked: Int, left: Left, start: Snapshot, draft: Draft
) -> bool:
    """Run the iteration that stands for all as a draft says. False, and all as before, where it does not end
    so."""
    if not m.silent and m.journal.sums is not None:
        return False
    spent = m.memo.trials[id(s), m.frame.instance]
    size = m.code_size
    before, attempt = size.counts, Attempt(m, exits)
    checkpoint = HostCheckpoint(m) if m.host else None if m.silent else Checkpoint(m, exits)
    # The code is as large as where all trials ran.
    size.add(spent[1])
    if _stand_in(m, s, exits, asked, left, start, draft.plan(), spent[0], draft):
        return True
    attempt.undo(m)
    if checkpoint is not None:
        checkpoint.undo(m)
    restore(m, start)
    size.counts = before
    return False


def _note_line(m: Machine, s: Loop, early: int, copies: int) -> None:
    """Note what one straight line says of a loop of unknown length. early: the copies of the optimiser."""
    turns, turn = m.turns, m.turns.turn
    if early == 1:
        turns.lone[turn] = False
        return
    turns.copied[turn] = copies
    turns.begun[turn] = counts_from(m, s)
    start_off(m, turn, early)
    if rest_first(m, s):
        turns.adrift.add(turn)
    if early > 2:
        turns.rest[turn] = copies


def _stand_in(
    m: Machine,
    s: Loop,
    exits: Exits,
    asked: Int,
    left: Left,
    start: Snapshot,
    plan: Plan,
    size: tuple[int, int, bool],
    draft: Draft | None = None,
) -> bool:
    """Run the generic iteration, as many copies of it as the compiler lines up. size: accesses and operations
    of one; draft: what the plan was foreseen by, to be verified; returns whether it was."""
    must, may, way = m.must, m.may, m.context.way
    pragma = pragma_of(m, s, None)
    line, rounds = left.line or straight_lines(None, *size, pragma), left.rounds
    counted = plan.counted
    if draft is not None and m.silent:
        plan.set(m, draft.count)
    else:
        plan.set(m, _iterations(m, 1 if m.silent else max(line.step, 1)))
    begun = {(o, at): o.cells[at] for o, at in plan.values}
    taken = decode(m, asked)
    passed = may if counted or not asked.known else may & ~taken.may
    going = may if asked.known else taken.may  # who surely leaves now does not come back
    m.must, m.may = m.must & going, m.may & going
    m.onward()
    m.next_turn()
    copies = 1 if m.host else min(line.lines[0], max(rounds or line.lines[0], 1))  # none beyond the last
    early, _ = run_time_copies(*size, pragma)
    if rounds is None and not m.host:
        _note_line(m, s, early, copies)
    weight, times, opened = m.context.weight, m.context.times, m.context.open
    m.context.weight *= max((rounds or 0) // copies, 1)
    m.context.times *= 1 / copies if rounds is None else max(rounds, 1) / (max(rounds // copies, 1) * copies)
    m.context.open += rounds is None
    if not asked.known:
        m.context.undecided.append(Undecided(m.unknowns.value(BOOL, "runs", low=0, high=1), taken.together))
    done = m.code_size.counts
    inside, logged = (m.must, m.may), len(m.log)
    holds, reached = True, m.effort.reached
    # The number of the first copy is a multiple: of bit operations it proves less than all copies do.
    every = _verifies_every(m, draft, line.step)
    apart = parting_of(asked, may)
    # The first time is past: others may have left since.
    m.must = m.must if asked.known or taken.together else m.must & taken.must
    for i in range(1 if m.silent else copies):
        if i == 1 and m.effort.reached == reached and not every:
            break  # without an access the others would only count
        if s.condition is not None:
            c = here(m, ar.truth_of(truth(m, full(m, s.condition)), m.unknowns))
            apart = max(apart, parting_of(c, m.may))
            if i == 0 and rounds is None and (c.known or c.varying):
                again = decode(m, c)
                if some(again.may):
                    m.must, m.may = again.must, again.may
        if i == 0:
            inside = m.must, m.may
        if draft is not None and i == 0 and not equal_masks(m.may, going):
            holds = False  # lanes that stay behind would not have changed
            break
        before, began = waiting(m), m.may
        begun = begun if draft is None or i == 0 else draft.stepping()
        iterate(m, s, exits)
        apart = max(apart, part_ways(m, start, exits.since, before, began))
        if draft is not None and (i == 0 or every):
            holds = draft.holds(snapshot(m).cells, begun)
        if not holds or not m.anyone():
            break
    if rounds is None and holds and m.anyone():
        _only_first(m, inside[1] & ~m.must, logged)
    if (m.silent or m.effort.reached == reached) and m.anyone():  # the other copies would only count
        m.code_size.add(m.code_size.since(done), copies - 1)
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


def _verifies_every(m: Machine, draft: Draft | None, step: int) -> bool:
    """Whether all copies have to end as a draft says, and not the first alone."""
    return draft is not None and not m.silent and step > 1 and bool(draft.stepping())


def _pass_by(m: Machine, asked: Int, passed: Mask, start: Snapshot, together: bool) -> None:
    """Some lanes do not go round once: they keep the state before the loop."""
    never = ar.logical_not(asked, m.unknowns)
    head = m.join()
    head.ways.append(Exit(passed, start, None if asked.known else never, together))
    meet(m, head)
    m.may = m.may | passed


def _tried_out(
    m: Machine,
    s: Loop,
    exits: Exits,
    asked: Int,
    left: Left,
    start: Snapshot,
    earlier: Draft | None,
) -> None:
    """Find out by trials what a generic iteration begins with, and run it. earlier: what an earlier visit
    says."""
    key = id(s), m.frame.instance
    size = m.code_size
    before, special = size.counts, size.special
    if earlier is not None and not earlier.refuted:
        spent = m.memo.trials[key]
        if verified(m, s, exits, start, earlier):
            size.counts = before
            size.add(spent[1])
            _stand_in(m, s, exits, asked, left, start, earlier.plan(), spent[0])
            return
        size.counts = before
    first = _first_trial(m, s, exits)
    once = size.since(before)
    one = *once[:2], size.special > special
    restore(m, start)
    draft = drafted(m, start, first)
    if not is_sure(m, s, draft):
        draft.loosen()
        for count in range(1, TRIALS if key not in m.memo.unsteady else 0):
            # One trial is past, and as large ones would follow.
            m.memo.trials[key] = one, (count * once[0], count * once[1], count * once[2])
            draft.corrected = False
            if _speculate(m, s, exits, asked, left, start, draft):
                count += 1
                m.memo.trials[key] = one, (count * once[0], count * once[1], count * once[2])
                keep(m, s, draft)
                return
            if not draft.corrected:
                break
        if draft.refuted or draft.corrected:
            m.memo.unsteady.add(key)
        draft = revised(m, s, exits, start, draft)
    keep(m, s, draft)
    m.memo.trials[key] = one, size.since(before)
    _stand_in(m, s, exits, asked, left, start, draft.plan(), one)


def _only_first(m: Machine, lanes: Mask, since: int) -> None:
    """Lanes that may leave in any iteration take part in the first one, and perhaps in no other. since:
    position in the log before it."""
    if some(lanes):
        for e in m.log[since:]:
            if isinstance(e, Event):
                e.must = e.must & ~lanes


def _first_trial(m: Machine, s: Loop, exits: Exits) -> State:
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
    restore(m, start)
    plan.set(m, _iterations(m))
    m.must, m.may = inside
    for o, cells in trial(m, s, exits).items():
        o.cells = Cells(cells)
    m.must, m.may = leaving


def _iterations(m: Machine, multiple: int = 1) -> Symbol:
    return m.unknowns.fresh("iteration", low=0, rank=1, multiple=multiple)
