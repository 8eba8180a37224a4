"""What a layout costs that takes joined accesses apart, held against what was measured on an H100."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fix.test_suggest import of_text

KERNEL = """__global__ void k(const float *B, float *C, int K)
{
    __shared__ float b[8][%(columns)d];
    int t = threadIdx.x, column = t %% %(across)d * 8;
    float sum[8] = {};
    for (int k = 0; k < K; k += 8) {
        for (int i = t; i < 8 * %(columns)d; i += 256) b[i / %(columns)d][i %% %(columns)d] = B[i + k];
        __syncthreads();
        for (int r = 0; r < 8; ++r)
            for (int i = 0; i < 8; ++i) sum[i] += b[r][column + i] * sum[7 - i];
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) C[t * 8 + i] = sum[i];
}
void start(const float *b, float *c, int K) { k<<<8, 256>>>(b, c, K); }
"""


@pytest.mark.parametrize("columns", [128, 256])
def test_sixteen_bytes_in_eight_wavefronts_stay_together(tmp_path: Path, columns: int) -> None:
    """Lanes 32 bytes apart: a 16-byte load takes twice its 4 wavefronts, four loads of 4 bytes take 4."""
    text = KERNEL % {"columns": columns, "across": columns // 8}
    found = of_text(tmp_path, text.encode())[0].get("b")
    assert found is None or found.edits is None or not any(c.apart for c in found.sites)
