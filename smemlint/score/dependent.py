"""Bounds for addresses that depend on data: each lane's value is its own and only its range is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from smemlint.banks import (
    BANK_CYCLE,
    BANKS,
    CAS_LOOP_LOAD,
    CAS_LOOPS,
    LANES,
    WORD,
    cas_loop_worst,
    ideal_of,
    wavefront_range,
)
from smemlint.banks.request import LANE_OPERATIONS, check, group_of, lanes_of, passes_of, unit_of
from smemlint.evaluate.model import DataTerm
from smemlint.score.requests import Access, Costs, costs, faults, shifts

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]

_CHUNK = 1 << 12


def dependent(
    access: Access, offsets: Ints, data: Sequence[DataTerm], footprint: int | None, maybe: Bools | None
) -> Costs:
    """Ends of the cost of n requests whose lanes are at offsets + sum of coefficient * (the lane's own
    value).

    The proof: a lane reaches only banks that its residues allow, so a bank takes at most as many turns as
    lanes reach it; and no more than it holds words of the array (of the span of all lanes, where ranges are
    known), unless lanes on one word take turns too. At least, every group with an active lane takes a turn,
    and lanes that take turns cannot share their reachable banks better than evenly.

    footprint: bytes of the array, None: unknown. Raises: ValueError for what does not exist.
    """
    if access.op in CAS_LOOPS:
        return _looped(access, offsets, data, footprint)
    check(access.op, access.width, access.matrices)
    offsets = offsets.copy()
    offsets[:, lanes_of(access.op, access.matrices) :] = -1
    low, high, ideal = (np.zeros(len(offsets), dtype=np.int64) for _ in range(3))
    for terms, rows, back in _alike(offsets, data, maybe):
        these, unsure = offsets[rows], None if maybe is None else maybe[rows]
        if terms or faults(access, these).any():
            cost = _bounds(access, these, terms, footprint, unsure)
        else:  # the address is known after all: wide loads may merge
            cost = costs(access, these, unsure)
        for ends, found in ((low, cost.low), (high, cost.high), (ideal, cost.ideal)):
            ends[back >= 0] = found[back[back >= 0]]
    return Costs(low, high, ideal)


def _alike(
    offsets: Ints, data: Sequence[DataTerm], maybe: Bools | None
) -> Iterator[tuple[tuple[DataTerm, ...], Indices, Indices]]:
    """Requests by the terms that they really have: (terms, one request of each kind, the kind of every
    request or -1). Requests of one kind differ by whole turns of the banks and have one cost."""
    active = offsets >= 0
    none = np.iinfo(np.int64).max
    lowest = np.where(active, offsets, none).min(axis=1, keepdims=True, initial=none)
    moved = np.where(active, offsets - lowest // BANK_CYCLE * BANK_CYCLE, -1)
    had: list[list[tuple[str, bytes, int]]] = [[] for _ in offsets]
    for number, term in enumerate(data):
        ends = f"{term.low} {term.high} {term.multiple}"
        if term.options is not None:
            for row in np.flatnonzero(term.options.any(axis=(0, 2))).tolist():
                lanes = np.where(active[row], term.options[:, row], 0)
                if lanes.any():
                    had[row].append((f"{len(lanes)} ways", lanes.tobytes(), number))
            continue
        rows = np.flatnonzero(np.bitwise_or.reduce(term.coefficient, axis=1))  # few of many: most terms
        coefficient = np.where(active[rows], term.coefficient[rows], 0)
        for row, lanes in zip(rows.tolist(), coefficient, strict=True):
            if lanes.any():
                had[row].append((ends, lanes.tobytes(), number))
    groups: dict[tuple[str, ...], tuple[dict[object, int], list[int], Indices]] = {}
    for row, terms in enumerate(had):
        terms.sort()
        ranges = tuple(t[0] for t in terms)
        if ranges not in groups:
            groups[ranges] = {}, [], np.full(len(offsets), -1, dtype=np.intp)
        kinds, first, back = groups[ranges]
        unsure = b"" if maybe is None else (active[row] & maybe[row]).tobytes()
        kind = kinds.setdefault((moved[row].tobytes(), unsure, *(t[1] for t in terms)), len(kinds))
        if kind == len(first):
            first.append(row)
        back[row] = kind
    for ranges, (_, first, back) in groups.items():
        rows = np.array(first, dtype=np.intp)
        places = range(len(ranges))
        yield tuple(_gathered(data, [had[row][i][2] for row in first], rows) for i in places), rows, back


def _gathered(data: Sequence[DataTerm], numbers: Sequence[int], rows: Indices) -> DataTerm:
    """One term out of the terms that stand at one place in each of the rows; their ranges are the same."""
    like = data[numbers[0]]
    coefficient = np.stack([data[number].coefficient[row] for number, row in zip(numbers, rows, strict=True)])
    options = None
    if like.options is not None:
        each = [(data[number].options, row) for number, row in zip(numbers, rows, strict=True)]
        options = np.stack([o[:, row] for o, row in each if o is not None], axis=1)
    return DataTerm(coefficient, like.low, like.high, like.multiple, like.reason, options)


def _bounds(
    access: Access, offsets: Ints, data: Sequence[DataTerm], footprint: int | None, maybe: Bools | None
) -> Costs:
    """`dependent` of requests that all differ."""
    certain = offsets >= 0 if maybe is None else (offsets >= 0) & ~maybe
    low = np.zeros(len(offsets), dtype=np.int64)
    high = np.zeros(len(offsets), dtype=np.int64)
    words = _words(access, offsets, data, footprint)
    for start in range(0, len(offsets), _CHUNK):
        part = slice(start, start + _CHUNK)
        reach = _reach(access, offsets[part], [_part(term, part) for term in data])
        high[part] = _most(access, reach, words[part])
        low[part] = _least(access, reach, certain[part])
    fixed = np.logical_and.reduce([_still(term) for term in data]) if data else offsets >= 0
    known = np.where(fixed & (offsets % access.width == 0), offsets, -1)
    low = np.maximum(
        low, wavefront_range(access.op, access.width, known, ~certain & (known >= 0), access.matrices)[0]
    )
    passes = passes_of(access.op)
    runs = (offsets >= 0).any(axis=1)
    high = np.where(runs, np.maximum(passes * high, passes), 0)
    ideal = ideal_of(access.op, access.width, (offsets >= 0).sum(axis=1), access.matrices)
    ideal = np.minimum(ideal, high)
    low = np.where(runs, np.clip(np.maximum(low, ideal), passes, high), 0)
    # As where the address is known: fewer lanes of a wide access have a smaller ideal.
    unsure = ((offsets >= 0) & ~certain).any(axis=1)
    return Costs(low, np.where(unsure, high * ideal, high), ideal)


def _looped(access: Access, offsets: Ints, data: Sequence[DataTerm], footprint: int | None) -> Costs:
    """A loop of compare-and-swaps: of how many rounds is not known.

    Its compare-and-swaps cost those of one round at least, and a round for each lane at most; a later half
    warp waits for an earlier one, not the other way round. Of its loads the ends are those of 32 rounds, for
    their ways count by the round: more rounds load more words at once.
    """
    runs = (offsets >= 0).any(axis=1)
    if access.op == CAS_LOOP_LOAD:
        ideal = np.where(runs, LANES, 0)
        words = _words(access, offsets, data, footprint)
        most = np.where(runs, cas_loop_worst(access.width, words), 0)
        return Costs(ideal, most, ideal)
    groups = LANES // group_of("load", access.width)
    lanes = (offsets >= 0).reshape(len(offsets), groups, -1).sum(axis=2)
    once = 2 * (lanes > 0).sum(axis=1)
    most = 2 * np.where(lanes > 0, lanes.cumsum(axis=1), 0).sum(axis=1)
    return Costs(once, most, once)


def _part(term: DataTerm, part: slice) -> DataTerm:
    options = None if term.options is None else term.options[:, part]
    return DataTerm(term.coefficient[part], term.low, term.high, term.multiple, term.reason, options)


def _still(term: DataTerm) -> Bools:
    """Lanes whose address a term leaves alone."""
    still: Bools = term.coefficient == 0 if term.options is None else (term.options == 0).all(axis=0)
    return still


def _words(access: Access, offsets: Ints, data: Sequence[DataTerm], footprint: int | None) -> Ints:
    """Most words that one bank (of a wide access: one run of banks) holds of what a request can reach;
    (n,)."""
    unit = unit_of(access.width)
    slots = BANK_CYCLE // unit
    most = np.full(len(offsets), LANES, dtype=np.int64)
    if footprint is not None:
        most = np.minimum(most, max(1, -(-_units(footprint, unit) // slots)))
    if all(term.low is not None and term.high is not None for term in data):
        lowest, highest = offsets.copy(), offsets.copy()
        for term in data:
            ends = np.stack([term.coefficient * (term.low or 0), term.coefficient * (term.high or 0)])
            ends = ends if term.options is None else term.options
            lowest, highest = lowest + ends.min(axis=0), highest + ends.max(axis=0)
        active = offsets >= 0
        top = np.where(active, highest, np.iinfo(np.int64).min).max(axis=1)
        bottom = np.where(active, lowest, np.iinfo(np.int64).max).min(axis=1)
        span = np.where(active.any(axis=1), top - np.minimum(bottom, top) + access.width, 1)
        # The span may begin anywhere in a unit, so it can touch one unit more than it has room for.
        units = -(-span // unit) + (0 if access.width >= WORD else 1)
        most = np.minimum(most, np.maximum(1, -(-units // slots)))
    return most


def _units(size: int, unit: int) -> int:
    return -(-size // unit)


def _reach(access: Access, offsets: Ints, data: Sequence[DataTerm]) -> Bools:
    """Which banks each lane can reach; shape (n, 32, slots)."""
    unit = unit_of(access.width)
    slots = BANK_CYCLE // unit
    active = offsets >= 0
    bank = np.arange(slots) * unit
    reach = np.zeros((*offsets.shape, slots), dtype=np.bool_)
    steps, rest = _steps(offsets, data)
    # Steps of the lane's other values: their greatest common divisor with the bank cycle leaves a grid of
    # residues.
    grid = np.full(offsets.shape, BANK_CYCLE, dtype=np.int64)
    for term in rest:
        grid = np.gcd(grid, term.coefficient * term.multiple)
    for shift in shifts(access):
        for step in steps:
            start = (offsets + step + shift) // unit * unit
            reach |= (bank - start[..., None]) % np.maximum(grid, unit)[..., None] == 0
    return reach & active[..., None]


def _steps(offsets: Ints, data: Sequence[DataTerm]) -> tuple[list[Ints], list[DataTerm]]:
    """What terms with few values add to the addresses, all together, and the terms with more of them."""
    steps, rest = [np.zeros_like(offsets)], []
    for term in data:
        values = _values(term)
        if values is None or len(steps) * len(values) > BANKS:
            if term.options is None:
                rest.append(term)
                continue
            values = list(term.options)
        steps = [step + value for step in steps for value in values]
    return steps, rest


def _values(term: DataTerm) -> list[Ints] | None:
    """What all values of a term add, when they are few enough to be tried one by one."""
    if term.options is not None:
        return list(term.options)
    if term.low is None or term.high is None:
        return None
    step = max(1, term.multiple)
    first = -(-term.low // step) * step
    count = (term.high - first) // step + 1
    return [term.coefficient * (first + i * step) for i in range(count)] if 0 < count <= BANKS else None


def _grouped(access: Access, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    size = group_of(access.op, access.width)
    return lanes.reshape(len(lanes), LANES // size, size, *lanes.shape[2:])


def _most(access: Access, reach: Bools, words: Ints) -> Ints:
    turns = _grouped(access, reach).sum(axis=2)
    if access.op not in LANE_OPERATIONS:
        turns = np.minimum(turns, words[:, None, None])
    most: Ints = turns.max(axis=2).sum(axis=1).astype(np.int64)
    return most


def _least(access: Access, reach: Bools, certain: Bools) -> Ints:
    lanes = _grouped(access, certain).sum(axis=2)
    if access.op in LANE_OPERATIONS:
        reachable = (_grouped(access, reach & certain[..., None]).any(axis=2)).sum(axis=2)
        least: Ints = -(-lanes // np.maximum(reachable, 1)).sum(axis=1).astype(np.int64)
    else:
        least = (lanes > 0).sum(axis=1).astype(np.int64)
        if access.op == "load" and access.width > WORD:
            least = np.minimum(least, 1)  # groups of wide loads may merge
    return passes_of(access.op) * least
