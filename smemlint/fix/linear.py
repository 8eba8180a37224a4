"""Bit-linear requests: when the word of a lane is a xor of fixed words, one per bit of the lane number.

Most index expressions of kernels are of this kind (powers of two everywhere), and so is every xor swizzle
of them. The rank of two small matrices over F2 then gives the cost without looking at the lanes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LANES = np.arange(32, dtype=np.int64)
_BANKS = 31


def columns(words: NDArray[np.int64]) -> tuple[int, ...] | None:
    """What each lane bit adds (by xor) to the word of lane 0, None when the request is not bit-linear.

    Args: words: word numbers of all 32 lanes, none inactive.
    """
    parts = [int(words[1 << bit] ^ words[0]) for bit in range(5)]
    built = np.full(32, words[0], dtype=np.int64)
    for bit, part in enumerate(parts):
        built ^= np.where(_LANES >> bit & 1, part, 0)
    return tuple(parts) if np.array_equal(built, words) else None


def rank(vectors: tuple[int, ...]) -> int:
    """Rank over F2 of bit vectors."""
    basis: list[int] = []
    for vector in vectors:
        for pivot in basis:
            vector = min(vector, vector ^ pivot)
        if vector:
            basis.append(vector)
    return len(basis)


def wavefronts(words: NDArray[np.int64]) -> int | None:
    """Wavefronts of a full 4-byte request, None when it is not bit-linear.

    2**rank(words) distinct words fall on 2**rank(banks) banks, the same number on each.
    """
    parts = columns(words)
    if parts is None:
        return None
    distinct: int = 1 << rank(parts)
    return distinct >> rank(tuple(part & _BANKS for part in parts))
