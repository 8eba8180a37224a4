"""Which of several functions suits the types best, where a template leaves the call open. The strides are
those of the addresses in nvcc's machine code."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

TAGS = """
struct Row {}; struct Col {}; struct Diag : Row {}; struct Sub : Diag {};
struct FromRow { __device__ FromRow(Row) {} };
__device__ int at(int t, Col) { return t; }
__device__ int at(int t, Row) { return t * 32; }
template <class T> __device__ int by_tag(int t) { return at(t, T{}); }
__device__ int near(int t, const Row &) { return t * 32; }
__device__ int near(int t, const Diag &) { return t * 2; }
__device__ int near(int t, const Col &) { return t; }
template <class T> __device__ int by_reference(int t) { return near(t, T()); }
__device__ int there(int t, void *) { return t * 4; }
__device__ int there(int t, Col *) { return t; }
__device__ int there(int t, Row *) { return t * 32; }
template <class T> __device__ int by_pointer(int t) { T x; return there(t, &x); }
__device__ int made(int t, Col) { return t; }
__device__ int made(int t, FromRow) { return t * 8; }
template <class T> __device__ int by_conversion(int t) { return made(t, T{}); }
template <class T> __device__ int any(int t, T) { return t; }
__device__ int any(int t, Row) { return t * 32; }
template <class T> __device__ int by_template(int t) { return any(t, T{}); }
__device__ int width(long long) { return 4; }
__device__ int width(double) { return 16; }
__device__ int width(unsigned) { return 2; }
__device__ int width(int) { return 1; }
__device__ int width(const void *) { return 32; }
template <class T> __device__ int by_width(int t) { T x{}; return t * width(x); }
__device__ int decayed(int t, void *) { return t * 8; }
__device__ int decayed(int t, float *) { return t * 2; }
template <class T> __device__ int kind(T) { return 4; }
template <class T> __device__ int kind(T *) { return 2; }
template <class T> __device__ int by_kind(int t, T x) { return t * kind(x) + t * kind(&x); }
template <int N> struct Tag : Tag<N - 1> {};
template <> struct Tag<0> {};
__device__ int far(int t, Tag<0>) { return t * 32; }
template <class T> __device__ int far(T t, Tag<1>) { return t * 2; }
template <class T> __device__ int by_step(int t) { return far(t, T{}); }
template <class T> __device__ int by_array(int t) { T x[3]; return decayed(t, x); }
"""


@pytest.mark.parametrize(
    ("index", "ways"),
    [
        ("by_tag<Diag>(t)", 32),
        ("by_tag<Sub>(t)", 32),
        ("by_tag<Col>(t)", 1),
        ("by_reference<Sub>(t)", 2),  # the nearer of two bases
        ("by_reference<Row>(t)", 32),
        ("by_step<Tag<1>>(t)", 2),
        ("by_step<Tag<3>>(t)", 2),  # the nearer one, though far above, and a template
        ("by_step<Tag<5>>(t)", 2),
        ("by_pointer<Sub>(t)", 32),
        ("by_pointer<int>(t)", 4),
        ("by_conversion<Row>(t)", 8),
        ("by_template<Diag>(t)", 1),  # T is what is given, Row a base of it
        ("by_template<Row>(t)", 32),
        ("by_width<short>(t)", 1),
        ("by_width<bool>(t)", 1),
        ("by_width<unsigned char>(t)", 1),
        ("by_width<float>(t)", 16),
        ("by_width<int *>(t)", 32),
        ("by_array<float>(t)", 2),
        ("by_array<int>(t)", 8),
        ("by_kind(t, 1)", 2),
        ("by_kind(t, &t)", 4),
    ],
)
def test_the_function_is_the_one_that_suits_best(index: str, ways: int) -> None:
    body = f"__shared__ float s[1024]; int t = threadIdx.x; s[{index}] = 1; __syncthreads(); out[t] = s[t];"
    source = f"{TAGS} __global__ void k(float *out) {{ {body} }}"
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    first = score_all(evaluate(module, kernel, Launch((32, 1, 1))))[0]
    assert (first.grade, first.ways) == (Grade.EXACT, ways)
