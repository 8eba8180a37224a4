"""`cas_loop` of `rule.py` for many requests at once, and how far its ways can go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smemlint.banks.request import BANK_CYCLE, CAS_LOOP_LOAD, LANES, WORD, group_of
from smemlint.banks.vector import INACTIVE, checked, cost_of, distinct_rows, ideal_of

Ints = NDArray[np.int64]
_CHUNK = 1 << 12
_EARLIER = np.tril(np.ones((LANES, LANES), dtype=np.bool_), -1)


def cas_loop_cost(op: str, width: int, offsets: Ints) -> tuple[Ints, Ints]:
    """Wavefronts and ideal of the loads or of the compare-and-swaps of n loops, all rounds together.

    Args: op, CAS_LOOP_LOAD or CAS_LOOP; offsets, shape (n, 32), bytes; negative: inactive.
    Returns: two arrays of shape (n,). Raises: ValueError for a wrong shape or an offset that is no multiple
    of the width.
    """
    distinct, back = distinct_rows(checked(width, offsets), width)
    total = np.zeros(len(distinct), dtype=np.int64)
    ideal = np.zeros(len(distinct), dtype=np.int64)
    for start in range(0, len(distinct), _CHUNK):
        part = slice(start, start + _CHUNK)
        total[part], ideal[part] = _loops(op, width, distinct[part])
    return total[back], ideal[back]


def _loops(op: str, width: int, lanes: Ints) -> tuple[Ints, Ints]:
    """Round by round, until no lane waits."""
    total = np.zeros(len(lanes), dtype=np.int64)
    ideal = np.zeros(len(lanes), dtype=np.int64)
    size = group_of("load", width)
    group = np.arange(LANES) // size
    slot = lanes % BANK_CYCLE
    rivals = (slot[:, :, None] == slot[:, None, :]) & (group[:, None] == group) & _EARLIER
    twins = (lanes[:, :, None] == lanes[:, None, :]) & (group[:, None] > group)
    waiting = lanes >= 0
    while waiting.any():
        if op == CAS_LOOP_LOAD:
            passes, best = cost_of("load", width, np.where(waiting, lanes, INACTIVE))
        else:
            passes = 2 * waiting.reshape(-1, LANES // size, size).any(axis=2).sum(axis=1)
            best = np.minimum(passes, ideal_of("cas", width, waiting.sum(axis=1)))
        total, ideal = total + passes, ideal + best
        first = waiting & ~(rivals & waiting[:, None, :]).any(axis=2)
        # A later half warp finds the word changed that an earlier one wrote.
        waiting = waiting & ~(first & ~(twins & first[:, None, :]).any(axis=2))
    return total, ideal


def cas_loop_worst(width: int, words: Ints) -> Ints:
    """Most wavefronts of the loads of a loop of 32 rounds in which a bank (a pair of banks) has at most
    `words` distinct words; shape as given."""
    left = np.arange(1, LANES + 1)
    groups = width // WORD
    most: Ints = np.minimum(groups * words[..., None], left).sum(axis=-1).astype(np.int64)
    return np.maximum(most, groups * LANES)
