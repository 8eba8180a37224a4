"""What only the text shows, over several files: kept where no file reaches it, gone where one does."""

from __future__ import annotations

from pathlib import Path

import pytest
from smemlint.rules import Severity

from smemlint.api import Job, View, check
from smemlint.diagnose.model import Report

HEADER = """\
template <bool SHARE> __device__ float blockSum(float v) {
    __shared__ float part[32];
    part[threadIdx.x / 32] = v;
    if constexpr (SHARE)
        part[0] = v + part[1];
    return v;
}
__device__ void take(float &x, float *p) { *p = x; }
__device__ void give(float *p) {
    __shared__ float held[32];
    take(
        held[threadIdx.x],
        p);
}
"""
SUM = """\
#include "sum.cuh"
__global__ void sum(float *p) { p[0] = blockSum<false>(p[1]); }
void go(float *p) { sum<<<1, 64>>>(p); }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sum.cuh").write_text(HEADER)
    return tmp_path


def told(report: Report) -> list[tuple[str, int, bool]]:
    """(kernel, line, reached) of each access of the header."""
    return [
        (k.name, a.line, a.reached) for k in report.kernels for a in k.accesses if a.place.path == "sum.cuh"
    ]


def test_a_header_alone_shows_what_nothing_in_it_calls(folder: Path) -> None:
    report = check([Job("sum.cuh")])
    assert told(report) == [
        ("blockSum", 3, False),
        ("blockSum", 5, False),
        ("blockSum", 5, False),
        ("give", 12, False),
    ]
    assert report.diagnostics == () and report.summary.kernels == 0
    assert report.summary.reasons == {"not-reached": 4}


def test_what_another_file_reaches_is_gone(folder: Path) -> None:
    (folder / "sum.cu").write_text(SUM)
    report = check([Job("sum.cuh"), Job("sum.cu")])
    assert told(report) == [
        ("sum", 3, True),
        ("blockSum", 5, False),
        ("blockSum", 5, False),
        ("give", 12, False),
    ]
    assert report.summary.kernels == 1


def test_an_entry_of_which_nothing_is_left_is_gone(folder: Path) -> None:
    (folder / "sum.cu").write_text(SUM.replace("false>(p[1])", "true>(p[1]); give(p)"))
    report = check([Job("sum.cuh"), Job("sum.cu")])
    assert {k.name for k in report.kernels} == {"sum"}
    assert all(a.reached for k in report.kernels for a in k.accesses)


def test_an_assumed_launch_that_another_file_replaces_takes_nothing_along(folder: Path) -> None:
    (folder / "kernel.cuh").write_text(
        "__global__ void k(float *p) {\n"
        "    __shared__ float s[2048];\n"
        "    s[threadIdx.x] = 1;\n"
        "    if (blockDim.x > 1024)\n"
        "        s[threadIdx.x + 1024] = 1;\n"
        "}\n"
    )
    alone = check([Job("kernel.cuh")])
    assert all(k.launch.assumed for k in alone.kernels)
    (folder / "app").mkdir()
    (folder / "app" / "main.cu").write_text(
        '#include "../kernel.cuh"\nint main() { k<<<1, 64>>>(0); k<<<1, 32>>>(0); return 0; }\n'
    )
    both = check([Job("kernel.cuh"), Job("app/main.cu")])
    assert [
        [(a.line, a.reached) for a in k.accesses if not a.reached]
        for k in both.kernels
        if not k.launch.assumed
    ] == [[(5, False)], []]


def test_a_line_has_one_note(folder: Path) -> None:
    report = check([Job("sum.cuh")], View(level=Severity.NOTE))
    notes = [(d.code, d.place.line, d.kernel) for d in report.diagnostics]
    assert notes == [("SMEM901", 3, "blockSum"), ("SMEM901", 5, "blockSum"), ("SMEM901", 12, "give")]
    assert "no kernel of this file calls `blockSum`" in report.diagnostics[0].here


def test_a_kernel_without_a_seen_access_is_told_once(folder: Path) -> None:
    text = "__global__ void q(float *p) {\n  __shared__ float s[32];\n  FILL(p);\n}\n"
    text += "void f(float *p) { q<<<10, 32>>>(p); }\n"
    (folder / "q.cu").write_text(text)
    found = [(d.code, d.place.line) for d in check([Job("q.cu")], View(level=Severity.NOTE)).diagnostics]
    assert found == [("SMEM907", 1), ("SMEM906", 3)]


def test_an_array_that_only_a_comment_uses_is_unused_and_hides_nothing(folder: Path) -> None:
    text = "__global__ void q(float *p) {\n  __shared__ float s[32];\n  *p = 1;  // s[0] = 1;\n}\n"
    (folder / "q.cu").write_text(text + "void f(float *p) { q<<<10, 32>>>(p); }\n")
    found = [(d.code, d.place.line) for d in check([Job("q.cu")], View(level=Severity.NOTE)).diagnostics]
    assert found == [("SMEM201", 2)]
