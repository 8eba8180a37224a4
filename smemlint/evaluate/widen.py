"""Which logged accesses run joined, or not at all: the log as events for the compiler's rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import field, replace
from math import gcd

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate import hoisted, sunk
from smemlint.evaluate.join import JoinEvent, JoinGroup, layout, settle
from smemlint.evaluate.layout import dims_of
from smemlint.evaluate.machine import Barrier, Event, Machine, SiteLog
from smemlint.evaluate.memory import Object
from smemlint.evaluate.roots import Roots, bent
from smemlint.evaluate.values import Int, gcd_of, multiple_of
from smemlint.records import record

NARROW = (1, 2, 4, 8)


@record(slots=True)
class Runs:
    """How one site runs. wide: events by width of the instruction that runs; followed: width and leader of
    events that another site's instruction carries."""

    alone: list[Event] = field(default_factory=list)
    wide: dict[int, list[Event]] = field(default_factory=dict)
    followed: tuple[int, SiteLog] | None = None


def widened(m: Machine, views: Callable[[], Iterator[Machine]] = lambda: iter(())) -> dict[int, Runs]:
    """Runs by id() of the SiteLog.

    views: give the same evaluation under other launches: what differs is not known to the compiler.
    """
    sunk.settle(m)
    hoisted.settle(m)
    runs = {id(s): Runs(alone=list(s.events)) for s in m.sites.values()}
    logged = _logged(m)
    if not logged:
        return runs
    facts = _Facts(m, logged)
    events = [facts.event(e) for e in logged]
    groups, gone = settle(events)
    if not groups and not gone:
        return runs
    for other in views():
        sunk.settle(other)
        hoisted.settle(other)
        facts.compare(other)
        groups, gone = settle([facts.event(e) for e in logged])
        if not groups and not gone:
            return runs
    dropped = {id(logged[index]) for index in gone}
    for group in groups:
        leader = logged[group.leader]
        assert isinstance(leader, Event)
        runs[id(leader.site)].wide.setdefault(group.width, []).append(_wide(leader, group))
        for index in group.members:
            member = logged[index]
            assert isinstance(member, Event)
            dropped.add(id(member))
            if member.site is not leader.site:
                runs[id(member.site)].followed = (group.width, leader.site)
    for r in runs.values():
        left = [e for e in r.alone if id(e) not in dropped]
        if left or r.wide or r.followed is not None:
            r.alone = left
    return runs


def _logged(m: Machine) -> Sequence[Event | Barrier]:
    """The part of the log that matters: where two accesses of one array meet, and all that lies between."""
    counts: Counter[tuple[str, int, int]] = Counter()
    for e in m.log:
        if isinstance(e, Event) and e.site.op in ("load", "store") and e.site.width in (*NARROW, 16):
            counts["region", e.region, id(e.site.object)] += 1
            counts["flow", e.flow, id(e.site.object)] += 1
    regions = {number for (kind, number, _), n in counts.items() if n > 1 and kind == "region"}
    flows = {number for (kind, number, _), n in counts.items() if n > 1 and kind == "flow"}
    spans: dict[tuple[str, int], tuple[int, int]] = {}
    for at, e in enumerate(m.log):
        if isinstance(e, Event):
            for key, wanted in ((("region", e.region), regions), (("flow", e.flow), flows)):
                if key[1] in wanted:
                    spans[key] = (spans[key][0] if key in spans else at, at)
    inside = np.zeros(len(m.log) + 1, dtype=np.int64)
    for first, last in spans.values():
        inside[first] += 1
        inside[last + 1] -= 1
    kept = np.cumsum(inside)[:-1] > 0
    return [e for e, keep in zip(m.log, kept.tolist(), strict=True) if keep]


