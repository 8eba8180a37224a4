"""A macro that is one access of an array is edited like an access."""

from __future__ import annotations

from pathlib import Path

from smemlint.fix.edits.apply import apply
from tests.fix.test_suggest import of_text

TEXT = """#define tile(i, j) tile[((i) << 5) + (j)]
__global__ void k(float *out, const float *in) {
    __shared__ float tile[32 * 32];
    int x = threadIdx.x, y = threadIdx.y;
    tile(y, x) = in[y * 32 + x];
    __syncthreads();
    out[y * 32 + x] = tile(x, y);
}
@MORE@
void start(float *o, const float *i) { k<<<4, dim3(32, 32)>>>(o, i); }
"""


def test_the_index_is_rewritten_in_the_macro(tmp_path: Path) -> None:
    text = TEXT.replace("@MORE@", "").encode()
    fix = of_text(tmp_path, text)[0]["tile"]
    assert fix.edits is not None, fix.refused
    after = apply(fix.edits, text).decode()
    assert f"tile[{fix.kind}_tile(((i) << 5) + (j))]" in after
    path = tmp_path / "a.cu"
    path.write_text(after)
    assert not of_text(tmp_path, after.encode())[0]


def test_a_macro_of_two_kernels_is_left_alone(tmp_path: Path) -> None:
    other = "__global__ void m(float *out) { __shared__ float tile[1024]; tile(threadIdx.x, 0) = 1; }"
    fix = of_text(tmp_path, TEXT.replace("@MORE@", other).encode())[0]["tile"]
    assert fix.edits is None


def test_a_macro_that_does_more_than_an_access_is_left_alone(tmp_path: Path) -> None:
    text = (
        TEXT.replace("@MORE@", "")
        .replace("+ (j)]", "+ (j)] * 1.0f")
        .replace("tile(y, x) =", "tile[y * 32 + x] =")
    )
    fix = of_text(tmp_path, text.encode())[0]["tile"]
    assert fix.edits is None and fix.refused is not None
