"""Stages of a transform: an unrolled loop around one that stays. Read from machine code (nvcc 13)."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes


def widths(first: str, second: str, inner: str, stages: int = 2) -> set[tuple[str, int]]:
    """Kinds and bytes of what may run in the stages of a block of 64 threads."""
    text = f"""__global__ void k(float *o, int n) {{ __shared__ float s[2048];
for (int i = threadIdx.x; i < 2048; i += 64) s[i] = o[i];
__syncthreads();
_Pragma("unroll") for (int stage = 0; stage < {stages}; ++stage) {{ const int half = 1 << stage;
for (int b = threadIdx.x; {inner}) {{ int lo = {first}, hi = {second};
float u = s[lo];
float v = s[hi];
s[lo] = u + v;
s[hi] = u - v; }}
__syncthreads(); }}
for (int i = threadIdx.x; i < 2048; i += 64) o[i] = s[i]; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((64, 1, 1), arguments={"n": 128}))
    found = [c for c in score_all(trace) if c.executions and 6 <= c.site.place.line <= 9]
    return {(c.site.op, 4 * round(c.ideal / c.executions)) for c in found}


BOTH = {("load", 4), ("load", 8), ("store", 4), ("store", 8)}
APART = {("load", 4), ("store", 4)}


@pytest.mark.parametrize("inner", ["b < 128; b += 64", "b < 128; b += 128", "b < n; b += 64"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2 * b * half", "lo + half"),
        ("((b >> stage) << (stage + 1)) + (b & (half - 1))", "lo + half"),
        ("4 * b + 2 * stage", "lo + 2 - stage"),
    ],
)
def test_a_stage_joins_what_are_neighbours_in_it(first: str, second: str, inner: str) -> None:
    """What another stage makes of the same line is code of its own."""
    assert widths(first, second, inner) == BOTH


def test_so_it_is_in_more_stages_than_machine_code_would_unroll_by_itself() -> None:
    flat = "((b >> stage) << (stage + 1)) + (b & (half - 1))"
    assert widths(flat, "lo + half", "b < 512; b += 64", stages=10) == BOTH


def test_neighbours_that_begin_at_an_odd_word_stay_apart_in_each_stage() -> None:
    assert widths("2 * b * half + 1", "lo + half", "b < 128; b += 64") == APART
