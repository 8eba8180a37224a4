"""Conditions of loops that change something."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

BEFORE = """__device__ bool go(int &i, int n) { ++i; return i < n; }
struct Turn { int i; __device__ bool more(int n) { ++i; return i < n; } };
"""


@pytest.mark.parametrize(
    ("begin", "condition", "i"),
    [
        ("int i = 0;", "++i < n", "i"),
        ("int i = 0;", "go(i, n)", "i"),
        ("int i = 0; auto f = [&](int by) { i += by; return i < n; };", "f(1)", "i"),
        ("Turn turn{0};", "turn.more(n)", "turn.i"),
    ],
)
def test_a_condition_that_steps_in_a_function_steps_once_for_each_round(
    begin: str, condition: str, i: str
) -> None:
    body = f"while ({condition}) {{ s[{i} * 32 + threadIdx.x] = 1; if ({i} == 2) break; }}"
    text = f"{BEFORE}__global__ void k(int n) {{ __shared__ int s[4096]; {begin} {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)), as_written=True)
    (only,) = trace.traces
    assert only.offsets[:, 0].tolist() == [4 * 32, 4 * 64]
