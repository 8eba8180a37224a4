"""Declarations of one name in several namespaces: what templates leave open means the nearest one around."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file

SPACE = """
namespace %s {
    constexpr int kPitch = %d;
    %s
    template <class T> struct Traits { static constexpr int ld = kPitch * 4 / sizeof(T); };
    template <int N> struct Padded {};
    template <class T, class Order> struct Layout { static constexpr int ld = 1; };
    template <class T, int N> struct Layout<T, Padded<N>> { static constexpr int ld = kPitch + N; };
    using Word = %s;
    %s
}
"""
KERNEL = """
template <class T> __global__ void run(T *p) {
    __shared__ T s[64 * 32];
    s[threadIdx.x * %s] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x * 2];
}
"""
GO = "void go(float *p) { first::run<float><<<1, 32>>>(p); second::run<float><<<1, 32>>>(p); }\n"


def stores(index: str, more: tuple[str, str] = ("", "")) -> list[float | None]:
    kernel = KERNEL % index
    text = SPACE % ("first", 33, more[0], "short", kernel) + SPACE % ("second", 32, more[1], "int", kernel)
    return [
        a.ways
        for k in sorted(analyse_file(Job("k.cu", text=text + GO)).kernels, key=lambda k: k.place.line)
        for a in k.accesses
        if a.op == "store"
    ]


@pytest.mark.parametrize(
    "index",
    [
        "Traits<T>::ld",
        "(Layout<T, Padded<0>>::ld)",
        "(Layout<T, Padded<sizeof(T) - 4>>::ld)",
        "(Traits<T>::ld + sizeof(Word) / 4 * 0)",
        "(kPitch + sizeof(T) - 4)",
    ],
)
def test_what_stands_around_is_meant(index: str) -> None:
    """The second kernel was told as clean and exact with the constants of the first."""
    assert stores(index) == [1, 32]


def test_an_alias_is_the_one_around() -> None:
    assert stores("(16 * sizeof(Word) / sizeof(T))") == [8, 16]


def test_a_namespace_within_is_nearer_and_one_around_is_found() -> None:
    more = "namespace detail { template <class T> struct Step { static constexpr int ld = %d; }; }"
    assert stores("detail::Step<T>::ld", (more % 16, more % 3)) == [16, 1]
    outer = "template <class T> struct Outer { static constexpr int ld = 4; };"
    assert stores("Outer<T>::ld", (outer, outer.replace("4", "8"))) == [4, 8]
