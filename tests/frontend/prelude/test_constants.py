"""What libraries compute of constants is a constant: an argument of a template, the length of an array."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file

KERNEL = """#include <algorithm>
#include <bit>
#include <numeric>
constexpr int table[] = {1, 4, 2, 3};
template <int N> __global__ void k(float *p) {
    __shared__ float s[32 * N];
    s[threadIdx.x * N] = p[threadIdx.x];
}
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("std::max(4, 2)", 4),
        ("std::min(64, 8)", 8),
        ("max(16ul / sizeof(float), 64ul / 32)", 4),
        ("std::max({1, 8, 2})", 8),
        ("std::max<int>(4, 2)", 4),
        ("cuda::std::min(4u, 8u)", 4),
        ("std::clamp(9, 1, 4)", 4),
        ("std::gcd(12, 8)", 4),
        ("std::bit_ceil(3u)", 4),
        ("std::size(table)", 4),
        ("std::extent<int[2]>::value", 2),
        ("std::extent_v<int[2][4], 1>", 4),
        ("std::rank<int[1][2]>::value", 2),
        ("std::rank_v<int[1][2][3][4]>", 4),
        ("at::ceil_div(7, 2)", 4),
        ("at::cuda::ATenCeilDiv(7, 2)", 4),
    ],
)
def test_a_constant_of_a_library_is_known(text: str, value: int) -> None:
    for argument in (f"k<({text})>", f"constexpr int n = {text}; k<n>"):
        code = f"{KERNEL}void go(float *p) {{ {argument}<<<1, 32>>>(p); }}"
        (kernel,) = analyse_file(Job("k.cu", text=code)).kernels
        assert kernel.template_arguments == (("N", str(value)),)
        (store,) = kernel.accesses
        assert (store.grade, store.ways) == ("exact", value)  # lanes stand N words apart
