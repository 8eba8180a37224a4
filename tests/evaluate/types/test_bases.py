"""Objects of derived classes: which function runs, where a member lies, what it begins as. Each statement
gives the number that C++ gives."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

CLASSES = """
struct First { int pad = 9; };
struct Base {
  int ld = 4, y = 1;
  __device__ int at(int i) { return i * ld; }
  __device__ int twice(int i) { return at(i) * 2; }
};
struct Derived : First, Base { int off = 2; __device__ int at(int i) { return Base::at(i + off); } };
struct Made { int q; __device__ Made() : q(6) {} __device__ Made(int x) : q(x * 2) {} };
struct Holder : Base, Made { int w; Base part; __device__ Holder(int x) : Made(x), w(x) { y += x; } };
struct Silent : Made { int w; __device__ Silent(int x) : w(x) {} };
struct Inherits : Made { using Made::Made; int w = 1; };
struct Shape { __device__ virtual int f(int i) { return i; } int z = 5; };
struct Round : Shape { __device__ int f(int i) override { return i * 2 + z; } };
struct Hides : Base { int ld = 9; __device__ int both(int i) { return Base::ld * i + ld; } };
template <int B> struct Policy {
  int step = B;
  static constexpr int kTwo = 2;
  __device__ int at(int i) const { return i * B; }
  __device__ int operator()(int i) const { return i + B; }
  template <int K> __device__ int by(int i) const { return i * K; }
};
template <typename P> struct Mixed : P {
  __device__ int at(int i) const { return P::at(i + 1) + P::kTwo; }
  __device__ int operator()(int i) const { return P::operator()(i * 2); }
  __device__ int by(int i) const { return P::template by<3>(i) + this->P::step; }
  __device__ void set(int v) { P::step = v; }
};
template <typename P> struct Twice : Mixed<P> {
  __device__ int at(int i) const { return Mixed<P>::at(i) * 2 + Mixed<P>::step; }
};
__device__ int by_reference(Base &b) { return b.at(3); }
__device__ int by_pointer(Base *b) { return b->at(3); }
__device__ int by_value(Base b) { return b.at(3); }
__device__ int of_shape(Shape &s) { return s.f(3); }
"""

NUMBERS = {
    "Derived d; s[d.at(3)] = 1;": 20,
    "Derived d; s[by_reference(d)] = 1;": 12,
    "Derived d; s[by_pointer(&d)] = 1;": 12,
    "Derived d; s[by_value(d)] = 1;": 12,
    "Derived d; Base &b = d; b.ld = 5; s[d.at(0)] = 1;": 10,
    "Derived d; Base *b = &d; b->y = 7; s[d.y + d.pad] = 1;": 16,
    "Derived d; Base b = d; b.ld = 8; s[d.ld + b.at(1)] = 1;": 12,
    "Derived d; Base *b = &d; Derived *e = static_cast<Derived *>(b); s[e->at(1)] = 1;": 12,
    "Derived d; s[static_cast<Base &>(d).at(2)] = 1;": 8,
    "Derived d; s[d.twice(1)] = 1;": 8,
    "Derived d, *p = &d; s[d.Base::at(3) + p->Base::at(1)] = 1;": 16,
    "Derived d[2]; s[d[1].ld + d[0].pad] = 1;": 13,
    "Holder h(3); s[h.q + h.w + h.y + h.part.ld] = 1;": 17,
    "Silent x(3); s[x.q + x.w] = 1;": 9,
    "Inherits x(3); s[x.q + x.w] = 1;": 7,
    "Made m[2]; s[m[1].q] = 1;": 6,
    "Hides h; h.Base::ld = 5; s[h.both(3) + h.ld] = 1;": 33,
    "Hides h; Base &b = h; b.ld = 6; Hides g = h; s[g.at(2) + g.ld] = 1;": 21,
    "Mixed<Policy<4>> m; s[m.at(2)] = 1;": 14,
    "Mixed<Policy<4>> m; s[m(5)] = 1;": 14,
    "Mixed<Policy<4>> m; m.set(7); s[m.by(2)] = 1;": 13,
    "Twice<Policy<4>> m; s[m.at(2)] = 1;": 32,
    "Round r; s[of_shape(r)] = 1;": 11,
    "Round r; Shape *p = &r; s[p->f(2)] = 1;": 9,
}


@pytest.mark.parametrize(("body", "number"), NUMBERS.items())
def test_an_index_made_by_a_derived_class_is_that_of_cpp(body: str, number: int) -> None:
    text = f"{CLASSES}__global__ void k() {{ __shared__ int s[64]; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert trace.grade is Grade.EXACT
    assert set(trace.offsets.ravel().tolist()) == {4 * number}
