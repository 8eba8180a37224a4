"""Edits of kernels that nothing starts: which of the usual block shapes they have to hold under."""

from __future__ import annotations

from pathlib import Path

from smemlint.api import Job, analyse_file
from smemlint.fix.model import Suggestion

TRANSPOSED = """
__global__ void k(float *out, const float4 *in) {
    __shared__ float s[2][8][64];
    int t = threadIdx.x;
    float4 v = in[t];
    s[0][t * 4 % 8 + 0][t * 4 / 8] = v.x;
    s[0][t * 4 % 8 + 1][t * 4 / 8] = v.y;
    s[0][t * 4 % 8 + 2][t * 4 / 8] = v.z;
    s[0][t * 4 % 8 + 3][t * 4 / 8] = v.w;
    __syncthreads();
    for (int i = 0; i < 8; ++i) out[t + i * 64] = s[0][i][t % 64];
}
"""
FLATTENED = """
__global__ void k(float *out, const float *in) {
    __shared__ float s[3][40][40];
    int t = threadIdx.x;
    s[0][t % 32][t / 32] = in[t];
    __syncthreads();
    out[t] = s[0][0][t & 1023];
}
"""


def suggestion(text: str, folder: Path) -> Suggestion:
    path = folder / "a.cu"
    path.write_text(text, encoding="utf-8")
    (found,) = analyse_file(Job(str(path))).suggestions
    return found


def test_blocks_that_run_beyond_a_row_do_not_keep_a_padding_away(tmp_path: Path) -> None:
    found = suggestion(TRANSPOSED, tmp_path)
    assert found.edits is not None and not found.safe
    assert found.unsafe_because == "the block shape of `k` is assumed"


def test_blocks_that_stay_in_the_first_row_do_not_prove_a_padding(tmp_path: Path) -> None:
    found = suggestion(FLATTENED, tmp_path)
    assert found.edits is None and found.refused is not None
    assert found.refused.code == "not-proved"


def test_numbers_are_those_of_the_blocks_that_are_left(tmp_path: Path) -> None:
    found = suggestion(TRANSPOSED, tmp_path)
    stored = [change for change in found.sites if change.before > change.after]
    assert [change.before for change in stored] == [8] * 4 + [4] * 4 + [2] * 4
    assert [change.after for change in stored] == [change.ideal for change in stored]
