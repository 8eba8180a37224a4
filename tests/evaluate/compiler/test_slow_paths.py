"""Divisions that nvcc turns into branches or calls."""

from __future__ import annotations

import pytest
from costs import scored

from smemlint.evaluate import Grade


@pytest.mark.parametrize("by", ["(threadIdx.x + 1.0f)", "4.0f", "(threadIdx.x / 32 * 2.0f + 2.0f)", "3.0f"])
def test_a_division_by_what_differs_from_lane_to_lane_is_one(by: str) -> None:
    (conflict,) = scored(f"float f = in[0] / {by}; s[threadIdx.x * 2] = f;", shared="float s[64]")
    assert (conflict.grade, conflict.ways) == (Grade.EXACT, 2)
