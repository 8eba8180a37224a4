"""What a float holds: IEEE 754, binary32."""

import math

import numpy as np
import pytest

from smemlint.evaluate.values.floats import rounded
from smemlint.ir.types import DOUBLE, FLOAT, HALF

LARGEST = float.fromhex("0x1.fffffep+127")


@pytest.mark.parametrize(
    ("x", "held"),
    [
        (0.5, 0.5),
        (0.1, float.fromhex("0x1.99999ap-4")),
        (-0.0, -0.0),
        (16777217.0, 16777216.0),
        (1e-50, 0.0),
        (LARGEST, LARGEST),
        (1e39, math.inf),
        (-1e39, -math.inf),
        (math.inf, math.inf),
    ],
)
def test_one_number_is_rounded_as_lanes_are(x: float, held: float) -> None:
    lanes = rounded(np.array([x, 1.0]), FLOAT)
    assert isinstance(lanes, np.ndarray)
    one = rounded(x, FLOAT)
    assert isinstance(one, float)
    assert one == lanes[0] == held
    assert math.copysign(1, one) == math.copysign(1, held)


def test_a_double_holds_all_of_it_and_a_half_is_not_followed() -> None:
    assert rounded(0.1, DOUBLE) == 0.1
    assert rounded(0.1, HALF) is None
