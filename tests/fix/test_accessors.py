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


def test_a_macro_of_two_kernels_stays_and_each_access_is_rewritten(tmp_path: Path) -> None:
    other = "__global__ void m(float *out) { __shared__ float tile[1024]; tile(threadIdx.x, 0) = 1; }"
    text = TEXT.replace("@MORE@", other).encode()
    fix = of_text(tmp_path, text)[0]["tile"]
    assert fix.edits is not None
    after = apply(fix.edits, text).decode()
    assert "#define tile(i, j) tile[((i) << 5) + (j)]" in after


def test_a_macro_that_does_more_than_an_access_is_left_alone(tmp_path: Path) -> None:
    text = (
        TEXT.replace("@MORE@", "")
        .replace("+ (j)]", "+ (j)] * 1.0f")
        .replace("tile(y, x) =", "tile[y * 32 + x] =")
    )
    fix = of_text(tmp_path, text.encode())[0]["tile"]
    assert fix.edits is None and fix.refused is not None


POINTED = """#define tile(i, j) tile[(i) + (j) * 8]
#define part(w, i) part[(4 * (w) + (i)) * 8]
__global__ void k(float *out, const float *in) {
    __shared__ float tile[8 * 128];
    float sum = 0;
    for (int round = 0; round < 16; round++) {
        tile(threadIdx.x % 8, threadIdx.x / 8) = in[round * 32 + threadIdx.x];
        __syncthreads();
        float *part = &tile(0, threadIdx.y);
        sum += part(threadIdx.x, 0);
        part += 3;
        sum += part(threadIdx.x, 2);
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
void start(float *o, const float *i) { k<<<4, dim3(32, 1)>>>(o, i); }
"""


def test_a_pointer_that_starts_at_a_macro_and_is_reached_by_another_is_followed(tmp_path: Path) -> None:
    fix = of_text(tmp_path, POINTED.encode())[0]["tile"]
    assert fix.edits is not None, fix.refused
    after = apply(fix.edits, POINTED.encode()).decode()
    assert after.count("swizzle_tile(int(part - tile) + (4 * (threadIdx.x) +") == 2
    assert "#define part(w, i) part[(4 * (w) + (i)) * 8]" in after
    assert not fix.safe and "through `part`" in fix.unsafe_because
    assert sum(s.after for s in fix.sites) < sum(s.before for s in fix.sites) / 2


def test_a_macro_that_is_no_access_alone_hides_a_pointer(tmp_path: Path) -> None:
    text = POINTED.replace("(i)) * 8]", "(i)) * 8] * 2.0f")
    fix = of_text(tmp_path, text.encode())[0]["tile"]
    assert fix.edits is None and fix.refused is not None
