"""An array of rows that is reached by its own name and by pointers into a row."""

from __future__ import annotations

from pathlib import Path

from fix import emulated
from fix.edits.test_through import fixed

ROWS = """
#define K 32
#define SIZE (7 + 2041)
__global__ void k(const float *in, float *out, int n)
{
    __shared__ float best[2][SIZE];
    const int tid = threadIdx.x, row = threadIdx.y;
    for (int i = 0; i < K; ++i) best[row][tid * K + i] = in[(row * 64 + tid) * K + i];
    __syncthreads();
    for (int stride = 32; stride > 0; stride /= 2) {
        if (tid < stride) {
            float *a = best[row] + tid * K;
            float *b = best[row] + (tid + stride) * K;
            for (int i = 0; i < K; ++i) a[i] = a[i] + b[i] * 2;
        }
        __syncthreads();
    }
    if (tid < K) out[row * K + tid] = best[row][tid];
}
void start(float *out, const float *in) { k<<<1, dim3(64, 2)>>>(in, out, 32); }
int use(float *p, const float *q) { start(p, q); return 0; }
"""


def test_an_index_of_rows_counts_them_by_the_extent(tmp_path: Path) -> None:
    found, after = fixed(ROWS, tmp_path)
    assert found.edits is not None and not found.safe, found.refused
    assert "((float *)best)[swizzle_best(row * SIZE + tid * K + " in after


@emulated.needs_compiler
def test_the_fixed_kernel_computes_the_same(tmp_path: Path) -> None:
    _, after = fixed(ROWS, tmp_path)
    assert after != ROWS
    assert emulated.run(after, tmp_path) == emulated.run(ROWS, tmp_path)
