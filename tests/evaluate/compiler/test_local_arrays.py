"""Loops that index an array of the function: nvcc copies them much further than others.

Truth: the machine code of nvcc 13.0 (sm_90) of each kernel: how wide its loads are.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

KERNEL = """
%s
__global__ void k(const float *in, float *out, int n) {
    __shared__ float s[128 * %d];
    float best[16];
    for (int i = 0; i < 16; i++) best[i] = in[i * n + threadIdx.x];
    for (int i = 0; i < %d; i++) s[%d * threadIdx.x + i] = in[i + n];
    __syncthreads();
    float acc = 0;
    for (int m = 0; m < %d; m++) {
        float d = s[%d * threadIdx.x + m];
        %s
    }
    out[threadIdx.x] = acc;
    for (int i = 0; i < 16; i++) out[(i + 1) * n + threadIdx.x] = best[i] + acc;
}
"""
INSERT = """
__device__ void insert(float *list, int k, float value) {
    for (int i = k - 2; i >= 0; i--) {
        if (value > list[i]) {
            list[i + 1] = list[i];
        } else {
            list[i + 1] = value;
            return;
        }
    }
    list[0] = value;
}
"""
DEEPER = """
__device__ void insert(float *list, int k, float value) {
    if (value < list[k - 1]) return;
    for (int i = k - 1; i > 0; i--) {
        if (value <= list[i - 1]) { list[i] = value; return; }
        list[i] = list[i - 1];
    }
    list[0] = value;
}
__device__ void offer(float *list, float value) { insert(list, 16, value); }
"""
MANY, MORE, MOST = ("acc = acc * acc + d;" * times for times in (20, 40, 80))


def width_of(rounds: int, body: str, functions: str = "", elements: int = 16) -> int:
    """How many bytes the loads of the loop have, all alike."""
    text = KERNEL % (functions, rounds, rounds, rounds, rounds, rounds, body)
    (module,) = load(source_from_bytes("k.cu", text.replace("16", str(elements)).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((128, 1, 1), arguments={"n": 64}))
    loads = [c for c in score_all(trace) if c.site.op == "load" and c.trace.weights.any()]
    (width,) = {c.joined or c.site.width for c in loads}
    return width


@pytest.mark.parametrize(
    ("rounds", "body", "width"),
    [
        (20, f"{MORE} acc += best[m & 15] * d;", 16),
        (20, f"{MORE} best[(int)d & 15] = acc;", 16),
        (20, f"{MORE} if (d > acc) best[(int)d & 15] = m;", 16),
        (16, f"{MANY} best[m] += acc;", 16),
        (20, f"{MOST} best[(int)d & 15] += acc;", 4),
        (20, f"{MOST} acc += best[m & 15] * d;", 4),
        (20, f"{MORE} acc += d;", 8),
    ],
)
def test_a_loop_that_indexes_an_array_by_what_changes_disappears(rounds: int, body: str, width: int) -> None:
    assert width_of(rounds, body) == width


@pytest.mark.parametrize("rounds", [12, 20, 32])
@pytest.mark.parametrize("elements", [16, 20])
@pytest.mark.parametrize(
    ("functions", "call"), [(INSERT, "insert(best, 16, d);"), (DEEPER, "offer(best, d);")]
)
def test_a_loop_around_one_that_is_left_behind_a_store_disappears(
    rounds: int, elements: int, functions: str, call: str
) -> None:
    assert width_of(rounds, call, functions, elements) == 16
