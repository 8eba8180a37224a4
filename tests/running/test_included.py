"""A file that only brings together what others hold is those others, compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file
from smemlint.diagnose.model import FileReport

KERNELS = """#pragma once
template <unsigned threads, unsigned elements> __global__ void sortTile(int *d) {
    extern __shared__ int tile[];
    tile[threadIdx.x * 2] = d[threadIdx.x];
}
"""
STARTER = """#pragma once
#include "kernels.h"
class Sort { public: virtual void sort(int *d) = 0; virtual ~Sort() {} };
template <unsigned threads, unsigned elements> class SortOf : public Sort {
    template <bool half> void run(int *d) {
        sortTile<threads, elements><<<1, threads / (half ? 2 : 1), threads * elements * sizeof(*d)>>>(d);
    }
    void sort(int *d) { run<true>(d); }
};
class SmallSort : public SortOf<128, 4> {};
"""
MAIN = """#include "start.h"
void all(Sort *s);
int main() { all(new SmallSort()); }
"""


def report(folder: Path, *, main: str = MAIN, named: bool = True) -> FileReport:
    for name, text in (("kernels.h", KERNELS), ("start.h", STARTER), ("main.cu", main)):
        (folder / name).write_text(text)
    return analyse_file(Job(str(folder / "main.cu"), named=named))


def test_a_named_file_without_kernels_shows_those_that_it_includes(tmp_path: Path) -> None:
    (kernel,) = report(tmp_path).kernels
    assert (kernel.name, Path(kernel.place.path).name, kernel.launch.block) == (
        "sortTile",
        "kernels.h",
        (64, 1, 1),
    )
    assert kernel.template_arguments == (("threads", "128"), ("elements", "4"))
    assert [(a.line, a.ways, a.grade) for a in kernel.accesses] == [(4, 2.0, "exact")]


@pytest.mark.parametrize("named", [True, False])
def test_a_file_with_kernels_of_its_own_is_told_alone(tmp_path: Path, named: bool) -> None:
    own = MAIN + "__global__ void own(int *d) { __shared__ int s[32]; s[threadIdx.x] = d[0]; }\n"
    assert [k.name for k in report(tmp_path, main=own, named=named).kernels][:1] == ["own"]
    assert {k.name for k in report(tmp_path, main=own, named=named).kernels} == {"own"}


def test_in_a_folder_the_headers_speak_for_themselves(tmp_path: Path) -> None:
    assert report(tmp_path, named=False).kernels == ()


def test_a_kernel_of_an_included_file_that_is_lost_is_named(tmp_path: Path) -> None:
    report(tmp_path)
    (tmp_path / "kernels.h").write_text(
        KERNELS + "__global__ void gone(Any<3 x, int) { __shared__ int s[3]; }\n"
    )
    found = analyse_file(Job(str(tmp_path / "main.cu"))).lost
    assert [(u.name, Path(u.place.path).name) for u in found] == [("`gone`", "kernels.h")]
