"""Loads of 16-bit integers that are widened do not join in a plain array.

The widths are those of the machine code of nvcc 13.0 for sm_90, -O3: two LDS.U16, or one LDS for both.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

KERNEL = """
__global__ void pairs(const unsigned short *in, unsigned *o, unsigned short *q)
{
    __shared__ ALIGN unsigned short s[256];
    const int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    CODE
}
"""


def widths(code: str, align: str = "") -> list[int]:
    """Bytes a lane of the loads that run, in their order."""
    text = KERNEL.replace("CODE", code).replace("ALIGN", align)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((64, 1, 1)))
    return [t.joined or t.site.width for t in trace.traces if t.site.op == "load" and len(t.offsets)]


@pytest.mark.parametrize(
    "code",
    [
        "o[t] = s[2 * t] * s[2 * t + 1];",
        "s[2 * t + 1] += s[2 * t];",
        "unsigned x = s[2 * t]; s[2 * t] = s[2 * t + 1]; s[2 * t + 1] += x;",
        "unsigned x = s[2 * t]; unsigned short y = s[2 * t + 1]; o[t] = x; q[t] = y;",
        "unsigned short x = s[2 * t], y = s[2 * t + 1]; q[2 * t] = x + 1; q[2 * t + 1] = y + 2;",
        "unsigned short x = s[2 * t], y = s[2 * t + 1], z = x; q[t] = z + y;",
        "q[t] = (unsigned short)(s[2 * t] ^ s[2 * t + 1]);",
    ],
)
def test_what_is_computed_with_is_loaded_alone(code: str) -> None:
    assert set(widths(code)) == {2}


@pytest.mark.parametrize(
    "code",
    [
        "q[2 * t] = s[2 * t]; q[2 * t + 1] = s[2 * t + 1];",
        "unsigned short x = s[2 * t], y = s[2 * t + 1]; s[2 * t] = y; s[2 * t + 1] = x;",
    ],
)
def test_copies_join(code: str) -> None:
    assert widths(code) == [4]


def test_a_declared_alignment_joins_what_is_computed_with() -> None:
    assert widths("o[t] = s[2 * t] + s[2 * t + 1];", "__align__(16)") == [4]


def test_what_is_only_compared_may_be_joined() -> None:
    """nvcc keeps 16 bits for the comparison of variables, and loads four numbers at once."""
    largest = "unsigned short r = 0; for (int c = 0; c < 4; c++)"
    largest += " { unsigned short v = s[4 * t + c]; if (v > r) r = v; }"
    text = KERNEL.replace("CODE", f"{largest} q[t] = r;").replace("ALIGN", "")
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    costs = score_all(evaluate(module, module.kernels()[0], Launch((64, 1, 1))))
    (loads,) = [c for c in costs if c.site.op == "load" and c.wavefronts]
    assert loads.wavefronts != loads.wavefronts_low


def test_halves_that_become_integers_are_stored_by_eight_bytes() -> None:
    text = """#include <cuda_fp16.h>
    __global__ void k(const half *in, float *o) { __shared__ __align__(16) short s[512]; int t = threadIdx.x;
    for (int c = 0; c < 8; c++) s[8 * t + c] = __half2short_rn(in[8 * t + c]);
    __syncthreads(); o[t] = s[t ^ 1]; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert [t.joined for t in traces if t.site.op == "store" and t.weights.any()] == [8]
