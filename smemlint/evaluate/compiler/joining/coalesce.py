"""Which logged accesses run joined, or not at all: the log as events for the compiler's rule."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.analysis.parts_read.chosen_records import set_apart
from smemlint.evaluate.analysis.parts_read.halves import perhaps_narrow
from smemlint.evaluate.analysis.parts_read.members import halved
from smemlint.evaluate.analysis.parts_read.widened_loads import handed_on, perhaps_widened
from smemlint.evaluate.analysis.plain_uses import plain_uses
from smemlint.evaluate.compiler.behind_calls import movable
from smemlint.evaluate.compiler.joining.address_facts import AddressFacts
from smemlint.evaluate.compiler.joining.address_patterns import Forms
from smemlint.evaluate.compiler.joining.at_hand import stored_the_round_before
from smemlint.evaluate.compiler.joining.in_place import separated
from smemlint.evaluate.compiler.joining.join_events import JoinGroup
from smemlint.evaluate.compiler.joining.similar_addresses import rewritten
from smemlint.evaluate.compiler.joining.vectorise import vectorise
from smemlint.evaluate.compiler.log import Entry, Log
from smemlint.evaluate.machine.machine import Barrier, Event, Machine, SiteLog
from smemlint.evaluate.values.affine import UNSURE
from smemlint.evaluate.values.number import Int
from smemlint.ir.types import SHORT, USHORT, element_type
from smemlint.records import record

NARROW = (1, 2, 4, 8)


SIMILAR_INDEX = "whether neighbours are joined depends on how the compiler computes a similar index before it"
BACKWARDS = "whether neighbours are joined depends on what the compiler subtracts the index from"
PAIRS = "whether neighbours are joined depends on whether the compiler stores a pair of words as one"
SKEWED_INDEX = "whether neighbours are joined depends on what the compiler can prove of the index"
CHOSEN_WORDS = "which words of the element are loaded depends on what each way of a condition needs of it"
WIDENED = "whether neighbours are joined depends on where the compiler widens numbers of 16 bits"
PADDED_WORDS = "which words of the record are loaded together depends on what the compiler makes of its gaps"
BEHIND_CALLS = "whether neighbours are joined depends on which are used behind a division"
IN_PLACE = (
    "whether neighbours are joined depends on whether the compiler loads an element before others are stored"
)
TOLD_ROUNDS = "whether neighbours are joined depends on what the compiler makes of the few rounds of a loop"
CHOSEN_POINTER = (
    "whether neighbours are joined depends on how the compiler makes the pointer that a condition moves"
)
BRANCH_LEFT = "whether neighbours are joined depends on whether a condition between them stays a branch"
ASSERTED = (
    "whether neighbours are joined depends on whether the program is built with the `assert` between them"
)
LOOP_POINTER = (
    "whether neighbours are joined depends on where the compiler lets the pointer of the loop start"
)


@record(slots=True)
class Runs:
    """How one site runs. wide: events by width of the instruction that runs; followed: width and leader of
    events that another site's instruction carries."""

    alone: list[Event] = field(default_factory=list)
    wide: dict[int, list[Event]] = field(default_factory=dict)
    followed: tuple[int, SiteLog] | None = None
    spared: list[Event] | None = None
    """What is written where nothing of it runs: what they would load is at hand, or loaded in the other arm
    of a condition (and no longer here), or what they would store is stored again."""
    doubtful: str = ""
    """Why what runs wide here may as well run one by one."""
    dropped: bool = False
    """Nothing of what is stored is loaded from here, or what is loaded was stored the round before, so that
    the compiler may drop it."""


def as_written(m: Machine, log: Log) -> dict[int, Runs]:
    """Runs of sites that run as the source has them."""
    return {id(s): Runs(alone=[*log.of(s)]) for s in m.journal.sites.values()}


