"""The cost of requests whose addresses are known up to what is the same for all lanes."""

from __future__ import annotations

from hashlib import sha1
from math import gcd

import numpy as np
from numpy.typing import NDArray

from smemlint.banks import (
    BANK_CYCLE,
    CAS_LOOP_LOAD,
    CAS_LOOPS,
    WORD,
    cas_loop_cost,
    cost_of,
    wavefront_range,
)
from smemlint.banks.request import unit_of
from smemlint.banks.vector import alike, one_address, to_first_unit
from smemlint.ir.memo import forgotten_by
from smemlint.records import record

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class MisalignedError(ValueError):
    """Some lane's address is no multiple of its width, whatever the unknown part is: it would fault."""


@record(frozen=True, slots=True)
class Access:
    """What runs: operation, bytes a lane, matrices, and what divides the left-out part (0: nothing left
    out)."""

    op: str
    width: int
    matrices: int = 1
    alignment: int = 0


@record(frozen=True, slots=True)
class Costs:
    """Per request, shape (n,): low <= wavefronts <= high, and the ideal of the request with all its lanes."""

    low: Ints
    high: Ints
    ideal: Ints


def aligned(access: Access, offsets: Ints) -> Ints:
    """The requests moved, row by row, so that every active lane is a multiple of the width.

    A left-out part may make up for what is missing if it can be that number; else raises MisalignedError.
    """
    found = _rests(access, offsets)
    if found is None:
        return offsets
    rest, apart, short = found
    if apart.any():
        raise MisalignedError(f"not all lanes of a warp are aligned to the {access.width} bytes each moves")
    if short.any():
        raise MisalignedError(f"the address is no multiple of the {access.width} bytes that each lane moves")
    return np.where(offsets >= 0, offsets - rest[:, None], offsets)


def faults(access: Access, offsets: Ints) -> Bools:
    """Requests for which `aligned` would raise, shape (n,)."""
    found = _rests(access, offsets)
    return np.zeros(len(offsets), dtype=np.bool_) if found is None else found[1] | found[2]


def _rests(access: Access, offsets: Ints) -> tuple[Ints, Bools, Bools] | None:
    """By row: bytes over a multiple of the width; whether lanes differ in it; whether nothing can make up
    for it. None where all lanes are multiples of it."""
    active = offsets >= 0
    width = access.width
    rests = (offsets % width if width & (width - 1) else offsets & (width - 1)) * active
    if not rests.any():
        return None
    rest: Ints = rests.max(axis=1)
    apart: Bools = (active & (rests != rest[:, None])).any(axis=1)
    step = gcd(access.alignment, access.width) if access.alignment else access.width
    short: Bools = rest % step != 0
    return rest, apart, short


def shifts(access: Access) -> range:
    """Bytes by which the left-out part may shift a narrow access within a word.

    Whole words turn the banks and change nothing, so accesses of 4 bytes and more need not be tried.
    """
    if access.width >= WORD or access.alignment == 0:
        return range(1)
    return range(0, WORD, max(gcd(access.alignment, WORD), access.width))


