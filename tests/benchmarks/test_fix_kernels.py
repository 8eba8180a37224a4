"""Copies of a small grid write to places of their own when the fixes of kernels are timed."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

KERNEL = """template <int N>
__global__ void k(const float *in, float *out, int n, T *__restrict__ o) {
    out[0] = 1;
}
"""


@pytest.fixture(scope="module")
def kernels(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("fixes/kernels")


def test_what_a_kernel_may_write_is_moved_on_in_each_copy(kernels: ModuleType) -> None:
    edited = kernels.apart("void k(int);\n" + KERNEL, "k")
    assert "{ out += blockIdx.z * (" in edited and "o += blockIdx.z" in edited and "in +=" not in edited
    assert edited.count("\n") == KERNEL.count("\n") + 1  # the profile's lines stay


def test_a_kernel_that_uses_the_third_dimension_is_left_alone(kernels: ModuleType) -> None:
    text = KERNEL.replace("out[0]", "out[blockIdx.z]")
    assert kernels.apart(text, "k") == text and kernels.apart(KERNEL, "other") == KERNEL


def test_pointers_to_what_is_const_or_has_no_size_are_not_written(kernels: ModuleType) -> None:
    first = ["float", "*", "a", ",", "const", "int", "*", "b", ","]
    taken = [*first, "void", "*", "c", ",", "float", "*", "*", "d"]
    assert kernels.written(taken) == ["a"]
