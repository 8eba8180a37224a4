"""The generator behind everything: jobs in, a report out, files kept apart and findings merged."""

from __future__ import annotations

from pathlib import Path

import pytest
from smemlint.rules import Severity

from smemlint.api import Job, Options, View, analyse, analyse_file, check, shown
from smemlint.running import instances, schedule

HEADER = """\
template <typename T>
__global__ void column(T *out)
{
    __shared__ T tile[32][32];
    tile[threadIdx.y][threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""
FLOATS = '#include "column.cuh"\nvoid start(float *out) { column<float><<<1, dim3(32, 8)>>>(out); }\n'
DOUBLES = '#include "column.cuh"\nvoid start(double *out) { column<double><<<1, dim3(32, 4)>>>(out); }\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "column.cuh").write_text(HEADER)
    (tmp_path / "floats.cu").write_text(FLOATS)
    (tmp_path / "doubles.cu").write_text(DOUBLES)
    return tmp_path


def test_a_header_kernel_seen_from_several_files_is_one_finding(folder: Path) -> None:
    report = check([Job("column.cuh"), Job("floats.cu"), Job("doubles.cu")])
    (found,) = report.diagnostics
    assert (found.code, found.place.path, found.place.line) == ("SMEM101", "column.cuh", 7)
    assert found.title == "32-way bank conflict"
    assert "launch: block (32, 8) from floats.cu:2" in found.notes
    assert "instances: 2 of 2 conflict; worst T = float (32-way)" in found.notes
    assert {k.template_arguments for k in report.kernels} == {(("T", "float"),), (("T", "double"),)}
    assert report.summary.accesses == 2 and report.summary.files == 3


def test_a_header_alone_is_analysed_under_the_launches_of_its_project(folder: Path) -> None:
    report = check([Job("column.cuh")], View(level=Severity.NOTE))
    assert not any(k.launch.assumed for k in report.kernels)
    assert {d.code for d in report.diagnostics} == {"SMEM101"}


def test_a_header_that_nothing_includes_is_analysed_under_assumed_launches(folder: Path) -> None:
    (folder / "floats.cu").unlink()
    (folder / "doubles.cu").unlink()
    report = check([Job("column.cuh")], View(level=Severity.NOTE))
    assert "SMEM902" in {d.code for d in report.diagnostics}


def test_every_kernel_has_its_first_launch_before_any_has_its_second(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "WORK", 1)
    text = HEADER + HEADER.replace("column", "other")
    for name, rows in (("column", 8), ("column", 4), ("other", 8), ("other", 4)):
        text += f"void {name}{rows}(float *o) {{ {name}<float><<<1, dim3(32, {rows})>>>(o); }}\n"
    report = analyse_file(Job("both.cu", text=text))
    assert [(k.name, k.launch.block, len(k.accesses), [n.code for n in k.notes]) for k in report.kernels] == [
        ("column", (32, 8, 1), 2, []),
        ("column", (32, 4, 1), 0, ["budget"]),
        ("other", (32, 8, 1), 2, []),
        ("other", (32, 4, 1), 0, ["budget"]),
    ]


def test_a_first_launch_ends_with_the_limit_of_first_launches(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "WORK", 0)
    monkeypatch.setattr(schedule, "FIRST_WORK", 0)
    text = HEADER + HEADER.replace("column", "other")
    for name in ("column", "other"):
        text += f"void {name}8(float *o) {{ {name}<float><<<1, dim3(32, 8)>>>(o); }}\n"
    kernels = analyse_file(Job("both.cu", text=text)).kernels
    assert [{a.ways for a in k.accesses} for k in kernels] == [{None}, {None}]
    assert "further kernels were left out after 0 evaluation steps" in str(kernels[1].notes)


def test_instances_for_functions_of_one_template_are_told_apart() -> None:
    text = """
