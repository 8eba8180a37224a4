"""Arms of a condition that differ in the elements alone, and loads that are stored back: against what nvcc
13.0 makes of them for sm_90."""

from __future__ import annotations

import pytest
from instructions import instructions

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

DATA = "int d = ((const int *)in)[t]; float w = in[t + 9], u = 0, v = 0;"


@pytest.mark.parametrize("condition", ["t & 1", "d > 3"])
@pytest.mark.parametrize(
    ("then", "otherwise", "runs"),
    [
        ("v += s[2 * t];", "v += s[31 - t];", {"load 4": 1}),
        ("v = s[2 * t] * 2;", "v = s[31 - t] * 2;", {"load 4": 1}),
        ("v = fmaxf(v, s[2 * t]);", "v = fmaxf(v, s[31 - t]);", {"load 4": 1}),
        ("v = s[2 * t]; u = s[2 * t + 33];", "v = s[31 - t]; u = s[3 * t];", {"load 4": 2}),
        ("v = s[2 * t] * s[3 * t];", "v = s[31 - t] * s[5 * t];", {"load 4": 2}),
        ("out[t + n] = s[2 * t];", "out[t + n] = s[31 - t];", {"load 4": 1}),
        ("v += s[2 * t];", "if (t & 2) v += s[3 * t]; else v += s[5 * t];", {"load 4": 1}),
        ("s[2 * t + 64] = w;", "s[3 * t + 64] = w;", {"store 4": 1}),
        ("s[2 * t + 64] += w;", "s[3 * t + 64] += w;", {"load 4": 1, "store 4": 1}),
        ("v = s[2 * t] + 1;", "v = s[31 - t] + 2;", {"load 4": 2}),
        ("v += s[2 * t];", "v -= s[31 - t];", {"load 4": 2}),
    ],
)
def test_arms_that_differ_in_elements_alone_are_one(
    condition: str, then: str, otherwise: str, runs: dict[str, int]
) -> None:
    assert instructions(f"{DATA} if ({condition}) {{ {then} }} else {{ {otherwise} }} x = u * v;") == runs


def test_all_lanes_meet_in_the_load_of_both_arms() -> None:
    source = """__global__ void k(float *out) { __shared__ float s[4096]; int t = threadIdx.x; s[t] = t;
    __syncthreads(); float v = 1;
    if (t & 1) v += s[2 * t]; else v += s[31 - t]; out[t] = v; }"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    rows = [row for t in traces if t.site.op == "load" for row in t.offsets.tolist()]
    assert rows == [[8 * t if t & 1 else 4 * (31 - t) for t in range(32)]]


def test_vectors_are_loaded_in_each_arm() -> None:
    source = """__global__ void k(float *out) { __shared__ float4 s[64]; int t = threadIdx.x;
    float4 v; if (t & 1) v = s[t]; else v = s[31 - t]; out[t] = v.x + v.y + v.z + v.w; }"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert [(t.site.op, t.site.width, len(t.offsets)) for t in traces] == [("load", 16, 1)] * 2


@pytest.mark.parametrize(
    ("body", "exact"),
    [
        ("s[2 * t] = 2 * a; s[2 * t + 1] = 3 * b;", False),
        ("s[2 * t] = 2 * b; s[2 * t + 1] = 3 * a;", True),
        ("s[2 * t] = a + b; s[2 * t + 1] = a - b;", True),
        ("s[2 * t + 64] = 2 * a; s[2 * t + 65] = 3 * b;", True),
        ("x = a * b; s[2 * t] = 2 * a; s[2 * t + 1] = 3 * b;", True),
    ],
)
def test_loads_that_are_stored_back_one_by_one_may_come_apart(body: str, exact: bool) -> None:
    source = f"""__global__ void k(float *in, float *out) {{ __shared__ float s[256]; int t = threadIdx.x;
    s[t] = in[t]; __syncthreads(); float x = 0;
    float a = s[2 * t], b = s[2 * t + 1]; {body}
    __syncthreads(); out[t] = s[t] + x; }}"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    told = {t.grade for t in traces if t.site.place.line == 3 and t.joined and len(t.offsets)}
    assert told == {Grade.EXACT} if exact else told and Grade.EXACT not in told


@pytest.mark.parametrize(("declared", "exact"), [("", False), ("__align__(16)", True)])
def test_elements_of_a_local_array_that_are_stored_back_may_come_apart(declared: str, exact: bool) -> None:
    source = f"""__global__ void k(float *in, float *out) {{ __shared__ {declared} float s[256];
    int t = threadIdx.x; s[t] = in[t]; __syncthreads();
    float v[4]; for (int c = 0; c < 4; c++) v[c] = s[4 * t + c];
    for (int c = 0; c < 4; c++) s[4 * t + c] = v[c] * 2;
    __syncthreads(); out[t] = s[t]; }}"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert all(
        (t.grade is Grade.EXACT) is exact for t in traces if t.site.place.line in (3, 4) and len(t.offsets)
    )


@pytest.mark.parametrize(
    ("arms", "line"),
    [
        (("out[t] = s[a];", "out[t] = s[b];"), 6),
        (("q[a] = s[b];", "q[b] = s[a];"), 6),
        (("q[a] = w;", "q[b] = w;"), 6),
    ],
)
def test_what_both_arms_store_is_counted_on_the_line_of_the_second(arms: tuple[str, str], line: int) -> None:
    """As the line table of nvcc 13.0 for sm_90 has it."""
    source = f"""__global__ void k(float *out, const float *in, int n) {{
    __shared__ float s[1024], q[1024]; int t = threadIdx.x, a = t * 5 & 511, b = t * 3 + n & 511;
    float w = in[t + 5]; s[t] = w; q[t] = w; __syncthreads(); if (in[t] > 0) {{
    {arms[0]}
    }} else {{
    {arms[1]}
    }}
    __syncthreads(); out[t + 512] = s[t ^ 1] + q[t ^ 3]; }}"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((64, 1, 1), arguments={"n": 7}))
    run = {t.site.place.line for t in trace.traces if t.site.place.line in (4, 6) and len(t.weights)}
    assert run == {line}
