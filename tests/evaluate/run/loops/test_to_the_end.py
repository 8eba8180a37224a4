"""A long loop whose last iterations one stands for is not followed beyond its end."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from smemlint.api import Job
from smemlint.running import pipeline

PRODUCT = """
const int B = 64, T = 4;
__global__ void k(const float *m, const float *n, float *p, int size) {
    __shared__ float a[B][B + 2];
    __shared__ float b[B][B + 2];
    int tx = threadIdx.x, ty = threadIdx.y;
    float x[T], y[T], r[T][T] = {0.0f};
    for (int tile = 0; tile < size; tile++) {
        for (int i = 0; i < T; i++)
            for (int j = 0; j < T; j++) {
                a[ty * T + i][tx * T + j] = m[(ty * T + i) * size + tile * B + tx * T + j];
                b[ty * T + i][tx * T + j] = n[(tile * B + ty * T + i) * size + tx * T + j];
            }
        __syncthreads();
        for (int k = 0; k < B; k++) {
            for (int i = 0; i < T; i++) {
                x[i] = a[ty * T + i][k];
                y[i] = b[k][tx * T + i];
            }
            for (int i = 0; i < T; i++)
                for (int j = 0; j < T; j++) r[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++) p[(ty * T + i) * size + tx * T + j] = r[i][j];
}
void start(const float *m, const float *n, float *p, int size) { k<<<4, dim3(16, 16)>>>(m, n, p, size); }
"""
PITCH = 66 * 4


def test_no_iteration_beyond_the_last_is_an_access(tmp_path: Path) -> None:
    """The columns 64 and 65 are the padding. Of each element of `a` and `b`, each warp reads 64 columns."""
    path = tmp_path / "a.cu"
    path.write_text(PRODUCT, encoding="utf-8")
    found = pipeline.examine(Job(str(path)), str)
    assert isinstance(found, pipeline.Examined)
    (analysis,) = found.analyses
    read = {"a": 0, "b": 0}
    for conflict in analysis.conflicts:
        trace = conflict.trace
        width = trace.joined or trace.site.width
        last = trace.offsets[trace.offsets >= 0] % PITCH + width
        assert int(last.max(initial=0)) <= 64 * 4
        if trace.site.op == "load":
            read[analysis.arrays[trace.site.array].name] += int((trace.offsets >= 0).sum()) * width
    # 256 threads, 64 columns, 4 elements of 4 bytes; joined neighbours once.
    assert read == {"a": 256 * 64 * 16, "b": 256 * 64 * 16}
    assert np.all([c.wavefronts is not None for c in analysis.conflicts])
