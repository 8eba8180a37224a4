"""A fragment is told the row pitch of its array: padding changes it there too."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.fix.edits.apply import apply
from smemlint.fix.text.fragments import as_element, leading_dimension
from smemlint.fix.text.source import Source
from tests.fix.test_suggest import of_text

KERNEL = """#include <mma.h>
using namespace nvcuda;
__global__ void k(const half *A, const half *B, float *C)
{
    __shared__ half a[64][64];
    __shared__ half b[64 * 64];
    int t = threadIdx.x, w = t / 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int i = t; i < 64 * 8; i += 128) {
        *(float4 *)&a[i / 8][i % 8 * 8] = *(const float4 *)&A[i * 8];
        *(float4 *)&b[i / 8 * 64 + i % 8 * 8] = *(const float4 *)&B[i * 8];
    }
    __syncthreads();
    for (int kk = 0; kk < 64; kk += 16) {
        wmma::load_matrix_sync(fa, &a[w * 16][kk], 64);
        wmma::load_matrix_sync(fb, &b[kk * 64 + w * 16], 64);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(C + w * 256, fc, 16, wmma::mem_row_major);
}
void start(const half *a, const half *b, float *c) { k<<<8, 128>>>(a, b, c); }
"""


def test_ldm_grows_with_the_row(tmp_path: Path) -> None:
    found, _ = of_text(tmp_path, KERNEL.encode())
    assert found["a"].edits is not None and found["b"].edits is not None
    edits = sorted((*found["a"].edits, *found["b"].edits), key=lambda e: e.offset)
    text = apply(edits, KERNEL.encode()).decode()
    assert "half a[64][72];" in text and "load_matrix_sync(fa, &a[w * 16][kk], 72)" in text
    assert "constexpr int B_PITCH = 72;" in text and "half b[64 * B_PITCH];" in text
    assert "&b[i / 8 * B_PITCH + i % 8 * 8]" in text
    assert "load_matrix_sync(fb, &b[kk * B_PITCH + w * 16], B_PITCH)" in text
    # The rows of an 8 x 8 matrix lie 144 bytes apart: 36 words, a different bank group each.
    assert len({row * 144 // 4 % 32 // 4 for row in range(8)}) == 8
    assert found["a"].after == sum(c.ideal for c in found["a"].sites)


def test_ldm_grows_where_a_pointer_leads_to_the_row(tmp_path: Path) -> None:
    kernel = KERNEL.replace(
        "wmma::load_matrix_sync(fa, &a[w * 16][kk], 64);",
        "const half *rows = &a[w * 16][kk]; wmma::load_matrix_sync(fa, rows, 64);",
    )
    found, _ = of_text(tmp_path, kernel.encode())
    assert found["a"].edits is not None, found["a"].refused
    text = apply(list(found["a"].edits), kernel.encode()).decode()
    assert "half a[64][72];" in text and "load_matrix_sync(fa, rows, 72)" in text


def test_a_pointer_that_leads_elsewhere_later_is_noticed(tmp_path: Path) -> None:
    kernel = KERNEL.replace(
        "wmma::load_matrix_sync(fa, &a[w * 16][kk], 64);",
        "const half *rows = &a[w * 16][kk]; wmma::load_matrix_sync(fa, rows, 64); rows = b;"
        "wmma::load_matrix_sync(fb, rows, 64);",
    )
    found, _ = of_text(tmp_path, kernel.encode())
    assert found["a"].edits is None and found["a"].refused is not None
    assert found["a"].refused.code == "not-proved"


@pytest.mark.parametrize(
    ("pointer", "after"),
    [
        ("b + kk * 64 + w * 16", "b + kk * B_PITCH + w * 16, B_PITCH"),
        ("b + (kk * 64 + w * 16)", "b + (kk * B_PITCH + w * 16), B_PITCH"),
        ("b", "b, B_PITCH"),
    ],
)
def test_a_sum_is_as_good_as_the_address_of_an_element(pointer: str, after: str, tmp_path: Path) -> None:
    text = KERNEL.replace("&b[kk * 64 + w * 16]", pointer).encode()
    found, _ = of_text(tmp_path, text)
    assert f"load_matrix_sync(fb, {after})" in apply(list(found["b"].edits or ()), text).decode()
    assert found["b"].safe


@pytest.mark.parametrize("pointer", ["(half *)b + kk * 64", "b - w + kk * 64 + w", "b + (w ? kk * 64 : 0)"])
def test_other_pointers_are_not_rewritten_as_elements(pointer: str) -> None:
    text = f"wmma::load_matrix_sync(fb, {pointer}, 64);"
    source = Source("a.cu", text.encode())
    (use,) = list(source.uses("b", 0, len(source.code), 1))
    assert as_element(source, use) is use


def test_rows_of_a_fragment_stay_aligned(tmp_path: Path) -> None:
    """ldm is a multiple of 16 bytes: a tile of float grows by fours."""
    text = KERNEL.replace("C + w * 256, fc, 16,", "&c[w * 16][0], fc, 32,").replace(
        "    int t =", "    __shared__ float c[64][32];\n    int t ="
    )
    text = text.replace("}\nvoid", "    __syncthreads();\n    C[t] = c[t % 64][t / 64];\n}\nvoid")
    found, _ = of_text(tmp_path, text.encode())
    columns = int(found["c"].code.removeprefix("c[64][").removesuffix("]"))
    assert found["c"].edits is not None and columns > 32 and columns % 4 == 0


def test_ldm_is_found_where_the_pointer_is_the_pointer() -> None:
    assert leading("f, (half *)(&sh[r][c]), LD + 8, row") == "LD + 8"
    assert leading("f[g(1, 2)], sh[r] + c, 40") == "40"
    assert leading("sh[r], p, 40") is None
    assert leading("f, table[sh[r][c]], 40") is None


def leading(arguments: str) -> str | None:
    text = f"wmma::load_matrix_sync({arguments});"
    source = Source("a.cu", text.encode())
    (use,) = list(source.uses("sh", 0, len(source.code), 2))
    found = leading_dimension(source, use)
    return None if found is None else text[slice(*found)]
