"""All requests of one access site with what each costs, and the choice of one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import Trace, Unresolved
from smemlint.records import record
from smemlint.score.requests import Access, MisalignedError, aligned, shifts
from smemlint.score.site import priced
from smemlint.view.bankmap import BankMap, passes_of

Ints = NDArray[np.int64]


class NoRequestError(Exception):
    """There is no such request. The message is for the user."""


@record(frozen=True, slots=True)
class Requests:
    """The requests of a site in program order, shape (n,) but for offsets and maybe, (n, 32).

    visit: number of the visit that each belongs to; warps: the warp's number, or None where not known.
    drawn: whether the addresses are known, so that a map can be drawn.
    """

    access: Access
    offsets: Ints
    maybe: NDArray[np.bool_] | None
    low: Ints
    high: Ints
    ideal: Ints
    weights: Ints
    visit: Ints
    visits: int
    warps: Ints | None
    drawn: bool

    @property
    def rotated(self) -> bool:
        """Whether a part of the address that all lanes share is not known: banks then count from there."""
        return self.access.alignment != 0

    def executed(self) -> NDArray[np.bool_]:
        runs: NDArray[np.bool_] = (self.ideal > 0) & (self.weights > 0)
        return runs


def requests_of(trace: Trace) -> Requests | Unresolved:
    """Every request of a trace, with the costs that `score` adds up."""
    found = priced(trace)
    if isinstance(found, Unresolved):
        return found
    n, warps = len(trace.offsets), trace.visited.warps
    visit = np.zeros(n, dtype=np.int64)
    visits = max(1, len(trace.visited.ranges) // max(1, trace.ways))
    for number, (first, count) in enumerate(trace.visited.ranges):
        visit[first : first + count] = number % visits
    return Requests(
        access=found.access,
        offsets=found.offsets,
        maybe=trace.maybe,
        low=found.costs.low,
        high=found.costs.high,
        ideal=found.costs.ideal,
        weights=trace.weights,
        visit=visit,
        visits=visits,
        warps=warps if warps is not None and len(warps) == n else None,
        drawn=not trace.data,
    )


def pick(requests: Requests, warp: int | None = None, visit: int | None = None) -> int | None:
    """The number of the request with the most ways among those asked for; None where none runs at all.

    Of several the one with the most wavefronts, then the first. Raises: NoRequestError for a warp or a visit
    that makes no request.
    """
    runs = requests.executed()
    if not runs.any():
        return None
    if visit is not None:
        runs &= requests.visit == visit
        if not runs.any():
            raise NoRequestError(f"no request in iteration {visit}; there are {requests.visits}, from 0")
    if warp is not None:
        if requests.warps is None:
            raise NoRequestError("which warp makes which request is not known here")
        seen = sorted(set(requests.warps[runs].tolist()))
        runs &= requests.warps == warp
        if not runs.any():
            raise NoRequestError(f"warp {warp} makes no request there; these do: {_listed(seen)}")
    ways = np.where(runs, requests.high / np.maximum(requests.ideal, 1), 0.0)
    return int(np.lexsort((-requests.high, -ways))[0])


def map_of(requests: Requests, at: int) -> BankMap:
    """The map of one request. Only for requests whose addresses are known (`drawn`)."""
    access = requests.access
    try:
        row = aligned(access, requests.offsets[at : at + 1])[0]
    except MisalignedError:
        row = requests.offsets[at]
    high = int(requests.high[at])
    lanes: tuple[int | None, ...] = ()
    passes = None
    # A narrow access whose start is not known: the shift within a word that costs what was told.
    for shift in shifts(access):
        moved = tuple(None if offset < 0 else int(offset) + shift for offset in row)
        found = passes_of(access.op, access.width, moved, access.matrices)
        if passes is None or len(found) == high:
            lanes, passes = moved, found
        if len(found) == high:
            break
    unsure = () if requests.maybe is None else np.flatnonzero(requests.maybe[at] & (row >= 0)).tolist()
    return BankMap(
        op=access.op,
        width=access.width,
        matrices=access.matrices,
        offsets=lanes,
        maybe=tuple(unsure),
        passes=passes or (),
        low=int(requests.low[at]),
        high=high,
        ideal=int(requests.ideal[at]),
        warp=None if requests.warps is None else int(requests.warps[at]),
        visit=int(requests.visit[at]),
        weight=int(requests.weights[at]),
    )


def _listed(numbers: list[int]) -> str:
    """`0..7` for a run, else one by one; long lists are cut."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}..{numbers[-1]}"
    shown = ", ".join(map(str, numbers[:12]))
    return shown + (", ..." if len(numbers) > 12 else "")
