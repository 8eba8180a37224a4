"""The rule of `rule.py` for many requests at once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from smemlint.banks.request import (
    BANK_CYCLE,
    LANE_OPERATIONS,
    LANES,
    MATRIX_OPERATIONS,
    check,
    group_of,
    lanes_of,
    passes_of,
    unit_of,
)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

INACTIVE = -1
_CHUNK = 1 << 15
"""Requests handled at once: keeps the working set in tens of megabytes."""


def cost_of(op: str, width: int, offsets: Ints, matrices: int = 1) -> tuple[Ints, Ints]:
    """Wavefronts and ideal of n requests.

    Args: offsets, shape (n, 32), bytes; negative: inactive. The rest as in `wavefronts`.
    Returns: two arrays of shape (n,); both 0 where no lane is active.
    Raises: ValueError for what does not exist, a wrong shape or an offset that is no multiple of the width.
    """
    check(op, width, matrices)
    lanes = checked(width, offsets)[:, : lanes_of(op, matrices)]
    distinct, back = distinct_rows(lanes, unit_of(width))
    total = np.empty(len(distinct), dtype=np.int64)
    for start in range(0, len(distinct), _CHUNK):
        total[start : start + _CHUNK] = _wavefronts(op, width, distinct[start : start + _CHUNK])
    ideal = np.minimum(total, ideal_of(op, width, (distinct >= 0).sum(axis=1), matrices))
    return total[back], ideal[back]


def ideal_of(op: str, width: int, active: Ints, matrices: int = 1) -> Ints:
    """Ideal of requests of which only the number of active lanes is known, shape (n,) in and out.

    Exact but for 8- and 16-byte loads that merge, whose ideal is never more than their wavefronts.
    """
    check(op, width, matrices)
    active = np.asarray(active, dtype=np.int64)
    if op in MATRIX_OPERATIONS:
        return np.where(active > 0, matrices, 0).astype(np.int64)
    return passes_of(op) * -(-active * width // BANK_CYCLE)


def checked(width: int, offsets: Ints) -> Ints:
    lanes = np.asarray(offsets, dtype=np.int64)
    if lanes.ndim != 2 or lanes.shape[1] != LANES:
        raise ValueError(f"offsets have shape {lanes.shape}, expected (requests, {LANES})")
    wrong = (lanes >= 0) & (lanes & (width - 1) != 0)
    if wrong.any():
        row, lane = np.argwhere(wrong)[0]
        raise ValueError(
            f"request {row}, lane {lane}: offset {lanes[row, lane]} is no multiple of the width {width}; "
            "it would fault"
        )
    return lanes


def distinct_rows(lanes: Ints, unit: int) -> tuple[Ints, NDArray[np.intp]]:
    """Rows that differ by more than a shift of whole units, and where each row went."""
    moved = to_first_unit(lanes, unit)
    first, back = alike(moved)
    return moved[first], back


def to_first_unit(lanes: Ints, unit: int) -> Ints:
    """Each row moved by whole units to start at the first one, which turns the banks and keeps every cost."""
    active = lanes >= 0
    lowest = np.where(active, lanes, np.iinfo(np.int64).max).min(
        axis=1, keepdims=True, initial=np.iinfo(np.int64).max
    )
    return np.where(active, lanes - lowest // unit * unit, INACTIVE)


def alike(rows: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The number of one row of each kind, and which of them each row is like."""
    if len(rows) < 2 or (rows == rows[0]).all():
        return np.zeros(min(len(rows), 1), dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
    # One number a row sorts faster than the rows; a collision is caught below and costs only time.
    with np.errstate(over="ignore"):
        key = rows @ _weights(rows.shape[1])
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    back = back.reshape(-1)
    if not np.array_equal(rows[first[back]], rows):
        _, first, back = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        back = back.reshape(-1)
    return first, back


@lru_cache(maxsize=4)
def _weights(count: int) -> Ints:
    """Odd numbers without a pattern, wrapped to 64 bits."""
    numbers, mask = [], (1 << 62) - 1
    last = 1
    for _ in range(count):
        last = (last * 6364136223846793005 + 1442695040888963407) & mask
        numbers.append(last | 1)
    return np.array(numbers, dtype=np.int64)


def turns(op: str, width: int, lanes: Ints) -> Ints:
    """Turns that the busiest bank takes, per row of lanes; shape (n, lanes) -> (n,)."""
    rows = len(lanes)
    unit = unit_of(width)
    slots = BANK_CYCLE // unit
    units = lanes >> (unit.bit_length() - 1)  # what is negative stays so
    if op not in LANE_OPERATIONS:
        units = np.sort(units, axis=1)
        units[:, 1:][units[:, 1:] == units[:, :-1]] = INACTIVE
    index = ((units & (slots - 1)) + np.arange(0, rows * slots, slots)[:, None])[units >= 0]
    counts = np.bincount(index, minlength=rows * slots).astype(np.int64)
    most: Ints = counts.reshape(rows, slots).max(axis=1)
    return most


def group_turns(op: str, width: int, lanes: Ints) -> Ints:
    """Turns of each group, shape (n, groups)."""
    size = group_of(op, width)
    rows, count = lanes.shape
    return turns(op, width, lanes.reshape(-1, size)).reshape(rows, count // size)


def agree(lanes: Ints, distance: int) -> Bools:
    """Every active lane has its partner's address, or that partner is inactive; per row."""
    partner = lanes[:, np.arange(lanes.shape[1]) ^ distance]
    agrees: Bools = ((lanes < 0) | (partner < 0) | (lanes == partner)).all(axis=1)
    return agrees


def agree_in_pairs(lanes: Ints) -> Bools:
    return agree(lanes, 1) | agree(lanes, 2)


def same_in_pairs(lanes: Ints) -> Bools:
    """As `agree_in_pairs`, but an inactive lane agrees only with an inactive one."""
    at = np.arange(lanes.shape[1])
    same: Bools = (lanes == lanes[:, at ^ 1]).all(axis=1) | (lanes == lanes[:, at ^ 2]).all(axis=1)
    return same


def one_address(lanes: Ints) -> Bools:
    """All active lanes have the same address; per row, true for a row without active lanes."""
    active = lanes >= 0
    highest = lanes.max(axis=1)
    uniform: Bools = (~active | (lanes == highest[:, None])).all(axis=1)
    return uniform


def _wavefronts(op: str, width: int, lanes: Ints) -> Ints:
    groups = group_turns(op, width, lanes)
    total: Ints = passes_of(op) * groups.sum(axis=1)
    if op != "load" or width < 8:
        return total
    if width == 8:
        merged = agree_in_pairs(lanes) & (turns(op, width, lanes) <= 1)
        return np.where(merged, np.minimum(total, 1), total)
    first, second = lanes[:, :16], lanes[:, 16:]
    last = lanes[:, 31] >= 0
    costs = half_warp(first, groups[:, :2], ~last | same_in_pairs(first))
    costs += half_warp(second, groups[:, 2:], agree_in_pairs(second))
    return np.where(one_address(lanes), uniform_cost(lanes), costs)


def half_warp(lanes: Ints, groups: Ints, agrees: Bools) -> Ints:
    """A half warp of a 16-byte load: one pass where it is conflict-free and its lanes agree, else its
    groups' sum."""
    pair: Ints = groups.sum(axis=1)
    return np.where(agrees & (turns("load", 16, lanes) <= 1), np.minimum(pair, 1), pair)


def uniform_cost(lanes: Ints) -> Ints:
    """A 16-byte load of one address: one pass for up to 16 active lanes, two for more."""
    active: Ints = (lanes >= 0).sum(axis=1)
    return -(-active // 16)
