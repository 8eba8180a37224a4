"""Concepts and `requires` (C++20): which specialisation, overload or arm is meant. The indices are what a
compiler for the host gives."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

HEAD = """
template <class T> concept Small = sizeof(T) <= 4;
template <class T, int N> concept Fits = sizeof(T) * N <= 16;
namespace lib {
template <class L> concept Layout = requires(const L &l, int i) {
    { l(i, i) } -> std::convertible_to<int>; L::rank; typename L::index_type;
};
template <class L> concept Padded = Layout<L> && requires(L l) { l.pad; };
}
struct Row { using index_type = int; static constexpr int rank = 2;
    __device__ int operator()(int r, int c) const { return r * 32 + c; } };
struct Pad { using index_type = int; static constexpr int rank = 2; int pad = 1;
    __device__ int operator()(int r, int c) const { return r * (32 + pad) + c; } };
struct Not { __device__ int operator()(int r, int c) const { return c * 8 + r; } };
"""
CASES = {
    "a partial specialisation for a concept": (
        "template <class T> struct Of { static constexpr int v = 1; };"
        "template <Small T> struct Of<T> { static constexpr int v = 8; };",
        {"t * Of<double>::v": 1, "t * Of<float>::v": 8},
    ),
    "two of one pattern": (
        "template <class T> struct Of { static constexpr int v = 1; };"
        "template <class T> requires (sizeof(T) == 8) struct Of<T> { static constexpr int v = 2; };"
        "template <Small T> requires std::is_floating_point_v<T>"
        "struct Of<T> { static constexpr int v = 4; };",
        {"t * Of<long long>::v": 2, "t * Of<float>::v": 4, "t * Of<int>::v": 1},
    ),
    "a concept of a number": (
        "template <class T, int N> struct Of { static constexpr int v = 3; };"
        "template <class T, int N> requires Fits<T, N> struct Of<T, N> { static constexpr int v = 2; };"
        "template <class T> constexpr int width = 1; template <Small T> constexpr int width<T> = 4;",
        {"t * Of<float, 4>::v": 2, "t * Of<float, 5>::v": 3, "t * width<double>": 1, "t * width<char>": 4},
    ),
    "overloads of a template's call": (
        "template <class T> requires Small<T> __device__ int f(T, int t) { return t * 2; }"
        "template <class T> requires (!Small<T>) __device__ int f(T, int t) { return t * 8; }"
        "template <class T> __device__ int g(T, int t) requires (sizeof(T) == 8) { return t * 4; }"
        "template <class T> __device__ int g(T, int t) { return t; }"
        "template <class T> __device__ int fs(int t) { return f(T{}, t); }"
        "template <class T> __device__ int gs(int t) { return g(T{}, t); }",
        {"fs<double>(t)": 8, "fs<float>(t)": 2, "gs<double>(t)": 4, "gs<int>(t)": 1},
    ),
    "what asks for more is meant": (
        "template <class L> __device__ int at(const L &l, int r) { return r * 4; }"
        "template <lib::Layout L> __device__ int at(const L &l, int r) { return l(r, 1); }"
        "template <lib::Padded L> __device__ int at(const L &l, int r) { return l(r, 1) + r; }"
        "template <class L> __device__ int place(int t) { L l; return at(l, t); }",
        {"place<Row>(t)": 32, "place<Pad>(t)": 34, "place<Not>(t)": 4},
    ),
    "in front of auto": (
        "__device__ int f(std::integral auto v, int t) { return t * 4; }"
        "__device__ int f(const lib::Layout auto &v, int t) { return t * 2; }"
        "__device__ int f(std::floating_point auto v, int t) { return t * 8; }"
        "template <class T> __device__ int fs(int t) { return f(T{}, t); }",
        {"fs<int>(t)": 4, "fs<double>(t)": 8, "fs<Row>(t)": 2, "f(1.f, t)": 8},
    ),
    "methods and constructors of a template": (
        "template <class T> struct Of { int k = 3;"
        "__device__ int at(int t) const requires Small<T> { return t * 4; }"
        "__device__ int at(int t) const requires (!Small<T>) { return t * 8; }"
        "Of() = default; __device__ Of(int) requires Small<T> : k(1) {} __device__ Of(int) : k(2) {} };"
        "template <class T> __device__ int ats(int t) { return Of<T>().at(t); }",
        {
            "Of<double>().at(t)": 8,
            "Of<float>().at(t)": 4,
            "ats<double>(t)": 8,
            "t * Of<double>(1).k": 2,
            "t * Of<int>(1).k": 1,
        },
    ),
    "an arm that a question chooses": (
        "template <class L> __device__ int f(const L &l, int t) {"
        "    if constexpr (requires { l.pad; }) return t * 4; else return t * 2; }"
        "template <class T> __device__ int g(int t) {"
        "    if constexpr (Small<T> && !lib::Layout<T>) return t * 8;"
        "    else if constexpr (requires(T p) { *p; }) return t * 16; else return t; }"
        "template <class T> __device__ int h(int t) {"
        "    constexpr bool b = lib::Padded<T>; return b ? t : t * 2; }",
        {
            "f(Pad{}, t)": 4,
            "f(Row{}, t)": 2,
            "g<int>(t)": 8,
            "g<int *>(t)": 16,
            "g<double>(t)": 1,
            "h<Pad>(t)": 1,
        },
    ),
    "a pack": (
        "template <class... T> requires (Small<T> && ...) __device__ int f(int t) { return t * 2; }"
        "template <class... T> requires (!(Small<T> && ...)) __device__ int f(int t) { return t * 4; }"
        "template <Small... T> __device__ int g(int t) { return t * 2; }"
        "template <class... T> __device__ int g(int t) { return t * 4; }"
        "template <class... T> __device__ int fs(int t) { return f<T...>(t); }"
        "template <class... T> __device__ int gs(int t) { return g<T...>(t); }",
        {"fs<char, int>(t)": 2, "fs<char, double>(t)": 4, "gs<char, int>(t)": 2, "gs<double, int>(t)": 4},
    ),
}


def told(head: str, index: str) -> list[tuple[Grade, list[int]]]:
    source = (
        f"{HEAD}{head}\n__global__ void k(float *p) {{ __shared__ float s[2048]; const int t = threadIdx.x;\n"
        f"    s[{index}] = p[t]; __syncthreads(); p[t] = s[t]; }}"
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((32, 1, 1)))
    assert not trace.notes
    return [(t.grade, t.offsets[0].tolist()) for t in trace.traces if t.site.op == "store"]


@pytest.mark.parametrize("case", CASES)
def test_what_is_required_decides(case: str) -> None:
    head, wanted = CASES[case]
    for index, stride in wanted.items():
        first = 4 if index.startswith("place<") and "Not" not in index else 0
        assert told(head, index) == [(Grade.EXACT, [4 * stride * t + first for t in range(32)])], index


def test_what_is_not_known_to_hold_leaves_it_open() -> None:
    head = """
    template <class F> concept Quick = requires(F f) { unknown_function(f); };
    template <class F> __device__ int at(F, int t) { return t; }
    template <Quick F> __device__ int at(F, int t) { return t * 32; }
    template <class F> __device__ int ats(int t) { return at(F{}, t); }
    """
    ((grade, _),) = told(head, "ats<Row>(t)")
    assert grade is Grade.BOUND