def widened(
    m: Machine,
    log: Log,
    forms: Forms,
    views: Callable[[], Iterator[Machine]] = lambda: iter(()),
    doubts: Callable[[], Set[tuple[object, ...]]] = frozenset,
) -> dict[int, Runs]:
    """Runs by id() of the SiteLog.

    log: after all passes; forms: those of its addresses. views: give the same evaluation under other
    launches: what differs is not known to the compiler. doubts: gives the keys of sites of which it may know
    less.
    """
    runs = {
        id(s): Runs(alone=[*log.of(s)], spared=None if log.of(s) else []) for s in m.journal.sites.values()
    }
    logged = _logged(m, log)
    if not logged:
        return runs
    facts = AddressFacts(m, log, forms, logged, _joinable(m, log))
    perhaps: set[int] = set()
    groups, gone = vectorise(facts.events(logged), perhaps, m.lines.others)
    for other in views() if facts.may_change(logged, groups, gone) else ():
        facts.compare(other)
        groups, gone = vectorise(facts.events(logged), perhaps, m.lines.others)
        if not groups and not gone and not perhaps:
            break
    for s in stored_the_round_before(logged, gone):
        runs[id(s)].dropped = True
    if not groups and not gone and not perhaps:
        return runs
    unsure = {id(logged[index]) for index in perhaps - gone}
    dropped = {id(logged[index]) for index in gone}
    rests: dict[int, Event] = {}
    late: dict[int, SiteLog] = {}
    moving = movable(m, log) if groups else set()
    asserts = [e.order for e in logged if isinstance(e, Barrier) and e.stop == "assert"]
    for group in groups:
        leader = logged[group.leader]
        assert isinstance(leader, Event)
        if group.late:
            late[id(leader.site)] = leader.site
        runs[id(leader.site)].wide.setdefault(group.width, []).append(_wide(leader, group))
        for index in group.members:
            member = logged[index]
            assert isinstance(member, Event)
            dropped.add(id(member))
            if (member.may & ~leader.may).any():  # lanes that leave a loop within the copies of its body
                rest = member.may & ~leader.may
                rests[id(member)] = replace(member, may=rest, must=member.must & rest)
            if member.site is not leader.site:
                runs[id(member.site)].followed = (group.width, leader.site)
        members = [e for index in group.members if isinstance(e := logged[index], Event)]
        doubt = _doubt_of(group, members, moving, asserts)
        runs[id(leader.site)].doubtful = doubt or runs[id(leader.site)].doubtful
    for site, why in _doubted(m, log, runs, facts, late, doubts):
        runs[site].doubtful = why
    for s in separated(logged, groups):
        runs[id(s)].doubtful = IN_PLACE
    for r in runs.values():
        written = r.alone
        r.alone = [rests.get(id(e), e) for e in written if id(e) not in dropped or id(e) in rests]
        if unsure:
            r.alone = [replace(e, perhaps=True) if id(e) in unsure else e for e in r.alone]
        if written and not (r.alone or r.wide or r.followed):
            r.spared = written
    for s in stored_for_nothing(m, runs):
        runs[id(s)].dropped = True
    return runs


def _doubt_of(group: JoinGroup, members: Sequence[Event], moving: Set[int], asserts: Sequence[int]) -> str:
    """Why accesses may not run joined that an order of all would join. moving: as in movable(); asserts: the
    places in that order of what fails by a call, which nothing passes."""
    if asserts and bisect_right(asserts, min(e.order for e in members)) != bisect_right(
        asserts, max(e.order for e in members)
    ):
        return ASSERTED
    if members[0].site.op == "store" and len({e.site.width for e in members}) > 1:
        return PAIRS
    if group.doubtful:
        return BRANCH_LEFT
    if _skewed(members):
        return SKEWED_INDEX
    return BEHIND_CALLS if group.late and any(id(e) in moving for e in members) else ""


def stored_for_nothing(m: Machine, runs: Mapping[int, Runs]) -> Iterator[SiteLog]:
    """The stores to static arrays of which every load finds its value at hand."""
    at_hand = {id(s.node) for s in m.journal.sites.values() if runs[id(s)].spared}
    for s in m.journal.sites.values():
        if s.op == "store" and s.function is not None and s.object.var is not None:
            loads = plain_uses(s.function).get(s.object.var.id)
            if loads and loads <= at_hand:
                yield s


def _doubted(
    m: Machine,
    log: Log,
    runs: Mapping[int, Runs],
    facts: AddressFacts,
    late: Mapping[int, SiteLog],
    doubts: Callable[[], Set[tuple[object, ...]]],
) -> Iterator[tuple[int, str]]:
    """The sites, by id(), of which the compiler may know less than joining takes, and why. late: those that
    machine code joins."""
    asked = {key: s for key, s in m.journal.sites.items() if runs[id(s)].wide and facts.late(s)}
    for key in doubts() & asked.keys() if asked else ():
        yield id(asked[key]), SIMILAR_INDEX
    for site in rewritten(m, log, {id(s.object) for s in late.values()}) if late else ():
        followed = runs[site].followed
        led = site if followed is None else id(followed[1])
        if led in late:
            yield led, SIMILAR_INDEX
    for s in m.journal.sites.values():
        wide = (e for events in runs[id(s)].wide.values() for e in events)
        known_less = m.turns.stored.get(id(s))
        less = known_less is not None and runs[id(s)].wide and (known_less or facts.by_index(s))
        if less or (m.turns.told and any(e.turn in m.turns.told for e in wide)):
            yield id(s), TOLD_ROUNDS
        if id(s) in facts.doubtful and runs[id(s)].wide and facts.by_index(s):
            yield id(s), LOOP_POINTER
        if id(s) in facts.chosen:
            followed = runs[id(s)].followed
            yield id(s) if followed is None else id(followed[1]), CHOSEN_POINTER
        if runs[id(s)].wide and facts.backwards(s, max(runs[id(s)].wide)):
            yield id(s), BACKWARDS
        if s.function is not None and id(s.node) in perhaps_narrow(s.function):
            followed = runs[id(s)].followed
            yield id(s) if followed is None else id(followed[1]), CHOSEN_WORDS
        if runs[id(s)].wide and s.function is not None and id(s.node) in halved(s.function):
            yield id(s), CHOSEN_WORDS
        if runs[id(s)].wide and id(s.node) in m.journal.padded:
            yield id(s), PADDED_WORDS
        if id(s.node) in m.journal.chosen or (s.function is not None and id(s.node) in set_apart(s.function)):
            followed = runs[id(s)].followed
            yield id(s) if followed is None else id(followed[1]), CHOSEN_WORDS
        if id(s) in late and _widened_or_not(s):
            yield id(s), WIDENED


