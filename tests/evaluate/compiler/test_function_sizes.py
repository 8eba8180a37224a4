"""Loops with functions of the mathematics library. Truth: how many loads nvcc 13.0 (sm_90) left in PTX,
and in machine code, of `for (int c = 0; c < n; ++c) x += f(s[131 * t + c])`."""

from __future__ import annotations

import pytest

from smemlint.evaluate.compiler.function_sizes import function_size, is_special
from smemlint.evaluate.compiler.unroll import straight_lines

LARGEST = [
    # function, bytes; the largest trip count that disappears, the smallest that does not
    ("exp", 4, 24, 40),
    ("log", 4, 12, 16),
    ("tanh", 4, 20, 24),
    ("erf", 4, 14, 16),
    ("log1p", 4, 10, 12),
    ("pow", 4, 3, 4),
    ("exp", 8, 8, 10),
    ("log", 8, 6, 8),
    ("tanh", 8, 6, 8),
    ("erfc", 8, 3, 4),
]


@pytest.mark.parametrize(("name", "width", "largest", "smallest"), LARGEST)
def test_a_loop_disappears_up_to_the_measured_trip_count(
    name: str, width: int, largest: int, smallest: int
) -> None:
    operations = 1 + function_size(name, width)
    gone = straight_lines(largest, 1, operations, special=True)
    assert gone.lines == (largest,)
    assert len(straight_lines(2 * smallest, 1, operations, special=True).lines) > 1


def test_machine_code_does_not_copy_loops_with_special_functions() -> None:
    assert is_special("__expf", "__exp", 4)
    assert is_special("sqrtf", "sqrt", 4)
    assert not is_special("fmaxf", "fmax", 4)
    assert straight_lines(None, 1, 1).lines == (16,)
    assert straight_lines(None, 1, 1, special=True).lines == (4,)  # of loops whose end only the run tells


def test_a_row_of_exponentials_stays_a_loop() -> None:
    # `r[c] = expf(r[c] - mx); sum += r[c]` over 32: measured 32-way loads and stores in it
    size = function_size("exp", 4)
    assert len(straight_lines(32, 3, 2 + size, special=True).lines) > 1
    assert straight_lines(32, 3, 2).lines == (32,)
