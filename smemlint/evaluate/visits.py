"""The requests of one site, visit after visit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.alternatives import Seen, alternatives
from smemlint.evaluate.compiler.joining.address_patterns import Pattern
from smemlint.evaluate.machine.machine import Event
from smemlint.evaluate.model import Groups, Repeats
from smemlint.records import record

_AT_ONCE = 256
"""Events whose offsets are written at once."""


@record(frozen=True, eq=False, slots=True)
class Requests:
    """The warps of a pattern with an active lane. rows: which of the block's, and warps: their numbers;
    active: shape (requests, 32); steps: bytes of each lane from the lead, same shape."""

    rows: NDArray[np.bool_]
    warps: NDArray[np.int64]
    active: NDArray[np.bool_]
    steps: NDArray[np.int64]

    def at(self, leads: list[int]) -> NDArray[np.int64]:
        """Offsets for several leads, -1 inactive, shape (leads, requests, 32)."""
        return np.where(self.active, self.steps + np.array(leads, dtype=np.int64)[:, None, None], -1)


class Visits:
    """What a site asks for, in the order in which it runs.

    count: requests so far. ranges: of each visit the first request, and how many there are.
    """

    def __init__(self) -> None:
        self.count = 0
        self.ranges: list[tuple[int, int]] = []
        self._requests: dict[Pattern, Requests] = {}
        self._placed: dict[Pattern, tuple[list[int], list[int]]] = {}
        """First request and lead of each event of a pattern."""
        self._lanes: dict[tuple[Pattern, bytes], NDArray[np.bool_] | None] = {}
        self._unsure: list[tuple[int, NDArray[np.bool_]]] = []
        """First request and lanes of events that some lanes may or may not run."""
        self._weights: list[int] = []
        self._times: list[float] = []
        self._open: list[int] = []
        self._warps: list[NDArray[np.int64]] = []
        self._under: list[Hashable] = []
        """Of each request, the undecided conditions on the way to it."""

    def requests(self, pattern: Pattern) -> Requests:
        """Return the requests of a pattern, made once."""
        found = self._requests.get(pattern)
        if found is None:
            found = self._requests[pattern] = _requests(pattern)
        return found

    def add(self, event: Event, pattern: Pattern, lead: int) -> None:
        """An event whose first lane goes to byte `lead`."""
        requests = self.requests(pattern)
        firsts, leads = self._placed.setdefault(pattern, ([], []))
        firsts.append(self.count)
        leads.append(lead)
        maybe = self._maybe_of(event, pattern, requests)
        if maybe is not None:
            self._unsure.append((self.count, maybe))
        self._weights.append(event.weight)
        self._times.append(event.times)
        self._open.append(event.open)
        self._warps.append(requests.warps)
        self._under += _conditions(event, requests.warps)
        n = len(requests.active)
        self.ranges.append((self.count, n))
        self.count += n

    def _maybe_of(self, event: Event, pattern: Pattern, requests: Requests) -> NDArray[np.bool_] | None:
        """Lanes of the event's requests that may or may not run it; None: no such lanes."""
        if event.must is event.may:
            return None
        key = (pattern, event.must.tobytes())
        if key not in self._lanes:
            lanes = event.may & ~event.must
            self._lanes[key] = lanes.reshape(-1, 32)[requests.rows] if lanes.any() else None
        return self._lanes[key]

    def offsets(self) -> NDArray[np.int64]:
        """Bytes from the start of the array, -1 inactive, shape (requests, 32)."""
        offsets = np.full((self.count, 32), -1, dtype=np.int64)
        for pattern, (firsts, leads) in self._placed.items():
            requests = self._requests[pattern]
            rows = np.arange(len(requests.active))
            for start in range(0, len(firsts), _AT_ONCE):  # what each makes on its way is no second log
                end = start + _AT_ONCE
                offsets[np.array(firsts[start:end])[:, None] + rows] = requests.at(leads[start:end])
        return offsets

    def maybe(self) -> NDArray[np.bool_] | None:
        """Lanes that may or may not run, shape (requests, 32); None: no such lanes."""
        if not self._unsure:
            return None
        maybe = np.zeros((self.count, 32), dtype=np.bool_)
        for first, lanes in self._unsure:
            maybe[first : first + len(lanes)] = lanes
        return maybe

    def weights(self) -> NDArray[np.int64]:
        """How often each request runs."""
        return np.repeat(np.array(self._weights, dtype=np.int64), self._lengths())

    def repeats(self) -> Repeats | None:
        """How often more than its weight each request runs; None: all once."""
        if all(t == 1 for t in self._times) and not any(self._open):
            return None
        times, depth = np.array(self._times, dtype=np.float64), np.array(self._open, dtype=np.int64)
        return Repeats(np.repeat(times, self._lengths()), np.repeat(depth, self._lengths()))

    def warps(self) -> NDArray[np.int64] | None:
        """Number of each request's warp."""
        return np.concatenate(self._warps) if self._warps else None

    @property
    def undecided(self) -> bool:
        """Whether the conditions on the way to some requests are others than to the rest, and undecided."""
        return len(set(self._under)) > 1

    def groups(self, choices: Mapping[int, int], seen: Seen) -> Groups | None:
        """The requests by the undecided conditions on the way to them; None: these are all the same. choices:
        by unknown, of which at most one is 1; seen: what decides conditions of other sites under these."""
        if not self.undecided:
            return None
        numbers: dict[Hashable, int] = {(): 0}
        found = [numbers.setdefault(key, len(numbers)) for key in self._under]
        return Groups(np.array(found, dtype=np.int64), alternatives([*numbers], choices, seen))

    def _lengths(self) -> list[int]:
        return [n for _, n in self.ranges]


def _conditions(event: Event, warps: NDArray[np.int64]) -> list[Hashable]:
    """The undecided conditions on the way to each request of an event."""
    if not event.parted:
        return [event.under] * len(warps)
    more = [tuple(c for c, parted in event.parted if parted[w]) for w in warps.tolist()]
    return [(event.under, *parted) if parted else event.under for parted in more]


def _requests(pattern: Pattern) -> Requests:
    active = pattern.active.reshape(-1, 32)
    rows = np.asarray(active.any(axis=1))
    steps = pattern.form.steps - pattern.form.steps[pattern.first]
    return Requests(rows, np.flatnonzero(rows), active[rows], steps.reshape(-1, 32)[rows])
