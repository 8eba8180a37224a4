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


@pytest.mark.parametrize(
    ("condition", "seen"),
    [
        ("(*i)-- > 0", [2, 1, 0]),
        ("--(*i) > 0", [2, 1]),
        ("(*i)++ < 6", [4, 5, 6]),
        ("held.x-- > 0", [2, 1, 0]),
    ],
)
@pytest.mark.parametrize("as_written", [True, False])
def test_a_condition_that_steps_what_a_pointer_leads_to_steps_once_for_each_round(
    condition: str, seen: list[int], as_written: bool
) -> None:
    body = f"int2 held{{3, 0}}; int *i = &held.x; while ({condition}) s[*i * 32 + threadIdx.x] = 1;"
    text = f"__global__ void k() {{ __shared__ int s[4096]; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)), as_written=as_written)
    assert [o for t in trace.traces for o in t.offsets[:, 0].tolist()] == [4 * 32 * i for i in seen]
