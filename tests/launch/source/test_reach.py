"""Which kernels are evaluated at all."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.launch.source.reach import kernels_with_shared_memory
from smemlint.source import source_from_bytes

DECLARES = "__global__ void k() { __shared__ int s[32]; s[threadIdx.x] = 0; }"
PLAIN = "__global__ void k(int *p) { p[threadIdx.x] = 0; }"
CALLS = """
__device__ int deep() { extern __shared__ int s[]; return s[threadIdx.x]; }
__device__ int middle() { return deep(); }
__global__ void k(int *p) { p[threadIdx.x] = middle(); }
__global__ void other(int *p) { p[threadIdx.x] = 1; }
"""
GLOBAL = "extern __shared__ int s[];\n__global__ void k() { s[threadIdx.x] = 0; }"
METHOD = """
template <typename T> struct Shared {
    __device__ operator T *() { extern __shared__ int raw[]; return (T *)raw; }
};
__global__ void k() { int *s = Shared<int>(); s[threadIdx.x] = 0; }
"""
TEMPLATE = """
template <int N> __device__ void fill() { __shared__ int s[N]; s[threadIdx.x] = 0; }
template <int N> __global__ void k() { fill<N>(); }
void start() { k<32><<<1, 32>>>(); }
"""
ASSEMBLY = 'extern "C" __global__ void k(unsigned a) { asm volatile("st.shared.u32 [%0], 0;" ::"r"(a)); }'


def touching(text: str) -> list[str]:
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    ids = kernels_with_shared_memory(module)
    return [k.name for k in module.kernels() if k.id in ids]


@pytest.mark.parametrize("text", [DECLARES, CALLS, GLOBAL, METHOD, TEMPLATE, ASSEMBLY])
def test_a_kernel_that_reaches_shared_memory_is_evaluated(text: str) -> None:
    assert touching(text) == ["k"]


def test_a_kernel_that_does_not_is_not() -> None:
    assert touching(PLAIN) == []


def test_a_host_method_that_starts_a_kernel_brings_no_others() -> None:
    runner = "struct Runner { void go(int *p) { k<<<1, 32>>>(); other<<<1, 32>>>(p); } };"
    text = f"{DECLARES}\n__global__ void other(int *p) {{ p[threadIdx.x] = 0; }}\n{runner}"
    assert touching(text) == ["k"]
