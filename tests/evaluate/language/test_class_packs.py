"""Packs of class templates in methods and constructors, and bases that have members of one name."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

TUPLE = """template <class... T> struct Tuple;
template <> struct Tuple<> { __device__ void put(int, float) {} };
template <class H, class... T> struct Tuple<H, T...> : Tuple<T...> { H *h;
__device__ Tuple(H *x, T *...rest) : Tuple<T...>(rest...), h(x) {}
__device__ void put(int i, float v) { h[i] = v; Tuple<T...>::put(i * 2, v); } };
template <class... T> struct View { float *p;
__device__ void put(int i, T... by) { ((p[i * by] = 1), ...); }
__device__ static int sum(T... x) { return (x + ... + 0); } };
"""
PLAIN = """struct B { double *h; __device__ B(double *x) : h(x) {}
__device__ void put(int i, float v) { h[i] = v; } };
struct C : B { int *h; __device__ C(int *x, double *y) : B(y), h(x) {}
__device__ void put(int i, float v) { h[i] = v; B::put(i * 2, v); } };
struct D : C { float *h; __device__ D(float *z, int *x, double *y) : C(x, y), h(z) {}
__device__ void put(int i, float v) { h[i] = v; C::put(i * 2, v); } };
"""


def stored(classes: str, body: str) -> set[tuple[str, int, tuple[int, ...]]]:
    """Array, width and the elements of all lanes, of each store."""
    arrays = "__shared__ float a[512]; __shared__ int b[512]; __shared__ double c[512];"
    text = f"{classes}__global__ void k() {{ {arrays} int t = threadIdx.x; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1)), as_written=True).traces
    assert {t.grade for t in traces} == {Grade.EXACT}
    rows = [(t.site, row) for t in traces for row in (t.offsets // t.site.width).tolist()]
    return {(site.array.split("@")[0], site.width, tuple(row)) for site, row in rows}


def lanes(array: str, width: int, by: int) -> tuple[str, int, tuple[int, ...]]:
    return array, width, tuple(t * by for t in range(32))


@pytest.mark.parametrize(
    ("classes", "made"), [(PLAIN, "D u(a, b, c);"), (TUPLE, "Tuple<float, int, double> u(a, b, c);")]
)
def test_members_of_one_name_in_each_base_lead_to_their_own(classes: str, made: str) -> None:
    found = stored(classes, made + "u.put(t, 1);")
    assert found == {lanes("a", 4, 1), lanes("b", 4, 2), lanes("c", 8, 4)}


def test_a_base_of_the_same_template_is_reached_through_a_reference() -> None:
    body = "Tuple<float, int> u(a, b); Tuple<int> &w = u; u.h[t] = 1; w.h[3 * t] = 2; w.put(5 * t, 1);"
    assert stored(TUPLE, body) == {lanes("a", 4, 1), lanes("b", 4, 3), lanes("b", 4, 5)}


def test_a_method_takes_the_pack_of_its_class() -> None:
    assert stored(TUPLE, "View<int, int, int> v{a}; v.put(t, 1, 2, 4);") == {
        lanes("a", 4, 1),
        lanes("a", 4, 2),
        lanes("a", 4, 4),
    }
    assert stored(TUPLE, "a[t * View<int, int>::sum(3, 5)] = 1;") == {lanes("a", 4, 8)}


FIELDS = """#include <utility>
template <int I, int W> struct Field { float f[W]; };
template <int W, class = std::make_integer_sequence<int, 3>> struct Fields;
template <int W, int... I> struct Fields<W, std::integer_sequence<int, I...>> : Field<I, W>... {
template <int K> __device__ float &get(int x) { return Field<K, W>::f[x]; }
__device__ void store(int x, float v) { ((get<I>(x + I) = v), ...); } };
template <class... Part> struct All : Part... { float own[64]; };
struct X { float x[64]; };
struct Y { double y[64]; };
"""


def test_a_class_has_a_base_for_each_element_of_a_pack() -> None:
    found = stored(FIELDS, "__shared__ Fields<64> u; u.store(t, 1);")
    assert found == {("u", 4, tuple(64 * i + i + t for t in range(32))) for i in range(3)}
    found = stored(FIELDS, "__shared__ All<X, Y> u; u.x[t] = 1; u.y[t] = 2; u.own[t] = 3;")
    at = {4: (0, 64 + 128), 8: (32,)}
    assert found == {("u", w, tuple(s + t for t in range(32))) for w, starts in at.items() for s in starts}


def test_a_base_that_a_template_of_the_method_chooses_is_that_one() -> None:
    classes = """template <int I> struct Field { float f[40]; };
struct A : Field<0>, Field<1>, Field<2> {
template <int K> __device__ float &get(int x) { return Field<K>::f[x]; } };"""
    found = stored(classes, "__shared__ A u; u.get<0>(t) = 1; u.get<2>(t) = 1;")
    assert found == {("u", 4, tuple(s + t for t in range(32))) for s in (0, 80)}


def test_a_sequence_as_long_as_a_parameter_says_is_expanded() -> None:
    classes = """#include <utility>
template <class F, std::size_t... I> __device__ void each(F f, std::index_sequence<I...>) { (f(I), ...); }
template <int N> __device__ void run(float *s) {
    each([&](int i) { s[threadIdx.x * N + i] = i; }, std::make_index_sequence<N>{});
}"""
    found = stored(classes, "run<5>(a);")
    assert found == {("a", 4, tuple(t * 5 + i for t in range(32))) for i in range(5)}
