"""An array that is passed with its extents is padded in the signature, all bodies and all callers, or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.fix.edits.apply import apply
from smemlint.fix.text.passed import calls
from smemlint.fix.text.source import Source
from tests.fix.test_suggest import of_text

TEXT = """@HEAD@
__global__ void k(float *out, const float *in) {
    __shared__ float tile[32][32];
    fill(in, tile);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void start(float *o, const float *i) { k<<<4, dim3(32, 32)>>>(o, i); }
"""
BODY = "{ t[threadIdx.y][threadIdx.x] = in[threadIdx.x]; }"


@pytest.mark.parametrize(
    ("parameter", "edited"),
    [
        ("float (&t)[32][32]", "float (&t)[32][33]"),
        ("float (*t)[32]", "float (*t)[33]"),
        ("float t[32][32]", "float t[32][33]"),
        ("float t[][32]", "float t[][33]"),
    ],
)
def test_the_parameter_is_padded_with_the_array(tmp_path: Path, parameter: str, edited: str) -> None:
    head = f"__device__ void fill(const float *in, {parameter}) {BODY}"
    text = TEXT.replace("@HEAD@", head).encode()
    fix = of_text(tmp_path, text)[0]["tile"]
    assert fix.edits is not None, fix.refused
    after = apply(fix.edits, text).decode()
    assert edited in after and "tile[32][33]" in after and fix.safe


def test_an_extent_that_is_deduced_follows_by_itself(tmp_path: Path) -> None:
    head = f"template <int R, int C> __device__ void fill(const float *in, float (&t)[R][C]) {BODY}"
    text = TEXT.replace("@HEAD@", head).encode()
    fix = of_text(tmp_path, text)[0]["tile"]
    assert fix.edits is not None and len(fix.edits) == 1, fix.refused


def test_functions_that_pass_it_on_follow_too(tmp_path: Path) -> None:
    inner = f"__device__ void inner(const float *in, float (*t)[32]) {BODY}\n"
    head = inner + "__device__ void fill(const float *in, float (&t)[32][32]) { inner(in, t); }"
    text = TEXT.replace("@HEAD@", head).encode()
    fix = of_text(tmp_path, text)[0]["tile"]
    assert fix.edits is not None and len(fix.edits) == 3, fix.refused


def test_a_function_that_another_kernel_calls_keeps_the_array_as_it_is(tmp_path: Path) -> None:
    head = f"__device__ void fill(const float *in, float (&t)[32][32]) {BODY}"
    other = "__global__ void other(const float *in) { __shared__ float u[32][32]; fill(in, u); }\n"
    text = (TEXT.replace("@HEAD@", head) + other).encode()
    fix = of_text(tmp_path, text)[0]["tile"]
    assert fix.edits is None and fix.refused is not None and fix.refused.code == "passed-on"


STAGES = """__device__ void fill(const float *in, float t[][32])
{ t[threadIdx.y][threadIdx.x] = in[threadIdx.x]; }
__global__ void k(float *out, const float *in) {
    __shared__ float tiles[2][32][32];
    fill(in, tiles[0]);
    fill(in, @SECOND@);
    __syncthreads();
    out[threadIdx.x] = tiles[0][threadIdx.x][threadIdx.y] + tiles[1][threadIdx.x][threadIdx.y];
}
void start(float *o, const float *i) { k<<<4, dim3(32, 32)>>>(o, i); }
"""


def test_one_stage_of_several_is_padded_with_the_parameter_that_gets_it(tmp_path: Path) -> None:
    text = STAGES.replace("@SECOND@", "tiles[1]").encode()
    fix = of_text(tmp_path, text)[0]["tiles"]
    assert fix.edits is not None, fix.refused
    after = apply(fix.edits, text).decode()
    assert "float t[][33]" in after and "tiles[2][32][33]" in after and fix.safe


def test_a_stage_of_another_array_keeps_it_as_it_is(tmp_path: Path) -> None:
    text = STAGES.replace("@SECOND@", "more[1]").replace(
        "    fill(in, tiles[0]);", "    __shared__ float more[2][32][32];\n    fill(in, tiles[0]);"
    )
    fix = of_text(tmp_path, text.encode())[0]["tiles"]
    assert fix.edits is None and fix.refused is not None and fix.refused.code == "passed-on"


def test_a_variable_that_is_compared_is_no_call_of_the_function_of_its_name() -> None:
    text = "__device__ float put(float *p);\nint main() { int put = 3; return put < 4 ? 1 : 0; }"
    source = Source("k.cu", text.encode())
    found = [(source.code[at].text if at >= 0 else "", declares) for at, declares in calls(source, "put")]
    assert found == [("(", True), ("", True), ("", False)]
