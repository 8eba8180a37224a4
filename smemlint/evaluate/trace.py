"""From the log of events to Traces: requests of 32 lanes, and what is not known about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from math import gcd

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.compiler.joining.address_patterns import Forms, lead
from smemlint.evaluate.compiler.joining.coalesce import CHOSEN_WORDS, as_written, widened
from smemlint.evaluate.compiler.passes import compiled, plain
from smemlint.evaluate.cost_ends import CostEnds
from smemlint.evaluate.machine.faults import fault
from smemlint.evaluate.machine.machine import Event, Machine, SiteLog
from smemlint.evaluate.memory.segment import places_of
from smemlint.evaluate.memory.spread import together
from smemlint.evaluate.model import (
    Assumption,
    Grade,
    SharedArray,
    Shifts,
    Site,
    Trace,
    Unresolved,
    Visited,
    Ways,
)
from smemlint.evaluate.rings import straightened
from smemlint.evaluate.terms import Terms, in_step
from smemlint.evaluate.types.spelling import dims_of, type_name
from smemlint.evaluate.values.choices import on_way, ways_of
from smemlint.evaluate.values.number import (
    Int,
    Symbol,
)
from smemlint.evaluate.values.value import Object
from smemlint.evaluate.visits import Visits
from smemlint.ir import Launch

MOST_WAYS = 64
"""Ways of a choice that all lanes share that are looked at one by one."""
MOST_EVENTS = 20_000
"""Executions of a site, over all ways."""
EMPTY: NDArray[np.int64] = np.full((0, 32), -1, dtype=np.int64)
_SOURCE = Unresolved("copy-source", "a cp.async costs by where it reads as well")
_ROUND_BEFORE = "the thread stored it in an earlier round, and the compiler may have it at hand"
_OF_ARMS = "the compiler may make one of the stores in several arms, on the line of any"
_FOR_NOTHING = "the compiler may drop the store: no load of the array asks memory for what was stored"
_SPREAD = Unresolved("several-arrays", "which of several arrays lanes go to, or how far these are apart")


def shared_arrays(m: Machine) -> dict[str, SharedArray]:
    """The shared variables of a kernel as the later stages see them, by id, in the order of declaration."""
    try:
        starts = places_of(m)
    except Exception:  # a size that is a fault of its own; told where an access needs it
        starts = {}
    return {id_: _shared_array(m, o, starts) for id_, o in m.memory.shared.items() if o.var is not None}


def _shared_array(m: Machine, o: Object, starts: Mapping[int, int]) -> SharedArray:
    dims, element = dims_of(o.type)
    assert o.var is not None
    dynamic = o.var.storage == "extern_shared"
    align = m.types.align_of(element) or 1
    if o.var.align is not None:
        align = max(align, m.constant(o.var.align, m.bindings) or 1)
    return SharedArray(
        id=o.id,
        name=o.name,
        type=type_name(o.type),
        dims=dims,
        element=m.types.size_of(element) or 0,
        bytes=None if dynamic else m.types.size_of(o.type),
        place=o.var.place,
        dynamic=dynamic,
        align=align,
        escapes=o.escapes,
        start=starts.get(id(o)),
    )


def traces_of(
    m: Machine,
    launch: Launch,
    views: Callable[[], Iterator[Machine]] = lambda: iter(()),
    doubts: Callable[[], Set[tuple[object, ...]]] = frozenset,
) -> list[Trace]:
    """All events as requests: one Trace per site and width at which it runs. views, doubts: see widened()."""
    forms = Forms(m.threads.size)
    runs = as_written(m, plain(m)) if m.task.as_written else widened(m, compiled(m), forms, views, doubts)
    starts = places_of(m) if any(log.object.options for log in m.journal.sites.values()) else {}
    groups: dict[tuple[int, int], int] = {}

    def of(log: SiteLog, site: Site) -> list[Trace]:
        traces: list[Trace] = []
        run, of_arms = runs[id(log)], id(log.node) in m.journal.laddered
        if run.alone:
            built = _built(m, forms, log, site, launch, run.alone, log.width, starts)
            traces.append(_perhaps_kept(built) if run.dropped else _perhaps_fewer(built, run.alone, of_arms))
        for width, events in run.wide.items():
            group = groups.setdefault((id(log), width), len(groups))
            built = _built(m, forms, log, site, launch, events, width, starts)
            joined = replace(built, joined=width, group=group)
            joined = _perhaps(joined, run.doubtful) if run.doubtful else joined
            traces.append(_perhaps_kept(joined) if run.dropped else _perhaps_fewer(joined, events, of_arms))
        if run.spared:
            built = _built(m, forms, log, site, launch, run.spared, log.width, starts)
            traces.append(replace(built, weights=np.zeros_like(built.weights)))
        elif run.spared is not None:
            traces.append(Trace(site, EMPTY, np.zeros(0, dtype=np.int64), Grade.EXACT))
        if run.followed is not None and not run.alone and not run.wide:
            width, leader = run.followed
            group = groups.setdefault((id(leader), width), len(groups))
            empty = Trace(site, EMPTY, np.zeros(0, dtype=np.int64), Grade.EXACT, joined=width, group=group)
            traces.append(empty)
        return traces

    built: dict[int, list[Trace]] = {}
    faults: dict[int, Unresolved] = {}
    for log in m.journal.sites.values():
        site = _site_of(log)
        if log.reason is not None:
            built[id(log)] = [_unresolved(site, log.reason)]
            continue
        try:
            built[id(log)] = of(log, site)
        except MemoryError:
            raise
        except Exception as error:
            faults[id(log)] = fault(error, site.place)
    for log in m.journal.sites.values():
        followed = runs[id(log)].followed if id(log) in runs else None
        reason = faults.get(id(log)) or (followed and faults.get(id(followed[1])))
        if reason:
            built[id(log)] = [_unresolved(_site_of(log), reason)]
    return [trace for log in m.journal.sites.values() for trace in built[id(log)]]


def unresolved_traces(m: Machine, reason: Unresolved) -> list[Trace]:
    """All sites that were reached, for the same reason without addresses."""
    return [_unresolved(_site_of(log), reason) for log in m.journal.sites.values()]


def _site_of(log: SiteLog) -> Site:
    via = tuple(log.via.values())
    return Site(log.place, log.op, log.width, log.object.id, "", log.matrices, via, log.line)


def _built(
    m: Machine,
    forms: Forms,
    log: SiteLog,
    site: Site,
    launch: Launch,
    events: list[Event],
    width: int,
    starts: Mapping[int, int],
) -> Trace:
    events = together(starts, events) if log.object.options else events
    spread = any(event.worlds for event in events)
    builder = _Builder(m, forms, log, width, starts if spread else None)
    builder.at_edge = all(event.at_edge for event in events)
    builder.perhaps = any(event.perhaps for event in events)
    if not spread:
        builder.choose(events)
    for way in builder.ways:
        for event in events:
            builder.add(event, on_way(event.offset, way))
    return builder.build(site, launch)


def _perhaps(joined: Trace, why: str) -> Trace:
    """Return a joined access that the compiler may as well leave apart."""
    if joined.grade not in (Grade.EXACT, Grade.ASSUMED):
        return joined
    reason = Unresolved("joined-or-not", why, joined.site.place)
    return replace(joined, grade=Grade.BOUND, reason=joined.reason or reason)


def _perhaps_kept(stored: Trace) -> Trace:
    """Return an access that the compiler may drop."""
    if stored.grade is Grade.UNRESOLVED:
        return stored
    why = _FOR_NOTHING if stored.site.op == "store" else _ROUND_BEFORE
    reason = Unresolved("stored-or-not", why, stored.site.place)
    return replace(stored, grade=Grade.BOUND, dropped=True, reason=stored.reason or reason)


def _perhaps_fewer(loaded: Trace, events: Iterable[Event], of_arms: bool) -> Trace:
    """Return a load of which the compiler may leave out some, or a store that may run on another's line.
    of_arms: it is one of several arms."""
    some_moved = any(e.moved is not None and e.moved.perhaps for e in events)
    if loaded.grade is Grade.UNRESOLVED or not (some_moved or of_arms):
        return loaded
    reason = Unresolved("joined-or-not", _OF_ARMS if of_arms else CHOSEN_WORDS, loaded.site.place)
    return replace(loaded, grade=Grade.BOUND, dropped=True, reason=loaded.reason or reason)


def _unresolved(site: Site, reason: Unresolved) -> Trace:
    return Trace(site, EMPTY, np.zeros(0, dtype=np.int64), Grade.UNRESOLVED, reason=reason)


class _Builder:
    """Collects the requests of one site. ways: of choices that all lanes share, each looked at by itself."""

    def __init__(
        self, m: Machine, forms: Forms, log: SiteLog, width: int, starts: Mapping[int, int] | None
    ) -> None:
        """starts: where arrays lie, of a site whose requests may be spread over several of them."""
        self.m = m
        self.forms = forms
        self.log = log
        self.width = width
        self.around = 0
        self.at_edge = False
        """Whether only blocks at the edge of the grid run it."""
        self.perhaps = False
        """Whether it may run with the access of another arm, as one."""
        self.ways: list[dict[Symbol, int]] = [{}]
        self.visits = Visits()
        self.terms = Terms(m.threads.size, width)
        self.ends = CostEnds(log, width, m.threads.size, starts)

    def choose(self, events: list[Event]) -> None:
        """Find the choices that all lanes share and that decide how their addresses lie to each other."""
        bits = {
            s: None
            for event in events
            for mono, c in event.offset.terms.items()
            if not any(s.varying for s in mono) and not in_step(c)
            for s in mono
            if s.bit
        }
        ways = ways_of(bits, min(MOST_WAYS, MOST_EVENTS // len(events)))
        self.terms.loose = ways is None
        self.ways = ways or [{}]

    def add(self, event: Event, offset: Int) -> None:
        """The requests of an event; offset: as one way has it."""
        if offset.terms:
            offset, around = straightened(offset, event.may, self.width)
            self.around = gcd(self.around, around)
        pattern = self.forms.pattern(offset.const, event.may)
        requests = self.visits.requests(pattern)
        at = lead(offset.const, pattern)
        low = at + pattern.low
        if low < 0:
            # an index below the array: counted from a multiple of the bank cycle that keeps it positive
            at += -(low // 128) * 128
        if self.ends.starts is None:
            self.terms.add(self.visits.count, offset, requests)
        if self.ends.starts is not None or event.copied is not None:
            self.ends.add(event, requests, requests.at([at])[0])
        self.visits.add(event, pattern, at)

    def build(self, site: Site, launch: Launch) -> Trace:
        visits, terms = self.visits, self.terms
        terms.settle()
        offsets = self.forms.one_of(visits.offsets())
        maybe, data = visits.maybe(), terms.data(visits.count)
        parameter = terms.parameter(visits.count)
        grade = Grade.ASSUMED if launch.assumed else Grade.EXACT
        if parameter is not None:
            grade = Grade.PARAMETRIC
        elif maybe is not None or data or len(self.ways) > 1:
            grade = Grade.BOUND
        open_ = parameter is not None or data or len(self.ways) > 1
        ends = None if open_ else self.ends.told(len(visits.ranges))
        if ends is not None and grade is not Grade.ASSUMED and bool((ends[0] < ends[1]).any()):
            grade = Grade.BOUND
        reason = self._reason(maybe)
        if reason is None and ends is not None and grade is Grade.BOUND:
            reason = _SOURCE if self.ends.starts is None else _SPREAD
        return Trace(
            site,
            offsets,
            visits.weights(),
            grade,
            repeats=visits.repeats(),
            alignment=terms.alignment,
            maybe=maybe,
            parameter=parameter,
            reason=reason,
            ends=ends,
            visited=Visited(tuple(visits.ranges), visits.warps()),
            data=data,
            footprint=self.m.types.size_of(self.log.object.type),
            choice=Ways(len(self.ways), _conditions(self.m, self.ways)),
            assumptions=_assumptions(self.m, self.log, launch),
            groups=visits.groups(self.m.journal.choices, self.m.memo.decided),
            shifts=Shifts(tuple(terms.left_out), tuple(sorted(terms.steps)), self.around),
        )

    def _reason(self, maybe: NDArray[np.bool_] | None) -> Unresolved | None:
        of_terms = self.terms.reason()
        if of_terms is not None:
            return of_terms
        if maybe is not None and self.at_edge:
            return Unresolved("edge-of-grid", "only blocks at the edge of the grid run it", self.log.place)
        if maybe is not None and self.perhaps:
            text = "accesses of both arms may run as one"
            if self.log.op == "load":
                text += ", whose code differs in numbers alone"
            return Unresolved("joined-or-not", text, self.log.place)
        if maybe is not None:
            return Unresolved("data-dependent-mask", "which lanes take part depends on data", self.log.place)
        if len(self.ways) > 1 or self.terms.loose:
            text = f"the address is one of {len(self.ways)}, as a run-time choice decides"
            return Unresolved("run-time-choice", text, self.log.place)
        if self.visits.undecided:
            text = "which of its requests run depends on run-time values"
            return Unresolved("run-time-choice", text, self.log.place)
        return None


def _conditions(m: Machine, ways: Sequence[Mapping[Symbol, int]]) -> tuple[str, ...]:
    """What holds on each of several ways: a comparison or its contrary, one of several cases or none of them.
    Nothing where more decides, since conditions of one value need not hold together."""
    symbols = list(ways[0])
    if len({s.choice or s for s in symbols}) != 1:
        return ()
    said = [
        [m.unknowns.condition(s, way[s]) for s in [s for s in symbols if way[s]] or symbols] for way in ways
    ]
    return tuple(map(" and ".join, said)) if all(map(all, said)) else ()


def _assumptions(m: Machine, log: SiteLog, launch: Launch) -> tuple[Assumption, ...]:
    """What was assumed until a site ran last."""
    made = tuple(m.journal.assumptions.values())[: log.assumed]
    if log.perhaps:
        made = (
            Assumption("instance", "an arm of an `if constexpr` that nothing that was read decides"),
            *made,
        )
    if launch.guessed:
        made = (Assumption("instance", "template arguments, or a kernel, that no launch tells"), *made)
    if not launch.assumed or launch.warp:
        return made
    block = " x ".join(map(str, launch.block))
    of = ", as `main` without arguments has it" if "block" in launch.defaults else ""
    return (Assumption("block-shape", f"a block of {block} threads{of}"), *made)
