"""Loads of 64-bit integers of which one half is used run as 4 bytes a lane.

The widths are those of the machine code of nvcc 13.0 for sm_90, -O3: LDS from byte 4 or 0 of the element
where one half is used, LDS.64 where both are.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import KernelTrace, evaluate
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


ITEMS = """
struct Item { unsigned long long key; unsigned val, pad; };
__global__ void items(const Item *in, unsigned *o)
{
    __shared__ Item s[256];
    const int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    Item p = s[255 - t];
    CODE
}
"""


def widths(code: str) -> list[tuple[int, int]]:
    """(bytes a lane, byte in the element) of each load."""
    (module,) = load(source_from_bytes("k.cu", KERNEL.replace("CODE", code).encode()))
    (kernel,) = module.kernels()
    return loads_of(evaluate(module, kernel, Launch((64, 1, 1))), 8)


def loads_of(trace: KernelTrace, size: int) -> list[tuple[int, int]]:
    """(bytes a lane, byte in the element) of each load from an array of elements of that size."""
    loads = [t for t in trace.traces if t.site.op == "load" and len(t.offsets)]
    return sorted({(t.joined or t.site.width, int(at) % size) for t in loads for at in t.offsets.ravel()})


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
        ("unsigned long long v = s[t] << 63; o[t] = v >> 40;", (4, 0)),
        ("unsigned long long v = s[t]; v = v << 31; o[t] = v >> 40;", (8, 0)),
    ],
)
def test_a_half_that_is_used_alone_is_loaded_alone(code: str, told: tuple[int, int]) -> None:
    assert widths(code) == [told]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("unsigned x = 0; if (p.key & 1) x = p.val; o[t] = x;", [(4, 0), (4, 8)]),
        ("o[t] = (unsigned)(p.key >> 32) + p.val;", [(4, 4), (4, 8)]),
        ("o[t] = (unsigned)p.key * p.val + (unsigned)(p.key >> 40);", [(4, 8), (8, 0)]),
    ],
)
def test_so_is_a_half_of_a_member_of_a_copied_record(code: str, told: list[tuple[int, int]]) -> None:
    (module,) = load(source_from_bytes("k.cu", ITEMS.replace("CODE", code).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((64, 1, 1)))
    assert loads_of(trace, 16) == told
