"""Conditions of loops that change something."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from smemlint.banks import wavefronts
from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
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


@pytest.mark.parametrize(
    ("loop", "left"),
    [
        ("while (i >= n) i -= n;", lambda t, n: t % n),
        ("for (; i > n; i -= n) ;", lambda t, n: t if t <= n else (t - 1) % n + 1),
        ("do i -= n; while (i >= n); i += n;", lambda t, n: t % n + n if t >= n else t),
        ("while (true) { if (i < n) break; i -= n; }", lambda t, n: t % n),
        ("for (;;) { i -= n; if (i < 0) break; } i += n;", lambda t, n: t % n),
        ("i = 0; for (int k = 0; k < 8; k++) { if (t < k * n) break; i = k; }", lambda t, n: min(t // n, 7)),
    ],
)
def test_a_loop_that_a_large_size_would_never_begin_may_run(
    loop: str, left: Callable[[int, int], int]
) -> None:
    body = f"const int t = threadIdx.x; int i = t; {loop} s[i * 4 + t] = 1;"
    text = f"__global__ void k(float *o, int n) {{ __shared__ float s[4096]; {body} o[threadIdx.x] = s[7]; }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    (store,) = [c for c in found if c.site.op == "store"]
    truth = {
        wavefronts("store", 4, [16 * left(t, n) + 4 * t for t in range(32)]).wavefronts
        for n in (1, 2, 5, 9, 30, 64)
    }
    assert len(truth) > 1
    assert store.grade is Grade.BOUND
    assert store.wavefronts_low <= min(truth) and max(truth) <= store.wavefronts


def test_a_loop_that_a_large_size_begins_is_told_as_for_it() -> None:
    body = "int i = threadIdx.x; for (; i < n; i += 32) ; s[(i * 4) & 1023] = 1;"
    text = f"__global__ void k(float *o, int n) {{ __shared__ float s[4096]; {body} o[threadIdx.x] = s[7]; }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    (store,) = [c for c in found if c.site.op == "store"]
    assert (store.wavefronts, store.grade) == (4, Grade.EXACT)


def test_a_size_beside_a_condition_of_single_lanes_is_asked_as_any_other() -> None:
    """The condition is true in every fourth lane, and a guess of a large size stands in it."""
    text = """__global__ void k(float *out, int n, int m) {
    __shared__ float s[128];
    int group = threadIdx.x / 4;
    for (int i = 0; i < n; i++) {
        s[threadIdx.x] = i;
        __syncthreads();
        if (group < m && threadIdx.x % 4 == 0) out[i * m + group] = s[threadIdx.x + 1];
    }
}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)), as_written=True)
    assert trace.notes == ()
    (load_,) = [t for t in trace.traces if t.site.op == "load"]
    assert {tuple(np.flatnonzero(row >= 0)) for row in load_.offsets} == {tuple(range(0, 32, 4))}


@pytest.mark.parametrize(
    ("begin", "head"),
    [
        ("int k = 8;", "while (k-- > 0)"),
        ("int k = 8;", "while (--k >= 0)"),
        ("int k = 8;", "while (k--)"),
        ("", "for (int k = 7; k >= 0; k--)"),
    ],
)
@pytest.mark.parametrize("end", ["(t & 3)", "n"])
def test_a_break_on_the_counter_against_what_only_the_run_tells_keeps_the_loop(
    begin: str, head: str, end: str
) -> None:
    """nvcc 13.0 for sm_90: LDS of 4 bytes in a loop."""
    text = f"""__global__ void k(float *p, int n) {{ __shared__ float s[512]; int t = threadIdx.x;
    s[t] = p[t]; __syncthreads(); float v = 0; {begin} {head} {{ if (k < {end}) break;
    v += s[t * 8 + k];
    }} p[t] = v; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    loads = [t for t in traces if t.site.op == "load"]
    assert [t.joined or t.site.width for t in loads] == [4]


def test_a_break_on_data_lets_the_loop_disappear() -> None:
    """nvcc 13.0 for sm_90: two LDS.128."""
    text = """__global__ void k(float *p, int n) { __shared__ float s[512]; int t = threadIdx.x; s[t] = p[t];
    __syncthreads(); float v = 0; int k = 8; while (k-- > 0) { if (p[t] > n) break;
    v += s[t * 8 + k];
    } p[t] = v; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert {t.joined for t in traces if t.site.op == "load"} == {16}
