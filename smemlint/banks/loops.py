"""`cas_loop` of `rule.py` for many requests at once, and how far its ways can go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smemlint.banks.request import BANKS, LANES, WORD
from smemlint.banks.vector import INACTIVE, checked, distinct_rows, turns

Ints = NDArray[np.int64]
_CHUNK = 1 << 15


def cas_loop_cost(offsets: Ints) -> tuple[Ints, Ints]:
    """Wavefronts and ideal of n loops, all rounds together.

    Args: offsets, shape (n, 32), bytes; negative: inactive. Returns: two arrays of shape (n,).
    Raises: ValueError for a wrong shape or an offset that is no multiple of 4.
    """
    distinct, back = distinct_rows(checked(WORD, offsets), WORD)
    total = np.zeros(len(distinct), dtype=np.int64)
    rounds = np.zeros(len(distinct), dtype=np.int64)
    for start in range(0, len(distinct), _CHUNK):
        part = slice(start, start + _CHUNK)
        total[part], rounds[part] = _loads(distinct[part])
    return (total + 2 * rounds)[back], (3 * rounds)[back]


def _loads(lanes: Ints) -> tuple[Ints, Ints]:
    """Wavefronts of the loads, and rounds: in each one lane of every bank succeeds, the lowest first."""
    banks = np.where(lanes >= 0, lanes // WORD % BANKS, -1 - np.arange(lanes.shape[1]))
    earlier = np.tril(np.ones((LANES, LANES), dtype=np.bool_), -1)
    turn = ((banks[:, :, None] == banks[:, None, :]) & earlier).sum(axis=2)
    turn = np.where(lanes >= 0, turn, -1)
    rounds: Ints = turn.max(axis=1).astype(np.int64) + 1
    total = np.zeros(len(lanes), dtype=np.int64)
    for r in range(int(rounds.max(initial=0))):
        total += turns("load", WORD, np.where(turn >= r, lanes, INACTIVE))
    return total, rounds


def cas_loop_worst(words: Ints) -> Ints:
    """Most loads of a loop of 32 rounds in which a bank has at most `words` distinct words; shape as
    given."""
    left = np.arange(1, LANES + 1)
    most: Ints = np.minimum(words[..., None], left).sum(axis=-1).astype(np.int64)
    return most
