"""Views and numbers of `cuda::std`: spans, arrays in templates, `gcd`, `ceil_div`, `bit_cast`."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT
from smemlint.source import source_from_bytes

HEAD = """
#include <cuda/std/array>
#include <cuda/std/span>
#include <cuda/std/bit>
#include <cuda/std/numeric>
#include <cuda/cmath>
namespace views = cuda::std;
template <class T> __device__ void put(cuda::std::span<T> v, int i) { v[i] = 1; }
template <class T> struct Args { cuda::std::span<T> v; int n; };
template <class T> struct Few { cuda::std::span<T, 4> v; int n; };
"""
VIEWS = {
    "cuda::std::span<T> v(s, 1024); v[2 * t] = 1;": (0, 8),
    "cuda::std::span<T> v{s, 1024}; put<T>(v, 2 * t);": (0, 8),
    "cuda::std::span<T, 1024> v(s); v[2 * t] = 1;": (0, 8),
    "std::span<T> v(s, 1024); v.subspan(4)[t] = 1;": (16, 4),
    "cuda::std::span<T> v(s, 1024); v.subspan(64, 32)[t] = 1;": (256, 4),
    "cuda::std::span<T> v(s, 1024); v.first(64).last(32)[t] = 1;": (128, 4),
    "cuda::std::span<T> v(s, 1024); v.template last<32>()[t] = 1;": (3968, 4),
    "cuda::std::span<T> v(s, 1024); v[v.size() - 1 - t] = 1;": (4092, -4),
    "cuda::std::span<T> v(s + t, 8); v.front() = 1;": (0, 4),
    "cuda::std::span<T> v(s + t, 8); v.back() = 1;": (28, 4),
    "cuda::std::span<T> v(s, 1024); v.data()[2 * t] = 1;": (0, 8),
    "cuda::std::span<T> v(s, 1024); auto w = v; *(w.begin() + 2 * t) = 1;": (0, 8),
    "Args<T> a{{s, 1024}, 2}; a.v[a.n * t] = 1;": (0, 8),
    "s[sizeof(Args<T>) * t] = 1;": (0, 96),
    "s[sizeof(Few<T>) * t] = 1;": (0, 64),
    "put<T>({s, 1024}, 2 * t);": (0, 8),
    "__shared__ cuda::std::array<T, 256> a; a[2 * t] = 1;": (0, 8),
}
NUMBERS = {
    "cuda::ceil_div(33, 16)": 3,
    "cuda::round_up(5, 4)": 8,
    "cuda::std::gcd(24, 32)": 8,
    "std::lcm(4, 6)": 12,
    "cuda::std::bit_cast<int>(3u)": 3,
    "cuda::std::countr_zero(16u)": 4,
    "cuda::std::countl_zero(16u)": 27,
    "std::countl_zero((unsigned short)16)": 11,
    "cuda::std::has_single_bit(4u)": 1,
    "(int)cuda::std::numeric_limits<signed char>::max()": 127,
    "-cuda::std::numeric_limits<signed char>::min()": 128,
}


def _stores(body: str, template: str) -> list[int]:
    alias = "" if template else "using T = float;"
    text = f"""{HEAD} {template} __global__ void k() {{ {alias}
        __shared__ T s[1024]; const int t = threadIdx.x; {body} }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    launch = Launch((32, 1, 1), template={"T": FLOAT} if template else {})
    (trace,) = evaluate(module, module.kernels()[0], launch).traces
    assert trace.grade is Grade.EXACT
    return [int(x) for x in trace.offsets.ravel()]


@pytest.mark.parametrize("template", ["", "template <class T>"])
@pytest.mark.parametrize("body", VIEWS)
def test_elements_of_views_are_those_of_the_array(body: str, template: str) -> None:
    if not template:
        body = body.replace(".template ", ".")
    first, step = VIEWS[body if body in VIEWS else body.replace(".last<", ".template last<")]
    assert _stores(body, template) == [first + step * t for t in range(32)]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_what_the_library_computes(number: str) -> None:
    assert _stores(f"s[t * ({number})] = 1;", "") == [4 * NUMBERS[number] * t for t in range(32)]
