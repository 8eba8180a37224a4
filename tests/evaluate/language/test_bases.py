"""Bases of classes: what constructors give them, and their methods, called by name."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

PLAIN = """
struct Base { float *data; __device__ float get(int i) const { return data[i]; } };
struct Made { float *data; __device__ Made(float *p) : data(p) {} };
"""
GENERIC = """
template <typename T> struct Base { T *data; __device__ T get(int i) const { return data[i]; } };
"""


@pytest.mark.parametrize(
    ("classes", "view"),
    [
        pytest.param(
            PLAIN + "struct V : Base { int by; __device__ V(float *p, int n) : Base{p}, by(n) {}\n"
            "__device__ float get(int i) const { return data[i * by]; } };",
            "V",
            id="a base in braces",
        ),
        pytest.param(
            PLAIN + "struct V : Made { int by; __device__ V(float *p, int n) : Made(p), by(n) {}\n"
            "__device__ float get(int i) const { return data[i * by]; } };",
            "V",
            id="a base with a constructor",
        ),
        pytest.param(
            PLAIN + "struct V : Base { int by; __device__ V(float *p) : V(p, 8) {}\n"
            "__device__ V(float *p, int n) : Base{p}, by(n) {}\n"
            "__device__ float get(int i) const { return Base::get(i * by); } };",
            "V",
            id="a method of the base that is overridden",
        ),
        pytest.param(
            GENERIC + "template <typename T> struct V : Base<T> { int by;\n"
            "__device__ V(T *p, int n) : Base<T>{p}, by(n) {}\n"
            "__device__ T get(int i) const { return Base<T>::get(i * by); } };",
            "V<float>",
            id="in templates",
        ),
    ],
)
def test_an_object_over_shared_memory_reaches_it_through_its_base(classes: str, view: str) -> None:
    text = f"""{classes}
    __global__ void k(float *out) {{ __shared__ float s[1024];
    {view} v(s + 1, 4); out[0] = v.get(threadIdx.x); }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert (conflict.grade, conflict.wavefronts) == (Grade.EXACT, 4)


def test_a_constructor_that_hands_on_to_another_has_made_all_of_it() -> None:
    text = """struct V { float *p; int by; __device__ V(float *q, int n) : p(q), by(n) {}
    __device__ V(float *q) : V(q, 8) {} };
    __global__ void k() { __shared__ float s[1024]; V v(s); v.p[threadIdx.x * v.by] = 1; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert (conflict.grade, conflict.wavefronts) == (Grade.EXACT, 8)


@pytest.mark.parametrize(
    ("classes", "made"),
    [
        pytest.param(
            "template <int N> struct D : Array<N> { typedef Array<N> Up;\n"
            "__device__ D(int a) : Up(a, 4) {} };",
            "D<2> d = {8};",
            id="a type of the class",
        ),
        pytest.param(
            "using Pair = Array<2>; struct D : Pair { __device__ D(int a) : Pair(a, 4) {} };",
            "D d(8);",
            id="a type outside",
        ),
        pytest.param(
            "template <class B> struct D : B { __device__ D(int a) : B(a, 4) {} };",
            "D<Array<2>> d(8);",
            id="a template parameter",
        ),
    ],
)
def test_a_constructor_may_name_its_base_by_another_name(classes: str, made: str) -> None:
    text = f"""template <int N> struct Array {{ int v[N];
    __device__ Array() {{ for (int i = 0; i < N; i++) v[i] = 1; }}
    __device__ Array(int a, int b) {{ v[0] = a; v[1] = b; }}
    __device__ int operator[](int i) const {{ return v[i]; }} }};
    {classes}
    __global__ void k(float *out) {{ __shared__ float s[1024]; {made}
    out[0] = s[threadIdx.x * d[0]]; __syncthreads(); out[1] = s[threadIdx.x * d[1]]; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert [(c.grade, c.wavefronts) for c in found] == [(Grade.EXACT, 8), (Grade.EXACT, 4)]


HIDDEN = """
struct Base { %s __device__ %s int w() const { return 32; } __device__ int n() const { return 32; } };
struct Derived : Base { __device__ int w() const { return 1; } __device__ int n() const { return 1; } };
__device__ int by(const Base &b) { return b.n(); }
template <class B> __device__ int of(const B &d) { const Base &b = d; return b.n(); }
__global__ void k(float *p) {
    __shared__ float s[1024];
    Derived d;
    const Base &b = d;
    const Base *q = &d;
    s[threadIdx.x * (%s)] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x];
}
void go(float *p) { k<<<1, 32>>>(p); }
"""


@pytest.mark.parametrize("member", ["", "int own = 0;"])
@pytest.mark.parametrize("virtual", ["", "virtual"])
@pytest.mark.parametrize(
    ("call", "ways", "if_virtual"),
    [
        ("b.n()", 32, 32),
        ("q->n()", 32, 32),
        ("by(d)", 32, 32),
        ("of(d)", 32, 32),
        ("((const Base *)&d)->n()", 32, 32),
        ("d.n()", 1, 1),
        ("d.Base::n()", 32, 32),
        ("b.w()", 32, 1),
        ("q->w()", 32, 1),
        ("q->Base::w()", 32, 32),
    ],
)
def test_a_base_names_its_own_methods_that_are_not_virtual(
    member: str, virtual: str, call: str, ways: int, if_virtual: int
) -> None:
    """Of a base without members, or with a virtual table, the derived class's was taken."""
    (module,) = load(source_from_bytes("k.cu", (HIDDEN % (member, virtual, call)).encode()))
    scored = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert [c.wavefronts for c in scored if c.site.op == "store"] == [if_virtual if virtual else ways]


BELOW = """
struct Map {
    __device__ virtual int at(int t) const { return t; }
    __device__ int twice(int t) { return at(t); }
};
struct Wide : Map { __device__ int at(int t) const override { return t * 4; } };
struct Last : Wide {};
struct Scene { Map *one; Map **all; };
__global__ void k(float *p, Map *map, Scene scene, Last *last) {
    __shared__ float s[2048];
    const int t = threadIdx.x;
    Wide wide; Map *own = &wide;
    s[%s] = p[t]; __syncthreads(); p[t] = s[t];
}
"""


@pytest.mark.parametrize("call", ["map->at(t)", "scene.one->twice(t)", "scene.all[1]->at(t)"])
def test_a_virtual_function_of_an_object_that_nobody_makes_may_be_a_class_below(call: str) -> None:
    (module,) = load(source_from_bytes("k.cu", (BELOW % call).encode()))
    found = [
        t for t in evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces if t.site.op == "store"
    ]
    assert [t.grade for t in found] == [Grade.BOUND]


@pytest.mark.parametrize("call", ["own->at(t)", "own->twice(t)", "last->at(t)"])
def test_a_virtual_function_of_an_object_of_a_known_class_is_followed(call: str) -> None:
    (module,) = load(source_from_bytes("k.cu", (BELOW % call).encode()))
    scored = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert [c.wavefronts for c in scored if c.site.op == "store"] == [4]


NAMED = """
struct Rows {
    int pitch;
    __device__ virtual int at(int t) const { return t * pitch; }
};
struct Skewed : Rows {
    int pitch = 3;
    __device__ int at(int t) const final { return Rows::at(t) + t * pitch * 8; }
};
struct Plain : Rows {
    int pitch = 3;
    __device__ int by(int t) const { auto step = [&] { return pitch; }; return step() * t; }
};
__device__ int of(const Rows &r, int t) { return r.pitch * t; }
__device__ int through(const Rows *r, int t) { return r->pitch * t; }
__global__ void k(float *p) {
    __shared__ float s[2048];
    const int t = threadIdx.x;
    Skewed skewed; skewed.Rows::pitch = 2; Plain plain; plain.Rows::pitch = 4; Rows &rows = plain;
    s[%s] = p[t]; __syncthreads(); p[t] = s[t];
}
"""


@pytest.mark.parametrize(
    ("index", "by"),
    [
        ("skewed.at(t)", 26),
        ("plain.at(t)", 4),
        ("plain.by(t)", 3),
        ("plain.pitch * t", 3),
        ("of(skewed, t)", 2),
        ("through(&plain, t)", 4),
        ("rows.pitch * t", 4),
    ],
)
def test_a_member_is_that_of_the_class_which_is_named(index: str, by: int) -> None:
    """Of an object with a virtual table, the derived class's of the same name was taken."""
    (module,) = load(source_from_bytes("k.cu", (NAMED % index).encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert [(t.grade, t.offsets[0].tolist()) for t in traces if t.site.op == "store"] == [
        (Grade.EXACT, [4 * by * t for t in range(32)])
    ]
