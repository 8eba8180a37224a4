"""Objects whose class arguments a template leaves to deduction: lazy expressions, bases, `Pair p(a, b)`."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT
from smemlint.source import source_from_bytes

LAZY = """template <class E> struct Expr {
    __device__ const E &get() const { return static_cast<const E &>(*this); }
};
template <class T> struct Vec : Expr<Vec<T>> {
    T *p; int n;
    __device__ Vec(T *p_, int n_) : p{p_}, n{n_} {}
    __device__ T operator()(int i) const { return p[i]; }
    template <class E> __device__ Vec &operator=(const Expr<E> &e) {
        p[threadIdx.x] = e.get()(threadIdx.x); return *this;
    }
};
template <class A, class B> struct Sum : Expr<Sum<A, B>> {
    A a; B b;
    __device__ Sum(const A &a_, const B &b_) : a(a_), b(b_) {}
    __device__ auto operator()(int i) const { return a(i) + b(i); }
};
template <class A, class S> struct Scaled : Expr<Scaled<A, S>> {
    A a; S s;
    __device__ Scaled(const A &a_, S s_) : a(a_), s(s_) {}
    __device__ auto operator()(int i) const { return a(i) * s; }
};
template <class A> struct Every : Expr<Every<A>> {
    A a; int k;
    __device__ Every(const A &a_, int k_) : a(a_), k(k_) {}
    __device__ auto operator()(int i) const { return a(i * k); }
};
template <class A> __device__ Every<A> every(const Expr<A> &e, int k) { return {e.get(), k}; }
template <class A, class B> __device__ Sum<A, B> operator+(const Expr<A> &a, const Expr<B> &b) {
    return {a.get(), b.get()};
}
template <class A, class S, class = std::enable_if_t<std::is_arithmetic_v<S>>>
__device__ Scaled<A, S> operator*(const Expr<A> &a, S s) { return {a.get(), s}; }
"""
EXPRESSIONS = {
    "w = every(v, 2);": [8],
    "w = v * T(3);": [4],
    "w = v * T(3) + every(v, 4);": [4, 16],
    "w = every(v, 2) * T(2) + every(v, 4) * 3;": [8, 16],
    "w = Every(v, 8);": [32],
    "w = Every(Every(v, 2), 4) + v;": [32, 4],
    "auto e = every(v, 2); w = e;": [8],
    "Every e(v, 2); w = e;": [8],
    "Every e{v, 2}; w = e + Every<Vec<T>>(v, 4);": [8, 16],
    "const Expr<Vec<T>> &e = v; w = e;": [4],
}


def _loads(text: str) -> list[list[int]]:
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    launch = Launch((32, 1, 1), template={"T": FLOAT})
    traces = evaluate(module, module.kernels()[0], launch).traces
    assert all(t.grade is Grade.EXACT for t in traces)
    return [[int(x) for x in t.offsets.ravel()] for t in traces if t.site.op == "load" and t.weights.sum()]


@pytest.mark.parametrize(("body", "strides"), EXPRESSIONS.items())
def test_lazy_expressions_in_templates_read_what_they_are_made_of(body: str, strides: list[int]) -> None:
    text = f"""{LAZY}
    template <class T> __global__ void k(T *o) {{
        __shared__ T a[1024], b[32];
        Vec<T> v(a, 1024), w(b, 32);
        {body}
    }}"""
    offsets = [x for each in _loads(text) for x in each]
    assert sorted(offsets) == sorted(s * t for s in strides for t in range(32))


CLASSES = """template <class P> struct Row {
    P p; int k;
    __device__ Row(P p_, int k_) : p(p_), k(k_) {}
    __device__ auto operator()(int i) const { return p[i * k]; }
};
template <class A> struct Twice {
    A a;
    __device__ Twice(const A &a_) : a(a_) {}
    __device__ auto operator()(int i) const { return a(i * 2) * 2.f; }
};
template <class A> struct Plain { A a; int k; __device__ auto operator()(int i) const { return a(i * k); } };
template <class A> Plain(A, int) -> Plain<A>;
template <class T, int N> struct Whole {
    T (&a)[N];
    __device__ Whole(T (&x)[N]) : a(x) {}
    __device__ T operator()(int i) const { return a[i * 4 % N]; }
};
"""
MADE = {
    "Row r(a, 2); o[t] = r(t);": 8,
    "Row r{a, 1}; Twice w(r); o[t] = w(t);": 8,
    "auto r = Row(a, 2); auto w = Twice{r}; o[t] = w(t);": 16,
    "o[t] = Twice(Row(a, 2))(t);": 16,
    "Plain w{Row(a, 1), 4}; o[t] = w(t);": 16,
    "o[t] = Plain{Twice(Row(a, 1)), 4}(t);": 32,
    "Row r(a, 4); Row copy = r; o[t] = copy(t);": 16,
    "Whole w(a); o[t] = w(t);": 16,
}


@pytest.mark.parametrize(("body", "stride"), MADE.items())
def test_class_arguments_are_deduced_from_what_an_object_is_made_of(body: str, stride: int) -> None:
    text = f"""{CLASSES}
    template <class T> __global__ void k(T *o) {{ __shared__ T a[1024]; int t = threadIdx.x; {body} }}"""
    assert _loads(text) == [[stride * t for t in range(32)]]


def test_an_operator_that_is_not_known_is_told_where_an_object_leads_to_shared_memory() -> None:
    text = """template <class T> struct View { T *p; };
    template <class T> __global__ void k(T *o) {
        __shared__ T a[32];
        View<T> v{a}; auto sum = v + v; o[threadIdx.x] = sum.p[threadIdx.x];
    }
    void go(float *o) { k<<<1, 32>>>(o); }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1), template={"T": FLOAT}))
    assert any("an operator of an object that leads to `a`" in r.text for r in trace.notes)
