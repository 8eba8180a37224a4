"""Accesses that are the same in all iterations run once. Truth: the machine code of nvcc 13.0 (sm_90), for
each of these loops: whether the load of `s[t * 33]`, or its store, stands in the loop."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

KERNEL = """
__global__ void k(const float *in, float *O, int n, int m) {
    __shared__ float s[2112], v[2112];
    __shared__ int h[64];
    int t = threadIdx.x;
    s[t] = in[t]; v[t] = in[t]; h[t] = 0;
    __syncthreads();
    float x = 0;
    %s
    __syncthreads();
    O[t] = x + v[t] + h[t] + s[t];
}
"""


def runs(loop: str, array: str = "s") -> dict[str, int]:
    """How often one warp runs the loads and the stores of an array in a loop, for n = 100."""
    (module,) = load(source_from_bytes("k.cu", (KERNEL % loop).encode()))
    (kernel,) = module.kernels()
    found: dict[str, int] = {}
    for t in evaluate(module, kernel, Launch((32, 1, 1), arguments={"n": 100, "m": 100})).traces:
        if 9 <= t.site.place.line <= 10 and t.site.array.startswith(f"{array}@") and t.weights.any():
            found[t.site.op] = found.get(t.site.op, 0) + int(t.weights.sum())
    return found


MOVES = {
    "no store in the loop": "for (int d = 0; d < 512; ++d) { x += s[t * 33] * in[d]; O[d] = x; }",
    "of unknown length": "for (int d = 0; d < n; ++d) { x += s[t * 33] * in[d]; O[d] = x; }",
    "a store into another array": "for (int d = 0; d < n; ++d) { x += s[t * 33] * in[d]; v[t + d] = x; }",
    "an atomic on another array": "for (int d = 0; d < n; ++d) { x += s[t * 33]; atomicAdd(&h[d & 63], 1); }",
    "an atomic on global memory": "for (int d = 0; d < n; ++d) { x += s[t * 33]; atomicAdd(O + d, x); }",
    "under a condition around the loop": "if (t < 20) for (int d = 0; d < n; ++d) x += s[t * 33] * in[d];",
    "out of both loops": "for (int d = 0; d < n; ++d) for (int k = 0; k < m; ++k) x += s[t * 33] * in[k];",
    "while": "int d = 0; while (in[d] > x) { x += s[t * 33]; d += 1; }",
}
STAYS = {
    "a barrier": "for (int d = 0; d < 512; ++d) { x += s[t * 33] * in[d]; __syncthreads(); }",
    "a shuffle": "for (int d = 0; d < n; ++d) { x += s[t * 33]; x = __shfl_xor_sync(~0u, x, 1); }",
    "assembler": 'for (int d = 0; d < n; ++d) { x += s[t * 33]; asm volatile("mov.f32 %0, %0;" : "+f"(x)); }',
    "a barrier of the warp": "for (int d = 0; d < 512; ++d) { x += s[t * 33] * in[d]; __syncwarp(); }",
    "a store into the same array": "for (int d = 0; d < 512; ++d) { x += s[t * 33]; s[t + d] = x; }",
    "a volatile load": "volatile float* w = s; for (int d = 0; d < 512; ++d) x += w[t * 33] * in[d];",
    "a break before it": "for (int d = 0; d < 512; ++d) { if (in[d] > 4) break; x += s[t * 33]; }",
    "a condition of data": "for (int d = 0; d < 512; ++d) if (in[d] > 0) { x += s[t * 33]; O[d] = x; }",
    "another address each time": "for (int d = 0; d < 512; ++d) x += s[t * 33 + d] * in[d];",
}


@pytest.mark.parametrize("loop", MOVES.values(), ids=MOVES)
def test_a_load_moves_before_the_loop(loop: str) -> None:
    assert runs(loop)["load"] == 1


@pytest.mark.parametrize("loop", STAYS.values(), ids=STAYS)
def test_a_load_stays_in_the_loop(loop: str) -> None:
    assert runs(loop)["load"] > 1


def test_it_leaves_the_loop_in_which_it_stays_the_same() -> None:
    loop = """for (int d = 0; d < 9; ++d) {
        for (int k = 0; k < n; ++k) { x += s[t * 33 + d] * in[k]; O[d] = x; } __syncthreads(); }"""
    assert runs(loop)["load"] == 9


def test_any_number_of_loads_moves() -> None:
    loop = """for (int d = 0; d < 200; ++d) {
        for (int k = 0; k < 32; ++k) x += s[t * 33 + k] * v[k * 64 + d]; O[d] = x; }"""
    assert runs(loop)["load"] == 32
    assert runs(loop, "v")["load"] == 32 * 200


@pytest.mark.parametrize(
    "body",
    [
        "s[t * 33] += in[d];",
        "s[t * 33] += in[d]; O[d] = x;",
        "s[t * 33] = fmaxf(s[t * 33], in[d]);",
        "s[t * 33] += v[d];",
        "s[t * 33] += in[d]; atomicAdd(O, in[d]);",
    ],
)
def test_what_is_added_up_in_one_place_is_stored_once_behind_the_loop(body: str) -> None:
    assert runs(f"for (int d = 0; d < n; ++d) {{ {body} }}") == {"load": 1, "store": 1}


def test_two_sums_whose_distance_is_known_are_two_stores() -> None:
    body = "s[t * 33] += in[d]; s[t * 33 + 1] += in[d + 1];"
    assert runs(f"for (int d = 0; d < n; ++d) {{ {body} }}") == {"load": 2, "store": 2}


def test_a_sum_under_a_condition_of_data_is_stored_each_time() -> None:
    assert runs("for (int d = 0; d < n; ++d) { if (in[d] > 0) s[t * 33] += in[d]; }")["store"] > 1


def test_a_loop_that_runs_once_does_not_tell_what_other_rounds_would_do() -> None:
    """nvcc keeps both stores in the loop: the guard against a size need not hold."""
    body = "for (int q = t; q < 32; q += 32) { v[2 * q] = 0; if (q < n) v[2 * q] = in[q]; }"
    assert runs(body, "v") == {"store": 2}


COUNTS = """
__global__ void k(const int *g, int *out, int n, int ranks) {
    __shared__ int count[256][8];
    int t = threadIdx.x, first = blockIdx.x * 8, end = %s;
    for (int i = 0; i < 8; i++) count[t][i] = 0;
    for (int i = t; i < n; i += 256)
        for (int j = 0; %s; ++j)
            count[t][j] += g[i * 8 + j] > 0;
    __syncthreads();
    out[t] = count[t & 7][t >> 3];
}
"""


@pytest.mark.parametrize(
    ("end", "goes_on", "stays"),
    [
        ("min(8, ranks - first)", "j < end", True),
        ("min(first + 8, ranks)", "j + first < end", True),
        ("first + 8", "j + first < end", False),
    ],
)
def test_what_stays_in_an_inner_loop_stays_in_those_around(end: str, goes_on: str, stays: bool) -> None:
    """nvcc keeps the eight counts in registers only where it knows that the inner loop goes round 8 times:
    else both accesses are of 4 bytes, at a stride of 8 words, in both loops."""
    (module,) = load(source_from_bytes("k.cu", (COUNTS % (end, goes_on)).encode()))
    (kernel,) = module.kernels()
    traces = evaluate(module, kernel, Launch((256, 1, 1), arguments={"n": 1024})).traces
    loads = [t for t in traces if t.site.place.line == 8 and t.site.op == "load" and t.weights.any()]
    stores = [t for t in traces if t.site.place.line == 8 and t.site.op == "store" and t.weights.any()]
    assert bool(loads) is stays
    assert {t.joined for t in (*loads, *stores)} == ({None} if stays else {16})
    rounds = 4 * 8 if stays else 2  # of one warp
    assert sum(int(t.weights.sum()) for t in stores) == 8 * rounds
