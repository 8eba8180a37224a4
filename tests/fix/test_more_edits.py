"""Launches that ask for much shared memory, names that two kernels define, conflicts that cost nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from fix.cases import joined
from smemlint.api import Job, analyse_file
from smemlint.fix.edits.apply import apply
from smemlint.fix.model import Suggestion

ALLOWED = """\
#include <cstdio>
template <int R, int D>
__global__ void k(const float *in, float *out) {
    extern __shared__ float pool[];
    float *first = pool;
    float *rows = first + 12288;
    float *sums = rows + R * D;
    for (int i = threadIdx.x; i < R * D; i += blockDim.x)
        rows[i] = in[i];
    sums[threadIdx.x] = 0;
    first[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int d = 0; d < D; d++)
        sum += rows[threadIdx.x * D + d] * first[d] * in[d];
    sums[threadIdx.x] += sum;
    out[threadIdx.x] = sums[threadIdx.x];
}
cudaError_t allow(const void *kernel, size_t bytes) {
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}
int main() {
    float *in, *out;
    constexpr int R = 64;
    const int bytes = (12288 + R * 32 + R) * sizeof(float);
    ALLOW
    k<R, 32><<<1, R, bytes>>>(in, out);
}
"""


def suggestions(tmp_path: Path, text: str) -> list[Suggestion]:
    path = tmp_path / "a.cu"
    path.write_text(text)
    return list(analyse_file(Job(str(path))).suggestions)


@pytest.mark.parametrize(
    "call",
    [
        "cudaFuncSetAttribute(k<R, 32>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);",
        "if (allow(reinterpret_cast<const void *>(k<R, 32>), bytes)) return 1;",
    ],
)
def test_what_a_launch_beyond_48_kib_gives_grows_where_it_is_allowed_as_well(
    tmp_path: Path, call: str
) -> None:
    text = ALLOWED.replace("ALLOW", call)
    (fix,) = suggestions(tmp_path, text)
    assert fix.edits is not None, fix.refused
    assert not fix.safe
    edited = apply(fix.edits, text.encode()).decode()
    assert "const int bytes = (12288 + R * 32 + R) * sizeof(float) + R * " in edited
    assert call in edited and "k<R, 32><<<1, R, bytes>>>" in edited
    assert "rows[i / D * ROWS_PITCH + i % D] = in[i];" in edited


def test_its_bytes_stay_as_they_are_where_nothing_is_seen_to_allow_more(tmp_path: Path) -> None:
    text = ALLOWED.replace("ALLOW", "")
    (fix,) = suggestions(tmp_path, text)
    assert fix.kind == "swizzle" and fix.edits is not None and fix.bytes_added == 0
    edited = apply(fix.edits, text.encode()).decode()
    assert "const int bytes = (12288 + R * 32 + R) * sizeof(float);" in edited


TWICE = """\
__global__ void a(float *out) {
    constexpr int THREADS = 64;
    constexpr int W = THREADS / 16;
    __shared__ float tile[32 * W];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32) out[threadIdx.x] = tile[threadIdx.x * W + out[0] * 0];
}
__global__ void b(float *out) {
    constexpr int THREADS = 1024;
    constexpr int W = THREADS / 32;
    __shared__ float tile[32 * W];
    tile[threadIdx.y * W + threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x * W + threadIdx.y];
}
int main() {
    float *p;
    a<<<1, 64>>>(p);
    b<<<1, dim3(32, 32)>>>(p);
}
"""


def test_of_a_name_that_two_kernels_define_each_has_its_own(tmp_path: Path) -> None:
    found = [s for s in suggestions(tmp_path, TWICE) if s.sites[0].kernel == "b"]
    assert [s.code for s in found] == ["TILE_PITCH = W + 1"] and found[0].edits is not None
    edited = apply(found[0].edits, TWICE.encode()).decode()
    assert "constexpr int TILE_PITCH = W + 1;\n    __shared__ float tile[32 * TILE_PITCH];" in edited


SMALL = """\
__global__ void k(float *out) {
    __shared__ float odd[64][17];
    __shared__ float even[1024];
    odd[threadIdx.x % 16 * 4][threadIdx.x / 16] = out[threadIdx.x];
    for (int i = 0; i < 64; i++) {
        even[threadIdx.x] = out[i];
        __syncthreads();
        out[i] = even[threadIdx.x ^ i];
        __syncthreads();
    }
    out[threadIdx.x] = odd[threadIdx.x / 32][0];
}
int main() { float *p; k<<<1, 256>>>(p); }
"""


def test_a_conflict_that_no_layout_mends_and_that_costs_nothing_is_not_worth_it(tmp_path: Path) -> None:
    """8 of some 1000 wavefronts: 16 lanes whose rows lie 68 words apart, twice."""
    (fix,) = suggestions(tmp_path, SMALL)
    assert fix.edits is None and fix.refused is not None
    assert fix.refused.code == "not-worth-it", fix.refused


STAGES = """\
template <int BM, int BK>
__device__ void load(const float *a, float *as, int r, int c) {
    as[(c * 4 + 0) * BM + r] = a[0];
    as[(c * 4 + 1) * BM + r] = a[1];
    as[(c * 4 + 2) * BM + r] = a[2];
    as[(c * 4 + 3) * BM + r] = a[3];
}
template <int BM, int BK>
__device__ float use(const float *as, int ty) {
    float sum = 0;
    for (int k = 0; k < BK; ++k) sum += as[k * BM + ty];
    return sum;
}
template <int BM, int BK>
__global__ void k(const float *a, float *out, int n) {
    __shared__ float as[2][BM * BK];
    const int r = threadIdx.x / (BK / 4), c = threadIdx.x % (BK / 4);
    load<BM, BK>(a + threadIdx.x * 4, as[0], r, c);
    __syncthreads();
    float sum = 0;
    for (int t = 0; t < 8; ++t) {
        const int stage = t % 2;
        load<BM, BK>(a + t * 1024 + threadIdx.x * 4, as[1 - stage], r, c);
        sum += use<BM, BK>(as[stage], threadIdx.x % 64);
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
int main() { float *p, *q; k<64, 16><<<1, 256>>>(p, q, 9); }
"""


def test_a_stage_that_functions_get_as_a_pointer_is_padded_in_all_of_them(tmp_path: Path) -> None:
    (fix,) = suggestions(tmp_path, STAGES)
    assert fix.edits is not None and not fix.safe, fix.refused
    edited = apply(fix.edits, STAGES.encode()).decode()
    wider = fix.code.removeprefix("as[2][(BM + ").partition(")")[0]
    assert f"as[(c * 4 + 3) * (BM + {wider}) + r] = a[3];" in edited
    assert f"sum += as[k * (BM + {wider}) + ty];" in edited
    assert f"__shared__ float as[2][(BM + {wider}) * BK];" in edited
    assert "as[1 - stage], r, c)" in edited
    path = tmp_path / "b.cu"
    path.write_text(edited)
    assert not [s for s in analyse_file(Job(str(path))).suggestions if s.edits is not None]


SHARED = (
    STAGES.replace("int main() { float *p, *q; ", "").replace("k<64, 16><<<1, 256>>>(p, q, 9); }\n", "")
    + """\
template <int BM, int BK>
__global__ void other(const float *a, float *out, int n) {
    __shared__ float as[2][BM * BK];
    load<BM, BK>(a, as[0], threadIdx.x / (BK / 4), threadIdx.x % (BK / 4));
    __syncthreads();
    out[threadIdx.x] = use<BM, BK>(as[0], threadIdx.x % 64);
}
int main() { float *p, *q; k<64, 16><<<1, 256>>>(p, q, 9); other<64, 16><<<1, 256>>>(p, q, 9); }
"""
)


def test_of_functions_that_two_kernels_share_it_is_said_that_they_do(tmp_path: Path) -> None:
    found = suggestions(tmp_path, SHARED)
    assert [s.array.name for s in found] == ["as", "as"]
    for each in found:
        assert each.edits is None and each.refused is not None
        assert "no row was padded: `load`, which gets `as`, is also called with others" in each.refused.text


@pytest.mark.parametrize(
    ("pointer", "index", "edited"),
    [
        ("t[n]", "tx % 16 * 32 + i", "p[tx % 16 * 36 + i]"),
    ],
)
def test_a_row_of_two_dimensions_is_followed_as_a_pointer(
    tmp_path: Path, pointer: str, index: str, edited: str
) -> None:
    text = f"""\
__global__ void k(float *out, int n) {{
    __shared__ float t[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y;
    for (int r = ty; r < 32; r += 8) t[r][tx] = out[tx];
    __syncthreads();
    float *p = {pointer};
    for (int i = 0; i < 4; i++) out[tx] += p[{index}];
}}
void start(float *o, int n) {{ k<<<9, dim3(32, 8)>>>(o, n); }}
"""
    (fix,) = suggestions(tmp_path, text)
    assert fix.edits is not None and not fix.safe, fix.refused
    assert edited in apply(fix.edits, text.encode()).decode()


def test_that_all_lanes_together_reach_the_same_bytes_is_no_proof(tmp_path: Path) -> None:
    """Counted from `p` a swizzle by the row goes elsewhere than counted from the array."""
    text = """\
__global__ void k() {
    const int tx = threadIdx.x, ty = threadIdx.y;
    __shared__ float t[32][32];
    float *p = &t[3][0];
    p[tx % 16 * 32 + ty] = 0;
}
void start() { k<<<9, dim3(32, 32)>>>(); }
"""
    (fix,) = suggestions(tmp_path, text)
    assert fix.edits is None


def test_a_launch_that_was_not_seen_keeps_a_part_as_it_is(tmp_path: Path) -> None:
    call = "cudaFuncSetAttribute(k<R, 32>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);"
    other = "void never(float *in, float *out, int b) { k<64, 32><<<1, 64, b>>>(in, out); }\nint main"
    text = ALLOWED.replace("ALLOW", call).replace("int main", "template <class T>\n" + other)
    for fix in suggestions(tmp_path, text):
        assert fix.edits is None or fix.bytes_added == 0, fix.code


WRAPPED = """\
template <int BM, int BK>
__global__ void k(const float *in, float *out) {
    extern __shared__ float pool[];
    float *first = pool;
    float *rows = pool + 64;
    first[threadIdx.x] = in[threadIdx.x];
    for (int r = 0; r < BM; r++) rows[r * BK + threadIdx.x] = in[r * BK + threadIdx.x];
    __syncthreads();
    float sum = first[threadIdx.x];
    for (int c = 0; c < BK; c++) sum += rows[threadIdx.x * BK + c] * in[c];
    out[threadIdx.x] = sum;
}
template <int BM, int BK> void start(const float *in, float *out, size_t bytes) {
    k<BM, BK><<<1, 32, bytes>>>(in, out);
}
int main() {
    float *in, *out;
    start<32, 32>(in, out, (64 + 32 * 32) * sizeof(float));
}
"""


def test_the_rows_of_the_last_part_are_those_that_a_loop_goes_over(tmp_path: Path) -> None:
    (fix,) = suggestions(tmp_path, WRAPPED)
    assert fix.edits is not None, fix.refused
    edited = apply(fix.edits, WRAPPED.encode()).decode()
    assert "<<<1, 32, bytes + BM * 4 * sizeof(float)>>>" in edited
    assert "rows[r * ROWS_PITCH + threadIdx.x]" in edited


CONFIGURED = """\
__global__ void k(const float *in, float *out, int d, int n) {
    extern __shared__ float pool[];
    float *tile = pool;
    float *last = &pool[n * d];
    last[threadIdx.x] = in[threadIdx.x];
    for (int c = 0; c < d; c++) tile[threadIdx.x * d + c] = in[threadIdx.x * d + c];
    __syncthreads();
    float sum = last[threadIdx.x];
    for (int c = 0; c < d; c++) sum += tile[threadIdx.x * d + c] * in[c];
    out[threadIdx.x] = sum;
}
#ifdef OTHER
__global__ void other(float *out) {
    __shared__ float z[32];
    z[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = z[31 - threadIdx.x];
}
#else
void start(const float *in, float *out) {
    const int d = 32;
    k<<<1, 32, (32 * d + 32) * sizeof(float)>>>(in, out, d, 32);
}
#endif
"""


def test_a_configuration_without_a_launch_does_not_keep_an_array_from_its_edit(tmp_path: Path) -> None:
    found = [s for s in suggestions(tmp_path, CONFIGURED) if s.array.name == "pool"]
    assert found[0].edits is not None, found[0].refused
    edited = joined(apply(found[0].edits, CONFIGURED.encode()).decode())
    assert not found[0].safe
    assert "const int TILE_PITCH = d + 1;" in edited and "&pool[n * TILE_PITCH]" in edited
    assert "(32 * d + 32) * sizeof(float) + 32 * sizeof(float)>>>" in edited


@pytest.mark.parametrize(("rounds", "safe"), [(1, True), (24, False)])
def test_a_padding_that_frees_little_beside_joined_accesses_is_unsafe(
    tmp_path: Path, rounds: int, safe: bool
) -> None:
    """Measured: such kernels ran at 0.98 to 1.07 times their speed."""
    text = f"""__global__ void k(int *out, const int *in, int n) {{
    __shared__ int t[32][8];
    int x = threadIdx.x, s = 0;
    for (int i = 0; i < n; i++) {{
        for (int w = 0; w < 8; ++w) t[x][w] = in[x * 8 + w];
        __syncthreads();
        for (int j = 0; j < {rounds}; j++)
            for (int w = 0; w < 8; ++w) s += t[j][w] ^ in[w];
        __syncthreads();
    }}
    out[x] = s;
}}
void start(int *o, const int *i, int n) {{ k<<<4, 32>>>(o, i, n); }}
"""
    path = tmp_path / "a.cu"
    path.write_text(text, encoding="utf-8")
    (fix,) = analyse_file(Job(str(path))).suggestions
    assert fix.edits is not None and fix.kind == "padding", fix.refused
    assert fix.safe == safe, fix.unsafe_because
    assert safe or "of the kernel's shared-memory wavefronts" in fix.unsafe_because


LAMBDA = """\
__global__ void k(float *out, const float *in)
{
    __shared__ float tile[32][32];
    int tx = threadIdx.x, ty = threadIdx.y;
    auto load = [&](float (&t)[32][32]) { t[ty][tx] = in[ty * 32 + tx]; };
    load(tile);
    __syncthreads();
    out[ty * 32 + tx] = tile[tx][ty];
}
void start(float *out, const float *in) { k<<<1, dim3(32, 32)>>>(out, in); }
"""
UNION = LAMBDA.replace("float tile[32][32];", "union { float tile[32][32]; int sums[64]; } u;").replace(
    "    auto load = [&](float (&t)[32][32]) { t[ty][tx] = in[ty * 32 + tx]; };\n    load(tile);",
    "    u.tile[ty][tx] = in[ty * 32 + tx];",
).replace("tile[tx][ty];", "u.tile[tx][ty];")  # fmt: skip


def test_a_row_gets_longer_where_a_lambda_takes_the_array(tmp_path: Path) -> None:
    (fix,) = suggestions(tmp_path, LAMBDA)
    assert fix.edits is not None and apply(fix.edits, LAMBDA.encode()).decode() == LAMBDA.replace(
        "tile[32][32]", "tile[32][33]"
    ).replace("(&t)[32][32]", "(&t)[32][33]")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("load(tile);", "load(tile); auto other = load; other(tile);"),
        ("load(tile);", "load(tile); __shared__ float two[32][32]; load(two); out[tx] = two[0][tx];"),
    ],
)
def test_a_lambda_that_is_copied_or_takes_other_arrays_too_stays(tmp_path: Path, old: str, new: str) -> None:
    text = LAMBDA.replace(old, new)
    found = {s.array.name: s for s in suggestions(tmp_path, text)}
    assert found["tile"].refused is not None and found["tile"].refused.code == "passed-on"


def test_a_row_of_a_union_gets_longer(tmp_path: Path) -> None:
    (fix,) = suggestions(tmp_path, UNION)
    assert fix.edits is not None
    assert "float tile[32][33]; int sums[64];" in apply(fix.edits, UNION.encode()).decode()
