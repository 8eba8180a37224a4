"""Objects that are made of others, and what a call means that clang chose; truth is worked out by hand."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT
from smemlint.source import source_from_bytes

HEAD = """
struct Tr { int v, c = 0; __device__ Tr(int x) : v(x) {}
  __device__ Tr(const Tr &o) : v(o.v + 8), c(o.c + 1) {}
  __device__ Tr(Tr &&o) : v(o.v + 2), c(o.c) { o.v = 1; }
  __device__ Tr &operator=(const Tr &o) { v = o.v + 3; return *this; }
  __device__ Tr &operator=(Tr &&o) { v = o.v + 5; o.v = 7; return *this; } };
struct Holds { Tr a; int w = 1; };
__device__ int taken(Tr x) { return x.v; }
__device__ Tr made(int x) { return Tr(x); }
__device__ Tr given(Tr x) { return x; }
__device__ const Tr &same(const Tr &x) { return x; }
template <typename T> __device__ int copied(T x) { T y = x; T z(std::move(y)); return y.v + z.v; }
struct Acc { int v; __device__ int get() & { return v; } __device__ int get() const & { return v * 2; }
  __device__ int get() && { return v * 3; } };
struct A { int a; int b = a * 2; int c{b + 1}; __device__ A(int x) : a(x) {}
  __device__ A(int x, int y) : A(x + y) {} };
struct B { int z = 7; __device__ B() = default; __device__ B(int q) : z(q) {} };
struct D : A, B { using A::A; int e = a + z; __device__ D(char) : B(9), A(5) {} };
template <class T> struct Outer { struct Inner { int v; __device__ Inner(int i) : v(i * sizeof(T)) {} };
  Inner in; __device__ Outer(int t) : in(t) {} };
template <typename T> struct View { T *p; int n; __device__ View(T *q, int m) : p(q), n(m) {}
  template <int N> __device__ View(T (&q)[N]) : p(q), n(N) {}
  template <typename U> __device__ operator View<U>() const {
    return {(U *)p, (int)(n * sizeof(T) / sizeof(U))}; } };
template <typename D> struct Steps { int at = 0; __device__ int next() { at += 3; return at; } };
struct Twice : Steps<Twice> { __device__ int next() { return Steps<Twice>::next() * 2; } };
template <typename... I> __device__ int asked(int t, I... i) { 
  int n = 0; (void)((++n, t > i) && ...); return n; }
template <typename... I> __device__ int found(int t, I... i) {
  int n = 0; ((t < i && ++n) || ...); return n; }
