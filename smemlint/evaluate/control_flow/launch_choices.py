"""What a launch decides and the compiler does not know: `if (n > 3) stride = 2;` for a given n.

Evaluation takes one way, since the launch tells n. The compiler has to cover all of them: what any way sets
has no known distance from anything else in the machine code. Such variables keep their numbers and lose
their affine form here, where the ways meet.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from smemlint.evaluate.analysis.arms.pointer_selects import Moves
from smemlint.evaluate.analysis.purity import root_of
from smemlint.evaluate.machine.dispatch import run
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.machine.state import Join
from smemlint.evaluate.memory.merging import note_moved
from smemlint.evaluate.values import affine
from smemlint.evaluate.values.affine import Affine
from smemlint.evaluate.values.number import Int, collapse, form_of, formed, scale, subtract
from smemlint.evaluate.values.value import Cells, Object, Pointer, Value, same
from smemlint.ir import (
    Asm,
    Break,
    Call,
    Construct,
    Continue,
    Declare,
    Evaluate,
    Expr,
    Goto,
    Lambda,
    Loop,
    Name,
    Return,
    Stmt,
    UnknownExpr,
    UnknownStmt,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import LONG, is_reference
from smemlint.ir.uses import target_of
from smemlint.ir.walk import walk
from smemlint.records import record

WIDEST = 16
"""Bytes of the widest access: what a pointer to another array is aligned to at best."""
MOST_TRIED = 200
"""Nodes of the IR in a way that is tried."""
Held = dict[tuple[Object, int], Value]
Ways = tuple[Affine, Held, frozenset[str], list[Held | None]]


@record(frozen=True, slots=True)
class Effects:
    """What statements may do. assigned: variables that they set. leaves, returns: a loop or switch, a
    function. plain: short, and nothing but arithmetic on variables, which can be tried without a trace."""

    assigned: frozenset[str] = frozenset()
    leaves: bool = False
    returns: bool = False
    plain: bool = True


def _effects_in(s: Stmt) -> Effects:
    nodes = list(walk(s))
    targets = [t for n in nodes if (t := target_of(n)) is not None]
    named = {n.var.id: n.var.init for n in nodes if isinstance(n, Declare) and is_reference(n.var.type)}
    return Effects(
        frozenset(root for t in targets if (root := _named_by(t, named)) is not None),
        any(isinstance(n, Break | Continue | Goto) for n in nodes),
        any(isinstance(n, Return) for n in nodes),
        len(nodes) <= MOST_TRIED
        and all(isinstance(e, Name) for e in (*targets, *named.values()))
        and not any(isinstance(n, _LEAVES_A_TRACE) for n in nodes),
    )


def _named_by(target: Expr, references: Mapping[str, Expr | None]) -> str | None:
    """The variable that is set, also through references that are declared beside. references: to what."""
    root = root_of(target)
    while root is not None and (to := references.get(root)) is not None:
        root = root_of(to)
    return root


effects = by_identity(_effects_in)
_LEAVES_A_TRACE = (Asm, Break, Call, Construct, Continue, Goto, Lambda, Return, UnknownExpr, UnknownStmt)


def decided_by_launch(m: Machine, c: Int) -> Affine | None:
    """What a compiler knows of a number that all lanes here share, where it cannot know the number itself."""
    if m.host or not c.known or not isinstance(collapse(c.const, m.may), int):
        return None
    form = form_of(c)
    return form if form.terms else None


def contents(m: Machine, variables: Collection[str]) -> Held:
    """What variables hold, or what they refer to."""
    objects = [_referred(o) for v in variables if (o := m.find(v)) is not None]
    return {(o, at): v for o in objects if o.storage == "local" for at, v in o.cells.items()}


def _referred(o: Object) -> Object:
    """The object that a reference names, else the object itself."""
    if is_reference(o.type):
        p = o.cells.get(0)
        return p.object if isinstance(p, Pointer) else o
    return o


def tried(m: Machine, statements: Iterable[Stmt]) -> Held | None:
    """What variables would hold on a way that is not taken; None where trying it would leave a trace."""
    ways = [effects(s) for s in statements]
    if not all(way.plain for way in ways):
        return None
    variables = frozenset[str]().union(*(way.assigned for way in ways))
    keep = {o: (dict(o.cells), o.havoc) for o, _ in contents(m, variables)}
    size, lines, context = m.code_size, (m.lines.region, m.lines.follows), m.context
    masks, turn, stays = (m.must, m.may), m.turns.turn, m.turns.stays
    assumed, guessed = dict(m.journal.assumptions), list(m.unknowns.guessed)
    # Loops around count in the object that they know.
    m.code_size, m.context = replace(size), context.copy()
    m.silent += 1
    for s in statements:
        run(m, s)
    found = contents(m, variables)
    m.silent -= 1
    m.code_size, (m.lines.region, m.lines.follows), m.context = size, lines, context
    (m.must, m.may), m.turns.turn, m.turns.stays = masks, turn, stays
    m.journal.assumptions, m.unknowns.guessed = assumed, guessed
    for o, (cells, havoc) in keep.items():
        o.cells, o.havoc = Cells(cells), havoc
    return found


def meet_ways(
    m: Machine, decision: Hashable, before: Held, assigned: Collection[str], others: Sequence[Held | None]
) -> None:
    """Take from variables what only the launch tells of them. before: what they held where ways part.
    others: what they hold on ways that were not taken, None: nobody knows."""
    for (o, at), now in contents(m, assigned).items():
        kept = before.get((o, at))
        options = [None if way is None else way.get((o, at), kept) for way in others]
        o.cells[at] = either_value(m, decision, now, options, (o.id, at))


def either_value(
    m: Machine,
    decision: Hashable,
    now: Value,
    options: Sequence[Value | None],
    name: Hashable,
    anew: bool = False,
) -> Value:
    """A value as a compiler knows it that cannot tell it from the others. None: anything; name: tells apart
    what one decision sets. anew: each round of a loop around decides.

    Around a short loop without a barrier the decision may be taken before it, with a copy of the loop for
    each way, in which the value is known.
    """
    if _in_loop(m) and not anew:
        return now if all(_provably_equal(now, way) for way in options) else _taken_for_known(now)
    if isinstance(now, Int):
        return one_of_forms(decision, now, [v if isinstance(v, Int) else None for v in options], name)
    if isinstance(now, Pointer):
        offsets = [v.offset if isinstance(v, Pointer) else None for v in options]
        base = any(isinstance(v, Pointer) and v.object is not now.object for v in options)
        offset = one_of_forms(decision, now.offset, offsets, name)
        for v in options:
            if isinstance(v, Pointer) and m.context.moves is not None and now.object.storage == "shared":
                note_moved(m, now, v, offset, Moves.PERHAPS)
        if base:
            start = affine.atom("base", decision, name, divides=WIDEST)
            offset = formed(offset, affine.add(form_of(offset), start))
        return Pointer(now.object, offset, now.pointee, now.integer)
    return now


def _provably_equal(a: Value | None, b: Value | None) -> bool:
    """Whether a compiler sees that two values are the same."""
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        return a.object is b.object and _provably_equal(a.offset, b.offset)
    if not (isinstance(a, Int) and isinstance(b, Int)):
        return False
    return form_of(a) == form_of(b) and form_of(a).dropped == form_of(b).dropped


def _in_loop(m: Machine) -> bool:
    return m.frame.looped or any(not exits.switch and not exits.label for exits in m.context.loops)


def _taken_for_known(v: Value) -> Value:
    if isinstance(v, Pointer):
        return Pointer(v.object, _loose(v.offset), v.pointee, v.integer)
    return _loose(v) if isinstance(v, Int) else v


def _loose(v: Int) -> Int:
    form = form_of(v)
    return formed(v, Affine(form.const, form.terms, form.divides, affine.UNSURE))


def one_of_forms(decision: Hashable, now: Int, options: Sequence[Int | None], name: Hashable) -> Int:
    """Return a number as the compiler sees it where the launch decides between values. options: those of
    the other ways, None: any."""
    form = form_of(now)
    told = [form_of(v) for v in options if v is not None]
    if all(other == form for other in told) and len(told) == len(options):
        return now
    if len(told) < len(options):
        # Any other number: only with luck as well aligned as this one.
        divides = form.divides or WIDEST
        const = form.const % divides
        return formed(
            now,
            affine.atom("launch", decision, name, form, divides=divides, const=const, dropped=affine.UNSURE),
        )
    for other in told:
        form = affine.either(decision, form, other)
    return formed(now, form)


def leaves_by_launch(m: Machine, decision: Affine, arms: Iterable[Stmt | None]) -> None:
    """Note at the ends that arms leave for that the launch decides whether they are reached so."""
    found = [effects(s) for s in arms if s is not None]
    if any(way.leaves for way in found):
        for exits in reversed(m.context.loops):
            exits.end.decisions += (decision,)
            if not exits.switch and not exits.label:
                break
    if any(way.returns for way in found):
        for exits in m.context.loops:
            exits.end.decisions += (decision,)
        if m.frame.end is not None:
            m.frame.end.decisions += (decision,)


def ways_by_launch(
    m: Machine, c: Int, arms: Sequence[Stmt | None], others: Sequence[Stmt | None]
) -> Ways | None:
    """Of a number that only the launch decides, as meet_ways() takes it: itself, what the arms set held
    before, which variables these are, and what they would hold on other ways. None: one that sets nothing."""
    decision = decided_by_launch(m, c)
    if decision is None:
        return None
    leaves_by_launch(m, decision, arms)
    assigned = frozenset[str]().union(*(effects(s).assigned for s in arms if s is not None))
    if not assigned:
        return None
    held, stops = contents(m, assigned), len(m.journal.stops)
    found = [{} if s is None else tried(m, (s,)) for s in others]
    del m.journal.stops[stops:]  # what stands on ways that were only tried
    return decision, held, assigned, found


@by_identity
def _round(s: Loop) -> tuple[Stmt, ...]:
    """What one iteration runs."""
    return (s.body,) if s.step is None else (s.body, Evaluate(s.step))


class LoopOfLaunch:
    """A loop that may go round as often as only the launch tells: what it sets is then not known after it; of
    a loop that stays one, nor is what goes in no equal steps."""

    def __init__(self, m: Machine, s: Loop) -> None:
        self._m = m
        self._statement = s
        self._variables = frozenset[str]() if m.host else effects(s).assigned
        self._before = contents(m, self._variables)
        self._once: Held | None = {}
        self._decisions: tuple[Affine, ...] = ()

    def asked(self, condition: Int) -> None:
        """A number decided whether there is another iteration."""
        decision = decided_by_launch(self._m, condition)
        if decision is not None and not self._decisions:
            self._decisions = (decision,)

    def went_round(self, trips: int) -> None:
        """An iteration ended. What the first one sets tells what divides the steps of the loop."""
        if trips == 1 and self._variables:
            self._once = contents(self._m, self._variables)

    def ended(self, end: Join, trips: int, *, stays: bool) -> None:
        """All ways out of the loop have met. Where the launch lets no lane in, what it would set is tried."""
        decisions = self._decisions + end.decisions
        if decisions and self._variables:
            if not trips:
                self._once = tried(self._m, _round(self._statement))
            meet_ways(self._m, decisions, self._before, self._variables, [{}, self._once])
        elif stays and trips > 1:
            for (o, at), now in contents(self._m, self._variables).items():
                before, once = (held.get((o, at)) for held in (self._before, self._once or {}))
                if _is_number(now) and not _goes_in_steps(before, once, now, trips):
                    o.cells[at] = formed(now, affine.atom("loop", id(self._statement), o.id, at))


def _is_number(v: Value | None) -> TypeGuard[Int]:
    """Whether this is a number that a compiler would know that followed the code."""
    return isinstance(v, Int) and v.known and isinstance(v.const, int) and v.form is None


def _goes_in_steps(before: Value | None, once: Value | None, now: Int, trips: int) -> bool:
    """Whether a number may have gone in equal steps, or was set to the same one each time."""
    if before is None or once is None or same(once, now):
        return True
    if not isinstance(before, Int) or not isinstance(once, Int):
        return False
    return same(subtract(now, before, LONG), scale(subtract(once, before, LONG), trips, LONG))
