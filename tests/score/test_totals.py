"""Totals of requests of which not all need to run."""

from __future__ import annotations

import pytest
from costs import scored, traced

from smemlint.evaluate.model import Grade

ROUNDS = """
#pragma unroll 1
for (int i = 0; i < 6; i++) {
    %s
    out[i] = s[(threadIdx.x << i) & 1023];
    __syncthreads();
}
"""


@pytest.mark.parametrize(
    ("way_out", "most"),
    [
        ("if (i < n) continue;", 32),
        ("if (i == n) return;", 32),
        ("if (i > n) break;", 32),  # any number of rounds may follow the first
        ("if (out[0] > i) continue;", 32),
    ],
)
def test_rounds_that_may_be_left_out_leave_a_range_around_every_total(way_out: str, most: float) -> None:
    (c,) = [c for c in scored(ROUNDS % way_out) if c.site.op == "load"]
    assert c.grade is Grade.BOUND
    assert (c.ways_low, c.ways) == (1, most)
    assert c.reason is not None and c.reason.code in ("run-time-choice", "nonlinear-index")


def test_a_round_that_no_lane_surely_runs_may_be_left_out() -> None:
    (c,) = [c for c in scored(ROUNDS % "if (out[threadIdx.x] > i) continue;") if c.site.op == "load"]
    assert c.grade is Grade.BOUND
    assert (c.ways_low, c.ways) == (1, 32)


@pytest.mark.parametrize(
    ("rounds", "least"),
    [
        ("int i = 0; i < n; i++", 16),
        ("int i = 0, j = 0; i < 6; i++, j += 2", (32 + 5 * 16) / 6),
    ],
)
def test_later_rounds_in_which_lanes_may_be_missing_may_outweigh_the_first(rounds: str, least: float) -> None:
    """All lanes run the first round; half of them may be missing from any number of those that follow."""
    body = f"""
    for ({rounds}) {{
        s[threadIdx.x << 5] = 1;
        __syncwarp();
        if (blockIdx.x % 2 == 1 && threadIdx.x & 16) break;
    }}"""
    (c,) = scored(body, block=(32, 1, 1))
    assert c.grade is Grade.BOUND
    assert (c.ways_low, c.ways) == (pytest.approx(least), 32)


def test_rounds_that_run_together_have_one_total() -> None:
    (c,) = [c for c in scored("if (n > 3) {\n" + ROUNDS % "" + "}") if c.site.op == "load"]
    assert c.grade is Grade.EXACT
    assert c.ways == 63 / 6


def test_what_surely_runs_bounds_what_may_be_left_out() -> None:
    body = "for (int i = 0; i < 2; i++) { if (i && n > 3) break; out[i] = s[threadIdx.x << (5 * i)]; }"
    (c,) = [c for c in scored(body) if c.site.op == "load"]
    assert (c.ways_low, c.ways) == (1, 33 / 2)


def test_rounds_with_a_run_time_stride_may_be_left_out_as_well() -> None:
    body = """
    int at = 1;
    for (int i = threadIdx.x & 15; i < 77; i += 40) {
        out[i] = ((float4 *)s)[(1 + at) * n].y;
        if ((n & 1) == 0) break;
        at = i ^ 1;
    }"""
    (c,) = [c for c in scored(body) if c.site.op == "load"]
    assert c.grade is Grade.PARAMETRIC
    assert (c.ways_low, c.ways) == (1, 17 / 2)  # an even n ends it after the first round


def test_what_was_assumed_is_told() -> None:
    body = "int i = blockIdx.x * 64 + threadIdx.x; s[0] = 1; if (i < n) s[threadIdx.x * 2] = 1; "
    first, second = traced(body + "if (threadIdx.x < n) out[i] = s[threadIdx.x];").traces[:2]
    assert first.assumptions == ()
    assert [(a.kind, a.text) for a in second.assumptions] == [
        ("interior-block", "`i < n` is decided as a block in the middle of the grid finds it")
    ]
    *_, last = traced(body + "if (threadIdx.x < n) out[i] = s[threadIdx.x];").traces
    assert [a.kind for a in last.assumptions] == ["interior-block", "large-size"]
