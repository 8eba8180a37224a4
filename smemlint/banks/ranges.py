"""Lower and upper ends of a request's cost where lanes or addresses depend on data. All of them are proved.

The steps of the proof: more active lanes never cost less, save for one case of 16-byte loads (a hole in the
first half warp can forbid a merge), which is taken apart below; a lane that may be anywhere adds at most one
turn to each bank it can reach, and no bank ever delivers more distinct words than the lanes of a group can
reach in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from smemlint.banks.request import (
    BANK_CYCLE,
    LANE_OPERATIONS,
    LANES,
    check,
    group_of,
    lanes_of,
    passes_of,
    unit_of,
)
from smemlint.banks.vector import (
    INACTIVE,
    agree_in_pairs,
    cost_of,
    group_turns,
    half_warp,
    ideal_of,
    one_address,
    uniform_cost,
)
from smemlint.records import record

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def wavefront_range(
    op: str, width: int, offsets: Ints, maybe: Bools, matrices: int = 1
) -> tuple[Ints, Ints, Ints]:
    """Ends of the wavefronts of n requests that execute, some lanes of which may be inactive.

    Args: offsets as in `cost_of`; maybe, same shape: lanes of unknown activity (ignored where the offset is
    negative).
    Returns: lowest and highest wavefronts, and the ideal with all lanes active; shape (n,).
    Raises: ValueError as `cost_of`.
    """
    lanes = np.asarray(offsets, dtype=np.int64)
    maybe = np.asarray(maybe, dtype=np.bool_) & (lanes >= 0)
    certain = np.where(maybe, INACTIVE, lanes)
    high, ideal = cost_of(op, width, lanes, matrices)
    if op == "load" and width == 16:
        high = np.maximum(high, _unmerged(lanes, maybe))
        low = _favourable(certain)
    else:
        low, _ = cost_of(op, width, certain, matrices)
    runs = (lanes[:, : lanes_of(op, matrices)] >= 0).any(axis=1)
    return np.where(runs, np.maximum(low, passes_of(op)), 0), high, ideal


def _unmerged(lanes: Ints, maybe: Bools) -> Ints:
    """Cost of 16-byte loads of which a hole, if it comes, keeps the first half apart; 0 where no hole can."""
    groups = group_turns("load", 16, lanes)
    second = half_warp(lanes[:, 16:], groups[:, 2:], agree_in_pairs(lanes[:, 16:]))
    at_risk = maybe[:, :16].any(axis=1) & (lanes[:, 31] >= 0) & ~one_address(lanes)
    return np.where(at_risk, groups[:, :2].sum(axis=1) + second, 0)


def _favourable(certain: Ints) -> Ints:
    """Least cost of 16-byte loads whatever lanes join the certain ones."""
    groups = group_turns("load", 16, certain)
    first, second = certain[:, :16], certain[:, 16:]
    last = certain[:, 31] >= 0
    costs = half_warp(first, groups[:, :2], ~last | agree_in_pairs(first))
    costs += half_warp(second, groups[:, 2:], agree_in_pairs(second))
    return np.where(one_address(certain), np.minimum(costs, uniform_cost(certain)), costs)


@record(frozen=True, slots=True)
class Span:
    """Where one lane may be: byte offsets low, low + step, ... up to and including high at most."""

    low: int
    high: int
    step: int = 1

    def __post_init__(self) -> None:
        if self.low < 0 or self.high < self.low or self.step < 1:
            raise ValueError(f"no byte offsets: from {self.low} to {self.high} in steps of {self.step}")

    @property
    def count(self) -> int:
        return (self.high - self.low) // self.step + 1

    def offsets(self) -> range:
        return range(self.low, self.high + 1, self.step)


@record(frozen=True, slots=True)
class Bounds:
    """low <= wavefronts <= high of a request that executes; ideal: with every lane active that may be."""

    low: int
    high: int
    ideal: int


_ENUMERATED = 1 << 14
"""Offsets of one group that are listed to count distinct words; a group that can reach more is bounded by
its lanes."""


def bounds(
    op: str,
    width: int,
    spans: Sequence[Span | None],
    *,
    maybe: Iterable[int] = (),
    matrices: int = 1,
) -> Bounds:
    """Ends of the cost of one request whose addresses depend on data.

    Args:
        spans: for each of the 32 lanes where it may be, None: inactive. All multiples of the width.
        maybe: lanes that may be inactive.

    Raises: ValueError for what `wavefronts` refuses and for an empty or misaligned span.
    """
    check(op, width, matrices)
    if len(spans) != LANES:
        raise ValueError(f"a warp has {LANES} lanes, got {len(spans)} spans")
    for lane, span in enumerate(spans):
        if span is not None and (span.low % width or (span.count > 1 and span.step % width)):
            raise ValueError(f"lane {lane}: {span} has offsets that are no multiple of the width {width}")
    unsure = frozenset(maybe)
    used = range(lanes_of(op, matrices))
    size = group_of(op, width)
    groups = [[i for i in used[start : start + size] if spans[i] is not None] for start in used[::size]]
    active = sum(map(len, groups))
    if not active:
        return Bounds(0, 0, 0)
    high = sum(_most(op, width, [span for i in group if (span := spans[i])]) for group in groups)
    fixed = np.full((1, LANES), INACTIVE, dtype=np.int64)
    for lane in used:
        span = spans[lane]
        if span is not None and span.count == 1 and lane not in unsure:
            fixed[0, lane] = span.low
    if op == "load" and width == 16:
        low = int(_favourable(fixed)[0])
    else:
        low = int(cost_of(op, width, fixed, matrices)[0][0])
    certain = [[span for i in group if i not in unsure and (span := spans[i])] for group in groups]
    least = sum(_least(op, width, group) for group in certain)
    if op == "load" and width > 4:
        least = min(least, 1)  # groups may merge
    low = max(low, passes_of(op) * max(least, 1))
    ideal = int(ideal_of(op, width, np.array([active]), matrices)[0])
    return Bounds(low, max(passes_of(op) * high, low), min(ideal, max(passes_of(op) * high, low)))


def _banks(width: int, span: Span) -> set[int]:
    """Banks (of a wide access: runs of banks) that a lane can reach. Steps repeat modulo the bank cycle."""
    return {offset % BANK_CYCLE // unit_of(width) for offset in span.offsets()[:BANK_CYCLE]}


def _most(op: str, width: int, spans: Sequence[Span]) -> int:
    """Most turns of one group: for some bank, the lanes that reach it, and no more than its reachable
    words."""
    lanes = [0] * BANK_CYCLE
    for span in spans:
        for bank in _banks(width, span):
            lanes[bank] += 1
    if op in LANE_OPERATIONS or sum(span.count for span in set(spans)) > _ENUMERATED:
        return max(lanes)
    unit = unit_of(width)
    reach: list[set[int]] = [set() for _ in lanes]
    for span in set(spans):
        for offset in span.offsets():
            reach[offset % BANK_CYCLE // unit].add(offset // unit)
    return max(map(min, lanes, map(len, reach)))


def _least(op: str, width: int, spans: Sequence[Span]) -> int:
    """Fewest turns of one group: lanes that take turns cannot share the banks they have better than
    evenly."""
    if not spans:
        return 0
    if op not in LANE_OPERATIONS:
        return 1
    reachable = set[int]().union(*(_banks(width, span) for span in spans))
    return -(-len(spans) // len(reachable))
