"""Layouts whose numbers are constants of an included file."""

from __future__ import annotations

from pathlib import Path

from smemlint.api import Job, analyse_file

KERNEL = """#include "sizes.h"
__global__ void k(float *out, const float *in, int d) {
    extern __shared__ float pool[];
    float *q = pool;
    float *v = q + ROWS * d;
    for (int i = 0; i < d; ++i) {
        q[threadIdx.x * d + i] = in[i];
        v[threadIdx.x * d + i] = in[i + d];
    }
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < d; ++i) sum += q[threadIdx.x * d + i] * v[threadIdx.x * d + i];
    out[threadIdx.x] = sum;
}
void start(float *out, const float *in) {
    int d = 64;
    k<<<1, ROWS, 2 * ROWS * d * sizeof(float)>>>(out, in, d);
}
"""


def test_a_part_starts_at_a_constant_of_a_header(tmp_path: Path) -> None:
    (tmp_path / "sizes.h").write_text("#pragma once\n#define ROWS 32\n", encoding="utf-8")
    path = tmp_path / "a.cu"
    path.write_text(KERNEL, encoding="utf-8")
    (found,) = analyse_file(Job(str(path))).suggestions
    assert found.refused is None and found.edits is not None
    assert "`V_PITCH = d | 1`" in found.words
    assert {edit.path for edit in found.edits} == {str(path)}
