"""Launches that differ in the numbers they pass: one answer where these change nothing, else one for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from smemlint.rules import Severity

from smemlint.api import Job, View, analyse_file, check
from smemlint.diagnose.model import Report
from smemlint.ir import Launch
from smemlint.render.inspect import render_table

START = """
int main() {{
    float *p;
    for (int pitch = {first}; pitch <= {last}; pitch *= 2) column<<<1, 64>>>(p, pitch);
}}
"""
PITCHED = """
__global__ void column(float *p, int pitch) {
    extern __shared__ float s[];
    s[threadIdx.x * pitch] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x];
}
"""
SHIFTED = PITCHED.replace("threadIdx.x * pitch", "threadIdx.x + 32 * pitch")


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Report:
    monkeypatch.chdir(tmp_path)
    kernel, first, last = request.param
    (tmp_path / "a.cu").write_text(kernel + START.format(first=first, last=last))
    return check([Job("a.cu")], View(level=Severity.NOTE))


@pytest.mark.parametrize("report", [(PITCHED, 1, 8)], indirect=True)
def test_the_worst_of_a_few_numbers_is_told_with_the_number(report: Report) -> None:
    (found,) = [d for d in report.diagnostics if d.severity is Severity.WARNING]
    assert found.title == "8-way bank conflict"
    assert any("block (64) from a.cu:" in note and "with pitch = 8" in note for note in found.notes)
    assert [k.launch.variant for k in report.kernels] == [(("pitch", n),) for n in (8, 4, 2, 1)]
    assert report.summary.accesses == report.summary.resolved == 2
    assert "column, block (64, 1, 1) from a.cu:11, pitch = 8\n" in render_table(report)


@pytest.mark.parametrize("report", [(PITCHED, 32, 256)], indirect=True)
def test_numbers_with_the_same_ways_have_one_answer(report: Report) -> None:
    (kernel,) = report.kernels
    store = next(a for a in kernel.accesses if a.op == "store")
    assert (store.grade, store.ways, store.ways_low) == ("exact", 32, 32)


@pytest.mark.parametrize("report", [(SHIFTED, 1, 8)], indirect=True)
def test_a_number_that_changes_no_ways_is_left_unknown(report: Report) -> None:
    (kernel,) = report.kernels
    assert (kernel.launch.variant, kernel.launch.arguments) == ((), ())
    assert {a.grade for a in kernel.accesses} == {"exact"}


NULLABLE = """
__global__ void scaled(const float *in, const float *bias, float *out) {
    __shared__ float s[1024];
    int step = 1;
    s[threadIdx.x] = in[threadIdx.x];
    if (bias) step = USE;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * step];
}
int main() {
    float *p;
    scaled<<<1, 64>>>(p, p + 64, p);
    scaled<<<1, 64>>>(p, nullptr, p);
}
"""


@pytest.mark.parametrize(("step", "told"), [("4", [(4, ()), (1, (("bias", 0),))]), ("1", [(1, ())])])
def test_a_launch_that_passes_a_null_pointer_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, told: list[tuple[int, object]]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").write_text(NULLABLE.replace("USE", step))
    report = check([Job("a.cu")], View(level=Severity.NOTE))
    ways = [(next(a for a in k.accesses if a.op == "load").ways, k.launch.variant) for k in report.kernels]
    assert ways == told


def test_a_launch_that_passes_nothing_new_is_not_evaluated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evaluated: list[Launch]
) -> None:
    (tmp_path / "a.cu").write_text(NULLABLE.replace("USE", "4"))
    assert len(analyse_file(Job(str(tmp_path / "a.cu"))).kernels) == 2
    assert [launch.arguments for launch in evaluated] == [{}, {"bias": 0}]


@pytest.mark.parametrize(
    ("use", "times"),
    [
        ("USED * bias[threadIdx.x]", 1),
        ("USED", 1),
        ("*(bias + 1)", 2),
        ("(&bias[0] ? 1 : 2)", 2),
        ("(bias == out ? 1 : 2)", 2),
        ("asked(bias)", 2),
    ],
)
def test_a_null_pointer_of_which_only_elements_are_taken_is_not_evaluated(
    tmp_path: Path, evaluated: list[Launch], use: str, times: int
) -> None:
    asked = "__device__ float asked(const float *p) { return p ? *p : 1.f; }\n"
    text = NULLABLE.replace("if (bias) step = USE;", "").replace("= s[threadIdx.x * step]", f"= s[0] * {use}")
    (tmp_path / "a.cu").write_text(asked + text.replace("USED", "2"))
    (kernel,) = analyse_file(Job(str(tmp_path / "a.cu"))).kernels
    assert len(evaluated) == times and len(kernel.accesses) == 2
