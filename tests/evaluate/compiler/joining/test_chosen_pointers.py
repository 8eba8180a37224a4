"""Pointers that a condition moves by a number: which elements behind them join.

Read from machine code (nvcc 13.0, sm_90): SPLIT is LDS and LDS.128, WHOLE one LDS.128 of four floats.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

WHOLE, SPLIT = [16], [4, 16]
PLAIN = "__shared__ float s[1024]"
ROWS = "__shared__ float s[32][36]"
USE = "out[t] = p[0] * p[1] + p[2] * p[3];"


def told(code: str, shared: str = PLAIN) -> tuple[list[int], set[Grade]]:
    """The widths of the loads that run, and their grades."""
    text = f"""__global__ void k(float *out, const int *in, int n)
    {{ {shared}; int t = threadIdx.x; ((float *)s)[t] = n; __syncthreads(); {code} }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    widths = [t.joined or t.site.width for t in trace.traces if t.site.op == "load" and len(t.offsets)]
    grades = {c.grade for c in score_all(trace) if c.site.op == "load" and c.wavefronts is not None}
    return sorted(widths), grades


@pytest.mark.parametrize(
    "move",
    [
        "if (t < 7) p += 4;",
        "if (n < 7) p += 128;",
        "if (t < 7) p -= 4;",
        "if (t < 7) p = p + 4;",
        "p = t < 7 ? p + 4 : p;",
        "p = n > 3 ? p : p + 64;",
        "int k = 0; if (t < 7) { p += 4; k = 1; } out[t + 64] = k;",
    ],
)
def test_the_first_element_behind_a_moved_pointer_runs_alone(move: str) -> None:
    assert told(f"float *p = s + 16 * t; {move} {USE}") == (SPLIT, {Grade.EXACT})


@pytest.mark.parametrize(
    "code",
    [
        "float *p = s + 16 * t + (t < 7 ? 4 : 0);",
        "int i = 16 * t; if (t < 7) i += 4; float *p = s + i;",
        "float *p = s + 16 * t; if (t < 7) p += 4; else p += 8;",
        "float *p = s + 16 * t; if (t < 7) { p += 4; out[t + 64] = 1; }",
        "float *p = s + 16 * t; if (t < 7) p += 4; p += 4;",
        "float *p = s + 16 * t + 8; if (t < 7) p += 4;",
        "float *p = s; if (t < 7) p += 4; p += 16 * t;",
    ],
)
def test_an_index_that_is_chosen_leaves_its_neighbours_together(code: str) -> None:
    assert told(f"{code} {USE}") == (WHOLE, {Grade.EXACT})


@pytest.mark.parametrize(
    ("start", "widths"),
    [("s[t]", WHOLE), ("s[t] + 8", WHOLE), ("&s[0][4 * t]", SPLIT), ("&s[1][4 * t]", SPLIT)],
)
def test_of_rows_the_last_index_decides(start: str, widths: list[int]) -> None:
    assert told(f"float *p = {start}; if (t < 7) p += 36; {USE}", ROWS) == (widths, {Grade.EXACT})


def test_a_declared_alignment_joins_them_before() -> None:
    code = f"float *p = s + 16 * t; if (t < 7) p += 4; {USE}"
    assert told(code, f"__align__(16) {PLAIN}") == (WHOLE, {Grade.EXACT})
    assert told(code, "extern __shared__ float s[]") == (WHOLE, {Grade.EXACT})


def test_elements_of_two_words_are_no_first_element() -> None:
    code = (
        "float *p = s + 16 * t; if (t < 7) p += 4; float2 v = *(float2 *)p; out[t] = v.x + v.y * p[2] * p[3];"
    )
    assert told(code) == (WHOLE, {Grade.EXACT})


@pytest.mark.parametrize(
    "code",
    [
        "float *p = s + 16 * t; switch (n) { case 1: p += 256; break; }",  # SPLIT
        "float *p = s + 4 * t; if (n == 7) p += 256; else if (n == 8) p += 512;",  # LDS.128
        "float *p = s + (31 - t) * 4; if (n > 3) p += 64;",  # SPLIT
        "float *p = s + 124 - 4 * t; if (n > 3) p += 64;",  # WHOLE
    ],
)
def test_where_it_is_not_clear_both_are_possible(code: str) -> None:
    assert told(f"{code} {USE}")[1] == {Grade.BOUND}


def test_an_address_before_keeps_all_of_them_apart() -> None:
    # nvcc makes s + 4 * t + 256 of s + t + 256: 4 x LDS
    code = f"s[t + 256] = n; __syncthreads(); float *p = s + 4 * t; if (n > 3) p += 256; {USE}"
    assert Grade.BOUND in told(code)[1]


def test_a_shift_by_a_chosen_number_tells_little_of_alignment() -> None:
    # t << (c ? 2 : 4): 4 x LDS
    assert told(f"float *p; if (t < 7) p = s + 16 * t; else p = s + 4 * t; {USE}")[1] == {Grade.BOUND}
