"""A flat array that a loader sees as elements of a wider type gets another pitch, and so does the loader."""

from __future__ import annotations

from pathlib import Path

import pytest

from fix.cases import joined
from smemlint.fix.edits.apply import apply
from tests.fix.test_suggest import of_text

ROWS = """__global__ void k(float *out, const float *in) {
    __shared__ float a[32 * 32];
    int t = threadIdx.x;
    @LOAD@
    __syncthreads();
    float v = 0;
    for (int c = 0; c < 32; ++c) v += a[t % 32 * 32 + c] * (c + 1);
    out[t] = v;
}
void start(float *o, const float *i) { k<<<4, 256>>>(o, i); }
"""


@pytest.mark.parametrize("view", ["reinterpret_cast<float4 *>(a)", "((float4 *)a)"])
def test_the_index_of_a_wider_view_is_cut_into_rows(tmp_path: Path, view: str) -> None:
    text = ROWS.replace("@LOAD@", f"{view}[t] = ((const float4 *)in)[t];")
    fix = of_text(tmp_path, text.encode())[0]["a"]
    assert fix.edits is not None and fix.safe, (fix.refused, fix.unsafe_because)
    after = joined(apply(fix.edits, text.encode()).decode())
    assert "constexpr int A_PITCH = 36;" in after and "a[32 * A_PITCH]" in after
    # a row of 32 floats is 8 elements of 16 bytes
    assert f"{view}[t / 8 * (A_PITCH / 4) + t % 8] = " in after
    assert fix.after == sum(change.ideal for change in fix.sites)


def test_a_sum_in_a_view_is_cut_as_a_whole(tmp_path: Path) -> None:
    text = ROWS.replace("@LOAD@", "((float4 *)a)[t / 8 * 8 + t % 8] = ((const float4 *)in)[t];")
    fix = of_text(tmp_path, text.encode())[0]["a"]
    assert fix.edits is not None
    assert (
        "[(t / 8 * 8 + t % 8) / 8 * (A_PITCH / 4) + (t / 8 * 8 + t % 8) % 8]"
        in apply(fix.edits, text.encode()).decode()
    )


@pytest.mark.parametrize(
    "load",
    [
        "int i = t; ((float4 *)a)[i++] = ((const float4 *)in)[t];",
        "float4 *w = (float4 *)a; w[t] = ((const float4 *)in)[t];",
    ],
)
def test_other_uses_through_a_wider_type_are_not_padded_so(tmp_path: Path, load: str) -> None:
    text = ROWS.replace("@LOAD@", load).encode()
    fix = of_text(tmp_path, text)[0]["a"]
    assert fix.edits is None or b"A_PITCH / 4" not in apply(fix.edits, text)


def test_a_view_that_no_launch_runs_makes_it_unsafe(tmp_path: Path) -> None:
    load = "((float4 *)a)[t] = ((const float4 *)in)[t]; if (blockDim.x == 64) ((float4 *)a)[t + 1] = {};"
    fix = of_text(tmp_path, ROWS.replace("@LOAD@", load).encode())[0]["a"]
    assert fix.edits is None or not fix.safe


PARTS = """#define K 16
#define ROW 64
#define ROW4 16
__global__ void k(float4 *out, const float4 *in) {
    __shared__ float4 a[2][K * ROW4];
    int t = threadIdx.x, x = t % 4, y = t / 4;
    int start = @START@;
    float4 v = in[t];
    *((float *)&a[0][0] + start + 0 * ROW) = v.x;
    *((float *)&a[0][0] + start + 1 * ROW) = v.y;
    *((float *)&a[0][0] + start + 2 * ROW) = v.z;
    *((float *)&a[0][0] + start + 3 * ROW) = v.w;
    __syncthreads();
    float4 sum = a[0][t % 16];
    for (int j = 1; j < K; ++j) sum.x += a[0][j * ROW4 + t % 16].x * a[0][j * ROW4 + t % 16].y;
    out[t] = sum;
}
void start(float4 *o, const float4 *i) { k<<<4, 256>>>(o, i); }
"""


@pytest.mark.parametrize("start", ["x * 4 * ROW + y", "x * 4 * 64 + y"])
def test_a_pitch_in_parts_of_an_element_becomes_wider_too_also_in_a_local_variable(
    tmp_path: Path, start: str
) -> None:
    text = PARTS.replace("@START@", start)
    fix = of_text(tmp_path, text.encode())[0]["a"]
    assert fix.edits is not None and fix.kind == "pitch", fix.refused
    after = joined(apply(fix.edits, text.encode()).decode())
    assert "constexpr int A_PITCH = ROW4 + 1;" in after and "a[2][K * A_PITCH]" in after
    assert "int start = x * 4 * (A_PITCH * 4) + y;" in after and "+ 3 * (A_PITCH * 4)) = v.w" in after
    assert "a[0][j * A_PITCH + t % 16].y" in after


def test_a_local_variable_that_serves_something_else_keeps_its_pitch(tmp_path: Path) -> None:
    text = PARTS.replace("@START@", "x * 4 * ROW + y").replace("= sum;", "= sum; out[start] = sum;")
    fix = of_text(tmp_path, text.encode())[0]["a"]
    assert fix.edits is None or b"int start = x * 4 * ROW + y;" in apply(fix.edits, text.encode())