"""

NUMBERS = {
    "Tr a(4); Tr b = a; s[b.v] = 1;": 12,
    "Tr a(4); Tr b = std::move(a); s[b.v + a.v * 8] = 1;": 14,
    "Tr a(4); s[taken(a)] = 1;": 12,
    "s[taken(Tr(4))] = 1;": 4,
    "Tr a = made(4); s[a.v] = 1;": 4,
    "Tr a(4); Tr b = given(a); s[b.v] = 1;": 14,
    "Tr a(4); s[taken(same(a))] = 1;": 12,
    "Tr a(4); s[same(a).v] = 1;": 4,
    "Tr a(4), b(0); b = a; s[b.v + a.v] = 1;": 11,
    "Tr a(4), b(0); b = std::move(a); s[b.v + a.v] = 1;": 16,
    "Tr a(4); s[copied(a)] = 1;": 23,
    "Holds x{Tr(4)}; Holds y = x; s[y.a.v + y.w] = 1;": 13,
    "Tr a(4); Tr both[2] = {a, Tr(5)}; s[both[0].v + both[1].v] = 1;": 17,
    "Tr a(4); auto f = [a] { return a.v; }; auto g = f; s[f() + g()] = 1;": 32,
    "auto f = [i = 0]() mutable { return ++i; }; f(); auto g = f; f(); s[g() + 8 * f()] = 1;": 26,
    "Acc a{2}; const Acc b{2}; s[a.get() + b.get() * 8] = 1;": 34,
    "Acc a{2}; s[std::move(a).get()] = 1;": 6,
    "A a(2); s[a.c] = 1;": 5,
    "A a(2, 1); s[a.c + a.a] = 1;": 10,
    "D d(4); s[d.e + d.c] = 1;": 20,
    "D d(1, 2); s[d.e] = 1;": 10,
    "D d('x'); s[d.e] = 1;": 14,
    "D d(4); B *b = &d; b->z = 2; s[d.z + static_cast<D *>(b)->a * 8] = 1;": 34,
    "Outer<int> o(5); s[o.in.v] = 1;": 20,
    "View<int> v(s); v.p[v.n - 40] = 1;": 24,
    "View<int> v(s, 64); View<char> c = v; s[c.n / 8] = 1;": 32,
    "Twice t; t.next(); s[t.next()] = 1;": 12,
    "s[asked(5, 1, 7, 3) + 8 * found(5, 1, 7, 3)] = 1;": 10,
    "std::array<int, 3> a{1, 2, 3}; std::get<1>(a) = 9; s[a[1]] = 1;": 9,
    "int *p = nullptr; if (p) s[1] = 1; else s[2] = 1;": 2,
    "int *p = nullptr; if (nullptr == p) s[3] = 1;": 3,
}


@pytest.mark.parametrize(("body", "number"), NUMBERS.items())
def test_an_object_begins_as_its_class_says(body: str, number: int) -> None:
    text = f"{HEAD}__global__ void k() {{ __shared__ int s[64]; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    assert not module.unparsed
    result = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    (trace,) = result.traces
    assert trace.grade is Grade.EXACT
    assert not result.notes
    assert set(trace.offsets.ravel().tolist()) == {4 * number}


def _ways(body: str, head: str = "") -> list[tuple[str, int]]:
    own = f"__shared__ float s[1024]; const int t = threadIdx.x; {body}"
    text = f"{head}__global__ void k(int n) {{ {own} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((128, 1, 1))).traces
    return [(t.grade.value, int((t.offsets >= 0).sum())) for t in traces]


def test_lanes_whose_pointer_is_null_do_not_pass_its_test() -> None:
    assert _ways("float *p = nullptr; if (t < 40) p = s + 1; if (p) p[t] = 1;") == [("exact", 40)]
    assert _ways("float *p = nullptr; if (t < 40) p = s + 1; if (p == nullptr) s[t] = 1;") == [("exact", 88)]


def test_a_pointer_that_data_makes_null_is_followed_in_some_lanes() -> None:
    text = """__global__ void k(const int *in) { __shared__ float s[1024]; const int t = threadIdx.x;
      float *p = in[t] > 3 ? s : nullptr; if (p) p[t * 2] = 1; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert trace.maybe is not None


def test_a_function_that_lanes_choose_is_not_told_as_one_of_them() -> None:
    head = "__device__ int f(int i) { return i; } __device__ int g(int i) { return 2 * i; }"
    ((grade, _),) = _ways("int (*h)(int) = f; if (t > 9) h = g; s[h(t)] = 1;", head)
    assert grade != "exact"


@pytest.mark.parametrize("start", ["8 * blockIdx.x", "n"])
def test_where_a_ring_starts_does_not_tell_which_lanes_go_around(start: str) -> None:
    body = f"int head = {start}; head += t & 31; if (head >= 96) head -= 96; s[head * 2] = 1;"
    ((grade, _),) = _ways(body)
    assert grade == "bound"


def test_an_assignment_that_nobody_wrote_assigns_parts_as_they_say() -> None:
    head = """struct M { int v; __device__ M(int x) : v(x) {}
      __device__ M &operator=(const M &o) { v = o.v * 2; return *this; } };
    struct H { M m; int w; __device__ H(int x) : m(x), w(x) {} };
    template <typename T> __device__ void over(T &a, T b) { a = b; }\n"""
    body = "H a(t), b(3); b = a; over(b.m, b.m); s[(b.m.v + b.w) & 1023] = 1;"
    text = f"{head}__global__ void k() {{ __shared__ float s[1024]; const int t = threadIdx.x; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert trace.grade is Grade.EXACT
    assert trace.offsets.ravel().tolist() == [4 * (5 * t) for t in range(32)]


@pytest.mark.parametrize(
    "body",
    [
        "V v{s, 33, 1}; v(t, 0) = 1;",
        "View<float> w(s, 3); fill(w, t);",
        "View<float> w(s, 3); each(t, w);",
        "View<float> w(s, 3); w.put(t);",
    ],
)
def test_unknown_code_that_reaches_a_shared_array_through_an_object_is_said(body: str) -> None:
    body = f"__shared__ float s[1024]; const int t = threadIdx.x; s[t] = 0; {body}"
    text = f"{HEAD}__global__ void k() {{ {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    result = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert module.unparsed or result.notes


def test_cases_whose_labels_clang_drops_are_followed() -> None:
    head = "enum class Role { Load, Store };\n"
    body = "switch (role(t)) { case Role::Load: { s[t] = 1; break; } case Role::Store: s[2 * t] = 1; break; }"
    text = f"{head}__global__ void k() {{ __shared__ float s[1024]; const int t = threadIdx.x; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert len(traces) == 2
    assert all(trace.reason is not None or trace.maybe is not None for trace in traces)


def test_what_is_forwarded_may_be_moved_from() -> None:
    text = """struct Own { int n; __device__ Own(int a) : n(a) {} __device__ Own(const Own &o) : n(o.n) {}
      __device__ Own(Own &&o) : n(o.n) { o.n = 0; } };
    template <class T> __device__ int take(T &&t) { Own u(std::forward<T>(t)); return u.n; }
    template <class T> __global__ void k() {
      __shared__ T s[64]; Own w(2); const int n = take(std::move(w)); s[threadIdx.x * w.n] = n; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1), template={"T": FLOAT})).traces
    assert trace.grade is not Grade.EXACT
