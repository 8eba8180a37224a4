"""Conflicts of one of several ways that a run-time condition chooses: told with the condition."""

from __future__ import annotations

from pathlib import Path

import pytest
from smemlint.rules import Severity

from smemlint.api import Job, analyse_file
from smemlint.diagnose.merge import diagnose, merge_kernels
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.unknowns import Unknowns, condition_of
from smemlint.ir.types import INT, LONG

KERNEL = """
struct Options {{ int mode, more; }};
__global__ void k(float *out, int n, int m, bool on, Options o) {{
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = out[t];
    __syncthreads();
    float v = 0;
    {0}
    out[t] = v;
}}
void host(float *out, int n, int m, bool on, Options o) {{ k<<<1, 32>>>(out, n, m, on, o); }}
"""


def told(folder: Path, body: str) -> list[tuple[str, Severity]]:
    """Title and severity of what is found."""
    source = folder / "k.cu"
    source.write_text(KERNEL.format(body))
    reports = [analyse_file(Job(str(source)))]
    return [(d.title, d.severity) for d in diagnose(merge_kernels(reports), reports)]


@pytest.mark.parametrize(
    ("body", "condition"),
    [
        ("if (n > 3) v = s[32 * t]; else v = s[t];", "n > 3"),
        ("if (3 < n) v = s[t]; else v = s[32 * t];", "n <= 3"),
        ("v = n < m ? s[32 * t] : s[t];", "n < m"),
        ("v = s[(n == 7 ? 32 : 1) * t];", "n == 7"),
        ("v = s[(o.mode != 2 ? 32 : 1) * t];", "o.mode != 2"),
        ("v = s[(on ? 1 : 32) * t];", "!on"),
        ("int w = 1; if (n % 3 == 1) w = 32; v = s[w * t];", "(n % 3) == 1"),
        (
            "switch (o.mode) { case 4: v = s[32 * t]; break; case 1: v = s[t]; break; default: v = s[2]; }",
            "o.mode == 4",
        ),
    ],
)
def test_the_conflict_of_one_way_is_a_warning_with_its_condition(
    tmp_path: Path, body: str, condition: str
) -> None:
    """Lane t of a row of 32 words is in bank 32 * t % 32, which is 0 for all."""
    assert told(tmp_path, body) == [(f"32-way bank conflict where `{condition}`", Severity.WARNING)]


@pytest.mark.parametrize(
    "body",
    [
        "int w = 1; if (n > 3) w = 32; if (m > 3) w = 1; v = s[w * t];",  # two conditions
        "v = out[64] > 1.5f ? s[32 * t] : s[t];",  # of no integers
    ],
)
def test_what_more_than_one_comparison_of_integers_chooses_is_possible_only(
    tmp_path: Path, body: str
) -> None:
    assert told(tmp_path, body) == [("up to 32-way bank conflict", Severity.NOTE)]


def test_ways_that_all_conflict_are_told_as_such(tmp_path: Path) -> None:
    (found,) = told(tmp_path, "v = s[(n > 3 ? 32 : 2) * t];")
    assert found == ("2- to 32-way bank conflict", Severity.WARNING)


def test_ways_without_a_conflict_are_silent(tmp_path: Path) -> None:
    assert told(tmp_path, "v = s[(n > 3 ? 3 : 1) * t];") == []


def test_numbers_stand_on_the_right_of_a_condition() -> None:
    unknowns = Unknowns()
    n, m = (next(iter(unknowns.value(INT, name).terms)) for name in "nm")
    assert condition_of("<=", Int(-3, LONG, {n: 1}), 0) == "n > 3"
    assert condition_of("<", Int(3, LONG, {n: -1}), 1) == "n > 3"
    assert condition_of("==", Int(2, LONG, {n: 1, m: -2}), 1) == "n == 2 * m - 2"
    assert condition_of("<", Int(0, LONG, {n: 1, m: 1}), 0) == "n + m >= 0"
