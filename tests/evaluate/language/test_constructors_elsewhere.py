"""Constructors and methods that are declared, and defined in no file: what they set is not known, and what
they are lent is told."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT
from smemlint.source import source_from_bytes

CLASSES = """
struct View { float *p; int n; __device__ View(float *q, int k);
              __device__ float &at(int i) { return p[i * n]; } };
struct Turned { float *p; int n; Turned() = default; __device__ Turned(int k, float *q);
                __device__ float &at(int i) { return p[i * n]; } };
template <class T> struct Of { T *p; int n; __device__ Of(T *q, int k);
                               __device__ T &at(int i) { return p[i * n]; } };
struct Owner { View v; __device__ Owner(float *q) : v(q, 2) {} };
struct Step { int n = 2; __device__ Step(); __device__ Step(int k) : n(k) {} };
struct Base { int n; __device__ Base(int); };
struct Derived : Base { int k = 2; __device__ Derived(int a) : Base(a) {} };
struct Inherits : Base { using Base::Base; };
struct Holds { Base b; int k; };
struct Doubled { int n; __device__ Doubled(int a) : n(2 * a) {} };
struct HoldsDoubled { Doubled d; int k; };
struct Copied { int n; __device__ Copied(int a) : n(a) {} __device__ Copied(const Copied &); };
struct Either { int n; __device__ Either(int); __device__ Either(float f) : n(2) {} };
struct Takes { int n; __device__ Takes(int &a); __device__ Takes(const int &a, float); };
struct Outside { int n; __device__ Outside(int a); };
__device__ Outside::Outside(int a) : n(2 * a) {}
struct Later { int n = 2; __device__ Later(); };
__device__ Later::Later() = default;
struct State { int n; __device__ void step(); __device__ int get() const; };
"""


def _traced(body: str, template: bool) -> KernelTrace:
    head = "template <class T> __global__ void k()" if template else "__global__ void k()"
    text = f"{CLASSES} extern __shared__ float s[]; {head} {{ const int t = threadIdx.x; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    launch = Launch((32, 1, 1), dynamic=65536, template={"T": FLOAT} if template else {})
    return evaluate(module, module.kernels()[0], launch)


OPEN = {
    "Step a; s[t * a.n] = 1;": "none is given",
    "Step a{}; s[t * a.n] = 1;": "an empty list",
    "Derived a(2); s[t * a.n] = 1;": "the base's",
    "Inherits a(2); s[t * a.n] = 1;": "inherited",
    "Holds a{2, 4}; s[t * a.b.n] = 1;": "of a member of an aggregate",
    "Copied a(2); Copied b = a; s[t * b.n] = 1;": "a copy",
    "Either a(2); s[t * a.n] = 1;": "one of two",
    "int n = 2; Takes a(n); s[t * n] = 1;": "a number that is lent",
    "State a{2}; a.step(); s[t * a.n] = 1;": "the object of a method",
}
KNOWN = {
    "Step a(2); s[t * a.n] = 1;": 2,
    "Derived a(2); s[t * a.k] = 1;": 2,
    "Holds a{2, 4}; s[t * a.k] = 1;": 4,
    "HoldsDoubled a{2, 4}; s[t * a.d.n] = 1;": 4,
    "Either a(2.f); s[t * a.n] = 1;": 2,
    "int n = 2; Takes a(n, 1.f); s[t * n] = 1;": 2,
    "Outside a(2); s[t * a.n] = 1;": 4,
    "Later a; s[t * a.n] = 1;": 2,
    "State a{2}; int n = a.get(); s[t * a.n] = 1;": 2,
}
LENT = [
    "View v(s, 2); v.at(t) = 1;",
    "View v{s, 2}; v.at(t) = 1;",
    "View v = {s, 2}; v.at(t) = 1;",
    "auto v = View(s, 2); v.at(t) = 1;",
    "Turned v(2, s); v.at(t) = 1;",
    "Of<float> v(s, 2); v.at(t) = 1;",
    "Owner o(s); o.v.at(t) = 1;",
]


@pytest.mark.parametrize("template", [False, True])
@pytest.mark.parametrize("body", OPEN)
def test_what_it_makes_is_not_known(body: str, template: bool) -> None:
    (trace,) = _traced(body, template).traces
    assert trace.grade is not Grade.EXACT, OPEN[body]


@pytest.mark.parametrize("template", [False, True])
@pytest.mark.parametrize("body", KNOWN)
def test_what_others_make_stays_known(body: str, template: bool) -> None:
    (trace,) = _traced(body, template).traces
    assert trace.grade is Grade.EXACT
    assert trace.offsets.ravel().tolist() == [4 * KNOWN[body] * t for t in range(32)]


@pytest.mark.parametrize("template", [False, True])
@pytest.mark.parametrize("body", LENT)
def test_an_array_that_it_is_given_is_told(body: str, template: bool) -> None:
    found = _traced(body, template)
    assert not [t for t in found.traces if t.grade is Grade.EXACT]
    assert "unknown-function" in [n.code for n in found.notes]
