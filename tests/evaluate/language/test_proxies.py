"""Objects that stand for places: what classes say of assignment, conversion and members that are references,
in templates as outside of them."""

from __future__ import annotations

import pytest

from smemlint import analyze
from smemlint.evaluate import Grade, evaluate
from smemlint.evaluate.model import KernelTrace
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

HEAD = """
template <class T> struct Cell { T *p;
  __device__ Cell &operator=(T v) { p[0] = v; return *this; }
  __device__ Cell &operator*=(T v) { *this = v + v; return *this; }
  __device__ operator T() const { return p[0]; }
  __device__ T twice() const { return T(*this) * 2; }
  __device__ T held() const { T v = *this; return v; } };
template <class C> __device__ void put(C c) { c = 3.f; }
template <class C> __device__ float got(C c) { return float(c); }
template <class C> __device__ float given(C c) { float v = c; return v; }
template <class C> __device__ void both(C a, C b) { a = b * 2; }
struct Place { float &x, &y; };
struct Pairs { float x[64], y[64]; __device__ Place operator[](int i) { return {x[i], y[i]}; } };
template <class T> struct Many { T d[64]; __device__ Cell<T> operator()(int i) { return {d + i}; } };
"""
FORMS = {
    "put(c);": ["store"],
    "o[t] = got(c);": ["load"],
    "o[t] = given(c);": ["load"],
    "both(c, d);": ["load", "store"],
    "c = 3;": ["store"],
    "c *= 3;": ["store"],
    "o[t] = c.twice();": ["load"],
    "o[t] = c.held();": ["load"],
    "o[t] = c;": ["load"],
    "many(t) = 4;": ["store"],
    "many(t) *= 4;": ["store"],
    "auto m = many(t); m = 4.f;": ["store"],
    "pairs[t].x = o[t];": ["store"],
    "o[t] = pairs[t].y;": ["load"],
    "auto p = pairs[t]; p.y = 3;": ["store"],
}


def traced(kernel: str, head: str = HEAD) -> KernelTrace:
    (module,) = load(source_from_bytes("k.cu", (head + kernel).encode()))
    assert not module.unparsed
    return evaluate(module, module.kernels()[-1], Launch((32, 1, 1)), as_written=True)


@pytest.mark.parametrize("template", ["", "template <class A> "])
@pytest.mark.parametrize("form", FORMS)
def test_what_an_object_stands_for_is_accessed(form: str, template: str) -> None:
    shared = "__shared__ float s[64], q[64]; __shared__ Many<float> many; __shared__ Pairs pairs;"
    cells = "Cell<float> c{s + t}, d{q + t};"
    trace = traced(
        f"{template}__global__ void k(float *o) {{ {shared} int t = threadIdx.x; {cells} {form} }}"
    )
    assert sorted(t.site.op for t in trace.traces) == FORMS[form]
    assert all(t.grade is Grade.EXACT and len(t.offsets) == 1 for t in trace.traces)


BASES = """struct Row { int r; }; struct Col { int c; };
struct A { __device__ int operator()(Row x) { return x.r; } __device__ int at(Row x) { return x.r; } };
struct B { __device__ int operator()(Col x) { return x.c * 32; }
  __device__ int at(Col x) { return x.c * 32; } };
struct AB : A, B { using A::operator(); using B::operator(); using A::at; using B::at; };
template <class... F> struct All : F... { using F::operator()...; };
template <class... F> All(F...) -> All<F...>;
"""


@pytest.mark.parametrize(
    ("call", "stride"), {"ab(Row{t})": 4, "ab(Col{t})": 128, "ab.at(Col{t})": 128}.items()
)
def test_methods_of_several_bases_are_told_apart_by_their_arguments(call: str, stride: int) -> None:
    body = f"__shared__ float s[1024]; int t = threadIdx.x; AB ab; s[{call}] = 1;"
    (trace,) = traced(f"__global__ void k() {{ {body} }}", BASES).traces
    assert trace.offsets.tolist() == [[stride * lane for lane in range(32)]]


@pytest.mark.parametrize("argument", ["Row{t}", "Col{t}", "Col{3}"])
def test_which_of_two_lambdas_an_object_calls_is_not_guessed(argument: str) -> None:
    made = "auto f = All{[t](Row x) { return x.r; }, [t](Col x) { return t * 32; }};"
    body = f"__shared__ float s[1024]; int t = threadIdx.x; {made} s[f({argument})] = 1;"
    (trace,) = traced(f"__global__ void k() {{ {body} }}", BASES).traces
    assert trace.grade is not Grade.EXACT


def test_a_pack_beside_an_auto_is_expanded() -> None:
    each = "auto each = [&](auto f, auto... i) { (f(i), ...); };"
    each += " each([&](int i) { s[i] = 1; }, t, t + 32, t + 64);"
    (trace,) = traced(f"__global__ void k() {{ __shared__ float s[96]; int t = threadIdx.x; {each} }}").traces
    assert trace.offsets[:, 0].tolist() == [0, 128, 256]


def test_members_are_made_of_several_values_in_templates() -> None:
    head = """template <class T> struct Ref { T *p; int step; __device__ Ref(T *q, int n) : p(q), step(n) {}
      __device__ T &at(int i) { return p[i * step]; } };
    template <class S> struct Reader { struct Storage { float a[S::n]; }; Ref<float> a; 
      __device__ Reader(Storage &s) : a(s.a, 2) {} __device__ float run() { return a.at(threadIdx.x); } };
    struct Size { static constexpr int n = 64; };"""
    body = "__shared__ typename R::Storage s; R r(s); o[threadIdx.x] = r.run();"
    start = "void start() { k<Reader<Size>><<<1, 32>>>(nullptr); }"
    text = f"{head} template <class R> __global__ void k(float *o) {{ {body} }} {start}"
    (access,) = analyze(text).kernels[0].accesses
    assert (access.op, access.wavefronts, access.ideal) == ("load", 2, 1)
