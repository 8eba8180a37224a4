"""Copies of a small grid write to places of their own when the fixes of kernels are timed."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "fixes"))

from kernels import apart, written

KERNEL = """template <int N>
__global__ void k(const float *in, float *out, int n, T *__restrict__ o) {
    out[0] = 1;
}
"""


def test_what_a_kernel_may_write_is_moved_on_in_each_copy() -> None:
    edited = apart("void k(int);\n" + KERNEL, "k")
    assert "{ out += blockIdx.z * (" in edited and "o += blockIdx.z" in edited and "in +=" not in edited
    assert edited.count("\n") == KERNEL.count("\n") + 1  # the profile's lines stay


def test_a_kernel_that_uses_the_third_dimension_is_left_alone() -> None:
    text = KERNEL.replace("out[0]", "out[blockIdx.z]")
    assert apart(text, "k") == text and apart(KERNEL, "other") == KERNEL


def test_pointers_to_what_is_const_or_has_no_size_are_not_written() -> None:
    first = ["float", "*", "a", ",", "const", "int", "*", "b", ","]
    taken = [*first, "void", "*", "c", ",", "float", "*", "*", "d"]
    assert written(taken) == ["a"]