def positive(offsets: Ints, active: Bools) -> Ints:
    """Offsets moved up by whole bank cycles, row by row, so that none is negative; -1 where inactive."""
    lowest = np.where(active, offsets, 0).min(axis=1, keepdims=True)
    return np.where(active, offsets + -(lowest // BANK_CYCLE) * BANK_CYCLE, -1)


def costs(access: Access, offsets: Ints, maybe: Bools | None) -> Costs:
    """Cost of n requests, offsets of shape (n, 32), -1: inactive; maybe: lanes of unknown activity or None.

    Raises: MisalignedError; ValueError for an operation or width that does not exist.
    """
    return _KEPT.of(access, offsets, maybe)


class _Kept:
    """The costs of requests that were asked for: a search for layouts, a proof and a rule ask for the same
    ones again. rows: requests that are remembered now, at most MOST_ROWS but for the last ones asked for."""

    MOST_ROWS = 1 << 19

    def __init__(self) -> None:
        self._costs: dict[tuple[Access, int, bytes, bytes], Costs] = {}
        self.rows = 0

    def of(self, access: Access, offsets: Ints, maybe: Bools | None) -> Costs:
        """Return what `costs` says; nobody may write to its arrays."""
        key = access, len(offsets), _digest(offsets), b"" if maybe is None else _digest(maybe)
        found = self._costs.get(key)
        if found is None:
            found = _costs(access, offsets, maybe)
            for numbers in (found.low, found.high, found.ideal):
                numbers.setflags(write=False)
            if self.rows > self.MOST_ROWS:
                self.clear()
            self._costs[key] = found
            self.rows += len(offsets)
        return found

    def clear(self) -> None:
        self._costs.clear()
        self.rows = 0


_KEPT = _Kept()
forgotten_by(_KEPT.clear)


def _digest(lanes: Ints | Bools) -> bytes:
    return sha1(np.ascontiguousarray(lanes).data, usedforsecurity=False).digest()


def _costs(access: Access, offsets: Ints, maybe: Bools | None) -> Costs:
    moved = to_first_unit(offsets, unit_of(access.width))
    first, back = alike(moved if maybe is None else 2 * moved + maybe)
    each = _of_rows(access, moved[first], None if maybe is None else maybe[first])
    return Costs(each.low[back], each.high[back], each.ideal[back])


def _of_rows(access: Access, offsets: Ints, maybe: Bools | None) -> Costs:
    offsets = aligned(access, offsets)
    found = [_shifted(access, np.where(offsets >= 0, offsets + shift, -1), maybe) for shift in shifts(access)]
    low, high, ideal = found[0]
    for other_low, other_high, other_ideal in found[1:]:
        low, high = np.minimum(low, other_low), np.maximum(high, other_high)
        ideal = np.minimum(ideal, other_ideal)
    return Costs(low, high, ideal)


def _shifted(access: Access, offsets: Ints, maybe: Bools | None) -> tuple[Ints, Ints, Ints]:
    if access.op in CAS_LOOPS:
        return _looped(access, offsets, maybe)
    if maybe is None or not maybe.any():
        wavefronts, ideal = cost_of(access.op, access.width, offsets, access.matrices)
        return wavefronts, wavefronts, ideal
    low, high, ideal = wavefront_range(access.op, access.width, offsets, maybe, access.matrices)
    # Both ends are ways of the same ideal: however few lanes run, a request is never below its own ideal.
    # Fewer lanes of a wide access have a smaller ideal, down to one pass, and may still need every group.
    unsure = (maybe & (offsets >= 0)).any(axis=1)
    if access.op == "load":
        # One address takes one wavefront for each 16 lanes, which their bytes ask for as well.
        unsure &= ~one_address(offsets)
    sparse = np.where(unsure, high * ideal, high)
    return np.maximum(low, ideal), sparse, ideal


def _looped(access: Access, offsets: Ints, maybe: Bools | None) -> tuple[Ints, Ints, Ints]:
    """A loop of compare-and-swaps. Fewer lanes mean fewer rounds, whose ideal is smaller too: the ways stay
    below those of rounds that all load what the first one does. Compare-and-swaps of a word never take more
    than their ideal; of eight bytes at most twice that, where few lanes are spread over both half warps."""
    wavefronts, ideal = cas_loop_cost(access.op, access.width, offsets)
    if maybe is None or not (maybe & (offsets >= 0)).any():
        return wavefronts, wavefronts, ideal
    unsure = (maybe & (offsets >= 0)).any(axis=1)
    if access.op == CAS_LOOP_LOAD:
        first: Ints | int = wavefront_range("load", access.width, offsets, maybe)[1]
    else:
        first = 1 if access.width == WORD else 2
    most = np.maximum(wavefronts, ideal * first)
    return np.where(unsure, ideal, wavefronts), np.where(unsure, most, wavefronts), ideal


def or_apart(joined: Costs, alone: Costs) -> Costs:
    """Return the costs of an access that may as well run in parts, the upper end by the ways of a part."""
    apart = -(-joined.ideal * alone.high // np.maximum(alone.ideal, 1))
    return Costs(joined.low, np.maximum(joined.high, apart), joined.ideal)
