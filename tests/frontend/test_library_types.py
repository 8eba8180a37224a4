"""Narrow floats of libraries have their sizes; what is not known has none, and no placeholder is shown."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file
from smemlint.diagnose.model import KernelReport

KERNEL = """
#include "missing.h"
template <typename T, int N> struct alignas(sizeof(T) * N) Vec { T v[N]; };
struct Derived : public other::Unknown { float x; };
template <typename T> __global__ void k(T *p) { __shared__ T s[64]; s[threadIdx.x * 2] = p[0]; }
"""


def only(type: str) -> KernelReport:
    report = analyse_file(Job("k.cu", text=f"{KERNEL}void go(void *p) {{ k<<<1, 32>>>(({type} *)p); }}\n"))
    return report.kernels[0]


@pytest.mark.parametrize(
    ("type", "size"),
    [
        ("c10::Half", 2),
        ("at::BFloat16", 2),
        ("cutlass::half_t", 2),
        ("cutlass::bfloat16_t", 2),
        ("phi::dtype::float16", 2),
        ("__nv_bfloat16", 2),
        ("nv_half", 2),
        ("nv_half2", 4),
        ("float_t", 4),
        ("std::double_t", 8),
        ("uchar", 1),
        ("uint64", 8),
        ("__nv_fp8_e4m3", 1),
        ("cutlass::float_e5m2_t", 1),
        ("c10::Float8_e4m3fn", 1),
        ("__nv_bfloat162", 4),
        ("Vec<c10::Half, 8>", 16),
        ("Vec<cutlass::float_e4m3_t, 8>", 8),
        ("c10::complex<float>", 8),
    ],
)
def test_a_library_type_has_its_size(type: str, size: int) -> None:
    assert only(type).shared[0].bytes == 64 * size


@pytest.mark.parametrize("type", ["Derived", "foo::Thing<3>"])
def test_a_type_that_nothing_declares_has_no_size_and_no_access_of_it_a_number(type: str) -> None:
    kernel = only(type)
    assert kernel.shared[0].bytes is None or kernel.launch.assumed
    assert all(a.wavefronts is None or kernel.launch.assumed for a in kernel.accesses)


@pytest.mark.parametrize("type", ["real_t", "foo::bar_t", "Vec<real_t, 2>"])
def test_an_unknown_number_is_tried_as_the_usual_ones_and_never_shown_as_a_placeholder(type: str) -> None:
    kernel = only(type)
    assert kernel.launch.assumed
    assert "_BitInt" not in str(kernel)


CHOSEN = """
#include <cuComplex.h>
#include <type_traits>
template <typename T> using complex_of = typename std::conditional<
    std::is_same<T, float>::value, FLOAT,
    typename std::conditional<std::is_same<T, double>::value, cuDoubleComplex, void>::type>::type;
template <typename T> __global__ void k(complex_of<T> *out) {
    extern __shared__ char bytes[];
    auto s = (complex_of<T> *)bytes;
    complex_of<T> zero{0, 0};
    s[threadIdx.x] = zero;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
void go(float2 *p) { k<float><<<1, 32, 1024>>>(p); }
"""


def test_a_typedef_of_the_toolkit_is_known_where_a_trait_chooses_it() -> None:
    kernel = analyse_file(Job("k.cu", text=CHOSEN.replace("FLOAT", "cuFloatComplex"))).kernels[0]
    assert [(a.op, a.width, a.wavefronts, a.grade) for a in kernel.accesses] == [
        ("store", 8, 2, "exact"),
        ("load", 8, 2, "exact"),
    ]


def test_a_type_that_nothing_declares_is_no_fault_where_a_trait_chooses_it() -> None:
    report = analyse_file(Job("k.cu", text=CHOSEN.replace("FLOAT", "unheardOf")))
    assert not report.problems
    assert all(a.wavefronts is None for k in report.kernels for a in k.accesses)


COMPLEX = """
#include <thrust/complex.h>
template <class T> __global__ void k(T *p) {
    __shared__ T s[64];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = static_cast<T>(s[threadIdx.x]) + p[64];
}
void go(thrust::complex<double> *p, thrust::complex<float> *q) { k<<<1, 32>>>(p); k<<<1, 32>>>(q); }
"""


def test_a_conversion_to_a_complex_number_of_a_library_loads_it() -> None:
    kernels = analyse_file(Job("k.cu", text=COMPLEX)).kernels
    assert [[(a.op, a.width, a.wavefronts) for a in k.accesses] for k in kernels] == [
        [("store", 16, 4), ("load", 16, 4)],
        [("store", 8, 2), ("load", 8, 2)],
    ]


VIEW = """
struct Tile {
    half *p;
    template <class V> __device__ V &vec(int i) const { return *reinterpret_cast<V *>(&p[i]); }
};
__global__ void k(float *out) {
    __shared__ __align__(16) half s[4096];
    Tile tile{s};
    ELEMENT v = tile.vec<ELEMENT>(threadIdx.x * 64);
    out[threadIdx.x] = v.x + v.y;
}
void go(float *p) { k<<<1, 32>>>(p); }
"""


@pytest.mark.parametrize(("type", "size"), [("half2", 4), ("__nv_bfloat162", 4), ("float2", 8), ("Own", 8)])
def test_the_type_that_a_call_of_a_member_template_names_is_known(type: str, size: int) -> None:
    text = "struct alignas(8) Own { float x, y; };\n" + VIEW.replace("ELEMENT", type)
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    (access,) = kernel.accesses
    # rows of 64 halves are 32 words apart: each lane of a request meets the same bank
    lanes = 32 if size == 4 else 16
    assert access.wavefronts == 32 and access.ideal == 32 // lanes


def test_what_the_program_calls_float_t_is_its_own() -> None:
    text = """namespace tiny { typedef double float_t;
__global__ void k(float_t *p) { __shared__ float_t s[64]; s[threadIdx.x * 2] = p[0]; }
void go(float_t *p) { k<<<1, 32>>>(p); } }
"""
    (access,) = analyse_file(Job("k.cu", text=text)).kernels[0].accesses
    assert (access.width, access.grade) == (8, "exact")
