"""The named constant that is a pitch and nothing else is made larger, and the program stays the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from smemlint.api import Job
from smemlint.fix.edits.apply import apply
from smemlint.fix.model import Refusal, TextEdit
from smemlint.fix.whole import Program, Tried
from smemlint.frontend import Known, load, parse
from smemlint.running import pipeline
from smemlint.running.schedule import FixWork
from smemlint.source import read_source
from tests.fix.test_suggest import of_text

POOL = """__global__ void k(float *out, const float *in, int n) {
    constexpr int LD = 32;
    __shared__ float pool[2 * 32 * LD];
    auto a = pool;
    auto b = pool + 32 * LD;
    int tx = threadIdx.x, ty = threadIdx.y;
    a[ty * LD + tx] = in[tx];
    b[ty * LD + tx] = in[tx + n];
    __syncthreads();
    out[ty * 32 + tx] = a[tx * LD + ty] * b[tx * LD + ty]@USE@;
}
void start(float *o, const float *i) { k<<<4, dim3(32, 32)>>>(o, i, 8); }
"""


def test_a_pool_moves_with_the_constant_that_cuts_it(tmp_path: Path) -> None:
    text = POOL.replace("@USE@", "").encode()
    fix = of_text(tmp_path, text)[0]["pool"]
    assert fix.edits is not None and fix.safe, (fix.refused, fix.unsafe_because)
    assert fix.code == "LD = 33" and (fix.before, fix.after) == (2112, 128)
    assert apply(fix.edits, text) == text.replace(b"LD = 32;", b"LD = 33;")
    assert fix.bytes_added == 256 and fix.kernel == (2112, 128)


def test_no_edit_is_tried_on_a_file_with_fewer_steps_left_than_it_took(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(POOL.replace("@USE@", ""), encoding="utf-8")
    found = pipeline.examine(Job(str(path)), str)
    assert isinstance(found, pipeline.Examined)
    took = sum(a.work for a in found.analyses)
    work = FixWork(float("inf"), took)
    analyse = pipeline._from_nothing(Job(str(path)), work, took, Known())
    again = path.read_bytes().replace(b"LD = 32;", b"LD = 33;")
    assert analyse(again)
    assert work.left == work.given - took
    work.left = took - 1
    assert analyse(again) is None
    assert work.left == took - 1


def test_what_a_file_lacks_is_not_learnt_again_for_an_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, known = tmp_path / "a.cu", Known()
    path.write_text(POOL.replace("@USE@", " + lib::factor(tx)"), encoding="utf-8")
    parses: list[str] = []
    real = parse._Attempt.parse

    def counted(attempt: parse._Attempt, healed: str) -> object:
        parses.append(healed)
        return real(attempt, healed)

    monkeypatch.setattr(parse._Attempt, "parse", counted)
    load(read_source(str(path)), None, known)
    assert len(parses) > 1
    parses.clear()
    analyse = pipeline._from_nothing(Job(str(path)), FixWork(float("inf")), 0, known)
    assert analyse(path.read_bytes().replace(b"LD = 32;", b"LD = 33;"))
    assert len(parses) == 1


def test_a_constant_that_also_serves_global_memory_is_left_alone(tmp_path: Path) -> None:
    fix = of_text(tmp_path, POOL.replace("@USE@", " + in[ty * LD]").encode())[0]["pool"]
    assert fix.edits is None and fix.refused is not None
    assert fix.refused.text.endswith("`LD` also serves line 10")


def test_nothing_is_tried_where_one_access_of_the_array_depends_on_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Program, "attempt", lambda *_: pytest.fail("no edit that moves the array is proved"))
    fix = of_text(tmp_path, POOL.replace("@USE@", " + pool[(int)in[tx] & 1023]").encode())[0]["pool"]
    assert fix.edits is None


PARTLY_KNOWN = """#define LD 32
__global__ void k(float *out, const float *in, int r) {
    __shared__ float s[32 * LD];
    for (int y = 0; y < 32; ++y) s[threadIdx.x * LD + y] = in[y];
    __syncthreads();
    out[threadIdx.x] = s[r * 32 + threadIdx.x];
}
void start(float *o, const float *i, int r) { k<<<1, 32>>>(o, i, r); }
"""


def test_a_row_whose_number_is_not_known_moves_with_its_elements(tmp_path: Path) -> None:
    text = PARTLY_KNOWN.encode()
    fix = of_text(tmp_path, text)[0]["s"]
    assert fix.edits is not None
    after = apply(fix.edits, text)
    # Of a pitch of 36, `r * 32` is no row: what reads it has to be another text.
    assert b"s[r * 32 + threadIdx.x]" not in after, after


def test_no_file_is_analysed_where_an_instance_reaches_a_place_known_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = POOL.replace("@USE@", "").replace("__global__", "template <bool PART> __global__")
    text = text.replace("b[ty * LD + tx] =", "b[(PART ? n : ty) * LD + tx] =")
    text = text.replace("k<<<4, dim3(32, 32)>>>(o, i, 8);", "k<false><<<4, dim3(32, 32)>>>(o, i, 8); @MORE@")
    more = "k<true><<<4, dim3(32, 32)>>>(o, i, m);"
    text = text.replace("const float *i)", "const float *i, int m)")
    fix = of_text(tmp_path, text.replace("@MORE@", "").encode())[0]["pool"]
    assert fix.code == "LD = 33"
    monkeypatch.setattr(Program, "attempt", lambda *_: pytest.fail("no edit that moves the array is proved"))
    assert of_text(tmp_path, text.replace("@MORE@", more).encode())[0]["pool"].code != "LD = 33"


def test_an_element_that_others_write_forbids_it(tmp_path: Path) -> None:
    fill = "for (int i = ty * 32 + tx; i < 2048; i += 1024) pool[i] = 0;"
    text = POOL.replace("@USE@", "").replace("b[ty * LD + tx] = in[tx + n];", fill)
    fix = of_text(tmp_path, text.encode())[0]["pool"]
    assert fix.edits is None


def test_an_array_that_is_used_twice_in_turn_is_never_safe(tmp_path: Path) -> None:
    fill = "for (int i = ty * 32 + tx; i < 2048; i += 1024) pool[i] = 0;"
    text = POOL.replace("@USE@", "").replace("    __syncthreads();", f"    {fill}\n    __syncthreads();", 1)
    fix = of_text(tmp_path, text.encode())[0]["pool"]
    assert fix.edits is None or not fix.safe


def test_a_part_does_not_grow_into_one_that_starts_at_a_number(tmp_path: Path) -> None:
    """Measured: such an edit of a public GEMM gave other results."""
    text = POOL.replace("@USE@", "").replace("2 * 32 * LD", "4 * 32 * 32")
    text = text.replace("b = pool + 32 * LD", "b = pool + 32 * 32").replace("b[ty * LD", "b[ty * 32")
    text = text.replace("b[tx * LD + ty]", "b[ty * 32 + tx]")
    fix = of_text(tmp_path, text.encode())[0]["pool"]
    assert fix.edits is None


def test_the_bytes_of_a_launch_follow_a_macro(tmp_path: Path) -> None:
    text = b"""#define LD 32  // a row
