"""How wide loads of half and bfloat16 run, and stores beside them.

The widths are those of the machine code of nvcc 13.0 for sm_90, -O3. Every operator and conversion of these
types is inline PTX, which the optimiser does not join across.
"""

from __future__ import annotations

from collections import Counter

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

KERNEL = """
#include <cuda_fp16.h>
__global__ void k(const half *in, half *out, half2 *pairs, float *o)
{
    __shared__ ALIGN half s[1024];
    __shared__ half q[1024];
    const int t = threadIdx.x;
    float w = 0;
    half r = in[9];
    s[t + 1] = in[t];
    __syncthreads();
    CODE
    o[t] = w;
    out[t] = r;
}
"""


def widths(code: str, op: str = "load", align: str = "") -> Counter[int]:
    """How many accesses of how many bytes a lane one warp runs."""
    text = KERNEL.replace("CODE", code).replace("ALIGN", align)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found: Counter[int] = Counter()
    for t in trace.traces:
        if t.site.op == op and len(t.offsets):
            found[t.joined or t.site.width] += int(t.weights.sum())
    return found


@pytest.mark.parametrize(
    ("code", "plain", "aligned"),
    [
        ("for (int c = 0; c < 8; c++) out[t * 8 + c] = s[t * 8 + c];", {8: 2}, {16: 1}),
        ("for (int c = 0; c < 8; c++) w += (float)s[t * 8 + c];", {8: 2}, {8: 2}),
        ("for (int c = 0; c < 8; c++) w += __half2float(s[t * 8 + c]);", {8: 2}, {8: 2}),
        ("for (int c = 0; c < 8; c++) r = __hadd(r, s[t * 8 + c]);", {8: 2}, {8: 2}),
        ("for (int c = 0; c < 8; c++) r = r + s[t * 8 + c];", {8: 2}, {8: 2}),
        ("for (int c = 0; c < 8; c++) if (s[t * 8 + c] > r) w += 1;", {8: 2}, {8: 2}),
    ],
)
def test_halves_join_to_eight_bytes_and_copies_of_declared_alignment_to_sixteen(
    code: str, plain: dict[int, int], aligned: dict[int, int]
) -> None:
    assert widths(code) == Counter(plain)
    assert widths(code, align="__align__(16)") == Counter(aligned)


def test_loads_that_move_up_leave_stores_together() -> None:
    # The loads of the aligned array are joined early, so that nothing stands between the stores.
    copy = "for (int c = 0; c < 4; c++) q[t * 4 + c] = s[t * 4 + c]; __syncthreads(); out[t + 64] = q[t ^ 1];"
    assert widths(copy, "store", "__align__(16)") == Counter({2: 1, 8: 1})
    assert widths(copy, "store") == Counter({2: 5})
