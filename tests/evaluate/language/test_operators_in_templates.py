"""Operators of classes in templates, where clang leaves them open."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT, INT
from smemlint.source import source_from_bytes

IN_TEMPLATES = {
    "struct Q { float x, y; }; Op<Q> q{(Q *)s + t}; q->y = 3;": [8 * i + 4 for i in range(32)],
    "Op<Pair> q{(Pair *)s + t}; q->put(3);": [8 * i + 4 for i in range(32)],
    "Place i{t}; s[i] = 1;": [4 * i for i in range(32)],
    "Place i{t}; s[i + 3] = 1;": [4 * (i + 6) for i in range(32)],
}


@pytest.mark.parametrize(("body", "bytes"), IN_TEMPLATES.items())
def test_operators_that_a_template_leaves_open_are_those_of_the_class(body: str, bytes: list[int]) -> None:
    text = f"""template <class T> struct Op {{ T *p; __device__ T *operator->() {{ return p; }} }};
    struct Pair {{ float x, y; __device__ void put(int v) {{ y = v; }} }};
    struct Place {{
        int v; __device__ Place operator+(int o) const {{ return {{v + 2 * o}}; }}
        __device__ operator int() const {{ return v; }}
    }};
    template <class T, class F> __global__ void k(F *out) {{ __shared__ F s[256]; T t = threadIdx.x;
    {body} }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    launch = Launch((32, 1, 1), template={"T": INT, "F": FLOAT})
    (trace,) = evaluate(module, module.kernels()[0], launch).traces
    assert trace.offsets.ravel().tolist() == bytes
