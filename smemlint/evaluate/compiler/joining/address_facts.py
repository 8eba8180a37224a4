"""What the compiler knows of the addresses of a log: what divides them, and what it cannot know of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from math import gcd

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.analysis.arms.leading_addresses import is_plain
from smemlint.evaluate.compiler.joining.address_patterns import Form, Forms, Pattern, lead
from smemlint.evaluate.compiler.joining.chosen_pointers import has_its_own
from smemlint.evaluate.compiler.joining.join_events import (
    Around,
    BothArms,
    Fork,
    JoinEvent,
    JoinGroup,
    JoinKind,
)
from smemlint.evaluate.compiler.joining.loop_pointers import adrift, begun, starts_off
from smemlint.evaluate.compiler.log import Entry, Log, distance
from smemlint.evaluate.compiler.passes import compiled
from smemlint.evaluate.machine.machine import Barrier, Event, Machine, SiteLog
from smemlint.evaluate.memory.segment import declared_alignment, starts_of
from smemlint.evaluate.types.spelling import dims_of
from smemlint.evaluate.values.affine import Affine, Terms, early
from smemlint.evaluate.values.number import Int, form_of, gcd_of, multiple_of
from smemlint.ir import Expr, Index, Literal, Member, Name
from smemlint.ir.nodes import RecordRef
from smemlint.ir.show import show
from smemlint.ir.types import element_type
from smemlint.records import record

NESTED = 8
"""Branches within branches that are looked out of."""


@record(frozen=True, slots=True)
class _Move:
    """How an event's lanes move under another launch: from one form to another, and by a number."""

    source: Form
    target: Form
    number: int


@record(slots=True)
class _SiteFacts:
    """What is known of a site whatever its event. steps, path: see _step_gcd(), _path()."""

    declared: int
    start: int | None
    steps: int
    path: Hashable
    turns: int | None = None
    """What divides its addresses in the active lanes of all turns; None: not asked yet."""
    unsure: int = 0
    """What divides its addresses under another launch, where events do not match."""


