"""Behind both arms of an `if`: which of their stores are one, and whether a branch is left that keeps apart
what stands in front of it and behind.

    s[2 * t] = w;
    if (c) s[2 * t + 1] = a * b; else s[2 * t + 1] = a;     // a choice, and one store of it: STS.64

Read from machine code, nvcc 13.0 for sm_90: docs/dev/joining.md, "One straight line".
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum, auto
from typing import TypeAlias

from smemlint.evaluate.analysis.arms.asked_once import asked_once, reads_memory, surely_asked
from smemlint.evaluate.analysis.arms.behind_arms import repeated
from smemlint.evaluate.analysis.arms.branch_left import Left
from smemlint.evaluate.analysis.parts_read.halves import is_element
from smemlint.evaluate.compiler.stored_by_both import note_stores
from smemlint.evaluate.compiler.stored_over import note_stored_over
from smemlint.evaluate.machine.machine import Barrier, Machine
from smemlint.evaluate.run.selected import is_asked_in_front, leaves_a_branch
from smemlint.evaluate.values.number import Int
from smemlint.ir import Break, If, Return, Stmt
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
    slow: or may end the line."""

    line: int
    regions: tuple[int, ...]
    logged: tuple[slice, slice]
    touched: int
    small: bool
    stopped: bool
    together: bool
    aside: bool = False
    slow: bool = False


def condition_key(m: Machine, at: If | None) -> Hashable | None:
    """Return what a condition is known by that is the same wherever it is asked: nothing sets its variables
    again, or no round of the loops around that disappear. None of any other."""
    f = m.frame.function
    if at is None or f is None or len(m.frames) > 1:
        return None
    loops = m.context.unrolled
    around = [exits.changes for exits in loops] if loops else [m.code.changes(f, f)]
    return _said(at) if all(changes.leave(at.condition) for changes in around) else None


@by_identity
def _said(at: If) -> tuple[str, frozenset[str]]:
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
    one = note_stores(m, c, ran.logged, arms, at, together=ran.together)
    over = at is not None and note_stored_over(m, at, ran.logged[0], together=ran.together)
    stored = 2 * len(one) + over
    left = _left(m, ran, arms, at, stored)
    if _is_decided(m, ran, arms, at):
        m.lines.region = ran.line
        return
    plain = not ran.stopped and (ran.small or left is not Left.BRANCH)
    if plain or (may_be_several(m, at) and _in_rounds(m, ran, at) is not _Rounds.EACH):
        m.lines.region = ran.line
        if left is not Left.CHOICE:
            loads = over and ran.touched > stored
            _part(m, ran, at, left, before=bool(stored) and not loads)
            if ran.slow and at is not None and not is_asked_in_front(m, at.condition, ran.together):
                m.stop("perhaps", 1)
    for e, other in one:
        e.region, e.must = m.lines.region, m.must & (e.may | other.may)
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


def _in_rounds(m: Machine, ran: Ran, at: If | None) -> _Rounds:
    loops = m.context.unrolled
    f = m.frame.function
    if not loops:
        return _Rounds.ONE
    if ran.together:
        if f is None or at is None or not reads_memory(at.condition):
            return _Rounds.ONE
        if not all(exits.changes.leave(at.condition) for exits in loops):
            return _Rounds.EACH
        return _Rounds.ONE if id(at) in surely_asked(f) else _Rounds.PERHAPS
    asked = None if f is None else asked_once(f).get(id(at))
    if asked is None or len(loops) > asked.loops:
        return _Rounds.EACH
    if condition_key(m, at) is None:
        return _Rounds.PERHAPS if asked.fixed else _Rounds.EACH
    return _Rounds.ONE if asked.surely else _Rounds.PERHAPS


def _is_decided(m: Machine, ran: Ran, arms: Arms, at: If | None) -> bool:
    """Whether an earlier round asked a condition that no round changes, and whoever it held for has left."""
    last = last_statement(arms[0])
    if arms[1] is not None or any(part.start < part.stop for part in ran.logged):
        return False
    loops = m.context.unrolled[: 1 if isinstance(last, Break) else None]
    asked = isinstance(last, Break | Return) and any(exits.round for exits in loops)
    return asked and condition_key(m, at) is not None


def _left(m: Machine, ran: Ran, arms: Arms, at: If | None, stored: int) -> Left:
    """What a condition leaves that keeps stores apart. stored: stores of its arms that run behind them."""
    if any(arm is not None and _parts(m, arm) for arm in arms):
        return Left.BRANCH
    touches = ran.aside or ran.touched > stored
    if at is None or m.host:
        return Left.BRANCH if touches else Left.CHOICE
    return leaves_a_branch(m, at.condition, arms, touches=touches, together=ran.together, stored=stored)


def _part(m: Machine, ran: Ran, at: If | None, left: Left, *, before: bool) -> None:
    """Log that what a condition leaves keeps, or may keep, stores apart. before: those of its arms that are
    one stand behind it."""
    rounds = _in_rounds(m, ran, at)
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
        m.lines.forks[regions[0]] = at, fork


def _parts(m: Machine, arm: Stmt) -> bool:
    """Whether lanes that take an arm do not store what stands after it."""
    jumps = jumps_in(arm)
    return bool(jumps) if len(m.frames) == 1 else not jumps <= {Return}
