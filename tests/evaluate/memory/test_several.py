"""Pointers that may lead to several arrays. Static arrays lie one behind the other, as nvcc puts them."""

from __future__ import annotations

import pytest
from costs import scored, traced

from smemlint.evaluate import Grade

TWO = "float a[1024], b[1024]"
"""4096 bytes apart: the same banks."""
APART = "float a[1040], b[1040]"
"""4160 bytes apart: 16 banks on."""

CASES = [
    pytest.param("(t < 32 ? a : b)[(t & 31) * 32] = 1;", TWO, 64, 32, id="each warp has its own array"),
    pytest.param("float *p[2] = {a, b};\np[t >> 5][(t & 31) * 32] = 1;", TWO, 64, 32, id="a table by warp"),
    pytest.param(
        "float *p; if (t < 32) p = a + t; else p = b + (t - 32) * 2;\n*p = 1;", TWO, 64, 1.5, id="if"
    ),
    pytest.param("(t < 16 ? a : b)[t & 15] = 1;", TWO, 32, 2, id="half warps meet in the same banks"),
    pytest.param("(t < 16 ? a : b)[t & 15] = 1;", APART, 32, 1, id="half warps in banks of their own"),
    pytest.param("(t < 16 ? a : b)[t] = 1;", APART, 32, 2, id="half warps in each other's banks"),
    pytest.param("float *p = in[0] > 0 ? a : b;\np[t * 32] = 1;", TWO, 32, 32, id="which one is not known"),
    pytest.param(
        "float *p = t < 4 ? a : (float *)in;\np[t * 32] = 1;", TWO, 32, 4, id="few lanes in shared memory"
    ),
    pytest.param(
        "float *p = a, *q = b; for (int i = 0; i < n; i++) {\n"
        "p[t * 32] = 1; __syncthreads(); float *x = p; p = q; q = x; }",
        TWO,
        32,
        32,
        id="buffers that are swapped",
    ),
    pytest.param(
        "float *p[2] = {a, b}; for (int i = 0; i < n; i++) {\np[i & 1][t * 32] = 1; __syncthreads(); }",
        TWO,
        32,
        32,
        id="buffers by parity",
    ),
    pytest.param(
        "struct R { float *of[2]; int at; } r; r.of[0] = a; r.of[1] = b; r.at = 0;\n"
        "for (int i = 0; i < n; i++) { r.at ^= 1;\nr.of[r.at][t * 32] = 1; __syncthreads(); }",
        TWO,
        32,
        32,
        id="a ring in a struct",
    ),
    pytest.param(
        "float *of[3] = {a, b, c}; float *p = of[0];\n"
        "for (int i = 0; i < n; i++) {\np[t * 2] = 1; __syncthreads(); p = p == a ? b : c; }",
        "float a[1024], b[1024], c[1024]",
        32,
        2,
        id="three buffers in turn",
    ),
]


@pytest.mark.parametrize(("body", "shared", "threads", "ways"), CASES)
def test_a_request_is_scored_on_the_arrays_that_its_lanes_go_to(
    body: str, shared: str, threads: int, ways: float
) -> None:
    found = scored(f"int t = threadIdx.x;\n{body}", shared=shared, block=(threads, 1, 1))
    stores = [c for c in found if c.site.op == "store"]
    low = sum(c.wavefronts_low or 0 for c in stores)
    most, ideal = sum(c.wavefronts or 0 for c in stores), sum(c.ideal or 0 for c in stores)
    assert (low / ideal, most / ideal) == (ways, ways)


def test_a_pointer_that_is_chosen_with_other_steps_costs_between_both() -> None:
    (store,) = scored("float *p = in[0] > 0 ? a + threadIdx.x * 32 : b + threadIdx.x; *p = 1;", shared=TWO)
    assert (store.ways_low, store.ways, store.grade) == (1, 32, Grade.BOUND)


def test_lanes_that_data_sends_to_either_array_cost_at_most_what_both_do_together() -> None:
    (store,) = scored("(in[threadIdx.x] > 0 ? a : b)[threadIdx.x] = 1;", shared=TWO)
    assert (store.ways_low, store.ways, store.grade) == (1, 2, Grade.BOUND)


def test_pointers_that_wait_in_shared_memory_are_counted_when_they_are_used() -> None:
    body = "kept[0] = a; kept[1] = b; __syncthreads();\nkept[threadIdx.x / 32][threadIdx.x * 16] = 1;"
    last = scored(body, shared="float a[1024], b[1024], *kept[2]")[-1]
    assert (last.site.op, last.ways_low, last.grade) == ("store", 1, Grade.BOUND)
    assert last.ways is not None and last.ways >= 16


