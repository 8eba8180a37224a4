"""Questions about all lanes at once, each one call of C. In its own methods numpy takes ten times as long for
the few hundred lanes of a block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

count: Callable[[NDArray[Any]], int] = getattr(np.count_nonzero, "__wrapped__", np.count_nonzero)
"""How many lanes are set, or numbers are not 0: numpy's count without its look for other kinds of arrays,
which takes as long again."""


def some(lanes: NDArray[Any]) -> bool:
    """Return whether any lane is set, or any number is not 0."""
    return count(lanes) != 0


def every(lanes: NDArray[np.bool_]) -> bool:
    """Return whether all lanes are set."""
    return count(lanes) == lanes.size


def equal_masks(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> bool:
    """Return whether two masks of one block hold the same lanes."""
    return a is b or a.tobytes() == b.tobytes()
