"""Loops around a loop that goes round another number of times in each of their iterations."""

from __future__ import annotations

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes


def test_a_triangle_that_only_its_size_matters_of_may_be_left_in_its_midst() -> None:
    """Nothing depends on the loops, which take too many steps to be run for their size."""
    text = """__global__ void k() {
        __shared__ float t[256];
        for (int i = 16; i > 1; i >>= 1)
            for (int j = 0; j < min(i, 3); j++)
                for (int a = 1; a < 4; a++)
                    for (int b = threadIdx.x % (a + 1); b < a && b < 6; b++) {}
        t[threadIdx.x * 2] = 1;
    }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    result = evaluate(module, module.kernels()[0], Launch((32, 1, 1)), as_written=True)
    (trace,) = result.traces
    assert not result.notes and trace.grade is Grade.EXACT
    assert trace.offsets.tolist() == [[8 * lane for lane in range(32)]]


def test_one_loop_may_gain_the_rounds_that_another_loses() -> None:
    """As many in each iteration together; nvcc 13 (sm_90) loads each element by itself."""
    text = """__global__ void k(float *out, const float *in) {
        __shared__ float s[1024];
        int t = threadIdx.x;
        float v = 0;
        for (int i = 0; i < 8; i++) {
            for (int j = 0; j < i; j++) v += s[33 * t + j] * in[i];
            for (int j = i; j < 7; j++) v *= s[t + 64 * j] + i;
        }
        out[t] = v;
    }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    result = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert not result.notes
    told = [(t.site.line, t.joined, t.grade, int(t.weights.sum())) for t in result.traces]
    assert told == [(6, None, Grade.EXACT, 28), (7, None, Grade.EXACT, 28)]
