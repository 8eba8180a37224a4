"""Functions that edits of one file bring are put together where they say the same."""

from __future__ import annotations

import pytest

from smemlint.fix.edits.shared_helpers import with_shared_helpers


def helper(array: str, formula: str = "i ^ ((i >> 5) & 31)", end: str = "\n") -> str:
    told = f"// Index of {array}, swizzled to spread the lanes over the banks; its own inverse.{end}"
    head = f"__device__ __forceinline__ int swizzle_{array}(int i)"
    return f"{told}{head} {{ return {formula}; }}{end}{end}"


def shared(after: str, before: str = "") -> str:
    return with_shared_helpers("a.cu", before.encode("latin-1"), after.encode("latin-1")).decode("latin-1")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_function_that_says_the_same_is_left_out_and_the_first_names_both_arrays(end: str) -> None:
    first, second = helper("a", end=end), helper("b", end=end)
    after = f"{first}void k() {{ a[swizzle_a(1)]; }}{end}{second}b[swizzle_b(2)]; \xe9"
    found = shared(after)
    assert found.count("__forceinline__") == 1 and "// Index of a, b, swizzled" in found
    assert "b[swizzle_a(2)]; \xe9" in found and "swizzle_b" not in found


@pytest.mark.parametrize(
    "between",
    ["#if X\n{}#else\n", "namespace n {{\n{}}}\n", "#ifdef Y\n{}#endif\n"],
    ids=["other branch", "other namespace", "end of a condition"],
)
def test_a_function_that_is_not_in_sight_serves_nobody(between: str) -> None:
    after = f"{between.format(helper('a'))}{helper('b')}b[swizzle_b(2)];"
    assert shared(after) == after


def test_functions_that_differ_or_stood_there_before_stay() -> None:
    after = f"{helper('a')}{helper('b', 'i ^ ((i >> 4) & 31)')}b[swizzle_b(2)];"
    assert shared(after) == after
    after = f"{helper('a')}{helper('b')}b[swizzle_b(2)];"
    assert shared(after, before=after) == after
    assert shared(after, before=helper("a")).count("__forceinline__") == 1


def test_an_index_and_a_column_that_are_computed_alike_share_a_function() -> None:
    column = (
        helper("b").replace("Index", "Column").replace("int i", "int col").replace("i ^ ((i", "col ^ ((col")
    )
    found = shared(f"{helper('a')}{column}b[1][swizzle_b(2)];")
    assert found.count("__forceinline__") == 1 and "b[1][swizzle_a(2)]" in found
