"""Words of CUDA and names of libraries that mean one thing, whatever a header or nobody says of them."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file
from smemlint.frontend import load
from smemlint.source import source_from_bytes

QUALIFIERS = """
#ifdef USE_CUDA
#include "cuda_things.h"
#else
#define __host__
#define __device__
#endif
"""
KERNEL = """
__device__ int first(int *index) {
    if (threadIdx.x < blockDim.x / 2) index[threadIdx.x * 2] = index[threadIdx.x];
    return index[0];
}
__global__ void k(int *out) {
    __shared__ int s[256];
    out[0] = first(s);
}
void go(int *out) { k<<<1, 128>>>(out); }
"""


def ways(text: str) -> dict[str, float | None]:
    report = analyse_file(Job("k.cu", text=text))
    return {a.expression: a.ways for k in report.kernels for a in k.accesses}


def launches(text: str) -> list[tuple[int, dict[str, str]]]:
    kernels = analyse_file(Job("k.cu", text=text)).kernels
    return [(k.launch.block[0], dict(k.template_arguments)) for k in kernels]


def test_a_header_that_makes_qualifiers_nothing_is_not_followed() -> None:
    assert ways(QUALIFIERS + KERNEL) == ways(KERNEL)
    assert ways(KERNEL)["index[threadIdx.x * 2]"] == 2


@pytest.mark.parametrize("size", ["WARP_SIZE", "lib::warp_size()", "lib::WarpSize", "LIB_WARP_SIZE"])
def test_the_size_of_a_warp_is_known_without_its_library(size: str) -> None:
    """Lanes of a warp step by 32 words: all in one bank."""
    text = "#include <lib.h>\n__global__ void k(int *out) { __shared__ int s[4096];"
    text += f" s[threadIdx.x * {size}] = out[0]; }}\nvoid go(int *out) {{ k<<<1, 128>>>(out); }}\n"
    assert list(ways(text).values()) == [32]


def test_the_systems_names_of_integers_are_known() -> None:
    text = "__global__ void k(int *out) { __shared__ u_int64_t s[256]; s[threadIdx.x * 2] = out[0]; }\n"
    assert list(ways(text + "void go(int *out) { k<<<1, 128>>>(out); }\n").values()) == [2]


@pytest.mark.parametrize("macro", ["MY_BOUNDS", "MY_BOUNDS(N)", "LIB_KERNEL_ATTRIBUTES"])
@pytest.mark.parametrize("template", ["", "template <int M> "])
def test_an_unknown_macro_between_void_and_a_kernels_name_is_a_qualifier(template: str, macro: str) -> None:
    text = f"{template}__global__ void {macro} k(float *p) {{ __shared__ float s[32]; s[threadIdx.x] = *p; }}"
    (module,) = load(source_from_bytes("/t/a.cu", f"constexpr int N = 64;\n{text}".encode()))
    assert [k.name for k in module.kernels()] == ["k"]
    assert not module.unparsed and not module.lost


DECLARED = """
{first}__device__ void put(const int *from, int *to);
void put({takes}) {{ to[threadIdx.x * 2] = from[threadIdx.x]; }}
__global__ void k(const int *in) {{ __shared__ int s[512]; put(in, s); }}
void go(const int *in) {{ k<<<1, 128>>>(in); }}
"""


@pytest.mark.parametrize("first", ["", "static ", "__host__ "])
def test_a_function_is_one_of_the_device_where_its_declaration_alone_says_so(first: str) -> None:
    """nvcc takes both for one function, clang for two."""
    text = DECLARED.format(first=first, takes="const int *from, int *to")
    assert ways(text) == {"to[threadIdx.x * 2]": 2}


def test_a_function_of_other_parameters_is_not_that_of_the_declaration() -> None:
    assert ways(DECLARED.format(first="", takes="const long *from, int *to")) == {}


RESTRICTED = """
template <class T> struct Accessor { T *p; __device__ T operator[](int i) const { return p[i]; } };
template <class T, int N> __global__ void k(const Accessor<T> __restrict__ a, float *__restrict__ out) {
    __shared__ T s[N];
    s[threadIdx.x * 2 % N] = a[threadIdx.x];
    out[threadIdx.x] = s[threadIdx.x];
}
void go(Accessor<float> a, float *out) { k<float, 256><<<1, 128>>>(a, out); }
"""


def test_a_launch_of_a_kernel_with_a_restricted_class_is_found() -> None:
    """Its instance was tried in every usual shape, with no size for the array."""
    assert launches(RESTRICTED) == [(128, {"T": "float", "N": "256"})]
    assert ways(RESTRICTED)["s[threadIdx.x * 2 % N]"] == 2
