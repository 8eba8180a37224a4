"""Statements in text that clang complains about and keeps."""

from __future__ import annotations

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes


def test_a_number_returned_from_a_void_function_is_dropped() -> None:
    text = (
        "__device__ void set(int &x) { x = 2; return x; }\n"
        "__global__ void k() { __shared__ int s[64]; int x = 1; set(x); s[threadIdx.x * x] = 0; }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert not [n for n in trace.notes if n.code == "internal-error"]
    assert [c.ways for c in score_all(trace)] == [2]