class _Facts:
    """What the compiler knows of the logged addresses."""

    def __init__(self, m: Machine, logged: Sequence[Event | Barrier]) -> None:
        self.m = m
        self.starts = _starts(m)
        self.declared = {id(o): _declared(m, o) for o in m.shared.values()}
        regions = {e.region for e in logged if isinstance(e, Event)}
        self.steps = _steps(m, regions)
        self.stale = {e.region for e in logged if isinstance(e, Event) and e.stale}
        self.still = _still(m)
        self.paths = {id(s): _path(s) for s in m.sites.values()}
        self.roots = Roots()
        self.made: dict[int, frozenset[str]] = {}
        self.shifts: dict[int, list[NDArray[np.int64]]] = {}
        """By id() of an event: how its lanes move under each other launch."""
        self.turns: dict[int, int] = {}
        """By id() of a site: what divides its addresses in the active lanes of all turns."""
        self.unsure: dict[int, int] = {}
        """By id() of a site: what divides its addresses under another launch, where events do not match."""

    def compare(self, other: Machine) -> None:
        """Find what the launch decides, from the same kernel under another launch."""
        for key, site in self.m.sites.items():
            twin = other.sites.get(key)
            if twin is None or not twin.events:
                continue
            # Where a loop runs another number of times, the first event's move stands for all.
            alike = len(twin.events) == len(site.events)
            first = _lanes(self.m, twin.events[0]) - _lanes(self.m, site.events[0])
            for i, e in enumerate(site.events):
                shift = _lanes(self.m, twin.events[i]) - _lanes(self.m, e) if alike else first
                self.shifts.setdefault(id(e), []).append(shift)
            both = site.events[0].may & twin.events[0].may
            if both.any():
                divides = _variable(twin.events[0], both)
                self.unsure[id(site)] = gcd(self.unsure.get(id(site), 0), divides)

    def event(self, e: Event | Barrier) -> JoinEvent:
        if isinstance(e, Barrier):
            op = "fork" if e.only_stores else "barrier"
            return JoinEvent(-1, op, 0, "", np.zeros(0, dtype=np.int64), 0, e.region, e.order)
        s, o = e.site, e.site.object
        lanes = _lanes(self.m, e)
        stale = e.region in self.stale
        here = e.may if stale else self.m.present
        own = 0 if stale else _variable(e, here)
        variable = gcd(
            self.steps.get(id(s), 0),
            own or self._over_turns(s),
            self.unsure.get(id(s), 0),
        )
        moved: tuple[bytes, ...] = ()
        for shift in self.shifts.get(id(e), ()):
            by = shift[e.may]
            if by.any():
                variable = gcd(variable, int(np.gcd.reduce(by)))
                moved = (*moved, by.tobytes())
        low = int(lanes[e.may].min())
        if low < 0:
            lanes = lanes + -(low // 128) * 128
        return JoinEvent(
            site_key=id(s),
            op=s.op,
            width=s.width,
            array=o.id,
            offsets=np.where(e.may, lanes, -1),
            alignment=variable & -variable,
            region=e.region,
            order=e.order,
            volatile=e.volatile,
            declared=self.declared[id(o)] if id(o) in self.declared else _declared(self.m, o),
            base=(
                _base(e.offset),
                moved,
                self.paths[id(s)],
                _elsewhere(self.m, e, here),
                self._made_of(e, lanes),
            ),
            start=self.starts.get(id(o)),
            flow=e.flow if (id(s), e.flow) in self.still else None,
        )

    def _over_turns(self, s: SiteLog) -> int:
        """What divides the address in the lanes of any turn: the few lanes of one turn prove nothing."""
        if id(s) not in self.turns:
            self.turns[id(s)] = gcd(*(_variable(e, e.may) for e in s.events))
        return self.turns[id(s)]

    def _made_of(self, e: Event, lanes: NDArray[np.int64]) -> frozenset[str]:
        """The roots of a bent address."""
        s = e.site
        if id(s) not in self.made:
            self.made[id(s)] = self.roots.of(s.node, s.function)
        made = self.made[id(s)]
        return made if made and bent(lanes, e.may, self.m.block) else frozenset()


def _lanes(m: Machine, e: Event) -> NDArray[np.int64]:
    c = e.offset.const
    return np.full(m.size, c, dtype=np.int64) if isinstance(c, int) else c


def _elsewhere(m: Machine, e: Event, here: NDArray[np.bool_]) -> int | None:
    """A digest of the address in the lanes that do not take part, for the compiler cannot tell them apart:
    `s[t]` and `s[t ^ 1]` of even lanes are not known to be neighbours."""
    c = e.offset.const
    if isinstance(c, int) or e.may is m.present or here is e.may:
        return None
    others = c[here & ~e.may]
    return hash((others - c[int(np.argmax(e.may))]).tobytes()) if others.size else None


def _variable(e: Event, active: NDArray[np.bool_]) -> int:
    """What divides the part of an address that differs between lanes or is not known."""
    variable = 0
    for part, factor in e.offset.parts or ((e.offset, 1),):
        if not isinstance(part.const, int):
            lanes = part.const[active]
            variable = gcd(variable, factor * int(np.gcd.reduce(lanes - lanes[0])))
        for mono, coefficient in part.terms.items():
            variable = gcd(variable, factor * gcd_of(coefficient) * multiple_of(mono))
    return variable


def _starts(m: Machine) -> dict[int, int]:
    """Byte offset of each static array in the block's shared memory: file-scope ones last, without those
    that are never read."""
    read = {id(s.object) for s in m.sites.values() if s.op != "store"}
    static = [
        o
        for o in m.shared.values()
        if o.var is not None and o.var.storage == "shared" and (id(o) in read or o.escapes)
    ]
    static.sort(key=lambda o: o.id in m.globals)
    sizes: list[tuple[int, int]] = []
    for o in static:
        size = m.types.size_of(o.type)
        if size is None:
            return {}
        sizes.append((size, _declared(m, o)))
    return {id(o): start for o, start in zip(static, layout(sizes), strict=True)}


def _declared(m: Machine, o: Object) -> int:
    if o.var is not None and o.var.storage == "extern_shared":
        return 16
    _, element = dims_of(o.type)
    align = m.types.align_of(element) or 1
    if o.var is not None and o.var.align is not None:
        align = max(align, m.constant(o.var.align, m.bindings) or 1)
    return align


def _steps(m: Machine, chosen: set[int]) -> dict[int, int]:
    """By site: what divides the way from its event in one line of a loop to its event in the next."""
    steps: dict[int, int] = {}
    for s in m.sites.values():
        previous: dict[int, Event] = {}
        position: Counter[int] = Counter()
        g = 0
        for e in s.events:
            turn = m.lined.get(e.turn, e.turn)
            at = position[turn]
            position[turn] += 1
            before = previous.get(at)
            if before is not None and m.lined.get(before.turn, before.turn) != turn and e.region in chosen:
                g = gcd(g, _first(e) - _first(before))
            previous[at] = e
        steps[id(s)] = abs(g)
    return steps


def _still(m: Machine) -> set[tuple[int, int]]:
    """(id() of a site, flow) where all of the site's events in the flow have one address."""
    still: dict[tuple[int, int], Event | None] = {}
    for s in m.sites.values():
        for e in s.events:
            key = (id(s), e.flow)
            before = still.setdefault(key, e)
            if before is not None and before is not e and not _same_address(before, e):
                still[key] = None
    return {key for key, e in still.items() if e is not None}


def _path(s: SiteLog) -> int | None:
    """A digest of how a site moves from turn to turn of the loops that stay loops; None if it does not.

    Only two that move alike have a distance that the compiler knows.
    """
    firsts: dict[int, int] = {}
    for e in s.events:
        firsts.setdefault(e.turn, _first(e))
    if len(set(firsts.values())) < 2:
        return None
    start = next(iter(firsts.values()))
    return hash(tuple((turn, at - start) for turn, at in firsts.items()))


def _same_address(a: Event, b: Event) -> bool:
    return (
        _base(a.offset) == _base(b.offset)
        and np.array_equal(a.offset.const, b.offset.const)
        and (a.may is b.may or np.array_equal(a.may, b.may))
    )


def _first(e: Event) -> int:
    c = e.offset.const
    return c if isinstance(c, int) else int(c[int(np.argmax(e.may))])


def _base(offset: Int) -> Hashable:
    return tuple(
        sorted(
            (tuple(s.order for s in mono), c if isinstance(c, int) else c.tobytes())
            for mono, c in offset.terms.items()
        )
    )


def _wide(leader: Event, group: JoinGroup) -> Event:
    """The leader's event, moved to where the wide access starts."""
    c = leader.offset.const
    active = group.offsets >= 0
    at = int(np.argmax(active))
    here = c if isinstance(c, int) else int(c[at])
    shift = (
        (here - int(group.offsets[at])) % 16
        if here < 0 or leader.offset.terms
        else here - int(group.offsets[at])
    )
    return replace(leader, offset=Int(c - shift, leader.offset.type, leader.offset.terms))
