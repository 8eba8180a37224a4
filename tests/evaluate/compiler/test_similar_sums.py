"""Neighbours whose index nvcc may write with the help of another sum: a range. The widths were read from
machine code (nvcc 13.0, sm_90): 4 means that it leaves the four accesses apart, 16 that it joins them."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

PROLOGUE = "int t = threadIdx.x & 31, w = threadIdx.x >> 5, b = blockIdx.x;"
FOUR = "out[{1}] = s[{0}] * 2 + s[{0} + 1] * 3 + s[{0} + 2] * 4 + s[{0} + 3] * 5;"


def ends(
    before: str, index: str, *, shared: str = "__shared__ float s[4096]", to: str = "b"
) -> tuple[float, float]:
    """The least and the most ways of four neighbours at `index`, after some code."""
    body = f"{shared}; {PROLOGUE} {before} __syncthreads();\n{FOUR.format(index, to)}"
    text = f"__global__ void k(const float *in, float *out, int n) {{ {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((256, 1, 1)))
    assert all(one.grade is not Grade.UNRESOLVED for one in trace.traces)
    found = [c for c in score_all(trace) if c.site.place.line == 2 and c.wavefronts]
    low, high, ideal = (
        sum(getattr(c, end) for c in found) for end in ("wavefronts_low", "wavefronts", "ideal")
    )
    return low / ideal, high / ideal


@pytest.mark.parametrize(
    ("before", "index", "width"),
    [
        ("s[t] = in[w * 128 + t];", "w * 128 + t * 4", 4),
        ("s[w * 128 + t] = in[b];", "w * 128 + t * 4", 4),
        ("int base = w * 128; s[t] = in[base + t];", "base + t * 4", 4),
        ("const float *p = in + w * 128; s[t] = p[t];", "w * 128 + t * 4", 4),
        ("if (w * 128 + t < n) s[t] = in[b];", "w * 128 + t * 4", 4),
        ("s[t] = in[w * 128 + t * 3];", "w * 128 + t * 4", 4),
        ("s[t] = in[w * 127 + t * 4];", "w * 128 + t * 4", 4),
        ("s[t] = in[b * 512 + w * 128 + t];", "b * 512 + w * 128 + t * 4", 4),
        ("s[t] = in[w * 128 + t * 8];", "w * 128 + t * 4", 4),
        ("s[t] = in[b];", "w * 128 + t * 4", 16),
        ("s[t] = in[w * 132 + t * 4];", "w * 128 + t * 4", 16),
        ("s[t] = in[w * 64 + t];", "w * 128 + t * 4", 16),
        ("s[t] = in[b * 1024 + w * 128 + t];", "w * 128 + t * 4", 16),
        ("s[t] = in[(long long)w * 128 + t];", "w * 128 + t * 4", 16),
        ("s[t] = in[t];", "w * 128 + t * 4", 16),
        ("s[t] = in[w * 128 - t];", "w * 128 + t * 4", 16),
        ("s[t] = 0;", "t * 4", 16),
        ("if (n > 3) out[w * 128 + t] = 3; s[t] = 0;", "w * 128 + t * 4", 16),
    ],
)
def test_a_sum_before_may_keep_neighbours_apart(before: str, index: str, width: int) -> None:
    assert ends(before, index) == ((1, 4) if width == 4 else (1, 1))


def test_a_sum_that_follows_keeps_nothing_apart() -> None:
    assert ends("s[t] = 0;", "w * 128 + t * 4", to="w * 128 + t") == (1, 1)


def test_a_declared_alignment_joins_before_sums_are_shared() -> None:
    before = "s[t] = in[w * 128 + t];"
    assert ends(before, "w * 128 + t * 4", shared="__shared__ __align__(16) float s[4096]") == (1, 1)
    assert ends(before, "w * 128 + t * 4", shared="extern __shared__ float s[]") == (1, 1)


def test_the_row_of_an_array_is_no_part_of_the_sum() -> None:
    rows = "__shared__ float s[8][1024]"
    assert ends("s[w][t] = in[w * 128 + t];", "0][w * 128 + t * 4", shared=rows) == (1, 4)
    text = "s[w][t] = in[w * 1024 + t];"
    assert ends(text, "w][t * 4", shared=rows) == (1, 1)
