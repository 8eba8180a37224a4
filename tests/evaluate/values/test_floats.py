"""What a float holds: IEEE 754, binary32."""

import math

import numpy as np
import pytest
from costs import scored
from instructions import instructions

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


@pytest.mark.parametrize(
    ("index", "ways"),
    [
        pytest.param("(int)(5 * 0.1f) + t * 2", 2, id="a product below one"),
        pytest.param("(int)(t * 0.31f) * 32", 10, id="a product by lane"),
        pytest.param("(int)(10 * 0.1f) * 2 * t", 2, id="a product near a whole number"),
        pytest.param("(int)(t / 3.3f) * 32", 10, id="a quotient by lane"),
        pytest.param("(int)(t * 0.31) * 32", 10, id="of doubles"),
    ],
)
def test_a_rounded_number_whose_whole_part_rounding_leaves_is_cut(index: str, ways: int) -> None:
    (store,) = scored(f"int t = threadIdx.x + 1 - 1;\ns[{index}] = 1;", block=(32, 1, 1))
    assert (store.ways_low, store.ways) == (ways, ways)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("s[(int)(3 / 0.3f) * t] = 1;", id="a quotient near a whole number"),
        pytest.param("s[(int)(5 * 0.1f + 0.5f) * t] = 1;", id="a sum with it"),
        pytest.param("float f = 0.3f; for (int i = 0; i < n; i++) f *= 1.7f;\ns[(int)f * t] = 1;", id="loop"),
    ],
)
def test_a_rounded_number_is_not_known_otherwise(body: str) -> None:
    store = scored(f"int t = threadIdx.x;\n{body}", block=(32, 1, 1))[-1]
    assert store.ways_low < store.ways


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        ("for (float f = 0; f < (float)blockDim.x; f += 16.f) x += s[t*4 + (int)f/16]", {"load 4": 4}),
        ("float end = blockDim.x / 16.f; for (int k = 0; k < end; k++) x += s[t*4 + k]", {"load 4": 4}),
        ("int end = ceilf(blockDim.x / 16.f); for (int k = 0; k < end; k++) x += s[t*4 + k]", {"load 8": 2}),
        ("int d = t * 4.f; for (int k = 0; k < 4; k++) x += s[d + k]", {"load 4": 4}),
        ("int d = (int)(t * 4.f) * 4; for (int k = 0; k < 4; k++) x += s[d + k]", {"load 16": 1}),
        ("for (float f = 0; f < 4.f; f += 1.f) x += s[t*4 + (int)f]", {"load 16": 1}),
    ],
)
def test_the_compiler_knows_no_float_that_is_made_of_what_it_does_not_know(
    body: str, runs: dict[str, int]
) -> None:
    """Truth: machine code of nvcc 13.0 (sm_90): LDS, LDS.64 or LDS.128."""
    assert instructions(body) == runs
