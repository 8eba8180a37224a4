"""Bit-linear requests: when the word of a lane is a xor of fixed words, one per bit of the lane number.

Most index expressions of kernels are of this kind (powers of two everywhere), and so is every xor swizzle
of them. The rank of two small matrices over F2 then gives the cost of all requests that differ only in where
lane 0 goes: thousands of them are scored at once.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from smemlint.records import record

_LANES = np.arange(32, dtype=np.int64)
_BITS = 5
_BANKS = 31
WORD = 4


@record(frozen=True, slots=True)
class LinearClass:
    """Requests alike but for a xor. parts: what each lane bit adds, in words; weight: how often they run."""

    parts: tuple[int, ...]
    weight: int


def classes(offsets: NDArray[np.int64], weights: NDArray[np.int64]) -> tuple[LinearClass, ...] | None:
    """The classes of a site's requests, None unless all are bit-linear, full and of whole words.

    Args: offsets in bytes, shape (requests, 32); weights, shape (requests,).
    """
    if offsets.size == 0 or (offsets < 0).any() or (offsets % WORD).any():
        return None
    words = offsets // WORD
    parts = np.stack([words[:, 1 << bit] ^ words[:, 0] for bit in range(_BITS)], axis=1)
    built = np.repeat(words[:, :1], 32, axis=1)
    for bit in range(_BITS):
        built ^= np.where(_LANES >> bit & 1, parts[:, bit : bit + 1], 0)
    if not np.array_equal(built, words):
        return None
    kinds, kind_of = np.unique(parts, axis=0, return_inverse=True)
    sums = np.zeros(len(kinds), dtype=np.int64)
    np.add.at(sums, kind_of.reshape(-1), weights)
    return tuple(
        LinearClass(tuple(map(int, kind)), int(weight)) for kind, weight in zip(kinds, sums, strict=True)
    )


def rank(vectors: Iterable[int]) -> int:
    """Rank over F2 of bit vectors."""
    basis: list[int] = []
    for vector in vectors:
        for pivot in basis:
            vector = min(vector, vector ^ pivot)
        if vector:
            basis.append(vector)
    return len(basis)


def wavefronts(parts: Iterable[int]) -> int:
    """Wavefronts of one 4-byte load or store: 2**rank(words) words on 2**rank(banks) banks, evenly."""
    vectors = tuple(parts)
    return 1 << (rank(vectors) - rank(part & _BANKS for part in vectors))
