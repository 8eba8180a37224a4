"""An array that is a member of a structure is padded at its declaration there; what lies behind moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.fix.edits.apply import apply
from tests.fix.test_suggest import of_text

TILE = """struct Stage {
    float tile[32][32];
    float sums[32];
};
__global__ void k(float *out, const float *in) {
    @DECLARED@
    int tx = threadIdx.x, ty = threadIdx.y;
    s.tile[ty][tx] = in[ty * 32 + tx];
    if (ty == 0) s.sums[tx] = 0;
    __syncthreads();
    out[ty * 32 + tx] = s.tile[tx][ty] + s.sums[tx];
}
void start(float *o, const float *i) { k<<<4, dim3(32, 32)@BYTES@>>>(o, i); }
"""
STATIC = TILE.replace("@DECLARED@", "__shared__ Stage s;").replace("@BYTES@", "")
POOL = "extern __shared__ char raw[]; Stage &s = *reinterpret_cast<Stage *>(raw);"


def test_a_member_is_padded_where_the_structure_declares_it(tmp_path: Path) -> None:
    text = STATIC.encode()
    fix = of_text(tmp_path, text)[0]["s"]
    assert fix.edits is not None and fix.safe, (fix.refused, fix.unsafe_because)
    assert fix.code == "tile[32][33]" and fix.bytes_added == 128
    assert apply(fix.edits, text) == text.replace(b"tile[32][32]", b"tile[32][33]", 1)
    # 32 warps store a row, 32 load a column (32 wavefronts each, then 1), 1 clears the sums, 32 read them
    assert fix.kernel == (32 + 32 * 32 + 1 + 32, 32 + 32 + 1 + 32)


def test_a_structure_in_dynamic_memory_grows_with_the_launch(tmp_path: Path) -> None:
    text = TILE.replace("@DECLARED@", POOL).replace("@BYTES@", ", sizeof(Stage)").encode()
    fix = of_text(tmp_path, text)[0]["raw"]
    assert fix.edits is not None, fix.refused
    assert fix.code == "tile[32][33]" and not fix.safe and "given at the launch" in fix.unsafe_because


def test_a_structure_whose_bytes_are_a_number_does_not_grow(tmp_path: Path) -> None:
    text = TILE.replace("@DECLARED@", POOL).replace("@BYTES@", ", 32 * 33 * 4").encode()
    fix = of_text(tmp_path, text)[0]["raw"]
    assert fix.edits is None and fix.refused is not None and fix.refused.code == "not-proved"


@pytest.mark.parametrize("other", ["Stage *everything;", "__device__ Stage kept;"])
def test_a_structure_that_is_used_elsewhere_makes_it_unsafe(tmp_path: Path, other: str) -> None:
    fix = of_text(tmp_path, STATIC.replace("__global__", f"{other}\n__global__", 1).encode())[0]["s"]
    assert fix.edits is not None and not fix.safe
    assert (
        fix.unsafe_because == "`Stage` is used on line 5, and may be something else than shared memory there"
    )


def test_wide_loads_of_a_member_keep_their_alignment(tmp_path: Path) -> None:
    text = STATIC.replace(
        "s.tile[ty][tx] = in[ty * 32 + tx];",
        "if (tx < 8) *(float4 *)&s.tile[ty][4 * tx] = ((const float4 *)in)[ty * 8 + tx];",
    )
    fix = of_text(tmp_path, text.encode())[0]["s"]
    assert fix.edits is None or "tile[32][36]" in fix.code


def test_a_member_that_two_structures_have_is_left_alone(tmp_path: Path) -> None:
    text = "struct Other { float tile[8][8]; };\n" + STATIC
    fix = of_text(tmp_path, text.encode())[0]["s"]
    assert fix.edits is None and fix.refused is not None and fix.refused.code == "declared-twice"


def test_other_arrays_of_the_file_need_not_be_known(tmp_path: Path) -> None:
    other = """__global__ void other(int *out, const int *in) {
    __shared__ int h[256];
    h[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = h[in[threadIdx.x] & 255];
}
void also(int *o, const int *i) { other<<<1, 256>>>(o, i); }
"""
    fix = of_text(tmp_path, (STATIC + other).encode())[0]["s"]
    assert fix.edits is not None and fix.safe, (fix.refused, fix.unsafe_because)
