"""Paddings after which the compiler joins other neighbours are analysed, and proved element by element."""

from __future__ import annotations

from pathlib import Path

import pytest

from fix import emulated
from fix.edits.test_through import fixed
from smemlint.api import Job, analyse_file

TILES = """
__global__ void k(const float *in, float *out, int n)
{
    __shared__ float rows[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    for (int r = 0; r < 32; r += 8)
        for (int c = 0; c < 32; c += 8)
            rows[ty + r][tx + c] = in[(ty + r) * 32 + tx + c];
    __syncthreads();
    float sum = 0;
    #pragma unroll
    for (int c = 0; c < 32; c++) {
        #pragma unroll
        for (int j = 0; j < 4; j++) sum += rows[c][tx * 4 + j] * (j + 1);
    }
    out[ty * 8 + tx] = sum;
}
void start(float *out, const float *in) { k<<<1, dim3(8, 8)>>>(in, out, 32); }
int use(float *p, const float *q) { start(p, q); return 0; }
"""


def wavefronts(text: str, tmp_path: Path) -> int:
    path = tmp_path / "again.cu"
    path.write_text(text)
    (kernel,) = analyse_file(Job(str(path))).kernels
    return sum(a.wavefronts or 0 for a in kernel.accesses)


def test_rows_of_33_are_widened_where_the_compiler_then_joins_more(tmp_path: Path) -> None:
    found, after = fixed(TILES, tmp_path)
    assert found.edits is not None, found.refused
    assert not found.safe and "joins other neighbours" in found.unsafe_because
    assert "__align__(16) float rows[32][33 + " in after or "__align__(16) float rows[32][40]" in after
    assert found.before - found.after == wavefronts(TILES, tmp_path) - wavefronts(after, tmp_path) > 0


@pytest.mark.parametrize("use", ["(&rows[0][0])[tx * 4 + j + c * 33]", "rows[0][tx * 4 + j + c * 32 + c]"])
def test_an_access_that_counts_on_the_pitch_keeps_it(use: str, tmp_path: Path) -> None:
    text = TILES.replace("rows[c][tx * 4 + j]", use)
    found, after = fixed(text, tmp_path)
    assert found.edits is None and after == text


@emulated.needs_compiler
def test_the_fixed_kernel_computes_the_same(tmp_path: Path) -> None:
    _, after = fixed(TILES, tmp_path)
    assert after != TILES
    assert emulated.run(after, tmp_path) == emulated.run(TILES, tmp_path)