NULLS = [
    pytest.param("float *p = n > 4 ? a : nullptr; if (p) p[t * 4] = 1;", (4, 4), id="an array, or null"),
    pytest.param("float *p = n > 4 ? a : nullptr; if (!p) b[t * 4] = 1;", (4, 4), id="where it is null"),
    pytest.param("float *p = 0; if (n > 4) p = a; b[t * (p ? 1 : 8)] = 1;", (1, 8), id="a number by it"),
    pytest.param("bool p = n > 4 ? a : nullptr; b[t * (p ? 1 : 8)] = 1;", (1, 8), id="as a truth value"),
    pytest.param("const float *p = n > 4 ? in : 0; b[t * (p ? 1 : 8)] = 1;", (1, 8), id="in global memory"),
    pytest.param(
        "const float *p = t < 16 ? in : 0; b[p ? t : t * 8] = 1;", (5, 5), id="in global memory, by lane"
    ),
    pytest.param("float *p = n > 4 ? a : b; b[t * (p == a ? 1 : 8)] = 1;", (1, 8), id="one of two arrays"),
    pytest.param("float *p = t < 16 ? a : b; b[p == a ? t : t * 8] = 1;", (5, 5), id="an array by lane"),
    pytest.param("int x = 2, *p = n > 4 ? &x : 0; if (p) b[t * *p] = 1;", (2, 2), id="a local, or null"),
]


@pytest.mark.parametrize(("body", "ways"), NULLS)
def test_a_pointer_is_null_where_it_was_set_so(body: str, ways: tuple[float, float]) -> None:
    (store,) = scored(f"int t = threadIdx.x; {body}", shared=TWO, block=(32, 1, 1))
    assert (store.ways_low, store.ways) == ways
    assert (store.grade is Grade.EXACT) == (ways[0] == ways[1])


def test_what_stands_behind_the_test_for_null_may_run_in_all_lanes() -> None:
    body = "int t = threadIdx.x; float *p = nullptr; if (n > 4 && t > 3) p = a; if (!p) b[t * 4] = 1;"
    result = traced(body, shared=TWO, block=(32, 1, 1))
    (trace,) = result.traces
    assert (trace.offsets >= 0).all()
    assert trace.grade is not Grade.EXACT


@pytest.mark.parametrize(
    "pointer",
    ["(float *)((size_t)a / 48 * 16)", "(float *)((size_t)a >> 4 << 4)", "in[0] > 0 ? a : (float *)h(n)"],
)
def test_a_pointer_that_is_lost_leaves_an_access(pointer: str) -> None:
    found = scored(f"float *p = {pointer};\n*p = 1;", shared=TWO)
    assert [c.site.op for c in found] == ["store"]
    assert found[0].grade is not Grade.EXACT


def test_an_address_that_is_rounded_by_a_division_is_followed() -> None:
    up = "((size_t)(a + 5 + 16 * threadIdx.x) + 15) / 16 * 16"
    (store,) = scored(f"float *p = (float *)({up});\n*p = 1;", shared=TWO)
    assert (store.ways, store.grade) == (16, Grade.EXACT)


def test_arrays_that_a_pointer_may_lead_to_are_not_edited() -> None:
    result = traced("(threadIdx.x < 32 ? a : b)[(threadIdx.x & 31) * 32] = 1;", shared=TWO)
    assert all(array.escapes for array in result.arrays.values())


def test_a_local_is_read_and_written_through_a_pointer_to_one_of_two() -> None:
    body = (
        "int x = 1, y = 2; int *p = threadIdx.x < 32 ? &x : &y; *p = 32 + *p; s[threadIdx.x * x & 1023] = y;"
    )
    (store,) = scored(body)
    # lanes of the first warp step by 33, those of the second by 1
    assert store.ways == 1


def test_lanes_of_one_warp_change_the_local_that_each_points_to() -> None:
    body = "int x = 1, y = 1; int *p = threadIdx.x < 16 ? &x : &y; *p = 32; s[threadIdx.x * x & 1023] = 1;"
    (store,) = scored(body, block=(32, 1, 1))
    # 0, 32, ... 480 for half of the lanes, 16 to 31 for the others: 16 words in bank 0
    assert store.ways == 16
