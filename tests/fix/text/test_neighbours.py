"""The summand of an index that steps by single elements, and the loops whose variable it may be."""

from __future__ import annotations

import pytest

from smemlint.fix.text.neighbours import Low, low_of, multiples, unit_loops
from smemlint.fix.text.source import Source

KERNEL = """__global__ void k(int n) {
    __shared__ float s[64];
    for (int i = 0; i < n; i += 2)
        for (unsigned j = 0; j < 8; ++j)
            s[INDEX] = 0;
    for (int done = 0; done < n; done++) { }
}
"""


def low(index: str, kept: int = 4) -> Low | None:
    source = Source("a.cu", KERNEL.replace("INDEX", index).encode())
    begin = source.text.index("s[", source.text.index("++j")) + 2
    return low_of(source, begin, begin + len(index), kept)


def test_loops_that_step_by_one_and_hold_the_place() -> None:
    source = Source("a.cu", KERNEL.encode())
    assert unit_loops(source, source.text.index("INDEX")) == {"j"}
    assert unit_loops(source, source.text.index("__shared__")) == frozenset()


@pytest.mark.parametrize("index", ["threadIdx.x * 8 + j", "(8 * threadIdx.x + j)", "j + 8 * threadIdx.x"])
def test_a_loop_variable_is_split_at_groups(index: str) -> None:
    found = low(index)
    assert found is not None
    assert (found.groups, found.within) == ("(j & ~3)", "(j & 3)")


def test_a_number_is_split_as_a_number() -> None:
    found = low("8 * threadIdx.x + 7")
    assert found is not None
    assert (found.groups, found.within) == ("4", "3")


def test_a_local_of_the_same_block_is_written_out() -> None:
    body = "{ int at = 8 * t + j; s[at] = 0; }"
    source = Source("a.cu", KERNEL.replace("s[INDEX] = 0;", body).encode())
    begin = source.text.index("s[at]") + 2
    found = low_of(source, begin, begin + 2, 4)
    assert found is not None
    assert (found.groups, found.within) == ("8 * t + (j & ~3)", "(j & 3)")
    moved = Source("a.cu", source.text.replace("s[at]", "at += 2; s[at]").encode())
    assert low_of(moved, begin + 9, begin + 11, 4) is None


@pytest.mark.parametrize(
    "index",
    [
        "8 * threadIdx.x - j",  # counts down
        "j + 8 * threadIdx.x + 1",  # what moves within a group does not stand together
        "8 * threadIdx.x + 4 * j",
        "8 * threadIdx.x + i",
        "8 * threadIdx.x + 4",
        "threadIdx.x ^ j",
    ],
)
def test_what_does_not_step_by_single_elements_is_left(index: str) -> None:
    assert low(index) is None


@pytest.mark.parametrize(
    ("index", "moving"),
    [
        ("8 * threadIdx.x + j + 1", "j + 1"),
        ("8 * threadIdx.x + 2 * j", "2 * j"),
        ("r + j * 2 + 1", "j * 2 + 1"),
    ],
)
def test_what_moves_within_a_group_is_split_as_one(index: str, moving: str) -> None:
    found = low(index)
    assert found is not None
    assert (found.groups, found.within) == (f"(({moving}) & ~3)", f"(({moving}) & 3)")


@pytest.mark.parametrize(
    ("index", "whole", "rest"),
    [
        ("k * N + t * 8 + j", "k * N", "t * 8 + j"),
        ("(k + 1) * N + t + 64", "(k + 1) * N + 64", "t"),
        ("t * 2 * M + k", "t * 2 * M", "k"),
        ("k * M + t", "", "k * M + t"),
        ("k * N - t", "", "k * N - t"),
        ("k * N | t", "", "k * N | t"),
        ("k * N", "k * N", ""),
    ],
)
def test_summands_that_are_whole_periods(index: str, whole: str, rest: str) -> None:
    source = Source("a.cu", f"a[{index}]".encode())
    values = {"N": 128, "M": 32, "1": 1, "2": 2, "8": 8, "64": 64}
    assert multiples(source, 2, 2 + len(index), 64, values.get) == (whole, rest)
