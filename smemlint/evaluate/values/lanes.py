"""Questions about all lanes at once, each one call of C. In its own methods numpy takes ten times as long for
the few hundred lanes of a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def some(lanes: NDArray[Any]) -> bool:
    """Return whether any lane is set, or any number is not 0."""
    return lanes.tobytes() != bytes(lanes.nbytes)


def equal_masks(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> bool:
    """Return whether two masks of one block hold the same lanes."""
    return a is b or a.tobytes() == b.tobytes()
