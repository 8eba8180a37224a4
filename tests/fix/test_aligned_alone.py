"""An array of small elements is aligned where that alone lets the compiler join neighbours.

nvcc 13.0: 16 LDS.U8 of `t[tx * 16 + i]` are one LDS.128 where `t` is declared `__align__(16)`.
"""

from __future__ import annotations

from pathlib import Path

from smemlint.fix.edits.apply import apply
from tests.fix.test_suggest import of_text

BYTES = """__global__ void k(int *o, const unsigned char *in) {
    __shared__ @ALIGN@unsigned char t[4096];
    int tx = threadIdx.x;
    for (int i = 0; i < 16; ++i) t[i * 256 + tx] = in[i * 256 + tx];
    __syncthreads();
    int s = 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) s += t[tx * 16 + i@MORE@];
    o[tx] = s;
}
void f(int *o, const unsigned char *in) { k<<<1, 256>>>(o, in); }
"""


def text_of(align: str = "", more: str = "") -> bytes:
    made = BYTES.replace("@ALIGN@", align).replace("@MORE@", more)
    return made.encode()


def test_bytes_that_are_joined_behind_an_alignment_get_it(tmp_path: Path) -> None:
    """8 warps of 4 wavefronts of 16 bytes instead of 16 requests of 4 ways; 128 of the stores stay."""
    fix = of_text(tmp_path, text_of())[0]["t"]
    assert fix.edits is not None and fix.safe and fix.bytes_added == 0
    assert (fix.before, fix.after) == (16 * 8 * 4 + 128, 8 * 4 + 128)
    assert apply(fix.edits, text_of()) == text_of("__align__(16) ")
    assert not of_text(tmp_path, text_of("__align__(16) "))[0]


def test_bytes_that_each_lane_takes_in_another_order_are_not_aligned_for_nothing(tmp_path: Path) -> None:
    fix = of_text(tmp_path, text_of(more=" ^ (tx & 15)"))[0]["t"]
    assert fix.before > 128 + 128 and "__align__" not in fix.code
