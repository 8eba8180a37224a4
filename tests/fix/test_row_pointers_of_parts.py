"""A part of a pool whose rows each thread reaches by a pointer, and one that an integer leads into."""

from __future__ import annotations

from pathlib import Path

import pytest

from fix import emulated
from fix.edits.test_through import fixed

ROWS = """
#define D 32
__global__ void k(const float *in, float *out, int n)
{{
    extern __shared__ float pool[];
    float *q = pool;
    float *v = q + 64 * D;
    const int tid = threadIdx.x;
    for (int i = tid; i < 64 * D; i += 64) {{
        q[i / D * D + i % D] = in[i];
        v[i / D * D + i % D] = in[i] + 1;
    }}
    __syncthreads();
    float s = 0;
    {row}
    for (int j = 0; j < 64; ++j)
        for (int i = 0; i < D; ++i) s += {read} * v[j * D + i];
    out[tid] = s;
}}
void start(float *out, const float *in) {{ k<<<1, 64, 2 * 64 * D * sizeof(float)>>>(in, out, 32); }}
int use(float *p, const float *q) {{ start(p, q); return 0; }}
"""
PLAIN = ROWS.format(row="float *mine = q + tid * D;", read="mine[i]")


@pytest.mark.parametrize(
    ("row", "read"),
    [
        ("float *mine = q + tid * D;", "mine[i]"),
        ("const float *mine = q + tid * D;", "mine[i]"),
        ("float *mine = &q[tid * D];", "mine[i]"),
        ("float *mine = q + (tid + 0) * D + 1;", "mine[i - 1]"),
        ("int at = tid * D; float *mine = q + at;", "mine[i]"),
    ],
)
def test_a_pointer_to_a_row_follows_the_pitch_of_its_part(tmp_path: Path, row: str, read: str) -> None:
    found, after = fixed(ROWS.format(row=row, read=read), tmp_path)
    assert found.edits is not None and not found.safe, found.refused
    assert "tid * D" not in after or "int at" not in row
    assert "Q_PITCH" in after and found.after < found.before / 4


@emulated.needs_compiler
def test_the_kernel_with_the_wider_rows_computes_the_same(tmp_path: Path) -> None:
    _, after = fixed(PLAIN, tmp_path)
    assert after != PLAIN
    assert emulated.run(after, tmp_path) == emulated.run(PLAIN, tmp_path)


@pytest.mark.parametrize(
    "row",
    [
        "float *mine = q; mine += tid * D;",
        "float *mine = q + tid * D; mine += D; mine -= D;",
        "float *mine = q + tid * n;",
    ],
)
def test_a_pointer_that_moves_or_counts_by_something_else_gets_no_wrong_edit(
    tmp_path: Path, row: str
) -> None:
    text = ROWS.format(row=row, read="mine[i]")
    found, after = fixed(text, tmp_path)
    if found.edits is None:
        assert found.refused is not None and after == text
    elif emulated.COMPILER:
        assert emulated.run(after, tmp_path) == emulated.run(text, tmp_path)


COPIED = """#include <mma.h>
using namespace nvcuda;
__global__ void k(const half *in, float *out)
{{
    extern __shared__ half pool[];
    half *a = pool;
    half *b = pool + 32 * {pitch};
    unsigned at = __cvta_generic_to_shared(a);
    int r = threadIdx.x / 4, c = threadIdx.x % 4 * 8;
    asm("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at + (r * {pitch} + c) * 2), "l"(in + r * 32 + c));
    b[threadIdx.x] = in[threadIdx.x];
    asm("cp.async.wait_all;");
    __syncthreads();
    half s = 0;
    for (int i = 0; i < 32; i++) s += a[threadIdx.x % 32 * {pitch} + i];
    out[threadIdx.x] = (float)(s + b[threadIdx.x ^ 1]);
}}
void start(float *o, const half *i) {{ k<<<1, 128, 32 * {pitch} * 2 + 256>>>(i, o); }}
"""


def test_an_address_that_is_an_integer_is_weighed_with_its_part(tmp_path: Path) -> None:
    """Where another layout would pay, the reason names the access that no edit follows, and the numbers."""
    found, _ = fixed(COPIED.format(pitch=32), tmp_path)
    assert found.edits is None and found.refused is not None
    assert found.refused.code == "part-overlaps" and "line 10 reaches the part of `a`" in found.refused.text
    assert found.after < found.before


def test_where_no_layout_pays_the_integer_is_not_to_blame(tmp_path: Path) -> None:
    found, _ = fixed(COPIED.format(pitch=40), tmp_path)
    assert found.refused is None or found.refused.code != "part-overlaps"


FRAGMENTS = """#include <mma.h>
using namespace nvcuda;
__global__ void k(const half *in, float *out)
{
    extern __shared__ half pool[];
    half *a = pool;
    half *b = pool + 64 * 40;
    int at = __cvta_generic_to_shared(a);
    int r = (threadIdx.x >> 2) << 1, c = (threadIdx.x & 3) << 3;
    asm("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at + (r * 40 + c) * 2), "l"(in + r * 32 + c));
    asm("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(at + (r * 40 + 40 + c) * 2), "l"(in + r * 32 + c));
    b[threadIdx.x] = in[threadIdx.x];
    asm("cp.async.wait_all;");
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f, g;
    for (int i = 0; i < 4; i++) {
        wmma::load_matrix_sync(f, &a[i * 16 * 40], 40);
        wmma::load_matrix_sync(g, &a[i * 16 * 40 + 16], 40);
    }
    out[threadIdx.x] = (float)f.x[0] + (float)g.x[0] + (float)b[threadIdx.x ^ 1];
}
void start(float *o, const half *i) { k<<<1, 128, 64 * 40 * 2 + 256>>>(i, o); }
"""


def test_a_copy_by_integers_that_no_pitch_helps_says_so_with_numbers(tmp_path: Path) -> None:
    """Rows two apart meet in pitch 40; in pitch 48 they do not, and the rows of a fragment do."""
    found, _ = fixed(FRAGMENTS, tmp_path)
    assert found.edits is None and found.refused is not None
    assert found.refused.code in ("no-better-layout", "not-worth-it"), found.refused
    assert "other layouts" in found.refused.text or "saves" in found.refused.text
