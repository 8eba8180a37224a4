"""Who leaves a loop together, and who by itself."""

from __future__ import annotations

import numpy as np
import pytest

from smemlint.evaluate.run.loops.parted import LANES, TOGETHER, WARPS, parting

INSIDE = np.arange(128) < 96


@pytest.mark.parametrize(
    ("leave", "how"),
    [
        (INSIDE, TOGETHER),
        (np.zeros(128, dtype=bool), TOGETHER),
        (np.arange(128) < 32, WARPS),
        (np.arange(128) < 40, LANES),
        (INSIDE & (np.arange(128) % 2 == 0), LANES),
    ],
    ids=["all", "none", "one warp", "a part of a warp", "every other lane"],
)
def test_lanes_part_only_where_others_stay(leave: np.ndarray, how: int) -> None:
    assert parting(leave, INSIDE) == how
