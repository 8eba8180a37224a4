"""From the log of events to Traces: requests of 32 lanes, and what is not known about them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from math import gcd
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.banks import wavefront_range
from smemlint.evaluate.compiler.address_patterns import Forms, Pattern, lead
from smemlint.evaluate.compiler.coalesce import as_written, widened
from smemlint.evaluate.machine.cp_async import Copied, ends, in_order, lines_of
from smemlint.evaluate.machine.edge_blocks import forget_aside
from smemlint.evaluate.machine.faults import fault
from smemlint.evaluate.machine.machine import Event, Machine, SiteLog
from smemlint.evaluate.machine.segment import places_of
from smemlint.evaluate.machine.spread import cost_ends, together
from smemlint.evaluate.model import (
    Assumption,
    DataTerm,
    Grade,
    Parameter,
    SharedArray,
    Site,
    Trace,
    Unresolved,
)
from smemlint.evaluate.types.layout import dims_of, type_name
from smemlint.evaluate.values.choices import bits_of, on_way, ways_of
from smemlint.evaluate.values.number import (
    Int,
    Lanes,
    Monomial,
    Symbol,
    gcd_of,
    in_words,
    multiple_of,
    symbol_range,
)
from smemlint.evaluate.values.objects import Object
from smemlint.ir import Launch
from smemlint.ir.types import LONG
from smemlint.records import record

Rows: TypeAlias = tuple[int, NDArray[np.int64]]
"""Coefficients of some requests, and the number of the first."""
MOST_WAYS = 64
"""Ways of a choice that all lanes share that are looked at one by one."""
MOST_OWN = 32
"""The same of choices of each lane."""
MOST_EVENTS = 20_000
"""Executions of a site, over all ways."""
EMPTY: NDArray[np.int64] = np.full((0, 32), -1, dtype=np.int64)
_SOURCE = Unresolved("copy-source", "a cp.async costs by where it reads as well")
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
    forget_aside(m)
    forms = Forms(m.threads.size)
    runs = as_written(m) if m.task.as_written else widened(m, forms, views, doubts)
    starts = places_of(m) if any(log.object.options for log in m.journal.sites.values()) else {}
    groups: dict[tuple[int, int], int] = {}

    def of(log: SiteLog, site: Site) -> list[Trace]:
        traces: list[Trace] = []
        run = runs[id(log)]
        if run.alone:
            traces.append(_built(m, forms, log, site, launch, run.alone, log.width, starts))
        for width, events in run.wide.items():
            group = groups.setdefault((id(log), width), len(groups))
            built = _built(m, forms, log, site, launch, events, width, starts)
            joined = replace(built, joined=width, group=group)
            traces.append(_perhaps(joined, run.doubtful) if run.doubtful else joined)
        if run.selected:
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


def _unresolved(site: Site, reason: Unresolved) -> Trace:
    return Trace(site, EMPTY, np.zeros(0, dtype=np.int64), Grade.UNRESOLVED, reason=reason)


@record(frozen=True, eq=False, slots=True)
class _Requests:
    """The warps of a pattern with an active lane. rows: which of the block's, and warps: their numbers;
    active: shape (requests, 32); steps: bytes of each lane from the lead, same shape."""

    rows: NDArray[np.bool_]
    warps: NDArray[np.int64]
    active: NDArray[np.bool_]
    steps: NDArray[np.int64]

    def at(self, leads: list[int]) -> NDArray[np.int64]:
        """Offsets for several leads, -1 inactive, shape (leads, requests, 32)."""
        return np.where(self.active, self.steps + np.array(leads, dtype=np.int64)[:, None, None], -1)


class _Builder:
    """Collects the requests of one site."""

    def __init__(
        self, m: Machine, forms: Forms, log: SiteLog, width: int, starts: Mapping[int, int] | None
    ) -> None:
        self.m = m
        self.forms = forms
        self.log = log
        self.width = width
        self.starts = starts
        """Where arrays lie, of a site whose requests may be spread over several of them in several ways."""
        self.ways: list[dict[Symbol, int]] = [{}]
        self.loose = False
        """Whether choices that all lanes share are too many, and are taken as if each lane had its own."""
        self.options: list[tuple[int, list[NDArray[np.int64]], Unresolved | None]] = []
        """First request, what each way of its own adds to the address of a lane, and why."""
        self.requests: dict[Pattern, _Requests] = {}
        self.placed: dict[Pattern, tuple[list[int], list[int]]] = {}
        """First request and lead of each event of a pattern."""
        self.maybe: dict[tuple[Pattern, bytes], NDArray[np.bool_] | None] = {}
        self.unsure: list[tuple[int, NDArray[np.bool_]]] = []
        """First request and lanes of events that some lanes may or may not run."""
        self.weights: list[int] = []
        self.times: list[float] = []
        self.open: list[int] = []
        self.left_out: dict[str, None] = {}
        self.warps: list[NDArray[np.int64]] = []
        self.visits: list[tuple[int, int]] = []
        self.under: list[Hashable] = []
        """Of each visit, the undecided conditions on the way to it."""
        self.alignment = 0
        self.parameters: dict[Monomial, list[Rows]] = {}
        self.data: dict[Monomial, list[Rows]] = {}
        self.count = 0
        self.plain = True
        """Whether the plain bank rule told all copies so far."""
        self.low: list[NDArray[np.int64]] = []
        self.high: list[NDArray[np.int64]] = []

    def _copy(
        self,
        copied: Copied,
        event: Event,
        lanes: NDArray[np.int64],
        active: NDArray[np.bool_],
        rows: NDArray[np.bool_],
    ) -> None:
        """Ends of a copy whose cost depends on where it reads."""
        maybe = active & ~event.must.reshape(-1, 32)[rows]
        width = self.log.width
        rest = np.where(active, lanes % width, 0).max(axis=1, keepdims=True)
        try:
            least, most, ideal = wavefront_range("cp.async", width, np.where(active, lanes - rest, -1), maybe)
        except ValueError:
            return
        if not copied.past_l1:
            ordered = in_order(copied.source, width, self.m.threads.size, event.may.reshape(-1, 32))
            in_turn = np.maximum(most, active.sum(axis=1))
            self.plain = self.plain and ordered is not None and bool(ordered[rows].all())
            self.low.append(np.maximum(least, ideal))
            self.high.append(in_turn if ordered is None else np.where(ordered[rows], most, in_turn))
            return
        source = lines_of(copied.source, self.m.threads.size)
        known = lines_of(event.offset, self.m.threads.size) is not None
        low, high = ends(
            None if source is None else source.reshape(-1, 32)[rows],
            lanes,
            known,
            active,
            active & ~maybe,
        )
        self.plain = self.plain and bool((low == high).all() and (low == most).all())
        self.low.append(low)
        self.high.append(high)

    def choose(self, events: list[Event]) -> None:
        """Find the choices that all lanes share and that decide how their addresses lie to each other."""
        bits = {
            s: None
            for event in events
            for mono, c in event.offset.terms.items()
            if not isinstance(c, int) and not any(s.varying for s in mono)
            for s in mono
            if s.bit
        }
        ways = ways_of(bits, min(MOST_WAYS, MOST_EVENTS // len(events)))
        self.loose = ways is None
        self.ways = ways or [{}]

    def add(self, event: Event, offset: Int) -> None:
        """The requests of an event; offset: as one way has it."""
        pattern = self.forms.pattern(offset.const, event.may)
        requests = self.requests.get(pattern)
        if requests is None:
            requests = self.requests[pattern] = _requests(pattern)
        n = len(requests.active)
        at = lead(offset.const, pattern)
        low = at + pattern.low
        if low < 0:
            # an index below the array: counted from a multiple of the bank cycle that keeps it positive
            at += -(low // 128) * 128
        firsts, leads = self.placed.setdefault(pattern, ([], []))
        firsts.append(self.count)
        leads.append(at)
        maybe = self._maybe_of(event, pattern, requests)
        if maybe is not None:
            self.unsure.append((self.count, maybe))
        self.weights.append(event.weight)
        self.times.append(event.times)
        self.open.append(event.open)
        if self.starts is not None:
            low_end, high_end = cost_ends(self.starts, self.log, self.width, event, requests.rows)
            self.low.append(low_end)
            self.high.append(high_end)
            self.plain = False
        else:
            for mono, coefficient in self._own_ways(offset, requests).items():
                self._term(mono, coefficient, requests.active, requests.rows)
        if event.copied is not None and self.starts is None:
            self._copy(event.copied, event, requests.at([at])[0], requests.active, requests.rows)
        self.warps.append(requests.warps)
        self.visits.append((self.count, n))
        self.under.append(event.under)
        self.count += n

    def _own_ways(self, offset: Int, requests: _Requests) -> dict[Monomial, Lanes]:
        """Note the ways that each lane may take by itself; the terms that are left."""
        own = {
            mono: c
            for mono, c in offset.terms.items()
            if all(s.bit for s in mono) and (any(s.varying for s in mono) or self._apart(mono, c))
        }
        if not own:
            return offset.terms
        ways = ways_of(bits_of([Int(0, LONG, own)]), MOST_OWN)
        if ways is None:
            return offset.terms
        added = [on_way(Int(0, LONG, own), way).const for way in ways]
        full = [_lanes(c, self.m.threads.size)[requests.rows] for c in added]
        self.options.append((self.count, full, _reason_of(own)))
        return {mono: c for mono, c in offset.terms.items() if mono not in own}

    def _apart(self, mono: Monomial, c: Lanes) -> bool:
        """Whether a choice that all lanes share is taken as if each lane had its own."""
        return self.loose and not isinstance(c, int) and any(s.bit for s in mono)

    def _maybe_of(self, event: Event, pattern: Pattern, requests: _Requests) -> NDArray[np.bool_] | None:
        """Lanes of the event's requests that may or may not run it; None: no such lanes."""
        if event.must is event.may:
            return None
        key = (pattern, event.must.tobytes())
        if key not in self.maybe:
            lanes = event.may & ~event.must
            self.maybe[key] = lanes.reshape(-1, 32)[requests.rows] if lanes.any() else None
        return self.maybe[key]

    def _offsets(self) -> NDArray[np.int64]:
        offsets = np.full((self.count, 32), -1, dtype=np.int64)
        for pattern, (firsts, leads) in self.placed.items():
            requests = self.requests[pattern]
            offsets[np.array(firsts)[:, None] + np.arange(len(requests.active))] = requests.at(leads)
        return offsets

    def _maybe(self) -> NDArray[np.bool_] | None:
        if not self.unsure:
            return None
        maybe = np.zeros((self.count, 32), dtype=np.bool_)
        for first, lanes in self.unsure:
            maybe[first : first + len(lanes)] = lanes
        return maybe

    def _term(
        self,
        mono: Monomial,
        coefficient: int | NDArray[np.int64],
        active: NDArray[np.bool_],
        rows: NDArray[np.bool_],
    ) -> None:
        varying = any(s.varying for s in mono)
        by_warp = varying and self._same_in_warps(mono, coefficient, active, rows)
        if (varying and not by_warp) or self._apart(mono, coefficient):
            full = _lanes(coefficient, self.m.threads.size)[rows]
            self.data.setdefault(mono, []).append((self.count, full))
            return
        if isinstance(coefficient, int):
            self.left_out[_name(mono)] = None
            self.alignment = gcd(self.alignment, coefficient * multiple_of(mono))
            return
        full = coefficient.reshape(-1, 32)[rows]
        first = full[np.arange(len(full)), active.argmax(axis=1)]
        if bool((~active | (full == first[:, None])).all()):
            self.left_out[_name(mono)] = None
            self.alignment = gcd(self.alignment, gcd_of(first) * multiple_of(mono))
            return
        self.parameters.setdefault(mono, []).append((self.count, full))

    def _same_in_warps(
        self, mono: Monomial, c: Lanes, active: NDArray[np.bool_], rows: NDArray[np.bool_]
    ) -> bool:
        """Whether a term moves the active lanes of each request together, and leaves its cost alone."""
        if not all(s.shared or not s.varying for s in mono):
            return False
        full = _lanes(c, self.m.threads.size)[rows]
        first = full[np.arange(len(full)), active.argmax(axis=1)]
        whole = gcd_of(first) * multiple_of(mono) % max(self.width, 4) == 0
        return whole and bool((~active | (full == first[:, None])).all())

    def build(self, site: Site, launch: Launch) -> Trace:
        offsets, maybe = self._offsets(), self._maybe()
        grade = Grade.ASSUMED if launch.assumed else Grade.EXACT
        data = self._data_terms()
        if maybe is not None or data or len(self.ways) > 1:
            grade = Grade.BOUND
        parameter = None
        if self.parameters:
            if len(self.parameters) > 1 or data:
                names = " and ".join(f"`{_name(mono)}`" for mono in self.parameters)
                return _unresolved(
                    site,
                    Unresolved(
                        "several-parameters",
                        f"lane terms are multiplied by run-time values: {names}",
                        site.place,
                    ),
                )
            mono, parts = next(iter(self.parameters.items()))
            grade = Grade.PARAMETRIC
            parameter = Parameter(_name(mono), self._spread(parts), multiple_of(mono))
        low = high = None
        unsure = _SOURCE if self.starts is None else _SPREAD
        followed = len(self.low) == len(self.visits) and not self.plain
        if followed and parameter is None and not data and len(self.ways) == 1:
            low, high = np.concatenate(self.low), np.concatenate(self.high)
            if grade is not Grade.ASSUMED and bool((low < high).any()):
                grade = Grade.BOUND
        each = [n for _, n in self.visits]
        return Trace(
            site,
            offsets,
            np.repeat(np.array(self.weights, dtype=np.int64), each),
            grade,
            times=np.repeat(np.array(self.times), each) if any(t != 1 for t in self.times) else None,
            open=np.repeat(np.array(self.open, dtype=np.int64), each) if any(self.open) else None,
            alignment=self.alignment,
            maybe=maybe,
            indices=self._indices(offsets),
            parameter=parameter,
            reason=self._reason(maybe) or (unsure if low is not None and grade is Grade.BOUND else None),
            low=low,
            high=high,
            iterations=tuple(self.visits),
            data=data,
            footprint=self.m.types.size_of(self.log.object.type),
            ways=len(self.ways),
            assumptions=_assumptions(self.m, self.log, launch),
            groups=self._groups(),
            left_out=tuple(self.left_out),
            warps=np.concatenate(self.warps) if self.warps else None,
        )

    def _groups(self) -> NDArray[np.int64] | None:
        """By request, a number for the undecided conditions on the way to it, 0: none; None: they are all
        the same."""
        numbers: dict[Hashable, int] = {(): 0}
        found = [numbers.setdefault(key, len(numbers)) for key in self.under]
        if len(set(found)) < 2:
            return None
        return np.repeat(np.array(found, dtype=np.int64), [n for _, n in self.visits])

    def _data_terms(self) -> tuple[DataTerm, ...]:
        """Terms of one range of which no request has two are one: the value of a lane is its own anyway."""
        kinds: list[tuple[Monomial, list[Rows]]] = []
        alike: dict[tuple[object, ...], list[list[Rows]]] = {}
        for mono, parts in self.data.items():
            same = alike.setdefault((*_range(mono), multiple_of(mono), mono[0].reason), [])
            free = next((rows for rows in same if rows[-1][0] + len(rows[-1][1]) <= parts[0][0]), None)
            if free is not None:
                free.extend(parts)
            else:
                same.append(list(parts))
                kinds.append((mono, same[-1]))
        terms = [
            DataTerm(self._spread(rows), *_range(mono), multiple_of(mono), mono[0].reason)
            for mono, rows in kinds
        ]
        return (*terms, *self._option_terms())

    def _option_terms(self) -> list[DataTerm]:
        """The ways that lanes take by themselves, as one term: no request has two."""
        if not self.options:
            return []
        options = np.zeros((max(len(full) for _, full, _ in self.options), self.count, 32), dtype=np.int64)
        for first, full, _ in self.options:
            options[: len(full), first : first + len(full[0])] = full
        reason = next((r for *_, r in self.options if r is not None), None)
        return [DataTerm(np.zeros_like(options[0]), 0, 0, 1, reason, options)]

    def _spread(self, parts: list[Rows]) -> NDArray[np.int64]:
        full: NDArray[np.int64] = np.zeros((self.count, 32), dtype=np.int64)
        for first, rows in parts:
            full[first : first + len(rows)] = rows
        return full

    def _reason(self, maybe: NDArray[np.bool_] | None) -> Unresolved | None:
        for mono in self.data:
            for s in mono:
                if s.reason is not None:
                    return s.reason
        for *_, reason in self.options:
            if reason is not None:
                return reason
        if maybe is not None and all(e.aside for e in self.log.events):
            return Unresolved("edge-of-grid", "only blocks at the edge of the grid run it", self.log.place)
        if maybe is not None:
            return Unresolved("data-dependent-mask", "which lanes take part depends on data", self.log.place)
        if len(self.ways) > 1 or self.loose:
            text = f"the address is one of {len(self.ways)}, as a run-time choice decides"
            return Unresolved("run-time-choice", text, self.log.place)
        if self._groups() is not None:
            text = "which of its requests run depends on run-time values"
            return Unresolved("run-time-choice", text, self.log.place)
        return None

    def _indices(self, offsets: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Index per dimension, for arrays of known extents."""
        dims, element = dims_of(self.log.object.type)
        size = self.m.types.size_of(element)
        if (
            len(dims) < 2
            or size is None
            or any(d is None for d in dims[1:])
            or self.parameters
            or self.data
            or self.options
            or self.alignment
        ):
            return None
        rest = np.where(offsets < 0, 0, offsets) // size
        parts = []
        for d in reversed(dims[1:]):
            assert d is not None
            parts.append(rest % d if d else rest)
            rest = rest // d if d else rest
        parts.append(rest)
        return np.stack(parts[::-1], axis=1)


def _assumptions(m: Machine, log: SiteLog, launch: Launch) -> tuple[Assumption, ...]:
    """What was assumed until a site ran last."""
    made = tuple(m.journal.assumptions.values())[: log.assumed]
    if not launch.assumed:
        return made
    block = " x ".join(map(str, launch.block))
    return (Assumption("block-shape", f"a block of {block} threads"), *made)


def _requests(pattern: Pattern) -> _Requests:
    active = pattern.active.reshape(-1, 32)
    rows = np.asarray(active.any(axis=1))
    steps = pattern.form.steps - pattern.form.steps[pattern.first]
    return _Requests(rows, np.flatnonzero(rows), active[rows], steps.reshape(-1, 32)[rows])


def _range(mono: Monomial) -> tuple[int | None, int | None]:
    if len(mono) == 1 or all(s.bit for s in mono):
        return symbol_range(mono)
    return None, None


def _lanes(c: Lanes, size: int) -> NDArray[np.int64]:
    """A coefficient by warp and lane."""
    return np.broadcast_to(np.asarray(in_words(c), dtype=np.int64), (size,)).reshape(-1, 32)


def _reason_of(terms: Iterable[Monomial]) -> Unresolved | None:
    return next((s.reason for mono in terms for s in mono if s.reason is not None), None)


def _name(mono: Monomial) -> str:
    return " * ".join(s.name for s in mono)


__all__ = ["Int", "shared_arrays", "traces_of"]