template <int N> __device__ int by(int t) { return t * N; }
template <int (*F)(int)> __global__ void k(float *p) { __shared__ float s[1024]; s[F(threadIdx.x)] = *p; }
void go(float *p) { k<by<2>><<<1, 32>>>(p); k<by<4>><<<1, 32>>>(p); }
"""
    kernels = analyse_file(Job("by.cu", text=text)).kernels
    assert [(k.template_arguments, [a.ways for a in k.accesses]) for k in kernels] == [
        ((("F", "&by<2>"),), [2]),
        ((("F", "&by<4>"),), [4]),
    ]


def test_second_launches_of_cheap_kernels_come_before_those_of_dear_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dear = "tile[threadIdx.y][threadIdx.x] = out[threadIdx.x];" * 40
    text = HEADER.replace("column", "dear").replace("    __sync", f"    {dear}\n    __sync") + HEADER
    for name, rows in (("dear", 8), ("dear", 4), ("column", 8), ("column", 4)):
        text += f"void {name}{rows}(float *o) {{ {name}<float><<<1, dim3(32, {rows})>>>(o); }}\n"
    steps: list[int] = []
    evaluate = instances.evaluate

    def counted(*a: object) -> object:
        trace = evaluate(*a)  # type: ignore[arg-type]
        steps.append(trace.work)
        return trace

    monkeypatch.setattr(instances, "evaluate", counted)
    analyse_file(Job("both.cu", text=text))
    monkeypatch.setattr(schedule, "WORK", steps[0] + steps[1] + 1)
    report = analyse_file(Job("both.cu", text=text))
    assert [(k.name, [n.code for n in k.notes]) for k in report.kernels] == [
        ("dear", []),
        ("dear", ["budget"]),
        ("column", []),
        ("column", []),
    ]


def test_nothing_is_proved_where_further_candidates_of_a_block_were_left_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "open.cu").write_text(
        "__global__ void far(float *p) { extern __shared__ float s[]; s[32 * threadIdx.x] = *p; p[1] = *s; }"
        "int main(int argc, char **argv) { float *p; int n = atoi(argv[1]); far<<<1, n, 1 << 17>>>(p); }"
    )
    everything = check([Job("open.cu")])
    assert len(everything.kernels) == 6
    assert {d.severity for d in everything.diagnostics} == {Severity.WARNING}
    monkeypatch.setattr(schedule, "WORK", 1)
    report = check([Job("open.cu")], View(level=Severity.NOTE))
    assert [(len(k.accesses), [n.code for n in k.notes]) for k in report.kernels] == [
        (2, []),
        *[(0, ["budget"])] * 5,
    ]
    assert {d.severity for d in report.diagnostics} == {Severity.NOTE}


def test_text_that_is_not_on_disk_wins_over_the_file(folder: Path) -> None:
    edited = HEADER.replace("[32][32]", "[32][33]") + FLOATS.split("\n", 1)[1]
    report = check([Job("floats.cu", text=edited)])
    assert report.diagnostics == () and report.summary.accesses == 2


def test_an_array_that_only_a_macro_names_is_used(folder: Path) -> None:
    kernel = "__global__ void k(float *out) { __shared__ float s[32]; CELL(0) = 0; out[0] = CELL(1); }\n"
    (folder / "cell.h").write_text("#define CELL(i) s[i]\n")
    assert check([Job("k.cu", text='#include "cell.h"\n' + kernel)]).diagnostics == ()


def test_reports_come_one_a_file_with_the_index_of_the_job(folder: Path) -> None:
    jobs = [Job("floats.cu"), Job("missing.cu"), Job("doubles.cu")]
    reports = dict(analyse(jobs, processes=2))
    assert sorted(reports) == [0, 1, 2]
    assert [bool(reports[i].problems) for i in range(3)] == [False, True, False]
    assert set(reports[0].files) == {"floats.cu", "column.cuh"}


def test_a_block_shape_of_the_user_replaces_launches(folder: Path) -> None:
    report = check([Job("floats.cu", Options(blocks={"column": (8, 8, 1)}))])
    assert {k.launch.block for k in report.kernels} == {(8, 8, 1)}


def test_a_path_has_one_name(folder: Path) -> None:
    assert shown("./a/../b.cu") == shown(str(folder / "b.cu")) == "b.cu"
    assert shown("/x.cu") == "/x.cu"


def test_template_arguments_are_told_in_the_order_of_the_template(folder: Path) -> None:
    (folder / "k.cu").write_text(
        """template <int N, typename T> __global__ void k(T *p) {
            __shared__ T s[64 * N]; s[threadIdx.x * N] = p[0]; }
        template <typename T> struct Owner { void run(T *p) { k<2><<<1, 64>>>(p); } };
        """
    )
    (kernel,) = analyse_file(Job("k.cu", Options())).kernels
    assert [name for name, _ in kernel.template_arguments] == ["N", "T"]
