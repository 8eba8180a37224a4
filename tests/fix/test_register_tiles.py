"""Tiles of matrix products: each thread loads 8 neighbours, which the compiler reads by 16 bytes, two ways.

A swizzle frees them where the text shows that neighbours stay neighbours: `tile[swizzle(8 * t + (j & ~3)) +
(j & 3)]`. nvcc 13.0 makes LDS.128 of that, and four LDS each of `tile[swizzle(8 * t + j)]`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fix import emulated
from fix.cases import joined
from smemlint.api import Job, analyse_file
from smemlint.fix.edits.apply import apply
from smemlint.fix.edits.helpers import swizzle
from smemlint.fix.model import Refusal, Suggestion
from smemlint.fix.search.candidates import Swizzle
from smemlint.fix.text.declared import declared
from smemlint.fix.text.source import Source

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
        for (int j = 0; j < 8; ++j) {
            %(local)spart[j] = tile%(loaded)s;
        }
        for (int j = 0; j < 8; ++j) sum[j] += part[j] * in[k];
    }
    for (int j = 0; j < 8; ++j) out[t * 8 + j] = sum[j];
}
void start(float *out, const float *in) { product<128, 8><<<1, 256>>>(out, in); }
"""
ROWS = {"extents": "[K][N]", "stored": "[i / N][i % N]", "loaded": "[k][t % 16 * 8 + j]", "local": ""}
FLAT = {**ROWS, "extents": "[K * N]", "stored": "[i]", "loaded": "[k * N + t % 16 * 8 + j]"}
LOCAL = {**ROWS, "loaded": "[k][at]", "local": "const int at = t % 16 * 8 + j; "}
SEVEN = {**ROWS, "loaded": "[k][t % 16 * 7 + j]"}


def fixed(text: str, folder: Path) -> tuple[Suggestion, str]:
    path = folder / "a.cu"
    path.write_text(text, encoding="utf-8")
    (found,) = analyse_file(Job(str(path))).suggestions
    return found, joined(apply(list(found.edits or ()), text.encode()).decode())


def test_a_column_is_swizzled_and_what_steps_by_one_stays_behind_it(tmp_path: Path) -> None:
    found, after = fixed(PRODUCT % ROWS, tmp_path)
    assert "int swizzle_tile(int col) { return col ^ ((col >> 3) & 4); }" in after
    assert "tile[i / N][swizzle_tile(i % N)] = in[i];" in after
    assert "part[j] = tile[k][swizzle_tile(t % 16 * 8 + (j & ~3)) + (j & 3)];" in after
    assert found.safe and found.before == 2 * found.after - 32


def test_a_local_that_holds_the_column_is_written_out(tmp_path: Path) -> None:
    found, after = fixed(PRODUCT % LOCAL, tmp_path)
    assert "part[j] = tile[k][swizzle_tile(t % 16 * 8 + (j & ~3)) + (j & 3)];" in after
    assert found.safe


def test_of_a_flat_tile_the_row_stays_outside_as_well(tmp_path: Path) -> None:
    found, after = fixed(PRODUCT % FLAT, tmp_path)
    assert "tile[swizzle_tile(i)] = in[i];" in after
    assert "part[j] = tile[k * N + swizzle_tile(t % 16 * 8 + (j & ~3)) + (j & 3)];" in after
    assert found.safe


@emulated.needs_compiler
@pytest.mark.parametrize("how", [ROWS, FLAT, LOCAL])
def test_the_fixed_product_computes_the_same(how: dict[str, str], tmp_path: Path) -> None:
    text = PRODUCT % how
    _, after = fixed(text, tmp_path)
    assert after != text
    assert emulated.run(after, tmp_path) == emulated.run(text, tmp_path)


@pytest.mark.parametrize("how", [ROWS, FLAT, LOCAL])
def test_a_second_fix_finds_nothing(how: dict[str, str], tmp_path: Path) -> None:
    _, after = fixed(PRODUCT % how, tmp_path)
    (tmp_path / "a.cu").write_text(after, encoding="utf-8")
    assert all(s.edits is None for s in analyse_file(Job(str(tmp_path / "a.cu"))).suggestions)


