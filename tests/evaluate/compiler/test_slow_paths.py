"""What nvcc turns into branches, calls or assembler, and what does not join across it."""

from __future__ import annotations

import pytest
from costs import scored

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes


@pytest.mark.parametrize("by", ["(threadIdx.x + 1.0f)", "4.0f", "(threadIdx.x / 32 * 2.0f + 2.0f)", "3.0f"])
def test_a_division_by_what_differs_from_lane_to_lane_is_one(by: str) -> None:
    (conflict,) = scored(f"float f = in[0] / {by}; s[threadIdx.x * 2] = f;", shared="float s[64]")
    assert (conflict.grade, conflict.ways) == (Grade.EXACT, 2)


QUANTISE = (
    '__device__ int q(float x) { int d; asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(d) : "f"(x)); return d; }'
)
ACROSS = {
    "a division alone: the optimiser joins": ("out[t] = {0} / m; out[t + n] = {1} / m;", 1),
    "assembler alone: machine code joins": ("out[t] = q({0} * m); out[t + n] = q({1} * m);", 1),
    "both": ("out[t] = q({0} / m); out[t + n] = q({1} / m);", 2),
    "a cached load and a division": ("out[t] = {0} / __ldg(in + t); out[t + n] = {1} / m;", 2),
    "a conversion to half and a division": (
        "h[t] = __float2half({0} / m); h[t + n] = __float2half({1} / m);",
        2,
    ),
    "a shuffle and a division": ("out[t] = __shfl_xor_sync(~0u, {0}, 1) / m; out[t + n] = {1} / m;", 2),
    "a vote and a division": ("out[t] = {0} / m + __ballot_sync(~0u, m > 0); out[t + n] = {1} / m;", 2),
    "a global atomic and a division": ("out[t] = {0} / m; atomicAdd(out + n, m); out[t + n] = {1} / m;", 2),
    "a function that needs no call": ("out[t] = rintf({0}) * m; out[t + n] = __float2int_rn({1});", 1),
    "assembler and a store elsewhere": ("out[t] = q({0}); other[t] = m; out[t + n] = {1};", 2),
}


@pytest.mark.parametrize(("body", "loads"), ACROSS.values(), ids=ACROSS)
def test_loads_join_where_one_part_of_the_compiler_looks_through_all_between(body: str, loads: int) -> None:
    """As nvcc 13.0 compiles it for sm_90: LDS.64, or two LDS."""
    text = (
        f"{QUANTISE}\n"
        "__global__ void k(const float *in, float *out, half *h, float m, int n) {\n"
        "__shared__ __align__(16) float s[1024]; __shared__ float other[32]; int t = threadIdx.x;\n"
        f"{body.format('s[4 * t]', 's[4 * t + 1]')}\n}}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert sum(c.ideal > 0 for c in found if c.site.op == "load") == loads


@pytest.mark.parametrize(
    ("between", "stores"),
    [("out[t] = m / n;", 1), ("out[t] = q(m);", 1), ("out[t] = q(m / n);", 2), ("out[t] = q(other[t]);", 2)],
)
def test_stores_join_likewise(between: str, stores: int) -> None:
    text = (
        f"{QUANTISE}\n"
        "__global__ void k(float *out, float m, int n) {\n"
        "__shared__ __align__(16) float s[1024]; __shared__ float other[32]; int t = threadIdx.x;\n"
        f"s[4 * t] = m; {between} s[4 * t + 1] = 2 * m;\n}}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert sum(c.ideal > 0 for c in found if c.site.op == "store") == stores


@pytest.mark.parametrize(
    ("by", "stores"), [("8", 1), ("32u", 1), ("8.0f", 1), ("-8u", 1), ("9", 2), ("n", 2), ("blockDim.x", 2)]
)
def test_a_quotient_by_a_power_of_two_is_a_product(by: str, stores: int) -> None:
    """nvcc 13.0, of the mean and what is made of it: STS.64, or two STS with a slow path between."""
    body = f"int t = threadIdx.x; s[2 * t] = in[t]; s[2 * t + 1] = in[t + 32] / {by};"
    found = scored(body, shared="float s[64]", block=(32, 1, 1))
    assert sum(c.ideal > 0 for c in found if c.site.op == "store") == stores
