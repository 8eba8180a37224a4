"""Swizzles of arrays that are reached through pointers: the edits, and what they leave alone or refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from fix import emulated
from fix.cases import joined

from smemlint.api import Job, analyse_file
from smemlint.fix.edits.apply import apply
from smemlint.fix.model import Suggestion

LOADER = """    __shared__ float sAB[%(size)s];
    int tx = threadIdx.x, k = 0;
    float *a = (float *)sAB + (k / 8 & 1) * 1024;
    %(more)s
    float4 sum = make_float4(0, 0, 0, 0);
    for (k = 0; k < n; k += 8) {
        *(((float4 *)a) + 2 * tx + 0) = *(const float4 *)&in[8 * tx + k];
        *(((float4 *)a) + 2 * tx + 1) = *(const float4 *)&in[8 * tx + 4 + k];
        __syncthreads();
        for (int kk = 0; kk < 8; ++kk) {
            float4 v = *((float4 *)(a + kk * 64 + tx %% 8 * 8) + 1);
            sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
        }
        %(use)s
        __syncthreads();
        a = (float *)(sAB) + ((k / 8 + 1) & 1) * 1024;
    }
    *(float4 *)&out[4 * tx] = sum;"""


def program(more: str = "", use: str = "", size: str = "2048", before: str = "") -> str:
    body = LOADER % {"more": more, "use": use, "size": size}
    return (
        f"{before}\n__global__ void k(float *out, const float *in, int n)\n{{\n{body}\n}}\n"
        "void start(float *out, const float *in) { k<<<1, 128>>>(out, in, 32); }\n"
    )


def fixed(text: str, folder: Path) -> tuple[Suggestion, str]:
    path = folder / "a.cu"
    path.write_text(text, encoding="utf-8")
    report = analyse_file(Job(str(path)))
    (found,) = report.suggestions
    return found, joined(apply(list(found.edits or ()), text.encode()).decode())


def test_what_is_added_to_each_pointer_is_swizzled(tmp_path: Path) -> None:
    found, after = fixed(program(), tmp_path)
    assert "*(float4 *)&a[swizzle_sAB(2 * tx * 4 + 4)] = " in after
    assert "float4 v = *(float4 *)&a[kk * 64 + swizzle_sAB(tx % 8 * 8 + 4)];" in after
    assert "int swizzle_sAB(int i) { return i ^ ((i >> 3) & 4); }" in after
    assert found.after < found.before and not found.safe
    assert found.unsafe_because == "`sAB` is reached through `a`"


def test_a_second_fix_finds_nothing_to_do(tmp_path: Path) -> None:
    _, after = fixed(program(), tmp_path)
    (tmp_path / "a.cu").write_text(after, encoding="utf-8")
    report = analyse_file(Job(str(tmp_path / "a.cu")))
    assert all(s.edits is None for s in report.suggestions)


def test_a_pointer_of_each_thread_is_counted_from_the_start_of_the_array(tmp_path: Path) -> None:
    text = program(more="float *mine = (float *)sAB + 8 * tx;", use="sum.x += *mine + *(mine + 4);")
    _, after = fixed(text, tmp_path)
    assert "sum.x += sAB[swizzle_sAB(int(mine - sAB))] + sAB[swizzle_sAB(int(mine - sAB) + 4)];" in after


def test_the_member_of_a_vector_is_still_taken(tmp_path: Path) -> None:
    _, after = fixed(program(use="sum.x += ((float4 *)a)[2 * tx].y;"), tmp_path)
    assert "sum.x += ((float4 *)&a[swizzle_sAB(2 * tx * 4)])[0].y;" in after


def test_a_pointer_that_each_thread_moves_is_counted_from_the_start_too(tmp_path: Path) -> None:
    text = program(more="float *mine = sAB; mine += 8 * tx;", use="sum.x += mine[4];")
    _, after = fixed(text, tmp_path)
    assert "sum.x += sAB[swizzle_sAB(int(mine - sAB) + 4)];" in after


@emulated.needs_compiler
@pytest.mark.parametrize(
    ("more", "use"),
    [
        ("", ""),
        ("float *mine = (float *)sAB + 8 * tx;", "sum.x += *mine + *(mine + 4);"),
        ("float *mine = sAB; mine += 8 * tx;", "sum.x += mine[4] - mine[0];"),
        ("", "sum.x += ((float4 *)a)[2 * tx].y;"),
        ("float *q, *r = sAB; q = r;", "sum.y += r[tx] + *q + q[3];"),
    ],
)
def test_the_fixed_kernel_computes_the_same(more: str, use: str, tmp_path: Path) -> None:
    text = program(more, use)
    found, after = fixed(text, tmp_path)
    assert found.edits is not None
    before = emulated.run(text, tmp_path)
    assert before.count("\n") > 60
    assert emulated.run(after, tmp_path) == before


PARTS = """
__device__ float read(const float *from, int row, int lane) { return from[row * 64 + lane * 8]; }
__device__ void write(float *rows, const float *in, int k)
{
    float *mine = rows + 1024 * (k / 8 & 1);
    *(float4 *)&mine[8 * threadIdx.x] = *(const float4 *)&in[k];
    *((float4 *)(mine + 8 * threadIdx.x) + 1) = *(const float4 *)&in[k + 4];
}
__global__ void k(float *out, const float *in, int n)
{
    __shared__ float tile[2048];
    float sum = 0;
    for (int k = 0; k < n; k += 8) {
        write(tile, in + 8 * threadIdx.x, k);
        __syncthreads();
        float *now = tile + 1024 * (k / 8 & 1);
        for (int r = 0; r < 16; ++r) sum += read(now, r, threadIdx.x % 8);
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
void start(float *out, const float *in) { k<<<1, 128>>>(out, in, 32); }
"""


@emulated.needs_compiler
def test_functions_that_get_the_array_are_rewritten_with_it(tmp_path: Path) -> None:
    found, after = fixed(PARTS, tmp_path)
    assert found.edits is not None and found.after < found.before
    assert "return from[swizzle_tile(row * 64 + lane * 8)];" in after
    assert after.index("int swizzle_tile(int i)") < after.index("float read(")
    before = emulated.run(PARTS, tmp_path)
    assert before.count("\n") > 60
    assert emulated.run(after, tmp_path) == before


ROWS = """
template <int BM, int BK> __device__ void load(const float *in, float *tile, int k)
{
    for (int i = threadIdx.x; i < BM * BK; i += 128) tile[i % BK * BM + i / BK] = in[i + k];
}
template <int BM> __device__ float sum(const float *tile, int row)
{
    return tile[row * BM + threadIdx.x % BM];
}
template <int BM, int BK> __global__ void k(float *out, const float *in, int n)
{
    __shared__ float tile[BM * BK];
    float total = 0;
    for (int k = 0; k < n; k += 8) {
        load<BM, BK>(in, tile, k);
        __syncthreads();
        for (int r = 0; r < BK; ++r) total += sum<BM>(tile, r);
        __syncthreads();
    }
    out[threadIdx.x] = total;
}
void start(float *out, const float *in) { k<64, 32><<<1, 128>>>(out, in, 32); }
"""


def test_a_pitch_is_widened_in_all_functions_that_say_it(tmp_path: Path) -> None:
    found, after = fixed(ROWS, tmp_path)
    assert found.code == "tile[(BM + 1) * BK]" and not found.safe
    assert found.unsafe_because == "`tile` is reached in functions that it is passed to"
    assert "tile[i % BK * (BM + 1) + i / BK] = " in after
    assert "return tile[row * (BM + 1) + threadIdx.x % BM];" in after
    assert all(c.after == c.ideal for c in found.sites)


@emulated.needs_compiler
def test_a_widened_pitch_leaves_the_result_alone(tmp_path: Path) -> None:
    _, after = fixed(ROWS, tmp_path)
    before = emulated.run(ROWS, tmp_path)
    assert before.count("\n") > 60
    assert emulated.run(after, tmp_path) == before


STEPPING = """
const int TS = 16;
__global__ void k(float *out, const float *in, int n)
{
    __shared__ float tile[TS * TS];
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum[TS] = {};
    for (int i = 0; i < 4; ++i) {
        float *column = tile + TS * tx;
        column[i * 4 + ty] = in[tx + 16 * (i * 4 + ty)];
    }
    __syncthreads();
    const float *row = tile;
    for (int i = 0; i < TS; ++i) {
        for (int j = 0; j < TS; ++j) sum[j] += row[j] * in[tx];
        row += TS;
    }
    for (int j = 0; j < TS; ++j) out[(tx + 16 * ty) * TS + j] = sum[j];
}
void start(float *out, const float *in) { k<<<1, dim3(16, 4)>>>(out, in, 32); }
"""


def test_a_pitch_that_pointers_are_set_and_moved_by_is_widened_there(tmp_path: Path) -> None:
    found, after = fixed(STEPPING, tmp_path)
    assert "__shared__ __align__(16) float tile[TS * (TS + 4)];" in after
    assert "float *column = tile + (TS + 4) * tx;" in after
    assert "        row += TS + 4;\n" in after
    assert found.after < found.before and not found.safe


@emulated.needs_compiler
def test_pointers_that_move_by_a_wider_row_lead_to_the_same(tmp_path: Path) -> None:
    _, after = fixed(STEPPING, tmp_path)
    assert emulated.run(after, tmp_path) == emulated.run(STEPPING, tmp_path)


def test_a_size_that_is_taken_keeps_the_pitch(tmp_path: Path) -> None:
    text = ROWS.replace("float total = 0;", "float total = sizeof(tile);")
    found, _ = fixed(text, tmp_path)
    assert "BM + 1" not in found.code or found.edits is None


@pytest.mark.parametrize(
    ("more", "use", "before"),
    [
        (
            "",
            "sum.x += total(a);",
            "__device__ float total(const float *p, int i = 0) { return i ? 0 : *p++; }",
        ),
        (
            "",
            "sum.x += total(a) + total(in);",
            "__device__ float total(const float *p) { return p[0] + p[9]; }",
        ),
        ("float *b = tx > 3 ? sAB : sAB + 64;", "sum.x += b[tx];", ""),
        ("float *b = sAB + tx;", "sum.x += *b++;", ""),
        ("struct { float *p; } s; s.p = sAB;", "sum.x += s.p[tx];", ""),
    ],
)
def test_a_use_that_cannot_be_rewritten_leaves_the_text_alone(
    more: str, use: str, before: str, tmp_path: Path
) -> None:
    found, after = fixed(program(more, use, before=before), tmp_path)
    assert found.edits is None and found.refused is not None
    assert after == program(more, use, before=before)


MACROS = """#include <cstdint>
#define AT(p, r, c, ld) ((p) + (r) * (ld) + (c))
__device__ void load(half *sA, const half *in) {
    for (int t = threadIdx.x; t < 64 * 16 / 8; t += 32) *((float4 *)sA + t) = ((const float4 *)in)[t];
}
__device__ void read(uint32_t *r, half *sA) {
    uint32_t at = __cvta_generic_to_shared(AT(sA, threadIdx.x %% 16, threadIdx.x / 16 * 8, 16));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%0, %%1, %%2, %%3}, [%%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
__global__ void k(uint32_t *out, const half *in) {
    __shared__ half tile[64 * 16];
    uint32_t r[4];
    load(tile, in);
    __syncthreads();
    for (int n = 0; n < 16; ++n) { %s }
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = r[i];
}
void start(uint32_t *out, const half *in) { k<<<1, 32>>>(out, in); }
"""
OPERAND = """
    #define HALF_WAY (tile + 256)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "l"(HALF_WAY + threadIdx.x % 16 * 16 + threadIdx.x / 16 * 8));
"""


def test_a_macro_for_a_sum_of_a_pointer_is_written_out(tmp_path: Path) -> None:
    found, after = fixed(MACROS % "read(r, tile);", tmp_path)
    index = "(threadIdx.x % 16) * 16 + threadIdx.x / 16 * 8"
    assert f"__cvta_generic_to_shared(&sA[swizzle_tile({index})])" in after
    assert "*(float4 *)&sA[swizzle_tile(t * 8)] = " in after
    assert found.after == sum(change.ideal for change in found.sites) < found.before


def test_an_operand_of_asm_is_an_address(tmp_path: Path) -> None:
    found, after = fixed(MACROS % OPERAND, tmp_path)
    assert '"l"(&tile[256 + swizzle_tile(threadIdx.x % 16 * 16 + threadIdx.x / 16 * 8)])' in after
    assert "#define HALF_WAY (tile + 256)" in after
    assert found.after == sum(change.ideal for change in found.sites) < found.before


def test_visits_of_a_long_loop_that_stand_for_others_count_as_often_as_they_run(tmp_path: Path) -> None:
    use = "for (int m = 0; m < 4; ++m) read(r, tile);\n load(tile, in);"
    found, _ = fixed((MACROS % use).replace("n < 16", "n < 700"), tmp_path)
    assert found.refused is None
    assert found.after == sum(change.ideal for change in found.sites) < found.before


ELEMENTS = """
#define rows(i, j) rows[(i) * 32 + (j)]
__device__ void load(half *rows, const half *in) {
    for (int n = 0; n < 2; ++n)
        *((float4 *)(&rows(n * 16 + threadIdx.x / 4, threadIdx.x % 4 * 8))) =
            ((const float4 *)in)[n * 64 + threadIdx.x];
}
__global__ void k(float4 *out, const half *in) {
    extern __shared__ half pool[];
    half *rows = pool;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int n = 0; n < 16; ++n) {
        load(rows, in);
        __syncthreads();
        for (int c = 0; c < 4; ++c) sum.x += ((float4 *)(&rows(threadIdx.x % 32, 0)))[c].x;
        float4 v = *((float4 *)(&rows(threadIdx.x % 32, 8)));
        sum.y += v.x + v.y + v.z + v.w;
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
void start(float4 *out, const half *in) { k<<<1, 64, 32 * 32 * sizeof(half)>>>(out, in); }
"""


def test_an_element_macro_of_a_pool_that_is_passed_on_is_written_out(tmp_path: Path) -> None:
    found, after = fixed(ELEMENTS, tmp_path)
    assert "rows[swizzle_pool((n * 16 + threadIdx.x / 4) * 32 + (threadIdx.x % 4 * 8))] =" in after
    assert "v = *(float4 *)&rows[swizzle_pool((threadIdx.x % 32) * 32 + 8)];" in after
    assert found.after < found.before


VOLATILE = """__global__ void k(int *out, const int *in)
{
    extern __shared__ int s[];
    volatile int *mine = s + threadIdx.x * 8;
    for (int i = 0; i < 8; ++i) mine[i] = in[i * 128 + threadIdx.x];
    int sum = 0;
    for (int i = 7; i >= 0; --i) sum = sum * 3 + mine[i];
    out[threadIdx.x] = sum;
}
void start(int *out, const int *in) { k<<<1, 128, 4096>>>(out, in); }
"""


def test_an_access_stays_volatile_where_its_pointer_said_so(tmp_path: Path) -> None:
    found, after = fixed(VOLATILE, tmp_path)
    assert found.kind == "swizzle"
    assert "((volatile int *)s)[swizzle_s(int(mine - s) + i)] = in[" in after
    assert after.count("((volatile int *)s)[") == 2


ASYNC = """#include <cuda/barrier>
template <int BM, int BK>
__device__ void load(const float *A, float *As, int r, int c, cuda::barrier<cuda::thread_scope_block> &bar) {
    cuda::memcpy_async(&As[(c * 4 + 0) * BM + r], &A[r * 64 + c * 4], cuda::aligned_size_t<4>(4), bar);
    cuda::memcpy_async(&As[(c * 4 + 1) * BM + r], &A[r * 64 + c * 4 + 1], cuda::aligned_size_t<4>(4), bar);
}
template <int BM, int BK> __device__ float use(const float *As, int t) {
    float s = 0;
    for (int k = 0; k < BK; ++k) s += As[k * BM + t];
    return s;
}
template <int BM, int BK>
__global__ void k(float *o, const float *A, cuda::barrier<cuda::thread_scope_block> *b) {
    __shared__ float As[2 * BM * BK];
    load<BM, BK>(A, As + BM * BK, threadIdx.x / 16, threadIdx.x % 16, *b);
    b->arrive_and_wait();
    o[threadIdx.x] = use<BM, BK>(As + BM * BK, threadIdx.x % 64);
}
void f(float *o, float *A, cuda::barrier<cuda::thread_scope_block> *b) { k<64, 64><<<1, 512>>>(o, A, b); }
"""


def test_the_place_of_an_asynchronous_copy_gets_the_wider_pitch(tmp_path: Path) -> None:
    """Lanes 0 and 1 write rows 4 and 8 pitches apart: 64 words meet in one bank, 65 do not."""
    found, after = fixed(ASYNC, tmp_path)
    assert found.edits is not None, found.refused
    assert after.count("(BM + 1)") == 6 and "cuda::memcpy_async(&As[(c * 4 + 0) * (BM + 1) + r]" in after
    assert len({4 * lane * 64 % 32 for lane in range(16)}) == 1
    assert len({4 * lane * 65 % 32 for lane in range(8)}) == 8
