"""Tiles with a halo in dynamic shared memory, whose row pitch is a local variable: `blockDim.x + 2`."""

from __future__ import annotations

from pathlib import Path

import pytest

from fix import emulated
from fix.edits.test_through import fixed

STENCIL = """
#define R 1
__global__ void k(const float *in, float *out, int n)
{
    extern __shared__ float tile[];
    int tx = threadIdx.x, ty = threadIdx.y;
    int width = blockDim.x + 2 * R;
    int height = blockDim.y + 2 * R;
    for (int dy = 0; dy < height; dy += blockDim.y)
        for (int dx = 0; dx < width; dx += blockDim.x) {
            int row = ty + dy, col = tx + dx;
            if (row < height && col < width) {
                int at = row * width + col;
                tile[at] = in[row * n + col];
            }
        }
    __syncthreads();
    {
        int at = (ty + R) * width + (tx + R);
        float sum = tile[at] + tile[at - width] * 2 + tile[at + width] * 3 + tile[at - 1] + tile[at + 1];
        out[ty * blockDim.x + tx] = sum;
    }
}
void start(float *out, const float *in) {
    dim3 block(16, 16);
    int bytes = (block.x + 2 * R) * (block.y + 2 * R) * sizeof(float);
    k<<<1, block, bytes>>>(in, out, 64);
}
int use(float *p, const float *q) { start(p, q); return 0; }
"""

CUBE = """
__global__ void k(const float *in, float *out)
{
    extern __shared__ float tile[];
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    int width = blockDim.x + 2;
    int height = blockDim.y + 2;
    int slice = width * height;
    int at = (tz + 1) * slice + (ty + 1) * width + (tx + 1);
    int i = (tz * 8 + ty) * 8 + tx;
    tile[at] = in[i];
    if (tx == 0) tile[at - 1] = in[i + 1000];
    if (ty == 7) tile[at + width] = in[i + 2000];
    if (tz == 0) tile[at - slice] = in[i + 3000];
    __syncthreads();
    float sum = tile[at] + (tx > 0 ? tile[at - 1] : 1) * 2;
    sum += (ty < 7 ? tile[at + width] : 1) * 3 + (tz > 0 ? tile[at - slice] : 1) * 5;
    out[i] = sum;
}
void start(float *out, const float *in) {
    dim3 block(8, 8, 8);
    k<<<1, block, (block.x + 2) * (block.y + 2) * (block.z + 2) * sizeof(float)>>>(in, out);
}
int use(float *p, const float *q) { start(p, q); return 0; }
"""


def test_a_pitch_that_is_a_local_variable_gets_a_wider_one_beside_it(tmp_path: Path) -> None:
    found, after = fixed(STENCIL, tmp_path)
    assert found.edits is not None, found.refused
    assert "int width = blockDim.x + 2 * R;\n    const int TILE_PITCH = width + " in after
    assert after.count("* TILE_PITCH + ") == 2
    assert "tile[at - TILE_PITCH] * 2 + tile[at + TILE_PITCH] * 3" in after
    assert "dx < width" in after and "col < width" in after
    assert "* sizeof(float) + (block.y + 2 * R) * " in after


def test_a_slice_that_is_made_of_the_pitch_follows_it(tmp_path: Path) -> None:
    found, after = fixed(CUBE, tmp_path)
    assert found.edits is not None, found.refused
    assert "int slice = TILE_PITCH * height;" in after
    assert "(tz + 1) * slice + (ty + 1) * TILE_PITCH + (tx + 1)" in after
    assert "* sizeof(float) + (block.y + 2) * (block.z + 2) * " in after


def test_a_slice_that_serves_something_else_keeps_the_array_as_it_is(tmp_path: Path) -> None:
    text = CUBE.replace("out[i] = sum;", "out[i] = sum + slice;")
    found, after = fixed(text, tmp_path)
    assert found.edits is None and after == text
    assert found.refused is not None and "`slice`" in found.refused.text


@emulated.needs_compiler
@pytest.mark.parametrize("text", [STENCIL, CUBE])
def test_the_fixed_kernel_computes_the_same_in_the_bytes_that_it_gets(text: str, tmp_path: Path) -> None:
    _, after = fixed(text, tmp_path)
    assert after != text
    said = emulated.run(after, tmp_path)
    assert said == emulated.run(text, tmp_path) and "dynamic byte" not in said
