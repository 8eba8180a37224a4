"""Layouts whose numbers are constants of an included file."""

from __future__ import annotations

from pathlib import Path

from smemlint.api import Job, analyse_file
from smemlint.fix.edits.apply import apply

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


TURN = """__global__ void turn(float *out, const float *in) {
    __shared__ float t[N][N];
    t[threadIdx.y][threadIdx.x] = in[threadIdx.y * N + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * N + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
"""


def test_a_source_that_another_one_includes_is_proved_as_it_is_compiled_there(tmp_path: Path) -> None:
    """Alone it does not know its extents: the edit is for the file that is looked at all the same."""
    path = tmp_path / "turn.cu"
    path.write_text(TURN, encoding="utf-8")
    main = '#define N 32\n#include "turn.cu"\nint main() { float *a = 0; turn<<<4, dim3(N, N)>>>(a, a); }\n'
    (tmp_path / "main.cu").write_text(main, encoding="utf-8")
    (found,) = analyse_file(Job(str(path))).suggestions
    assert found.edits is not None, found.refused
    assert {edit.path for edit in found.edits} == {str(path)}
    path.write_bytes(apply(found.edits, TURN.encode()))
    (after,) = analyse_file(Job(str(path))).kernels
    assert all(access.wavefronts == access.ideal for access in after.accesses)
