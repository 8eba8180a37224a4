"""Of the partial specialisations that fit, the most specialised one is meant, whichever comes first."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file

ONE = """template <typename T, bool Up> struct Merge<T, 1, Up, true> {
    static __device__ void run(T v[1]) { %s }
};"""
MANY = """template <typename T, int N, bool Up> struct Merge<T, N, Up, true> {
    static __device__ void run(T v[N]) {
#pragma unroll
        for (int i = 0; i < N / 2; ++i) {
            T a = v[i], b = v[i + N / 2];
            v[i] = Up ? max(a, b) : min(a, b);
            v[i + N / 2] = Up ? min(a, b) : max(a, b);
        }
        T low[N / 2];
#pragma unroll
        for (int i = 0; i < N / 2; ++i) low[i] = v[i];
        Merge<T, N / 2, Up, true>::run(low);
#pragma unroll
        for (int i = 0; i < N / 2; ++i) v[i] = low[i];
    }
};"""
KERNEL = """
template <typename T, int N, bool Up, bool Pow2> struct Merge {};
%s
template <int N> __global__ void k(float *p) {
    __shared__ float s[4096];
    float v[N];
    for (int i = 0; i < N; i++) v[i] = p[threadIdx.x + i * 128];
    Merge<float, N, false, true>::run(v);
    p[threadIdx.x] = v[0] + s[threadIdx.x];
}
void go(float *p) { k<4><<<1, 128>>>(p); }
"""
PITCHES = """
template <typename T, int N, bool Padded> struct Pitch { static constexpr int value = 32; };
%s
template <typename T> __global__ void k(T *p) {
    __shared__ T s[33 * 32];
    s[threadIdx.x * Pitch<T, 1, true>::value] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x];
}
void go(float *p) { k<float><<<1, 32>>>(p); }
"""
LESS = "template <typename T, int N> struct Pitch<T, N, true> { static constexpr int value = 32; };"
MORE = "template <typename T> struct Pitch<T, 1, true> { static constexpr int value = 33; };"


def stores(text: str) -> list[float | None]:
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    return [a.ways for a in kernel.accesses if a.op == "store"]


@pytest.mark.parametrize("order", [(LESS, MORE), (MORE, LESS)])
def test_a_constant_is_that_of_the_most_specialised_one(order: tuple[str, str]) -> None:
    assert stores(PITCHES % "\n".join(order)) == [1]  # 33 words from row to row; 32 would be 32 ways


def test_a_recursion_over_a_number_ends_in_the_specialisation_for_its_last_value() -> None:
    one = ONE % "extern __shared__ float t[]; t[threadIdx.x * 2] = v[0];"
    for order in ((one, MANY), (MANY, one)):
        assert stores(KERNEL % "\n".join(order)) == [2]


@pytest.mark.parametrize(("type", "ways"), [("float", 1), ("double", 2), ("lib::pair<float>", 4)])
def test_a_specialisation_for_a_class_of_a_library_that_was_not_read_is_not_for_numbers(
    type: str, ways: float
) -> None:
    text = f"""
#include <lib/pair.h>
template <class T> struct Device {{ typedef T type; }};
template <class T> struct Device<lib::pair<T>> {{ typedef float4 type; }};
template <class T> __global__ void k(int *p) {{
    __shared__ int s[1024];
    p[threadIdx.x] = s[threadIdx.x * sizeof(typename Device<T>::type) / 4];
}}
void go(int *p) {{ k<{type}><<<1, 32>>>(p); }}
"""
    (access,) = analyse_file(Job("k.cu", text=text)).kernels[0].accesses
    assert access.ways == ways


ENABLED = """
#include <type_traits>
template <typename T, typename = void> struct Pad { static constexpr int value = 1; };
template <typename T> struct Pad<T, std::enable_if_t<sizeof(T) == 8>> { static constexpr int value = 4; };
template <typename T> struct Pad<T, typename std::enable_if<sizeof(T) == 2, void>::type> {
    static constexpr int value = 8;
};
template <typename T> __global__ void k(T *p) {
    __shared__ T s[1024];
    s[threadIdx.x * Pad<T>::value] = *p;
}
void go() { k<%s><<<1, 32>>>(nullptr); }
"""


@pytest.mark.parametrize(("type", "ways"), [("float", 1), ("double", 4), ("short", 4)])
def test_a_specialisation_for_which_a_condition_holds_is_meant(type: str, ways: int) -> None:
    (access,) = analyse_file(Job("k.cu", text=ENABLED % type)).kernels[0].accesses
    assert (access.ways, access.grade) == (ways, "exact")


def test_a_specialisation_may_compute_with_the_parameters_of_others() -> None:
    text = """