__global__ void k(float *out, const float *in) {
    extern __shared__ float t[][LD];
    t[threadIdx.y][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
int main() {
    float *p = 0;
    int bytes = 32 * LD * sizeof(float);
    k<<<4, dim3(32, 32), bytes>>>(p, p);
}
"""
    fix = of_text(tmp_path, text)[0]["t"]
    assert fix.edits is not None and not fix.safe
    assert apply(fix.edits, text) == text.replace(b"LD 32  //", b"LD 33  //")
    assert fix.after == 64 and fix.bytes_added == 128


SKEWED = """@INCLUDE@
template <typename T, size_t ROWS, size_t COLUMNS, size_t SKEW>
__global__ void k(float *out, const float *in) {
    __shared__ T tile[ROWS][COLUMNS + SKEW];
    fill<T, ROWS, COLUMNS, SKEW>(tile, in);
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void start(float *o, const float *i) {
    constexpr size_t ROWS{32U};
    constexpr size_t COLUMNS{32U};
    constexpr size_t SKEW{0U};
    k<float, ROWS, COLUMNS, SKEW><<<4, dim3(32, 32)>>>(o, i);
}
"""
FILL = """template <typename T, size_t R, size_t C, size_t GAP = 0U>
__device__ void fill(T tile[R][C + GAP], const T *in) {
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * C + threadIdx.x];
}
"""


def test_a_skew_that_goes_through_template_parameters_is_made_larger(tmp_path: Path) -> None:
    """Rows of 33 floats bring the 32 lanes of a column to 32 banks."""
    (tmp_path / "fill.cuh").write_text(FILL)
    for include in ('#include "fill.cuh"', FILL):
        text = SKEWED.replace("@INCLUDE@", include).encode()
        fix = of_text(tmp_path, text)[0]["tile"]
        assert fix.edits is not None and fix.code == "SKEW = 1", fix.refused
        assert apply(fix.edits, text) == text.replace(b"SKEW{0U}", b"SKEW{1}")
        assert fix.after == 64


def test_a_skew_that_serves_something_else_behind_a_template_is_left_alone(tmp_path: Path) -> None:
    text = SKEWED.replace("@INCLUDE@", FILL).replace("[threadIdx.y * C +", "[threadIdx.y * (C + GAP) +")
    fix = of_text(tmp_path, text.encode())[0]["tile"]
    assert "SKEW = " not in fix.code
    (tmp_path / "fill.cuh").write_text(FILL.replace("threadIdx.y * C", "threadIdx.y * (C + GAP)"))
    text = SKEWED.replace("@INCLUDE@", '#include "fill.cuh"')
    fix = of_text(tmp_path, text.encode())[0]["tile"]
    assert fix.edits is None and fix.refused is not None and "also serves line" in fix.refused.text


def test_kernels_that_define_one_name_each_have_their_own(tmp_path: Path) -> None:
    first, start = POOL.replace("@USE@", "").split("void start")
    second = POOL.partition("void start")[0].replace("@USE@", " + in[ty * LD]").replace("void k(", "void l(")
    text = (first + second.replace("pool", "other") + "void start" + start).encode()
    found = of_text(tmp_path, text)[0]
    assert found["pool"].edits is not None and found["other"].edits is None
    assert apply(found["pool"].edits, text) == text.replace(b"LD = 32;", b"LD = 33;", 1)


STAGES = """#define PAD 0
template <int W> __global__ void @NAME@(float *out, const float *in) {
    constexpr int ROW = W + PAD;
    __shared__ float pool[2 * 32 * ROW];
    auto a = pool;
    auto b = pool + 32 * ROW;
    int tx = threadIdx.x, ty = threadIdx.y;
    a[ty * ROW + tx] = in[tx];
    b[ty * ROW + tx] = in[tx + 8];
    __syncthreads();
    out[ty * 32 + tx] = a[tx * ROW + ty] * b[tx * ROW + ty];
}
"""


def test_a_constant_that_several_kernels_make_others_of_is_changed_for_all(tmp_path: Path) -> None:
    second = STAGES.partition("\n")[2].replace("@NAME@", "l")
    start = (
        "void start(float *o, float *i) { dim3 b(32, 32); k<32><<<4, b>>>(o, i); l<32><<<4, b>>>(o, i); }\n"
    )
    text = (STAGES.replace("@NAME@", "k") + second + start).encode()
    fix = of_text(tmp_path, text)[0]["pool"]
    assert fix.edits is not None and fix.code == "PAD = 1", fix.refused
    assert {c.kernel for c in fix.sites} == {"k", "l"} and fix.after == 256
    other = text.replace(
        b"l(float *out, const float *in) {", b"l(float *out, const float *in) { out[PAD] = 0;"
    )
    fix = of_text(tmp_path, other)[0]["pool"]
    assert fix.code != "PAD = 1"


def test_the_pitch_of_another_array_is_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """constexpr int SIDE = 32;
__global__ void k(float *out, int n) {
    extern __shared__ float a[];
    __shared__ float b[32][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    a[tx * @PITCH@ + ty] = out[tx];
    b[ty][tx] = out[tx + 1];
    __syncthreads();
    out[ty] = b[ty][tx] + a[tx * @PITCH@ + ty];
}
void start(float *o, int n) { k<<<4, dim3(32, 32), n>>>(o, n); }
"""
    tried: list[tuple[str, ...]] = []
    real = Program.attempt

    def noted(program: Program, edits: Sequence[TextEdit], texts: Sequence[str]) -> Tried | Refusal:
        tried.append(tuple(texts))
        return real(program, edits, texts)

    monkeypatch.setattr(Program, "attempt", noted)
    of_text(tmp_path, text.replace("@PITCH@", "32").encode())
    assert not tried
    of_text(tmp_path, text.replace("@PITCH@", "SIDE").encode())
    assert tried[0] == ("SIDE = 33",)
