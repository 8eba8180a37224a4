"""Types that traits of the standard library and of PyTorch tell of a template argument."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file
from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch, PointerTo, Type
from smemlint.ir.types import BFLOAT16, DOUBLE, FLOAT, HALF, INT
from smemlint.source import source_from_bytes

SOURCE = """
#include <type_traits>
#include <ATen/OpMathType.h>
#include <ATen/AccumulateType.h>
template <class T> __global__ void k(const TYPE *in, TYPE *out) {
    __shared__ TYPE s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}
"""


@pytest.mark.parametrize(
    ("trait", "given", "width"),
    [
        ("at::opmath_type<T>", FLOAT, 4),
        ("at::opmath_type<T>", DOUBLE, 8),
        ("at::opmath_type<T>", HALF, 4),
        ("at::opmath_type<T>", BFLOAT16, 4),
        ("typename at::OpMathType<T>::type", HALF, 4),
        ("at::acc_type<T, true>", FLOAT, 4),
        ("at::acc_type<T, true>", HALF, 4),
        ("at::acc_type<T, false>", FLOAT, 8),
        ("at::acc_type<T, true>", INT, 8),
        ("std::remove_pointer_t<T>", PointerTo(DOUBLE), 8),
        ("std::remove_pointer_t<T>", FLOAT, 4),
    ],
)
def test_the_type_that_a_trait_tells_has_its_size(trait: str, given: Type, width: int) -> None:
    (module,) = load(source_from_bytes("k.cu", SOURCE.replace("TYPE", trait).encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((64, 1, 1), template={"T": given}))
    assert [(t.site.op, t.site.width) for t in trace.traces] == [("store", width), ("load", width)]


IMPL = """
template <typename T> struct Sum {
    struct Acc { T sum; int n; };
    __device__ Acc zero() { return {T(0), 0}; }
};
struct More : Sum<double> {};
"""


@pytest.mark.parametrize(
    ("type", "ways"),
    [
        ("decltype(impl.zero())", 4),
        ("decltype(impl.zero().sum)", 2),
        ("decltype(in[0] + 1)", 2),
        ("decltype(std::declval<Impl>().zero())", 4),
        ("std::remove_reference<decltype(*in)>::type", 2),
        ("decltype(Impl().zero().n)", 1),
    ],
)
def test_a_type_is_that_of_an_expression(type: str, ways: float) -> None:
    text = f"""{IMPL}
namespace std {{
template <typename T> T declval();
template <typename T> struct remove_reference {{ using type = T; }};
template <typename T> struct remove_reference<T &> {{ using type = T; }};
}}
template <typename Impl> __global__ void k(const double *in, double *out, Impl impl) {{
    using A = {type};
    __shared__ char raw[4096];
    int *s = reinterpret_cast<int *>(raw);
    s[threadIdx.x * (sizeof(A) / 4)] = 1;
}}
void go(double *p, double *q) {{ k<<<1, 32>>>(p, q, More()); }}
"""
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert [a.ways for a in kernel.accesses] == [ways]


ASKED = """
struct Dense { using inner = int; };
struct Padded { static constexpr int kPitch = 3; __device__ int size() const { return 3; } };
template <typename T, typename = void> struct HasPitch : std::false_type {};
template <typename T> struct HasPitch<T, std::void_t<decltype(T::kPitch)>> : std::true_type {};
template <typename T, typename = void> struct HasSize : std::false_type {};
template <typename T> struct HasSize<T, std::void_t<decltype(std::declval<T>().size())>> : std::true_type {};
template <typename T, typename = void> struct HasInner { static constexpr bool value = false; };
template <typename T> struct HasInner<T, std::void_t<typename T::inner>> {
  static constexpr bool value = true;
};
template <typename T, std::enable_if_t<sizeof(T) == 4, int> = 0> __device__ int small() { return 0; }
template <typename T, std::enable_if_t<sizeof(T) <= 2, int> = 0> __device__ int small() { return 1; }
template <typename T> struct In { int x; __device__ bool method() const { return VALUE; } };
template <typename T> __device__ bool function() { return VALUE; }
"""


@pytest.mark.parametrize(
    ("asked", "type", "told"),
    [
        ("std::is_floating_point<T>::value", "float", 1),
        ("std::is_floating_point<T>::value", "int", 0),
        ("std::is_integral_v<T>", "unsigned char", 1),
        ("std::is_unsigned<T>::value && sizeof(T) == 1", "unsigned char", 1),
        ("std::is_unsigned<T>::value", "int", 0),
        ("std::is_signed_v<T>", "float", 1),
        ("std::is_pointer<T>::value", "float *", 1),
        ("std::is_pointer<T>::value", "Dense", 0),
        ("std::is_same<T, double>::value", "float", 0),
        ("HasPitch<T>::value", "Padded", 1),
        ("HasPitch<T>::value", "Dense", 0),
        ("HasSize<T>::value", "Padded", 1),
        ("HasSize<T>::value", "Dense", 0),
        ("HasInner<T>::value", "Padded", 0),
        ("HasInner<T>::value", "Dense", 1),
        ("small<T>()", "short", 1),
        ("small<T>()", "float", 0),
    ],
)
def test_what_is_asked_of_a_type_is_told_in_functions_and_methods(asked: str, type: str, told: int) -> None:
    text = f"""{ASKED.replace("VALUE", asked)}
__global__ void k() {{
    __shared__ int s[256];
    s[threadIdx.x << In<{type}>{{1}}.method()] = 1;
    s[threadIdx.x << function<{type}>()] = 1;
}}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert [t.offsets.tolist() for t in trace.traces] == [[[4 * i << told for i in range(32)]]] * 2