WIDE = """template <int N, int K> __global__ void product(float *out, const float *in)
{
    __shared__ float tile[K * N];
    const int t = threadIdx.x, row = t / (N / 4), column = t % (N / 4) * 4;
    float4 sum = make_float4(0, 0, 0, 0);
    if (row < K) *(float4 *)&tile[row * N + column] = *(const float4 *)&in[row * N + column];
    __syncthreads();
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < 8; j += 4) {
            float4 part = *(const float4 *)&tile[k * N + t % (N / 8) * 8 + j];
            sum.x += part.x; sum.y += part.y; sum.z += part.z; sum.w += part.w;
        }
    *(float4 *)&out[4 * t] = sum;
}
void start(float *out, const float *in)
{
    product<128, 8><<<1, 256>>>(out, in);
}
"""


def test_whole_periods_stay_outside_of_the_helper(tmp_path: Path) -> None:
    """One address serves the whole loop: 39 registers, 234 instructions; with the row inside 56 and 826."""
    text = WIDE
    _, after = fixed(text, tmp_path)
    assert "&tile[row * N + swizzle_tile(column)]" in after
    assert "&tile[k * N + swizzle_tile(t % (N / 8) * 8 + j)]" in after
    (tmp_path / "a.cu").write_text(after, encoding="utf-8")
    assert all(s.edits is None for s in analyse_file(Job(str(tmp_path / "a.cu"))).suggestions)


@pytest.mark.parametrize(("row", "outside"), [(128, "row * N + "), (32, "")])
def test_rows_that_are_no_period_go_inside(row: int, outside: str) -> None:
    """What holds in every instance is kept as the longer way."""
    source = Source("a.cu", WIDE.encode())
    at = declared(source, "tile", WIDE.index("tile["), 0, 1)
    assert not isinstance(at, Refusal)
    edited = swizzle(Swizzle(1, 2, 5, True), at, set(), 4, {"N": row}.get)
    assert not isinstance(edited, Refusal)
    texts = [apply(list(e.edits), WIDE.encode()).decode() for e in (edited, edited.otherwise or edited)]
    assert f"&tile[{outside}swizzle_tile({'' if outside else 'row * N + '}column)]" in texts[0]
    assert "&tile[swizzle_tile(row * N + column)]" in texts[1]


@emulated.needs_compiler
def test_wide_loads_of_the_fixed_product_are_the_same(tmp_path: Path) -> None:
    text = WIDE
    _, after = fixed(text, tmp_path)
    assert emulated.run(after, tmp_path) == emulated.run(text, tmp_path)


def test_neighbours_that_begin_anywhere_are_never_split(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(PRODUCT % SEVEN, encoding="utf-8")
    for found in analyse_file(Job(str(tmp_path / "a.cu"))).suggestions:
        assert not any("~3" in e.replacement for e in found.edits or ())


def test_the_array_is_aligned_so_that_the_compiler_still_joins(tmp_path: Path) -> None:
    found, after = fixed(PRODUCT % ROWS, tmp_path)
    assert "__shared__ __align__(16) float tile[K][N];" in after
    assert "aligned, so that the compiler still joins neighbours" in found.words


@pytest.mark.parametrize("said", ["__align__(16)", "alignas(16)"])
def test_what_is_aligned_stays_as_it_is(tmp_path: Path, said: str) -> None:
    text = (PRODUCT % ROWS).replace("__shared__ float", f"__shared__ {said} float")
    found, after = fixed(text, tmp_path)
    assert found.edits and after.count("align") == 1 and "aligned" not in found.words


def test_an_array_whose_neighbours_are_not_joined_is_not_aligned(tmp_path: Path) -> None:
    text = """__global__ void turn(float *out, const float *in)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void start(float *out, const float *in) { turn<<<1, dim3(32, 32)>>>(out, in); }
"""
    found, after = fixed(text, tmp_path)
    assert found.edits and "__align__" not in after and "aligned" not in found.words


def test_arrays_of_one_declaration_are_aligned_once(tmp_path: Path) -> None:
    text = (
        (PRODUCT % ROWS)
        .replace("float tile[K][N];", "float tile[K][N], other[K][N];")
        .replace(
            "tile[i / N][i % N] = in[i];", "{ tile[i / N][i % N] = in[i]; other[i / N][i % N] = in[i + 1]; }"
        )
        .replace(
            "part[j] = tile[k][t % 16 * 8 + j];",
            "part[j] = tile[k][t % 16 * 8 + j] + other[k][t % 16 * 8 + j];",
        )
    )
    path = tmp_path / "a.cu"
    path.write_text(text, encoding="utf-8")
    found = analyse_file(Job(str(path))).suggestions
    assert len(found) == 2 and all(s.edits for s in found)
    after = apply([e for s in found for e in s.edits or ()], text.encode()).decode()
    assert "__shared__ __align__(16) float tile[K][N], other[K][N];" in after
