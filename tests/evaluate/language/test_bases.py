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
