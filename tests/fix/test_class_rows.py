"""Rows that are objects of a class template are made longer where its arguments say their length."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.fix.edits.apply import apply
from tests.fix.test_suggest import of_text

ROWS = """template <class T, int N> struct Array {
    T v[N];
    @METHOD@__device__ T &operator[](int i) { return v[i]; }
};
__global__ void k(float *o, const float *in) {
    __shared__ Array<float, 32> t[32];
    int tx = threadIdx.x, ty = threadIdx.y;
    @BEFORE@t[ty][tx] = in[ty * 32 + tx]; __syncthreads(); o[ty * 32 + tx] = t[tx][ty];
}
void f(float *o, const float *in) { k<<<1, dim3(32, 32)>>>(o, in); }
"""


def text_of(method: str = "", before: str = "") -> bytes:
    return ROWS.replace("@METHOD@", method).replace("@BEFORE@", before).encode()


def test_the_last_argument_grows(tmp_path: Path) -> None:
    """33 floats a row bring the 32 lanes of a column to 32 banks."""
    fix = of_text(tmp_path, text_of())[0]["t"]
    assert fix.edits is not None and not fix.safe and (fix.before, fix.after) == (1056, 64)
    assert apply(fix.edits, text_of()) == text_of().replace(b"Array<float, 32> t", b"Array<float, 33> t")


@pytest.mark.parametrize(
    ("method", "before"),
    [
        ("", "Array<float, 32> mine; mine[0] = 1; "),
        ("__device__ void fill() { for (int i = 0; i < N; ++i) v[i] = 0; } ", "if (ty == 0) t[tx].fill(); "),
    ],
)
def test_a_length_that_serves_something_else_stays(tmp_path: Path, method: str, before: str) -> None:
    assert of_text(tmp_path, text_of(method, before))[0]["t"].edits is None
