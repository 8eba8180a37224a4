"""Lambdas for the device that host code makes and that no launch is seen to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import analyse_file
from smemlint.jobs import Job, Options

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


@pytest.mark.parametrize("box, seen", [("Plain", True), ("typename library::box<Plain>::type", False)])
def test_a_lambda_of_a_header_whose_launch_is_not_known_is_named(
    tmp_path: Path, box: str, seen: bool
) -> None:
    (tmp_path / "merge.cuh").write_text(HEADER)
    main = f'#include "merge.cuh"\ntemplate <class T> void go(T *p) {{ merge<{box}>(p, 9); }}\n'
    (tmp_path / "main.cu").write_text(main + "int main() { double *p = 0; go(p); }\n")
    report = analyse_file(Job(str(tmp_path / "main.cu"), Options(suggest=False)))
    reached = {(a.op, a.width) for k in report.kernels for a in k.accesses if a.reached}
    told = [(u.name, u.code, Path(u.place.path).name, u.place.line) for u in report.lost]
    assert reached == ({("store", 8), ("load", 8)} if seen else set())
    assert told == ([] if seen else [("a lambda", "not-reached", "merge.cuh", 7)])
