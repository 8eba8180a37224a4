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
