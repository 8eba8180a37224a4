"""`?:`, `&&` and `||`: what a side sets, where it is not known whether it runs."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes


def cost(body: str) -> tuple[Grade, float, float]:
    """Grade and wavefronts, least and most, of the one access of s in a kernel of one warp."""
    text = (
        "__device__ bool set(int &x, int v) { x = v; return true; }\n"
        "struct Set { int v; __device__ Set(int *p) { *p = 8; v = 1; } };\n"
        "__global__ void k(int *in, int n) {\n"
        f"__shared__ int s[4096]; int t = threadIdx.x, x = 1;\n{body}\ns[t * x] = n; }}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return conflict.grade, conflict.wavefronts_low, conflict.wavefronts


@pytest.mark.parametrize(
    "body",
    [
        "bool b = in[0] > 3 && set(x, 8);",
        "bool b = in[0] > 3 || set(x, 8);",
        "bool b = n > 3 && (x = 8);",
        "int y = in[0] > 3 ? (x = 8) : 0;",
        "int y = in[0] > 3 ? 0 : (x = 8);",
        "int y = in[0] > 3 ? set(x, 8) : set(x, 1);",
        "int y = in[0] > 3 ? Set(&x).v : 0;",
    ],
)
def test_a_side_that_may_run_may_have_set(body: str) -> None:
    assert cost(body) == (Grade.BOUND, 1, 8)


@pytest.mark.parametrize(
    ("body", "wavefronts"),
    [
        ("bool b = in[0] > 3 && set(x, 1);", 1),
        ("int y = in[0] > 3 ? (x = 8) : (x = 8);", 8),
        ("bool b = t >= 0 && set(x, 8);", 8),
        ("bool b = (in[0] > 3 && set(x, 4)) | set(x, 2);", 2),
    ],
)
def test_a_side_that_leaves_the_same_is_exact(body: str, wavefronts: int) -> None:
    assert cost(body) == (Grade.EXACT, wavefronts, wavefronts)


def test_unknown_code_may_set_a_number_that_it_is_given_the_address_of() -> None:
    grade, _, _ = cost("frexpf(in[0], &x);")
    assert grade is not Grade.EXACT


def test_a_pointer_to_one_array_or_another_costs_what_either_of_them_does() -> None:
    text = """\
__global__ void k(int *in) {
    __shared__ int a[1024], b[1024];
    int *p = in[0] ? a + threadIdx.x * 32 : b + threadIdx.x;
    *p = 1;
}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert (conflict.ways_low, conflict.ways) == (1, 32)


def test_a_run_time_number_beside_another_condition_leaves_a_pointer_open() -> None:
    text = """\
__global__ void k(int n) {
    __shared__ int a[1024], b[1024];
    int *p = (threadIdx.x >= 3 && n > 4) ? a + 32 : b;
    p[0] = 1;
}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert all(t.grade is not Grade.ASSUMED and not t.assumptions for t in traces)


@pytest.mark.parametrize("other", ["threadIdx.y", "3u", "(n, 1u)"])
def test_the_operand_that_is_not_taken_has_a_say_in_the_type(other: str) -> None:
    """(unsigned)-32 / 3 is even, -32 / 3 is -10."""
    assert (2**32 - 32) // 3 % 4 == 2
    grade, low, high = cost(f"int u = -32; x = (u == -32 ? u : {other}) / 3 == 1431655754u ? 4 : 1;")
    assert (grade, low, high) == (Grade.EXACT, 4, 4)
