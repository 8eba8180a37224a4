"""Comparisons of a lane's number with one that is known at run time."""

from __future__ import annotations

import pytest
from costs import scored, traced

from smemlint.evaluate.model import Grade

AFTER = "s[threadIdx.x * 32 & 1023] = 1;"


def test_a_single_lane_may_be_any() -> None:
    (c,) = scored("if (threadIdx.x == n) s[threadIdx.x * 32 & 1023] = 1;")
    assert (c.grade, c.ways) == (Grade.EXACT, 1)


def test_which_lane_left_is_not_known() -> None:
    """Without lanes 0 to 3 there are 28 ways; of these lanes any may be missing."""
    (c,) = scored(f"if (threadIdx.x == (n & 3)) return; {AFTER}", block=(32, 1, 1))
    assert c.grade is Grade.BOUND
    assert (c.ways_low, c.ways) == (28, 32)


def test_which_lane_an_else_leaves_out_is_not_known() -> None:
    (c,) = scored(f"if (threadIdx.x != (n & 3)) {AFTER}", block=(32, 1, 1))
    assert c.grade is Grade.BOUND
    assert (c.ways_low, c.ways) == (28, 32)


def test_the_lane_that_a_number_is_equal_in_is_not_known() -> None:
    (one,) = traced("s[(threadIdx.x == (n & 3)) + threadIdx.x * 2] = 3;", block=(32, 1, 1)).traces
    assert one.grade is not Grade.EXACT


@pytest.mark.parametrize(
    "inside",
    [
        "(unsigned)(t - n) < 16u",
        "(size_t)(t - n) < 16",
        "16u > (unsigned)(t - 2 * n)",
        "!((unsigned)(t - n) > 15)",
    ],
)
def test_a_window_of_unsigned_numbers_lies_anywhere(inside: str) -> None:
    """Sixteen lanes from n on, which ask one bank: fewer at an end of the warp, none for a large n."""
    (c,) = scored(f"int t = threadIdx.x; if ({inside}) s[t * 32 & 1023] = 1;", block=(32, 1, 1))
    assert c.grade is Grade.BOUND
    assert c.ways_low == 1 and c.ways >= 16
