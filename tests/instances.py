"""Launches of a kernel template with its arguments as text."""

from __future__ import annotations

from smemlint.frontend import load
from smemlint.ir import RecordRef, Scalar
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

KERNEL = """
#include <cstdint>
template <typename T> __global__ void sum(const T *in, T *out, int n) {
    __shared__ T part[256];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x ^ 1];
}
"""


def launches(text: str) -> set[tuple[object, ...]]:
    """(block x, template arguments as text ..., or '?' behind it when assumed) of the last kernel."""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    kernel = module.kernels()[-1]
    return {
        (x.block[0], *(spelled(v) for v in x.template.values()), *(["?"] if x.assumed else []))
        for x in infer(kernel, module, started_kernels(module))
    }


def spelled(value: object) -> object:
    if isinstance(value, RecordRef):
        return f"{value.name}<{', '.join(str(getattr(a, 'value', a)) for a in value.arguments)}>"
    return value.name if isinstance(value, Scalar) else value