class AddressFacts:
    """What the compiler knows of the logged addresses. regions: the lines in which they may join."""

    def __init__(
        self, m: Machine, log: Log, forms: Forms, logged: Sequence[Entry], regions: set[int]
    ) -> None:
        self.m = m
        self.log = log
        self.forms = forms
        starts = starts_of(m)
        off, self.doubtful = starts_off(m, log)
        drift, before = adrift(m, log), begun(m, log)
        self.stale = {e.region for e in logged if isinstance(e, Event) and e.stale}
        self.sites = {
            id(s): _SiteFacts(
                gcd(declared_alignment(m, s.object), before.get(id(s), 0)),
                starts.get(id(s.object)),
                gcd(_step_gcd(m, forms, log.of(s), regions), _off(m, s, off, before), drift.get(id(s), 0)),
                _path(m, forms, log.of(s)),
            )
            for s in {id(e.site): e.site for e in logged if isinstance(e, Event)}.values()
        }
        self.proved = _proved(m, logged, starts)
        self.branches: dict[int, tuple[int, ...]] = {}
        self.before: dict[int, tuple[int, ...]] = {}
        self.addressed: dict[tuple[int, Terms], dict[int, int]] = {}
        """By id() of an array and terms of an address: the order of the first such access in each line."""
        self.chosen: set[int] = set()
        """By id(): sites of which elements may have an address of their own."""
        self.moves: dict[int, list[_Move]] = {}
        """By id() of an event: how it moves under each other launch."""
        self.kinds: dict[tuple[object, ...], JoinKind] = {}
        """Of addresses that are a pattern and a number, with nothing that other launches move."""
        self.elsewhere: dict[Pattern, int | None] = {}
        self.moved: dict[tuple[Form, Form, Pattern], tuple[int, int, int]] = {}

    def compare(self, other: Machine) -> None:
        """Find what the launch decides, from the same kernel under another launch."""
        self.kinds.clear()
        as_run = compiled(other)
        for key, site in self.m.journal.sites.items():
            twin = other.journal.sites.get(key)
            ours, theirs = self.log.of(site), as_run.of(twin) if twin is not None else ()
            if id(site) not in self.sites or not theirs:
                continue
            # Where a loop runs another number of times, the first event's move stands for all.
            alike = len(theirs) == len(ours)
            first = self._move(ours[0], theirs[0])
            for i, e in enumerate(ours):
                move = self._move(e, theirs[i]) if alike else first
                if move.source is not move.target or move.number:
                    self.moves.setdefault(id(e), []).append(move)
            both = ours[0].may & theirs[0].may
            if both.any():
                facts = self.sites[id(site)]
                facts.unsure = gcd(facts.unsure, self._variable(theirs[0], both))

    def may_change(self, logged: Sequence[Entry], groups: Sequence[JoinGroup], gone: Set[int]) -> bool:
        """Return whether another launch may take back that accesses run joined, or not at all: no launch
        changes what operators prove of an address, nor a number that they made of numbers alone; and what
        runs joined, or in place of a load, is proved the same way as that. Other loads keep no load from
        moving."""
        fixed = {id(s) for s in self.m.journal.sites.values() if _is_fixed(self.m, s.node)}
        changed = {*gone, *(i for group in groups for i in group.members)}
        events = [(i, e) for i, e in enumerate(logged) if isinstance(e, Event)]
        formed = {
            i for i, e in events if self._form(e, self.forms.pattern(e.offset.const, e.may)) is not None
        }
        arrays = {id(e.site.object) for i, e in events if i in changed}
        plain = {
            id(e.site.object) for i, e in events if i in changed and (e.site.op != "load" or i not in formed)
        }
        return any(
            i in changed or id(e.site.object) in (plain if e.site.op == "load" else arrays)
            for i, e in events
            if i not in formed and not _is_number(e.offset) and id(e.site) not in fixed
        )

    def by_index(self, s: SiteLog) -> bool:
        """Return whether a site joins by what its index proves, and not by the declaration alone."""
        return self.sites[id(s)].declared < 2 * s.width

    def late(self, s: SiteLog) -> bool:
        """Return whether that index is a sum."""
        form = self.log.of(s)[0].offset.form
        return self.by_index(s) and form is not None and len(form.terms) > 1

    def backwards(self, s: SiteLog, width: int) -> bool:
        """Return whether that index is subtracted from something: of the difference less may be known than of
        its parts. A load may be of the least of its neighbours, which is no worse. Rows and records are
        counted by themselves. width: of what runs."""
        address = self.log.of(s)[0].offset
        if len(dims_of(s.object.type)[0]) > 1 or not self.by_index(s) or address.form is None:
            return False
        if isinstance(element_type(s.object.type), RecordRef):
            return False
        if any(_is_less(c) for c in address.terms.values()):
            return True  # it is the same for all lanes
        factors = [f for _, f in address.form.terms]
        least = s.op == "load" and address.form.const % width == 0
        return bool(factors) and max(factors) < 0 and not least

    def _move(self, e: Event, twin: Event) -> _Move:
        a, b = e.offset.const, twin.offset.const
        start, end = a if isinstance(a, int) else int(a[0]), b if isinstance(b, int) else int(b[0])
        return _Move(self.forms.form(a), self.forms.form(b), end - start)

    def events(self, logged: Sequence[Entry]) -> list[JoinEvent]:
        """Return entries as the compiler's rule sees them."""
        return [self._event(e, order) for order, e in enumerate(logged)]

    def _event(self, e: Entry, order: int) -> JoinEvent:
        if isinstance(e, Barrier):
            around = Around(self._branches_around(e.region))
            fork = Fork(e.arms, e.parts_arms, e.parts_loads, e.stop in ("fork", "perhaps") and e.at == 1)
            kind = JoinKind(e.stop, 0, "", None, 0, e.region, around=around, fork=fork)
            return JoinEvent(kind, 0, order)
        pattern = self.forms.pattern(e.offset.const, e.may)
        own = bool(self.m.journal.moved) and self._has_its_own(e)
        moves = self.moves.get(id(e), ())
        form = self._form(e, pattern)
        at = lead(e.offset.const, pattern)
        if moves or e.offset.terms or own:
            kind = self._kind(e, pattern, moves, form, apart=own)
        else:
            proved = form and (form.terms, form.divides, form.dropped)
            where = e.region, at if e.region in self.m.lines.looped else 0
            key = (id(e.site), pattern, where, e.volatile, e.computed, e.moved, e.perhaps, e.among, proved)
            known = self.kinds.get(key)
            kind = known or self.kinds.setdefault(key, self._kind(e, pattern, (), form))
        low = at + pattern.low
        at = at if low >= 0 else at + -(low // 128) * 128
        return JoinEvent(kind, at, order, None if form is None else form.const)

    def _has_its_own(self, e: Event) -> bool:
        """Whether an access is of an element behind a chosen pointer that has an address of its own."""
        own = has_its_own(self.m, e) if self.by_index(e.site) else False
        if own is None:
            self.chosen.add(id(e.site))
        return bool(own)

    def _form(self, e: Event, pattern: Pattern) -> Affine | None:
        """What a compiler can prove of an address, in all turns of the loops around that stay loops."""
        form = e.offset.form
        if form is None and e.offset.terms and e.offset.uniform:
            form = form_of(e.offset)  # no operator made it: the counter of a loop, as its round begins
        if form is None or (lead(e.offset.const, pattern) - form.const) % min(max(form.divides, 1), 16):
            return None
        divides = self.proved.get(id(e), form.divides)
        return Affine(form.const, form.terms, divides, form.dropped)

    def _branches_around(self, region: int) -> tuple[int, ...]:
        """The lines that a region is a branch of, nearest first."""
        if region not in self.branches:
            found: list[int] = []
            merged, parents, at = self.m.lines.merged, self.m.lines.parents, region
            while at in parents and len(found) < NESTED:
                at = parents[at]
                at = merged.get(at, at)
                found.append(at)
            self.branches[region] = tuple(found)
        return self.branches[region]

    def _in_front(self, e: Event) -> bool:
        """Whether the optimiser has the address of a load in front of the conditions before it: it takes
        nothing to compute, or was computed there."""
        if is_plain(e.site.node):
            return True
        if not self.addressed:
            for known in self.log.events:
                where = id(known.site.object), form_of(known.offset).terms
                self.addressed.setdefault(where, {}).setdefault(known.region, known.order)
        seen = self.addressed[id(e.site.object), form_of(e.offset).terms]
        arms = self._arms((e.region, *self._branches_around(e.region)))
        begin = min((seen.get(r, e.order) for a in arms for r in (*a.yes, *a.no)), default=e.order)
        return any(seen.get(line, begin) < begin for line in self._ran(e.region))

    def _ran(self, region: int) -> tuple[int, ...]:
        """A line, and those that surely ran before it, also in front of barriers."""
        lines, found, todo = self.m.lines, {region}, [region]
        while todo and len(found) < 8 * NESTED:
            line = todo.pop()
            before = {*lines.behind.get(line, ()), lines.parents.get(line, line), lines.after.get(line, line)}
            todo += [b for b in {lines.merged.get(b, b) for b in before} if b not in found]
            found.update(todo)
        return tuple(found)

    def _arms(self, lines: Sequence[int], depth: int = 0) -> tuple[BothArms, ...]:
        """Both arms of the conditions of some lines, the latest first."""
        if depth == NESTED:
            return ()
        found: list[BothArms] = []
        for line in lines:
            for yes, no, small, first in reversed(self.m.lines.both.get(line, ())):
                within = (self._arms(arm, depth + 1) for arm in (yes, no))
                found.append(BothArms(yes, no, small, first, *within))
        return tuple(found)

    def _behind(self, region: int) -> tuple[int, ...]:
        """The lines that surely ran before a region, with a loop that stays a loop between."""
        if region not in self.before:
            found = dict.fromkeys(self._branches_around(region))
            own = len(found)
            todo = [region, *found]
            while todo and len(found) < own + 2 * NESTED:
                for line in self.m.lines.behind.get(todo.pop(0), ()):
                    line = self.m.lines.merged.get(line, line)
                    further = [r for r in (line, *self._branches_around(line)) if r not in found]
                    todo += further
                    found |= dict.fromkeys(further)
            self.before[region] = tuple(found)[own:]
        return self.before[region]

    def _kind(
        self, e: Event, pattern: Pattern, moves: Sequence[_Move], form: Affine | None, *, apart: bool = False
    ) -> JoinKind:
        s = e.site
        facts = self.sites[id(s)]
        stale = e.region in self.stale
        if form is None:
            own = 0 if stale else self._variable(e, self.m.threads.present)
            variable = gcd(facts.steps, own or self._over_turns(s, facts), facts.unsure, e.among)
        else:
            divides = max(form.divides, min(early(form), facts.declared))
            variable = gcd(facts.steps, divides, e.among)
        moved: tuple[tuple[int, int], ...] = ()
        for move in moves:
            by, digest, divides = self._moved(move, pattern)
            if by or divides:
                variable = gcd(variable, by, divides)
                moved = (*moved, (by, digest))
        return JoinKind(
            op=s.op,
            width=s.width,
            array=s.object.id,
            pattern=pattern,
            alignment=variable & -variable,
            region=e.region,
            volatile=e.volatile,
            computed=e.computed,
            alone=apart or (e.moved is not None and e.moved.alone) or _may_be_one(e),
            fragment=s.fragment,
            declared=facts.declared,
            base=(
                (form.terms, facts.path)
                if form is not None
                else (
                    _base(e.offset),
                    moved,
                    facts.path,
                    None if stale or e.may is self.m.threads.present else self._elsewhere(pattern),
                )
            ),
            start=facts.start,
            affine=form is not None,
            loose=form is not None and form.dropped != 0,
            perhaps=e.perhaps,
            around=self._lines_before(e),
            words=e.moved is None or not e.moved.number,
        )

    def _lines_before(self, e: Event) -> Around:
        """The lines in front of an access."""
        s, branches = e.site, bool(self.m.lines.both) and e.site.op == "load"
        return Around(
            under=self._branches_around(e.region),
            behind=self._behind(e.region),
            looped=self.m.lines.looped.get(e.region),
            named=self._is_reload(e),
            arms=self._arms((e.region, *self._branches_around(e.region))) if branches else (),
            in_front=branches and self._in_front(e),
            written=show(s.node) if branches and s.node is not None else "",
        )

    def _is_reload(self, e: Event) -> bool:
        """Whether an access that surely ran before is of the element that this load reads. Asked of loads
        behind a loop that may not run."""
        return (
            e.region in self.m.lines.looped
            and e.site.op == "load"
            and any(
                x.order < e.order
                and x.under == ()
                and distance(x, e, e.may) == 0
                and not (e.may & ~x.must).any()
                for s in self.m.journal.sites.values()
                if s.object is e.site.object
                for x in self.log.of(s)
            )
        )

    def _over_turns(self, s: SiteLog, facts: _SiteFacts) -> int:
        """What divides the address in the lanes of any turn: the few lanes of one turn prove nothing."""
        if facts.turns is None:
            facts.turns = gcd(*(self._variable(e, e.may) for e in self.log.of(s)))
        return facts.turns

    def _variable(self, e: Event, active: NDArray[np.bool_]) -> int:
        """What divides the part of an address that differs between lanes or is not known."""
        variable = 0
        if not isinstance(e.offset.const, int):
            variable = self.forms.pattern(e.offset.const, active).divides
        for mono, coefficient in e.offset.terms.items():
            variable = gcd(variable, gcd_of(coefficient) * multiple_of(mono))
        return variable

    def _moved(self, move: _Move, pattern: Pattern) -> tuple[int, int, int]:
        """Bytes by which the first active lane moves, a digest of how the others do, and what divides the
        differences (0: all move alike)."""
        key = (move.source, move.target, pattern)
        if key not in self.moved:
            steps = (move.target.steps - move.source.steps)[pattern.active]
            apart = steps - steps[0]
            self.moved[key] = (int(steps[0]), hash(apart.tobytes()), int(np.gcd.reduce(apart)))
        by, digest, divides = self.moved[key]
        return by + move.number, digest, divides

    def _elsewhere(self, pattern: Pattern) -> int | None:
        """A digest of the address in the lanes that do not take part, for the compiler cannot tell them
        apart: `s[t]` and `s[t ^ 1]` of even lanes are not known to be neighbours."""
        if not pattern.form.vector:
            return None
        if pattern not in self.elsewhere:
            steps = pattern.form.steps
            others = steps[self.m.threads.present & ~pattern.active]
            digest = hash((others - steps[pattern.first]).tobytes()) if others.size else None
            self.elsewhere[pattern] = digest
        return self.elsewhere[pattern]


def _is_less(factor: object) -> bool:
    return isinstance(factor, int) and factor < 0


def _is_number(offset: Int) -> bool:
    """Whether an address is a number that nothing of the launch went into: a literal, a counter."""
    return offset.form is None and not offset.terms and isinstance(offset.const, int)


def _is_fixed(m: Machine, node: Expr | None) -> bool:
    """Whether a place is a shared variable, or an element of one whose subscripts are written as numbers."""
    while isinstance(node, Index | Member):
        if isinstance(node, Index) and not isinstance(node.index, Literal):
            return False
        if isinstance(node, Member) and node.arrow:
            return False
        node = node.base
    return isinstance(node, Name) and node.id in m.memory.shared


def _off(m: Machine, s: SiteLog, off: Mapping[int, int], before: Mapping[int, int]) -> int:
    """What divides a pointer that starts in the middle of its loop's copies, 0 where that does not matter."""
    declared = gcd(declared_alignment(m, s.object), before.get(id(s), 0))
    return 0 if declared >= 2 * s.width else off.get(id(s), 0)


def _step_gcd(m: Machine, forms: Forms, events: Sequence[Event], chosen: set[int]) -> int:
    """What divides the way from a site's event in one line of a loop to its event in the next."""
    previous: dict[Hashable, tuple[int, int]] = {}
    position: Counter[int] = Counter()
    g = 0
    for e in events:
        if e.turn in m.turns.uneven:
            continue
        turn = m.turns.lined.get(e.turn, e.turn)
        at = position[turn], m.turns.copies.get(turn)
        position[turn] += 1
        here = _first(forms, e)
        before, line = previous.get(at, (here, turn))
        if line != turn and e.region in chosen:
            g = gcd(g, here - before)
        previous[at] = (here, turn)
    return g


def _proved(m: Machine, logged: Sequence[Entry], starts: Mapping[int, int]) -> dict[int, int]:
    """By id() of an event, what divides its address in every turn of the loops that stay loops: the code is
    the same in all of them, also where a pointer leads to another array in each (swapped double buffers).
    starts: where arrays start, by id()."""
    turns: dict[Hashable, dict[int, list[Event]]] = {}
    for e in logged:
        if isinstance(e, Event) and e.offset.form is not None:
            turn = m.turns.lined.get(e.turn, e.turn)
            copy = m.turns.copies.get(turn)
            written = e.site.place, e.site.op, e.site.width, tuple(e.site.via), copy
            turns.setdefault(written, {}).setdefault(turn, []).append(e)
    found: dict[int, int] = {}
    for of_place in turns.values():
        if len(of_place) < 2:
            continue
        divides: dict[int, int] = {}
        first: dict[int, Event] = {}
        for events in of_place.values():
            for at, e in enumerate(events):
                assert e.offset.form is not None
                apart = _bytes_between(first.setdefault(at, e), e, starts)
                divides[at] = gcd(divides.get(at, 0), e.offset.form.divides, apart)
        for events in of_place.values():
            found |= {id(e): divides[at] for at, e in enumerate(events)}
    return found


def _bytes_between(a: Event, b: Event, starts: Mapping[int, int]) -> int:
    """The bytes between what addresses in two arrays are counted from; 1 where that is not known."""
    if a.site.object is b.site.object:
        return 0
    here, there = starts.get(id(a.site.object)), starts.get(id(b.site.object))
    if here is None or there is None or a.offset.form is None or b.offset.form is None:
        return 1
    return abs(here + a.offset.form.const - there - b.offset.form.const)


def _path(m: Machine, forms: Forms, events: Sequence[Event]) -> Hashable:
    """How a site moves from turn to turn of the loops that stay loops; None if it does not.

    Only two that move alike have a distance that the compiler knows.
    """
    firsts: dict[int, int] = {}
    starts: dict[tuple[int, ...] | None, int] = {}
    for e in events:
        if e.turn not in firsts:
            firsts[e.turn] = _first(forms, e)
            starts.setdefault(m.turns.copies.get(e.turn), firsts[e.turn])
    steps = tuple((turn, at - starts[m.turns.copies.get(turn)]) for turn, at in firsts.items())
    return steps if any(step for _, step in steps) else None


def _first(forms: Forms, e: Event) -> int:
    c = e.offset.const
    return c if isinstance(c, int) else lead(c, forms.pattern(c, e.may))


def _may_be_one(e: Event) -> bool:
    """Whether a store may be one with that of the other arm, so that nobody knows what it joins."""
    return e.perhaps and e.site.op == "store" and bool((e.may & ~e.must).any())


def _base(offset: Int) -> Hashable:
    if not offset.terms:
        return ()
    return tuple(
        sorted(
            (tuple(s.order for s in mono), c if isinstance(c, int) else c.tobytes())
            for mono, c in offset.terms.items()
        )
    )
