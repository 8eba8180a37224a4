"""Which logged accesses run joined: the log as events for the compiler's rule, and its answer per site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from math import gcd

import numpy as np

from smemlint.evaluate.join import JoinEvent, JoinGroup, join, layout
from smemlint.evaluate.layout import dims_of
from smemlint.evaluate.machine import Barrier, Event, Machine, SiteLog
from smemlint.evaluate.memory import Object
from smemlint.evaluate.values import Int, gcd_of, multiple_of

NARROW = (1, 2, 4, 8)


@dataclass(slots=True)
class Runs:
    """How one site runs. wide: events by width of the instruction that runs; followed: width and leader of
    events that another site's instruction carries."""

    alone: list[Event] = field(default_factory=list)
    wide: dict[int, list[Event]] = field(default_factory=dict)
    followed: tuple[int, SiteLog] | None = None


def widened(m: Machine) -> dict[int, Runs]:
    """Runs by id() of the SiteLog."""
    runs = {id(s): Runs(alone=list(s.events)) for s in m.sites.values()}
    chosen = _candidates(m)
    if not chosen:
        return runs
    starts = _starts(m)
    steps = _steps(m, chosen)
    logged: list[Event | Barrier] = [e for e in m.log if isinstance(e, Barrier) or e.region in chosen]
    events = [_event(m, e, starts, steps) for e in logged]
    dropped: set[int] = set()
    extra: dict[int, dict[int, list[Event]]] = {}
    for group in join(events):
        leader = logged[group.leader]
        assert isinstance(leader, Event)
        wide = _wide(leader, group)
        extra.setdefault(id(leader.site), {}).setdefault(group.width, []).append(wide)
        for index in group.members:
            member = logged[index]
            assert isinstance(member, Event)
            dropped.add(id(member))
            if member.site is not leader.site:
                runs[id(member.site)].followed = (group.width, leader.site)
    for r in runs.values():
        r.alone = [e for e in r.alone if id(e) not in dropped]
    for site, wide_events in extra.items():
        runs[site].wide = wide_events
    return runs


def _candidates(m: Machine) -> set[int]:
    """Regions in which two narrow accesses of one kind and array meet."""
    counts: Counter[tuple[int, int, str]] = Counter()
    for e in m.log:
        if isinstance(e, Event) and e.site.op in ("load", "store") and e.site.width in NARROW:
            counts[e.region, id(e.site.object), e.site.op] += 1
    return {region for (region, _, _), n in counts.items() if n > 1}


def _starts(m: Machine) -> dict[int, int]:
    """Byte offset of each static array in the block's shared memory."""
    static = [o for o in m.shared.values() if o.var is not None and o.var.storage == "shared"]
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
    """By site: what divides the way from its event in one region to its event in the next."""
    steps: dict[int, int] = {}
    for s in m.sites.values():
        previous: dict[int, Event] = {}
        position: Counter[int] = Counter()
        g = 0
        for e in s.events:
            at = position[e.region]
            position[e.region] += 1
            before = previous.get(at)
            if before is not None and before.region != e.region and e.region in chosen:
                g = gcd(g, _first(e) - _first(before))
            previous[at] = e
        steps[id(s)] = abs(g)
    return steps


def _first(e: Event) -> int:
    c = e.offset.const
    return c if isinstance(c, int) else int(c[int(np.argmax(e.may))])


def _event(m: Machine, e: Event | Barrier, starts: dict[int, int], steps: dict[int, int]) -> JoinEvent:
    if isinstance(e, Barrier):
        return JoinEvent(-1, "barrier", 0, "", np.zeros(0, dtype=np.int64), 0, e.region, e.order)
    s, o = e.site, e.site.object
    c = e.offset.const
    lanes = np.full(m.size, c, dtype=np.int64) if isinstance(c, int) else c
    first = int(lanes[int(np.argmax(e.may))])
    variable = steps[id(s)]
    variable = gcd(variable, int(np.gcd.reduce((lanes - first)[e.may])))
    for mono, coefficient in e.offset.terms.items():
        variable = gcd(variable, gcd_of(coefficient) * multiple_of(mono))
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
        volatile=o.volatile,
        declared=_declared(m, o),
        base=_base(e.offset),
        start=starts.get(id(o)),
    )


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
