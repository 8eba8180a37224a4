"""Tiles of matrix products: each thread loads 8 neighbours, which the compiler reads by 16 bytes, two ways.

A swizzle frees them where the text shows that neighbours stay neighbours: `tile[swizzle(8 * t + (j & ~3)) +
(j & 3)]`. nvcc 13.0 makes LDS.128 of that, and four LDS each of `tile[swizzle(8 * t + j)]`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fix import emulated
from smemlint.api import Job, analyse_file
from smemlint.fix.edits.apply import apply
from smemlint.fix.model import Suggestion

PRODUCT = """template <int N, int K> __global__ void product(float *out, const float *in)
{
    __shared__ float tile%(extents)s;
    const int t = threadIdx.x;
    float sum[8] = {};
    for (int i = t; i < N * K; i += 256) tile%(stored)s = in[i];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < K; ++k) {
        float part[8];
#pragma unroll
        for (int j = 0; j < 8; ++j)
            part[j] = tile%(loaded)s;
        for (int j = 0; j < 8; ++j) sum[j] += part[j] * in[k];
    }
    for (int j = 0; j < 8; ++j) out[t * 8 + j] = sum[j];
}
void start(float *out, const float *in) { product<128, 8><<<1, 256>>>(out, in); }
"""
ROWS = {"extents": "[K][N]", "stored": "[i / N][i % N]", "loaded": "[k][t % 16 * 8 + j]"}
FLAT = {"extents": "[K * N]", "stored": "[i]", "loaded": "[k * N + t % 16 * 8 + j]"}
SEVEN = {**ROWS, "loaded": "[k][t % 16 * 7 + j]"}


def fixed(text: str, folder: Path) -> tuple[Suggestion, str]:
    path = folder / "a.cu"
    path.write_text(text, encoding="utf-8")
    (found,) = analyse_file(Job(str(path))).suggestions
    return found, apply(list(found.edits or ()), text.encode()).decode()


def test_a_column_is_swizzled_and_what_steps_by_one_stays_behind_it(tmp_path: Path) -> None:
    found, after = fixed(PRODUCT % ROWS, tmp_path)
    assert "int swizzle_tile(int col) { return col ^ ((col >> 3) & 4); }" in after
    assert "tile[i / N][swizzle_tile(i % N)] = in[i];" in after
    assert "part[j] = tile[k][swizzle_tile(t % 16 * 8 + (j & ~3)) + (j & 3)];" in after
    assert found.safe and found.before == 2 * found.after - 32


def test_of_a_flat_tile_the_row_stays_outside_as_well(tmp_path: Path) -> None:
    found, after = fixed(PRODUCT % FLAT, tmp_path)
    assert "tile[swizzle_tile(i)] = in[i];" in after
    assert "part[j] = tile[k * N + swizzle_tile(t % 16 * 8 + (j & ~3)) + (j & 3)];" in after
    assert found.safe


@emulated.needs_compiler
@pytest.mark.parametrize("how", [ROWS, FLAT])
def test_the_fixed_product_computes_the_same(how: dict[str, str], tmp_path: Path) -> None:
    text = PRODUCT % how
    _, after = fixed(text, tmp_path)
    assert after != text
    assert emulated.run(after, tmp_path) == emulated.run(text, tmp_path)


@pytest.mark.parametrize("how", [ROWS, FLAT])
def test_a_second_fix_finds_nothing(how: dict[str, str], tmp_path: Path) -> None:
    _, after = fixed(PRODUCT % how, tmp_path)
    (tmp_path / "a.cu").write_text(after, encoding="utf-8")
    assert all(s.edits is None for s in analyse_file(Job(str(tmp_path / "a.cu"))).suggestions)


def test_neighbours_that_begin_anywhere_are_never_split(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(PRODUCT % SEVEN, encoding="utf-8")
    for found in analyse_file(Job(str(tmp_path / "a.cu"))).suggestions:
        assert not any("~3" in e.replacement for e in found.edits or ())
