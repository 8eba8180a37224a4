"""Launches of one kernel that is started by host code."""

from __future__ import annotations

from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

KERNEL = """
__global__ void sum(const float *in, float *out) {
    __shared__ float part[1024];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x ^ 1];
}
"""


def launches(main: str, told: tuple[str, ...] | None = None) -> list[Launch]:
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + main).encode()))
    return list(infer(module.kernels()[0], module, started_kernels(module, told)))


def blocks(main: str, told: tuple[str, ...] | None = None) -> list[int]:
    found = launches(main, told)
    assert not any(x.assumed for x in found)
    return [x.block[0] for x in found]
