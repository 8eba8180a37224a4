"""Kernels that are started by calls of the run-time library or the driver, without `<<<>>>`."""

from __future__ import annotations

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
