"""Flattened tiles inside an array of several, `As[2][BM * BK]`, and sizes that do not say their rows."""

from __future__ import annotations

from pathlib import Path

from fix import emulated
from fix.edits.test_through import fixed

TILES = """
#define ROWS 32
#define COLUMNS 32
__global__ void k(float *out, const float *in, int n)
{
    __shared__ float tile[2][ROWS * COLUMNS];
    int t = threadIdx.x;
    for (int s = 0; s < 2; ++s)
        for (int r = threadIdx.y; r < ROWS; r += 8)
            tile[s][r * COLUMNS + t] = in[s * 1024 + r * 32 + t];
    __syncthreads();
    float sum = 0;
    for (int c = 0; c < COLUMNS; ++c) sum += tile[c & 1][t * COLUMNS + c];
    out[threadIdx.y * 32 + t] = sum;
}
void start(float *out, const float *in) { k<<<1, dim3(32, 8)>>>(out, in, 32); }
"""


def test_the_rows_of_a_tile_inside_a_dimension_are_padded(tmp_path: Path) -> None:
    found, after = fixed(TILES, tmp_path)
    assert found.edits is not None and found.safe
    assert "constexpr int TILE_PITCH = COLUMNS + 1;" in after
    assert "float tile[2][ROWS * TILE_PITCH];" in after
    assert "tile[s][r * TILE_PITCH + t]" in after and "tile[c & 1][t * TILE_PITCH + c]" in after


def test_a_dimension_that_is_no_product_has_no_rows(tmp_path: Path) -> None:
    text = TILES.replace("tile[2][ROWS * COLUMNS]", "tile[2][1024]")
    _, after = fixed(text, tmp_path)
    assert "PITCH" not in after


def test_a_size_that_does_not_say_its_rows_is_divided(tmp_path: Path) -> None:
    text = TILES.replace("#define ROWS", "#define SIZE (1024)\n#define ROWS").replace("tile[s]", "tile")
    text = text.replace("tile[2][ROWS * COLUMNS]", "tile[SIZE]").replace("tile[c & 1]", "tile")
    found, after = fixed(text, tmp_path)
    assert found.edits is not None
    assert "float tile[SIZE / COLUMNS * TILE_PITCH];" in after


@emulated.needs_compiler
def test_the_fixed_kernel_computes_the_same(tmp_path: Path) -> None:
    _, after = fixed(TILES, tmp_path)
    assert after != TILES
    assert emulated.run(after, tmp_path) == emulated.run(TILES, tmp_path)
