"""Behind both arms of an `if`: which of their stores are one, and whether a branch is left that keeps apart
what stands in front of it and behind.

    s[2 * t] = w;
    if (c) s[2 * t + 1] = a * b; else s[2 * t + 1] = a;     // a choice, and one store of it: STS.64

Read from machine code, nvcc 13.0 for sm_90: docs/dev/joining.md, "One straight line".
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import Enum, auto
from typing import TypeAlias

from smemlint.evaluate.analysis.arms.asked_once import asked_once, reads_memory, surely_asked
from smemlint.evaluate.analysis.arms.behind_arms import Asking, Gap, beside, repeated
from smemlint.evaluate.analysis.arms.branch_left import Left
from smemlint.evaluate.analysis.arms.ladders import Ladder, Made, ladders
from smemlint.evaluate.compiler.stored_by_both import note_stores
from smemlint.evaluate.compiler.stored_over import note_stored_over
from smemlint.evaluate.machine.machine import Barrier, Exits, Machine, Mask
from smemlint.evaluate.run.selected import is_asked_in_front, is_one_for_all, leaves_a_branch, loads_the_same
from smemlint.evaluate.values.number import Int, collapse
from smemlint.ir import Break, Continue, Function, If, Return, Stmt
from smemlint.ir.expr import is_element
from smemlint.ir.jumps import jumps_in
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import array_of, assignment, last_statement
from smemlint.ir.walk import names_in
from smemlint.records import record

PREDICATED = 8
"""Up to this many accesses and operations an `if` becomes predicates, and the straight line goes on after
it."""
Arms: TypeAlias = "tuple[Stmt | None, Stmt | None]"


@record(frozen=True, eq=False, slots=True)
class Ran:
    """Two arms that ran. line: the region in front of them; regions: theirs; logged: where in the log they
    are; touched: their accesses of memory; small: they become predicates; stopped: something in them ends the
    line; together: all lanes take the same one; aside: one that the launch switches off accesses memory;
    slow: or may end the line; perhaps: they may stand in one line with others on the same condition."""

    line: int
    regions: tuple[int, ...]
    logged: tuple[slice, slice]
    touched: int
    small: bool
    stopped: bool
    together: bool
    aside: bool = False
    slow: bool = False
    perhaps: bool = False


def condition_key(m: Machine, at: Asking | None) -> Hashable | None:
    """Return what a condition is known by that is the same wherever it is asked: nothing sets its variables
    again, or no round of the loops around that disappear. None of any other."""
    f = m.frame.function
    if at is None or f is None or len(m.frames) > 1:
        return None
    loops = m.context.unrolled
    around = [exits.changes for exits in loops] if loops else [m.code.changes(f, f)]
    return _said(at) if all(changes.leave(at.condition) for changes in around) else None


def line_of_arms(
    m: Machine, at: Asking | None, c: Int, known: Hashable, *, together: bool
) -> tuple[Hashable, bool]:
    """Return what the arms of a condition are called: loads in those of one name join. And whether they only
    may. at: where it is asked; c: what it tells; known: what it is known by; together: all lanes take one
    arm."""
    f = m.frame.function
    if at is None or f is None or m.host:
        return known, False
    loops = [exits for exits in m.context.loops if not exits.switch]
    together = together or (bool(loops) and _is_shared(m, c, at))
    if loops and together and loops[-1].changes.variables.isdisjoint(names_in(at.condition)):
        rounds = _of_all_lanes(f, at, loops)
    elif loops and not together and not loops[-1].stays:
        rounds = _in_rounds(m, at, together=False)
    else:
        rounds = _Rounds.EACH
    if rounds is not _Rounds.EACH or loads_the_same(at):
        return known, rounds is _Rounds.PERHAPS
    first, gap = beside(f).get(id(at), (None, Gap.NOTHING))
    if first is None or (gap is Gap.STORE and not together):
        first = id(at)
        m.lines.asked[first] = m.lines.made
    return (known, m.lines.asked.get(first, m.lines.made)), gap is not Gap.NOTHING


def _is_shared(m: Machine, c: Int, at: Asking) -> bool:
    """Whether a condition that the launch tells asks what all lanes share."""
    return c.known and isinstance(collapse(c.const, m.may), int) and is_one_for_all(m, at.condition)


@by_identity
def _said(at: Asking) -> tuple[str, frozenset[str]]:
    """A condition as text, and its variables."""
    return show(at.condition), names_in(at.condition)


@by_identity
def chooses_a_place(at: If) -> bool:
    """Return whether both arms end in stores to other places of one array: where lanes part, nvcc stores
    once, at a chosen address."""
    last = [last_statement(arm) for arm in (at.then, at.otherwise)]
    ends = [assignment(s) for s in last if s is not None]
    places = [a.target for a in ends if a is not None and is_element(a.target)]
    arrays = {show(array_of(p)) for p in places}
    return len(places) == 2 and len(arrays) == 1 and show(places[0]) != show(places[1])


def meet(m: Machine, c: Int, ran: Ran, arms: Arms, at: If | None) -> None:
    """Go on behind two arms: in the line in front of them, where nothing of them ends it."""
    ladder = _ladder(m, ran, at)
    made = None if ladder is None else ladder[1]
    one = note_stores(m, c, ran.logged, arms, at, together=ran.together, ladder=ladder)
    over = at is not None and note_stored_over(m, at, ran.logged[0], together=ran.together)
    stored = 2 * len(one) + over
    left = _branch_kept(m, ran, arms, at, stored, ladder)
    if _is_decided(m, ran, arms, at):
        m.lines.region = ran.line
        return
    plain = not ran.stopped and (ran.small or left is not Left.BRANCH)
    if plain or (may_be_several(m, at) and _in_rounds(m, at, together=ran.together) is not _Rounds.EACH):
        m.lines.region = ran.line
        if left is not Left.CHOICE:
            loads = over and ran.touched > stored
            _log_fork(m, ran, at, left, before=(bool(stored) and not loads) or made is Made.ONE)
            if ran.slow and at is not None and not is_asked_in_front(m, at.condition, ran.together):
                m.stop("perhaps", 1)
        _pass_over(m, c, ran, arms, at)
    lanes: dict[int, Mask] = {}
    for e, other in one:
        lanes[id(e)] = lanes.get(id(e), e.may) | other.may
        e.region, e.must = m.lines.region, m.must & lanes[id(e)]
        e.under, e.parted = m.under(e.must)


def may_be_several(m: Machine, at: If | None) -> bool:
    """Return whether a condition may be one of several of which the optimiser makes one: of those beside it,
    or of the rounds of a loop that disappears."""
    f = m.frame.function
    return bool(m.context.unrolled) or (f is not None and id(at) in repeated(f))


class _Rounds(Enum):
    """What becomes of a condition in the rounds of loops that disappear."""

    ONE = auto()
    """One `if` is made of theirs, or they go on in a copy for each arm."""
    PERHAPS = auto()
    EACH = auto()


def _in_rounds(m: Machine, at: Asking | None, *, together: bool) -> _Rounds:
    loops = m.context.unrolled
    f = m.frame.function
    if not loops:
        return _Rounds.ONE
    if together:
        return _Rounds.ONE if f is None or at is None else _of_all_lanes(f, at, loops)
    asked = None if f is None else asked_once(f).get(id(at))
    if asked is None or len(loops) > asked.loops or not isinstance(at, If):
        return _Rounds.EACH
    if condition_key(m, at) is None:
        return _Rounds.PERHAPS if asked.fixed else _Rounds.EACH
    return _Rounds.ONE if asked.surely else _Rounds.PERHAPS


def _of_all_lanes(f: Function, at: Asking, loops: Sequence[Exits]) -> _Rounds:
    """What becomes of a condition that all lanes share, whose variables no round changes."""
    if not reads_memory(at.condition):
        return _Rounds.ONE
    if not all(exits.changes.leave(at.condition) for exits in loops):
        return _Rounds.EACH
    return _Rounds.ONE if id(at) in surely_asked(f) else _Rounds.PERHAPS


def _pass_over(m: Machine, c: Int, ran: Ran, arms: Arms, at: If | None) -> None:
    """Go on in the rest of a round that some lanes leave out, which is an arm of the condition."""
    around = next((exits for exits in reversed(m.context.loops) if not exits.switch), None)
    if around is None or at is None or m.host or not isinstance(last_statement(arms[0]), Continue):
        return
    if ran.together or _is_shared(m, c, at):
        return
    rounds = _Rounds.EACH if around.stays else _in_rounds(m, at, together=False)
    if rounds is _Rounds.PERHAPS:
        m.stop("perhaps", 1)
    elif rounds is _Rounds.EACH:
        line = m.lines.region
        m.lines.branch(line, ("continue", m.lines.made))
        before = line if around.passed is None or around.passed[1] != line else around.passed[0]
        around.passed = before, m.lines.region


def _is_decided(m: Machine, ran: Ran, arms: Arms, at: If | None) -> bool:
    """Whether an earlier round asked a condition that no round changes, and whoever it held for has left."""
    last = last_statement(arms[0])
    if arms[1] is not None or any(part.start < part.stop for part in ran.logged):
        return False
    loops = m.context.unrolled[: 1 if isinstance(last, Break) else None]
    asked = isinstance(last, Break | Return) and any(exits.round for exits in loops)
    return asked and condition_key(m, at) is not None


def _ladder(m: Machine, ran: Ran, at: If | None) -> tuple[Ladder, Made] | None:
    """The ladder that a condition is a part of, and what becomes of its stores."""
    f = m.frame.function
    found = None if f is None or at is None or ran.together or m.host else ladders(f).get(id(at))
    if found is None:
        return None
    sure = not found.looped or bool(m.context.unrolled)
    if found.made is Made.ONE and f is not None:
        # rounds that store other values choose anew, each behind a branch of its own; so may ladders in a row
        given = frozenset[str]().union(*(names_in(e.value) for e in found.ends))
        alike = all((x.changes.variables | x.changes.arrays).isdisjoint(given) for x in m.context.unrolled)
        alike = alike and id(found.conditions[0]) not in repeated(f)
        sure = sure and alike and not any(is_one_for_all(m, s.condition) for s in found.conditions)
    return found, found.made if sure else Made.PERHAPS


def _branch_kept(
    m: Machine, ran: Ran, arms: Arms, at: If | None, stored: int, ladder: tuple[Ladder, Made] | None
) -> Left:
    """What a condition leaves that keeps stores apart. stored: stores of its arms that run behind them."""
    if any(arm is not None and _parts_lanes(m, arm) for arm in arms):
        return Left.BRANCH
    touches = ran.aside or ran.touched > stored
    if at is None or m.host:
        return Left.BRANCH if touches else Left.CHOICE
    if ladder is not None and ladder[1] is not Made.APART:
        stored, touches = len(ladder[0].ends), False
        left = leaves_a_branch(m, at.condition, arms, touches=touches, together=False, stored=stored)
        return left if ladder[1] is Made.ONE else Left.PERHAPS
    return leaves_a_branch(m, at.condition, arms, touches=touches, together=ran.together, stored=stored)


def _log_fork(m: Machine, ran: Ran, at: If | None, left: Left, *, before: bool) -> None:
    """Log that what a condition leaves keeps, or may keep, stores apart. before: those of its arms that are
    one stand behind it."""
    rounds = _in_rounds(m, at, together=ran.together)
    regions = () if rounds is _Rounds.EACH else ran.regions
    for one in regions:
        m.lines.others.setdefault(one, set()).update(r for r in regions if r != one)
    in_front = left is Left.BRANCH and at is not None and is_asked_in_front(m, at.condition, ran.together)
    m.stop("fork" if left is Left.BRANCH else "perhaps", int(in_front), arms=regions)
    if m.silent:
        return
    fork = m.log[-1]
    assert isinstance(fork, Barrier)
    if before:
        m.log.insert(min(part.start for part in ran.logged), m.log.pop())
    if regions:
        other, last = m.lines.forks.get(regions[0], (at, fork))
        last.parts_arms = rounds is _Rounds.PERHAPS or (
            other is not at and all(part.start < part.stop for part in ran.logged)
        )
        last.parts_arms, last.parts_loads = last.parts_arms or ran.perhaps, last.parts_loads or ran.perhaps
        m.lines.forks[regions[0]] = at, fork


def _parts_lanes(m: Machine, arm: Stmt) -> bool:
    """Whether lanes that take an arm do not store what stands after it."""
    jumps = jumps_in(arm)
    return bool(jumps) if len(m.frames) == 1 else not jumps <= {Return}