def _widened_or_not(s: SiteLog) -> bool:
    """Whether the compiler may widen an integer of 16 bits as it loads it, and not join it then."""
    if s.op != "load" or s.width != 2 or s.function is None:
        return False
    handed = element_type(s.object.type) in (SHORT, USHORT) and id(s.node) in handed_on(s.function)
    return handed or id(s.node) in perhaps_widened(s.function)


def _skewed(members: Iterable[Event]) -> bool:
    """Whether that some accesses are neighbours depends on what shifts drop of each."""
    found = {form.dropped for e in members if (form := e.offset.form) is not None}
    return len(found) > 1 or UNSURE in found


def may_join(m: Machine, log: Log) -> bool:
    """Return whether any two accesses stand where the compiler could join them."""
    return bool(_logged(m, log))


def _logged(m: Machine, log: Log) -> Sequence[Entry]:
    """The part of the log that matters: where two accesses of one array meet, or one behind a loop the value
    of one in front of it, and all that lies between."""
    kept = _between(m, log, across=True)
    return [e for e, keep in zip(log.entries, kept.tolist(), strict=True) if keep]


def _joinable(m: Machine, log: Log) -> set[int]:
    """The lines in which accesses may join, and what lies between."""
    kept = _between(m, log, across=False)
    entries = zip(log.entries, kept.tolist(), strict=True)
    return {e.region for e, keep in entries if keep and isinstance(e, Event)}


def _between(m: Machine, log: Log, *, across: bool) -> NDArray[np.bool_]:
    """Which entries lie where two accesses of one array stand in one line; across: with loops between."""
    joinable = {
        id(s) for s in m.journal.sites.values() if s.op in ("load", "store") and s.width in (*NARROW, 16)
    }
    roots = {region: _root(m, region, across=across) for region in {e.region for e in log.events}}
    within: Counter[tuple[int, int]] = Counter()
    ends: dict[int, tuple[int, int]] = {}
    for at, e in enumerate(log.entries):
        if isinstance(e, Event):
            root = roots[e.region]
            ends[root] = (ends.get(root, (at,))[0], at)
            if id(e.site) in joinable:
                fixed = isinstance(e.offset.const, int) and not e.offset.terms
                within[root, 0 if fixed else id(e.site.object)] += 1  # neighbours may have two names
    inside = np.zeros(len(log.entries) + 1, dtype=np.int64)
    for first, last in (ends[root] for root in {root for (root, _), n in within.items() if n > 1}):
        inside[first] += 1
        inside[last + 1] -= 1
    return np.cumsum(inside)[:-1] > 0


def _root(m: Machine, region: int, *, across: bool) -> int:
    """The line that a region is, however far in, a branch of; across: or stands behind with loops between."""
    parents, behind = m.lines.parents, m.lines.behind if across else {}
    while region in parents or region in behind:
        region = parents[region] if region in parents else behind[region][0]
        region = m.lines.merged.get(region, region)
    return region


def _wide(leader: Event, group: JoinGroup) -> Event:
    """The leader's event, moved to where the wide access starts."""
    c = leader.offset.const
    active = group.offsets != -1  # below the array of the leader a variable may lie that it is joined with
    at = int(np.argmax(active))
    here = c if isinstance(c, int) else int(c[at])
    shift = (
        (here - int(group.offsets[at])) % 16
        if here < 0 or leader.offset.terms
        else here - int(group.offsets[at])
    )
    return replace(leader, offset=Int(c - shift, leader.offset.type, leader.offset.terms))
