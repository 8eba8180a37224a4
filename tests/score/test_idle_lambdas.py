"""Lambdas for the device that host code makes and that no launch is seen to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import analyse_file
from smemlint.running.jobs import Job, Options

HEADER = """
template <class F> __global__ void run(F f, int n) { f(threadIdx.x, blockIdx.x); }
template <class Box, class F> void cta_launch(F f, int n) { run<F><<<n, Box::threads>>>(f, n); }
struct Plain { enum { threads = 64 }; };
template <class Box, class T> struct Merge {
    void all(T *p, int n) {
        auto k = [=] __device__(int t, int b) {
            __shared__ T s[256];
            s[t * 2] = p[t];
            __syncthreads();
            p[t] = s[t];
        };
        cta_launch<Box>(k, n);
    }
};
template <class Box, class T> void merge(T *p, int n) { Merge<Box, T> merger; merger.all(p, n); }
"""


LIBRARY = "typename library::box<Plain>::type"


@pytest.mark.parametrize("box, assumed", [("Plain", False), (LIBRARY, True)])
def test_a_lambda_of_a_header_is_seen_where_only_the_block_is_not_known(
    tmp_path: Path, box: str, assumed: bool
) -> None:
    (tmp_path / "merge.cuh").write_text(HEADER)
    main = f'#include "merge.cuh"\ntemplate <class T> void go(T *p) {{ merge<{box}>(p, 9); }}\n'
    (tmp_path / "main.cu").write_text(main + "int main() { double *p = 0; go(p); }\n")
    report = analyse_file(Job(str(tmp_path / "main.cu"), Options(suggest=False)))
    reached = {(a.op, a.width) for k in report.kernels for a in k.accesses if a.reached}
    assert reached == {("store", 8), ("load", 8)}
    assert {k.launch.assumed for k in report.kernels if k.accesses} == {assumed}
    assert not report.lost


def test_a_lambda_of_a_header_whose_launch_is_not_known_is_named(tmp_path: Path) -> None:
    hidden = HEADER.replace("cta_launch<Box>(k, n);", "library::each<T>(n, k);")
    (tmp_path / "merge.cuh").write_text(hidden)
    main = '#include "merge.cuh"\ntemplate <class T> void go(T *p) { merge<Plain>(p, 9); }\n'
    (tmp_path / "main.cu").write_text(main + "int main() { double *p = 0; go(p); }\n")
    report = analyse_file(Job(str(tmp_path / "main.cu"), Options(suggest=False)))
    assert not any(a.reached for k in report.kernels for a in k.accesses)
    told = [(u.name, u.code, Path(u.place.path).name, u.place.line) for u in report.lost]
    assert told == [("a lambda", "not-reached", "merge.cuh", 7)]
