"""Numbers and blocks that follow from `main` having no arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from smemlint.rules import Severity

from smemlint.api import Job, analyse_file, collect
from smemlint.diagnose.model import Access

STRIDE = """
#include <cstdlib>
__global__ void k(float *p, int n, int rounds) {
    __shared__ float s[4096];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < rounds; i++) p[i] += s[threadIdx.x ^ 1];
    p[threadIdx.x] = s[threadIdx.x * n];
}
int main(int argc, char **argv) {
    int n = 4, rounds = 8;
    if (argc > 1) n = atoi(argv[1]);
    if (argc > 2) rounds = atoi(argv[2]);
    k<<<1, 256>>>(0, n, rounds);
}
"""
ROWS = """
#include <cstdlib>
__global__ void k(float *p) {
    __shared__ float s[8 * 128];
    s[threadIdx.y * 32 + threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = s[threadIdx.x + 128 * threadIdx.y];
}
int main(int argc, char **argv) {
    int t = 16;
    if (argc > 1) t = atoi(argv[1]);
    k<<<1, dim3(t, 8)>>>(0);
}
"""


def accesses(folder: Path, text: str) -> list[Access]:
    """Those of the first launch."""
    path = folder / "a.cu"
    path.write_text(text)
    return list(analyse_file(Job(str(path))).kernels[0].accesses)


def test_what_depends_on_the_command_line_is_assumed(tmp_path: Path) -> None:
    """It was exact: 4 ways of a stride that the first argument is."""
    found = {a.line: (a.grade, a.ways, [k for k, _, _ in a.assumptions]) for a in accesses(tmp_path, STRIDE)}
    assert found[8] == ("assumed", 4, ["no-arguments"])


def test_what_every_argument_gives_stays_exact(tmp_path: Path) -> None:
    """The store depends on no argument; the load of the loop has one way however often it runs."""
    found = {a.line: (a.grade, a.ways) for a in accesses(tmp_path, STRIDE)}
    assert (found[5], found[7]) == (("exact", 1), ("exact", 1))


@pytest.mark.parametrize("threads", [16, 32])
def test_a_block_of_the_command_line_is_assumed_with_its_default_first(tmp_path: Path, threads: int) -> None:
    (tmp_path / "a.cu").write_text(ROWS.replace("t = 16", f"t = {threads}"))
    kernels = analyse_file(Job(str(tmp_path / "a.cu"))).kernels
    assert kernels[0].launch.block[0] == threads and len(kernels) > 2
    assert all(k.launch.assumed for k in kernels)
    told = {a.line: (a.grade, a.ways) for a in kernels[0].accesses}
    assert told[5] == ("assumed", 32 // threads)  # two rows of 16 threads begin in one bank


def test_a_conflict_without_arguments_is_a_warning_though_other_blocks_have_none(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(ROWS)
    found = collect([analyse_file(Job(str(tmp_path / "a.cu")))]).diagnostics
    (conflict,) = (d for d in found if d.place.line == 5)
    assert conflict.severity is Severity.WARNING
    assert "launch: block (16, 8) is assumed (a.cu:11 without arguments)" in conflict.notes


def test_a_number_in_which_launches_differ_is_no_default(tmp_path: Path) -> None:
    """Its line was assumed as well: the evaluation without defaults had lost the number."""
    second = "k<<<1, 256>>>(0, n, rounds); k<<<1, 256>>>(0, n, 2);"
    text = (
        STRIDE.replace("if (argc > 2) rounds = atoi(argv[2]);", "")
        .replace("k<<<1, 256>>>(0, n, rounds);", second)
        .replace("s[threadIdx.x ^ 1]", "s[threadIdx.x * rounds]")
    )
    path = tmp_path / "a.cu"
    path.write_text(text)
    found = {(a.line, a.grade, a.ways) for k in analyse_file(Job(str(path))).kernels for a in k.accesses}
    assert {(7, "exact", 2), (7, "exact", 8), (8, "assumed", 4)} <= found
