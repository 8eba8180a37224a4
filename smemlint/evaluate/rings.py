"""Ring buffers: `s[(start + t) % size]` with a start that is not known.

Where a ring is a whole number of bank cycles long, a lane that goes round its end meets the bank that it
would meet behind it, and lanes meet on a word there where they would without an end. So the ring is taken as
straight: each lane has its own place, and all are moved by the start.
"""

from __future__ import annotations

from math import gcd

import numpy as np
from numpy.typing import NDArray

from smemlint.banks import BANK_CYCLE, WORD
from smemlint.evaluate.values.number import Int, Ring, add, gcd_of, multiple_of, scale
from smemlint.ir.types import LONG


def straightened(offset: Int, active: NDArray[np.bool_], width: int) -> tuple[Int, int]:
    """An address without its ring, and after how many bytes that begins again, where the cost is the same;
    else as it is, and 0."""
    mono = next((mono for mono in offset.terms if mono[0].ring is not None), None)
    if mono is None:
        return offset, 0
    step, ring = offset.terms[mono], mono[0].ring
    rest = {m: c for m, c in offset.terms.items() if m is not mono}
    if ring is None or len(mono) > 1 or not isinstance(step, int) or not Int(0, LONG, rest).shared:
        return offset, 0
    apart = np.broadcast_to(np.asarray(offset.const, dtype=np.int64), active.shape)
    places = _places(ring, apart, active, step, max(width, WORD))
    if places is None:
        return offset, 0
    straight = add(Int(apart + step * places, offset.type, rest), scale(ring.begins, step, LONG), LONG)
    return straight, abs(step) * ring.size


def _places(
    ring: Ring, apart: NDArray[np.int64], active: NDArray[np.bool_], step: int, width: int
) -> NDArray[np.int64] | None:
    """Numbers of the lanes' places on a straight line; None where the ring's end changes what lanes share.
    apart: what addresses have beside the ring."""
    around = abs(step) * ring.size
    if around % BANK_CYCLE:
        return None
    moved = gcd(*(gcd_of(c) * multiple_of(mono) for mono, c in ring.begins.terms.items()))
    # where the start is no whole number of words, the end may lie within the word of two lanes
    near = 0 if step * moved % width == 0 else width
    for places in (ring.lanes, np.mod(ring.lanes, ring.size)):
        fits = True
        for warp in np.flatnonzero(active.reshape(-1, 32).any(axis=1)):
            lanes = slice(32 * warp, 32 * warp + 32)
            on = active[lanes]
            own, beside = places[lanes][on], np.unique(apart[lanes][on])
            span = int(own.max() - own.min())
            steps = np.diff(beside)
            fits = span < ring.size and span * abs(step) + near <= around
            fits = fits and bool((steps >= around).all()) and not (steps % width).any()
            if not fits:
                break
        if fits:
            return places
    return None
