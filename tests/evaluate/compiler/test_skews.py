"""Loads behind a skew `c + (c >> 5) * 4`: joined only where nvcc sees that the shift drops what differs.

The widths are those of the machine code of nvcc 13.0 for sm_90, -O3: LDS.64 from one register for the first
three, LDS from two registers for the last two.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

KERNEL = """
__global__ void skewed(float *o, int m)
{
    __shared__ float s[1200];
    for (int i = threadIdx.x; i < 1200; i += 64) s[i] = i;
    __syncthreads();
    TYPE t = INDEX;
    TYPE x = 8 * t, y = 8 * t + 1;
    o[threadIdx.x] = s[x + (x >> 5) * 4] * s[y + (y >> 5) * 4];
}
"""


@pytest.mark.parametrize(
    ("number", "index", "joined"),
    [
        ("int", "threadIdx.x", True),
        ("int", "threadIdx.x % 16", True),
        ("unsigned", "threadIdx.x ^ m", True),
        ("int", "threadIdx.x ^ m", False),
        ("int", "threadIdx.x * m", False),
    ],
)
def test_a_skew_joins_where_the_number_is_seen_not_to_be_negative(
    number: str, index: str, joined: bool
) -> None:
    text = KERNEL.replace("TYPE", number).replace("INDEX", index)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((64, 1, 1)))
    loads = [t for t in trace.traces if t.site.op == "load"]
    assert len(loads) == 2
    assert {t.joined for t in loads} == ({8} if joined else {None})
