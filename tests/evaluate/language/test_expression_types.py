"""What stands in a template, or behind a lambda, is the same place as outside of one."""

from __future__ import annotations

import pytest

from smemlint.api import analyse_file
from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT
from smemlint.running.jobs import Job
from smemlint.source import source_from_bytes

HEAD = """
template <typename T> struct It { T *p; int step;
  __device__ T &operator*() const { return *p; }
  __device__ It &operator++() { p += step; return *this; }
  __device__ It operator++(int) { It o = *this; ++*this; return o; } };
template <typename T> struct Tile { T d[16 * 33];
  struct Row { T *p; __device__ T &operator[](int c) { return p[c]; } };
  __device__ Row operator[](int r) { return Row{d + r * 33}; }
  __device__ Tile &self() { return *this; }
  __device__ T &operator()(int r, int c) { return (*this)[r][c]; }
  __device__ void put(int i) { self()(i, 2) = 1; }
  template <typename F> __device__ void each(int i, F &&f) { f((*this)[i][2], 0); } };
template <typename T> struct Box { Tile<T> t[2]; __device__ Tile<T> &at(int i) { return t[i]; }
  __device__ void put(int i) { at(0)[i][2] = 1; } __device__ void put2(int i) { (*this).t[0][i][2] = 1; } };
template <typename F, typename... A> __device__ void on(F f, A &&...a) { f(std::forward<A>(a)...); }
template <typename F, typename... A> __device__ void with(F f, A &...a) { f(a...); }
template <int N> struct Gemm { float *p; int at; float acc[N] = {}; int order[N]{3, 4};
  __device__ Gemm(float *q, int i) : p(q), at(i) {} __device__ void put() { p[at] = acc[0] + order[1]; } };
struct Self { int v; int *p; __device__ Self(int x) : v(x), p(&v) {}
  __device__ Self(const Self &o) : v(o.v), p(&v) {} __device__ void inc() { ++*p; } };
struct Held { int pad; Self s; __device__ Held(int x) : s(x) {} };
__device__ Self made(int x) { Self s(x); s.inc(); return s; }
struct Bits { unsigned a : 5 = 3; int b : 4 {7}; };
"""
HEAD += """
template <typename T> struct Span { T *b; int n;
  __device__ T *begin() const { return b; } __device__ T *end() const { return b + n; } };
template <typename T> struct Pool { T *p; int used = 0;
  __device__ Span<T> take(int k) { Span<T> s{p + used, k}; used += k; return s; } };
template <typename C> __device__ void fill(C &&c) { for (auto &x : c) x = 1; }
template <typename P> __device__ int takes(P &p) { int c = 0; for (auto &x : p.take(5)) c += 2; return c; }
template <typename R> __device__ int total(R &r) { int c = 0; for (int x : r.order) c += x; return c; }
template <int... D> struct Dims { static constexpr int n = sizeof...(D); static constexpr int d[n] = {D...};
  static constexpr int size(int i) { int s = 1; for (int k = i + 1; k < n; ++k) s *= d[k]; return s; }
  template <typename... I> static __device__ int at(I... i) { int k = 0; return ((i * size(k++)) + ...); } };
template <int S> struct Step { template <int J> static __device__ int at(int i) { return i * J + S; } };
template <int S> struct Steps {
  template <int J> __device__ int a(int i) const { return Step<S>::template at<J>(i); }
  template <int J> __device__ int b(int i) const { return Step<J>::template at<S + 1>(i); } };
"""
PLACES = {
    "fill(Span<float>{s + 7, 1});": 7,
    "Pool<float> p{s}; int c = takes(p); s[p.used * 2 + c] = 1;": 20,
    "Gemm<4> g(s, 6); s[total(g)] = 1;": 7,
    "s[Dims<4, 8, 3>::at(1, 2, 2)] = 1;": 32,
    "s[Dims<4, 8>::at(1, 2)] = 1;": 10,
    "Steps<4> steps; s[steps.a<3>(5)] = 1;": 19,
    "Steps<4> steps; s[steps.b<3>(5)] = 1;": 28,
    "It<float> i{s, 33}; i++; ++i; *i = 1;": 66,
    "It<float> i{s, 33}; *i++; *i = 1;": 33,
    "tile[3][2] = 1;": 101,
    "tile.put(3);": 101,
    "tile.each(3, [&](float &x, int) { x = 1; });": 101,
    "box.put(3);": 101,
    "box.put2(3);": 101,
    "auto pick = [&](bool b) -> float & { return b ? s[n + 4] : s[5]; }; pick(false) = 1;": 5,
    "auto at = [&](int i) -> float & { return s[i]; }; auto by = [&](int i) -> float & { return at(2 * i); };"
    " by(7) = 1;": 14,
    "auto low = [](int x) -> unsigned char { return x; }; s[low(259)] = 1;": 3,
    "int x = 2; on([](int a, int &b) { b += a; }, 5, x); s[x] = 1;": 7,
    "int x = 2; with([](int &b) { b += 3; }, x); s[x] = 1;": 5,
    "Gemm<4> g(s, 6); g.put();": 6,
    "Gemm<4> g(s, 6); s[g.order[1] + g.order[3]] = 1;": 4,
    "Self a(3), b = a; b.inc(); b.inc(); s[a.v + 8 * b.v] = 1;": 43,
    "Self a(3); *a.p = 9; s[a.v] = 1;": 9,
    "Held h(3); h.s.inc(); s[h.s.v] = 1;": 4,
    "Self a = made(3); a.inc(); s[a.v] = 1;": 5,
    "Bits b; s[b.a + 8 * b.b] = 1;": 59,
    "Bits b; b.a = 31; s[++b.a + 2] = 1;": 2,
    "Bits b; s[++b.b + 9] = 1;": 1,
}


