"""Loads of 64-bit integers of which one half is used run as 4 bytes a lane.

The widths are those of the machine code of nvcc 13.0 for sm_90, -O3: LDS from byte 4 or 0 of the element
where one half is used, LDS.64 where both are.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

KERNEL = """
__global__ void halves(unsigned *o)
{
    __shared__ unsigned long long s[1024];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    CODE
}
"""


def widths(code: str) -> list[tuple[int, int]]:
    """(bytes a lane, byte in the element) of each load."""
    (module,) = load(source_from_bytes("k.cu", KERNEL.replace("CODE", code).encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((64, 1, 1)))
    loads = [t for t in trace.traces if t.site.op == "load" and len(t.offsets)]
    return [(t.joined or t.site.width, int(t.offsets.min()) % 8) for t in loads]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("unsigned long long v = s[t]; o[t] = (unsigned)(v >> 32) + (unsigned)(v >> 40);", (4, 4)),
        ("o[t] = (unsigned)(s[t] >> 32);", (4, 4)),
        ("unsigned v = s[t]; o[t] = v;", (4, 0)),
        ("o[t] = (int)s[t];", (4, 0)),
        ("unsigned v = s[t] & 0xffff; o[t] = v;", (4, 0)),
        ("unsigned long long v = s[t]; o[t] = (unsigned)(v >> 32) + (unsigned)v;", (8, 0)),
        ("unsigned long long v = s[t]; v += 3; o[t] = (unsigned)(v >> 32);", (8, 0)),
        ("unsigned long long v = s[t]; o[t] = v >> 16;", (8, 0)),
    ],
)
def test_a_half_that_is_used_alone_is_loaded_alone(code: str, told: tuple[int, int]) -> None:
    assert widths(code) == [told]