template <int LO, int HI> struct Range {
    static __device__ float sum(const float *s) {
        constexpr int MID = (LO + HI) / 2;
        return Range<LO, MID>::sum(s) + Range<MID, HI>::sum(s);
    }
};
template <int LO> struct Range<LO, LO + 1> {
    static __device__ float sum(const float *s) { return s[threadIdx.x * 8 + LO * 256]; }
};
__global__ void k(float *p) { __shared__ float s[2048]; *p = Range<0, 6>::sum(s); }
void go() { k<<<1, 32>>>(nullptr); }
"""
    (access,) = analyse_file(Job("k.cu", text=text)).kernels[0].accesses
    assert (access.executions, access.ways, access.grade) == (6, 8, "exact")


OWN = """
template <int P> struct Padded {};
template <class Order> struct Layout {
    static constexpr int ld = 32;
    static __device__ int at(int r, int c) { return r * ld + c; }
};
template <%s> struct Layout<%s> {
    static constexpr int %s = 32 + %s;
    static __device__ int at(int r, int c) { return r * %s + c; }
};
__global__ void k(float *p) {
    __shared__ float s[36 * 32];
    s[Layout<%s>::at(threadIdx.x, 3)] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x];
}
void go(float *p) { k<<<1, 32>>>(p); }
"""


@pytest.mark.parametrize("name", ["ld", "pitch"])
@pytest.mark.parametrize(
    ("head", "of", "more", "meant", "ways"),
    [
        ("int P", "Padded<P>", "P", "Padded<1>", 1),
        ("int P", "Padded<P>", "P", "Padded<2>", 2),
        ("class T", "T *", "sizeof(T)", "char *", 1),
        ("class T", "const T", "(int)sizeof(T)", "const int", 4),
    ],
)
def test_a_method_of_one_means_its_own_constants(
    name: str, head: str, of: str, more: str, meant: str, ways: int
) -> None:
    """It took the constants of the template that is specialised: 32 ways, exact, for one."""
    assert stores(OWN % (head, of, name, more, name, meant)) == [ways]


SHAPES = """
template <class> struct Shape { static constexpr int v = 1; };
template <class T> struct Shape<T *> { static constexpr int v = 2 * Shape<T>::v; };
template <class T> struct Shape<const T> { static constexpr int v = 32; };
template <class T> struct Shape<T &> { static constexpr int v = 16; };
template <class T, int N> struct Shape<T[N]> { static constexpr int v = N; };
template <class T> struct Sized { static constexpr int v = sizeof(T); };
template <class T> struct Sized<const T *> { static constexpr int v = 1; };
template <class T> __device__ int sized() { return Sized<const T>::v; }
template <class T> __device__ int of() { return Shape<T>::v; }
template <class T> __device__ int of_constant() { return Shape<const T>::v; }
template <class T> __device__ int of_constant_behind() { return Shape<T const>::v; }
template <class T> using Constant = Shape<const T>;
template <class T> struct Named { using type = Shape<const T>; };
template <class T> __device__ int of_alias() { return Constant<T>::v; }
template <class T> __device__ int of_member() { return Named<T>::type::v; }
template <class T> __device__ int of_variable() { Shape<const T> shape; return shape.v; }
__global__ void k(float *p) {
    __shared__ float s[32 * 32];
    s[threadIdx.x * %s] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x];
}
void go(float *p) { k<<<1, 32>>>(p); }
"""


@pytest.mark.parametrize(
    ("stride", "ways"),
    [
        ("Shape<int>::v", 1),
        ("of<int>()", 1),
        ("Shape<const int>::v", 32),
        ("of<int *>()", 2),
        ("of<int **>()", 4),
        ("of<int &>()", 16),
        ("of<int[8]>()", 8),
        ("sized<int>()", 4),
        ("Sized<const double>::v", 8),
        ("of_constant<int>()", 32),
        ("of_constant_behind<int>()", 32),
        ("of_alias<int>()", 32),
        ("of_member<int>()", 32),
        ("of_variable<int>()", 32),
    ],
)
def test_constants_references_and_pointers_are_told_apart(stride: str, ways: int) -> None:
    """Each type was taken for a constant one, a reference for a pointer."""
    assert stores(SHAPES % stride) == [ways]


BY_TRAIT = """
template <class T> struct Wide { static constexpr bool value = sizeof(T) > 4; };
template <class T, class = void> struct Pitch { static constexpr int v = 1; };
template <class T> struct Pitch<T, std::enable_if_t<std::is_floating_point<T>::value>> {
    static constexpr int v = 8;
};
template <class T> struct Pitch<T, typename std::enable_if<std::is_same<T, int>::value>::type> {
    static constexpr int v = 16;
};
template <class T> struct Pitch<T, std::enable_if_t<Wide<T *>::value && !std::is_arithmetic<T>::value>> {
    static constexpr int v = 4;
};
template <class T, typename std::enable_if<Wide<T>::value, int>::type = 0>
__device__ int of(T) { return 2; }
template <class T, typename std::enable_if<!Wide<T>::value, int>::type = 0>
__device__ int of(T) { return 32; }
template <class T> __global__ void k(float *p, T x) {
    __shared__ float s[32 * 32];
    s[threadIdx.x * %s] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x];
}
void go(float *p) { k<<<1, 32>>>(p, %s); }
"""


@pytest.mark.parametrize(
    ("stride", "given", "ways"),
    [
        ("Pitch<T>::v", "1.f", 8),
        ("Pitch<T>::v", "1", 16),
        ("Pitch<T>::v", "'a'", 1),
        ("Pitch<T>::v", "p", 4),
        ("of(x)", "1.f", 32),
        ("of(x)", "1.", 2),
    ],
)
def test_one_that_a_trait_enables(stride: str, given: str, ways: int) -> None:
    """The trait's `value` was read as a type: the primary template was taken, the first of the overloads."""
    assert stores(BY_TRAIT % (stride, given)) == [ways]