@pytest.mark.parametrize(("body", "word"), PLACES.items())
def test_a_store_goes_where_the_language_says(body: str, word: int) -> None:
    shared = "__shared__ float s[1024]; __shared__ Tile<float> tile; __shared__ Box<float> box;"
    text = f"{HEAD}__global__ void k(int n) {{ {shared} {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    assert not module.unparsed
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert (trace.site.op, trace.grade) == ("store", Grade.EXACT)
    assert set(trace.offsets.ravel().tolist()) == {4 * word}


def test_a_virtual_function_of_one_of_several_objects_is_not_known() -> None:
    text = """struct A { __device__ virtual int at(int i) const { return i; } };
    struct B : A { __device__ int at(int i) const override { return 2 * i; } };
    __global__ void k() { __shared__ float s[64]; A a; B b; const int t = threadIdx.x;
      const A *p = t < 16 ? &a : (const A *)&b; s[p->at(t)] = 1; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert trace.grade is not Grade.EXACT


def test_members_beside_one_of_an_unknown_class_are_followed() -> None:
    text = """template <typename T, typename L> struct View { T *p; L l; int c; L m; int d;
      __device__ View(T *q, int t) : p(q), c(t), d(2) {} __device__ void put() { p[c * d] = 1; } };
    template <typename V> __device__ void use(V v) { v.put(); }
    __global__ void k() { __shared__ float s[64]; View<float, lib::Layout<40>> v(s, threadIdx.x); use(v); }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert trace.offsets.tolist() == [[8 * lane for lane in range(32)]]


@pytest.mark.parametrize(
    "body",
    [
        "lib::Ring<float, 2> r{{{s}, {s + 8}}}; use(r);",
        "char *p = (char *)s; p = (char *)(((size_t)p + 7) & ~(alignof(lib::T) - 1)); *(float *)p = 1;",
    ],
)
def test_an_address_that_goes_into_what_is_not_known_is_said(body: str) -> None:
    head = "template <typename R> __device__ void use(R &r) { r.put(3); }"
    text = f"{head} __global__ void k() {{ __shared__ float s[64]; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    result = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    said = [n for n in result.notes if n.code != "no-access"]
    assert said or [t.grade for t in result.traces if t.grade is not Grade.EXACT]


def test_members_of_a_class_with_an_unknown_base_are_followed() -> None:
    text = """template <typename T> struct View : lib::Base<View<T>> { T *p; int c;
      __device__ View(T *q, int t) : p(q), c(t) {} __device__ void put(int i) { p[c * i] = 1; } };
    __global__ void k() { __shared__ float s[64]; const int t = threadIdx.x;
      View<float> v(s, t); v.row(t); v.put(2); s[t] = 1; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    first, second = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert second.offsets.tolist() == [[4 * lane for lane in range(32)]]
    assert first.grade is not Grade.EXACT or first.offsets.tolist() == [[8 * lane for lane in range(32)]]


def test_a_function_that_a_template_uses_as_an_operator_is_called() -> None:
    text = """struct P { int x, y; }; __device__ P operator-(const P &a) { return {7 - a.x, a.y}; }
    template <typename A> __device__ int minus(A a) { auto c = -a; return c.x; }
    __global__ void k() { __shared__ float s[64]; P p{3, 4}; s[minus(p)] = 1; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert trace.offsets.tolist() == [[4 * (7 - 3)] * 32]


def test_an_operator_of_friends_that_a_template_uses_is_not_the_languages_own() -> None:
    text = """struct It { float *p; friend __device__ It &operator++(It &a) { a.p += 3; return a; }
      friend __device__ bool operator!=(It a, It b) { return a.p != b.p; }
      friend __device__ float &operator*(It a) { return *a.p; } };
    template <typename I> __device__ void over(I b, I e) { for (; b != e; ++b) *b = 1; }
    __global__ void k() { __shared__ float s[64]; over(It{s}, It{s + 9}); }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert trace.grade is Grade.EXACT
    assert trace.offsets.tolist() == [[12 * i] * 32 for i in range(3)]


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("It<T> a{s + t * 32, 1}; auto b = a + 3; o[t] = *b;", 12),
        ("It<T> a{s + t * 32, 2}; o[t] = *(2 + a);", 16),
        ("It<T> a{s + t * 32 + 4, 1}; auto b = -a; o[t] = *b;", 12),
    ],
)
def test_friends_that_a_class_template_defines_are_operators_in_templates(body: str, first: int) -> None:
    text = f"""template <class T> struct It {{ T *p; int step;
      __device__ T &operator*() const {{ return *p; }}
      friend __device__ It operator+(It a, int n) {{ a.p += n * a.step; return a; }}
      friend __device__ It operator+(int n, It a) {{ a.p += n * a.step; return a; }}
      friend __device__ It operator-(const It &a) {{ return {{a.p - 1, a.step}}; }} }};
    template <class T> __global__ void k(T *o) {{
      __shared__ T s[1024]; const int t = threadIdx.x; {body} }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1), template={"T": FLOAT})).traces
    assert trace.grade is Grade.EXACT
    assert trace.offsets.tolist() == [[128 * t + first for t in range(32)]]


def test_a_float_and_an_integer_meet_in_a_float() -> None:
    text = """
template <typename T> __global__ void k(T f) {
    __shared__ float s[1024];
    decltype(f + 1) x = 0.5f * threadIdx.x;
    s[(int)(64 * x)] = 0;
}
void start() { k<float><<<1, 32>>>(2.0f); }
"""
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert [a.ways for a in kernel.accesses] == [len({64 * (t / 2) for t in range(32)})]
