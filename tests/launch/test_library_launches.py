"""Kernels that are started by calls of the run-time library or the driver, without `<<<>>>`."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

KERNEL = """extern "C" __global__ void stencil(float *p, int n) {
    extern __shared__ float s[];
    s[threadIdx.x * n + threadIdx.y] = p[0];
}
"""


def launches(host: str) -> list[Launch]:
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + host).encode()))
    (kernel,) = module.kernels()
    found = infer(kernel, module, started_kernels(module))
    assert not any(x.assumed for x in found)
    return list(found)


def test_nodes_of_a_graph_start_what_their_parameters_say_as_they_are_made() -> None:
    told = launches("""int main() {
        float *p; int n = 2; void *args[2] = {&p, &n}; cudaGraph_t g; cudaGraphNode_t node; cudaGraphExec_t e;
        cudaKernelNodeParams kp = {};
        kp.func = (void *)stencil; kp.gridDim = dim3(3); kp.blockDim = dim3(192);
        kp.sharedMemBytes = 4096; kp.kernelParams = args; kp.extra = nullptr;
        cudaGraphAddKernelNode(&node, g, nullptr, 0, &kp);
        kp.blockDim = dim3(64, 2); n = 6;
        cudaGraphExecKernelNodeSetParams(e, node, &kp); }""")
    assert [(x.block, x.grid[0], x.dynamic, x.arguments["n"]) for x in told] == [
        ((192, 1, 1), 3, 4096, 2),
        ((64, 2, 1), 3, 4096, 6),
    ]


def test_a_kernel_that_the_driver_finds_by_name_is_started_by_numbers() -> None:
    for name in ("stencil", "_Z7stencilPfi"):
        (told,) = launches(f"""int main() {{
            CUmodule m; CUfunction f; cuModuleGetFunction(&f, m, "{name}");
            CUdeviceptr p; int n = 17, x = 16; void *args[] = {{&p, &n}};
            cuLaunchKernel(f, 4, 1, 1, x, 8, 1, x * 9 * 4, 0, args, 0); }}""")
        assert (told.block, told.grid, told.dynamic) == ((16, 8, 1), (4, 1, 1), 576)
        assert told.arguments["n"] == 17


KERNELS = """
#include "missing/launch_helper.h"
template <int B> __global__ void reduced(const float *x, float *y, int n) {
    __shared__ float s[B];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[B - 1 - threadIdx.x];
}
#define RUN(B) reduced<B><<<1, B>>>(x, y, n)
"""
NOBODY_CALLS = """
struct Op : public OpKernel {
    void Compute(OpKernelContext *c, const float *x, float *y, int n) {
        const auto &d = c->device();
        constexpr int block = 128;
        %s
    }
};
"""


@pytest.mark.parametrize(
    "call",
    [
        "CHECK_OK(LaunchKernel(reduced<block>, n / 4, block, 0, d.stream(), x, y, n));",
        "LaunchKernel(reduced<block>, c->config(n).blocks, block, n * sizeof(float), d.stream(), x, y, n);",
        "reduced<block><<<1, block>>>(x, y, n);",
        "void *a[] = {&x, &y, &n}; cudaLaunchKernel((const void *)reduced<block>, 1, block, a, 0, 0);",
        "RUN(block);",
    ],
)
def test_a_method_in_a_class_that_nobody_calls_starts_kernels(call: str) -> None:
    """Of such methods only those with `<<<` were read. A helper of a missing header takes the shape as
    numbers where the dynamic size, a stream and each argument of the kernel are there, too."""
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNELS + NOBODY_CALLS % call).encode()))
    (kernel,) = module.kernels()
    found = infer(kernel, module, started_kernels(module))
    assert [(x.threads, x.template["B"], x.assumed) for x in found] == [(128, 128, False)]


@pytest.mark.parametrize(
    "call",
    [
        "time_of(reduced<64>, 10, 64, x, y, n);",
        "time_of(reduced<64>, 10, 64, 3, 5, x, y, n);",
        "time_of(reduced<64>, 10, 64, 0, d.stream(), x, y);",
    ],
)
def test_a_function_that_is_given_a_kernel_and_numbers_alone_starts_nothing(call: str) -> None:
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNELS + NOBODY_CALLS % call).encode()))
    (kernel,) = module.kernels()
    assert all(x.assumed for x in infer(kernel, module, started_kernels(module)))
