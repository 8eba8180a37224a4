"""Neighbours whose index is subtracted from something, in plain arrays: nvcc 13.0 (sm_90) loads and stores
some of these joined and others apart, by what else it computes. Beside each stand its LDS or STS."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.score.model import Conflict
from smemlint.source import source_from_bytes


def told(body: str, array: str = "__shared__ float s[512]", op: str = "load") -> list[Conflict]:
    text = f"""struct Four {{ float m[4]; }};
    __global__ void k(const float *in, float *out, int n) {{ {array}; int t = threadIdx.x;
    ((float *)s)[t & 7] = in[t]; __syncthreads(); float x = 0;
    {body}
    out[t] = x; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    costs = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return [c for c in costs if c.site.op == op and c.site.place.line == 4 and c.wavefronts]


@pytest.mark.parametrize(
    ("body", "op"),
    [
        ("for (int c = 0; c < 4; c++) x += s[127 - 4 * t - c];", "load"),  # 4 LDS
        ("int i = 63 - 2 * t; x = s[i] + s[i - 1] * 2;", "load"),  # 2 LDS
        ("int i = 8 * t - n * 4; x = s[i] + s[i + 1] * 2;", "load"),  # 2 LDS
        ("for (int c = 0; c < 4; c++) s[124 - 4 * t + c] = c;", "store"),  # 4 STS
    ],
)
def test_an_index_that_is_subtracted_may_come_apart(body: str, op: str) -> None:
    (one,) = told(body, op=op)
    assert one.grade is Grade.BOUND
    assert one.ways_low is not None and one.ways is not None
    assert one.ways_low < one.ways


@pytest.mark.parametrize(
    ("body", "array"),
    [
        ("for (int c = 0; c < 4; c++) x += s[124 - 4 * t + c];", "__shared__ float s[512]"),
        (
            "int u = 31 - t; x = s[4 * u] + s[4 * u + 1] * s[4 * u + 2] - s[4 * u + 3];",
            "__shared__ float s[512]",
        ),
        ("for (int c = 0; c < 4; c++) x += s[127 - 4 * t - c];", "__shared__ __align__(16) float s[512]"),
        ("for (int c = 0; c < 4; c++) x += s[31 - t][c];", "__shared__ float s[32][36]"),
        ("for (int c = 0; c < 8; c++) x += s[t][31 - c];", "__shared__ float s[32][36]"),
        ("x = s[31 - t].m[1] + s[31 - t].m[0] + s[31 - t].m[3] * s[31 - t].m[2];", "__shared__ Four s[32]"),
        (
            "const float *p = &s[31 - t][31]; for (int c = 0; c < 4; c++) x += *p--;",
            "__shared__ float s[32][36]",
        ),
    ],
)
def test_from_the_least_on_in_rows_and_of_declared_alignment_it_joins(body: str, array: str) -> None:
    """LDS.128 in each."""
    found = told(body, array)
    assert {(c.grade, c.joined) for c in found} == {(Grade.EXACT, 16)}
