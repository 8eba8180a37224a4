"""From source to suggestion, through every stage: the facts that a fix must never get wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fix.cases import access, array, kernel
from smemlint.api import Job, analyse_file
from smemlint.fix.edits.apply import apply
from smemlint.fix.model import Suggestion
from smemlint.fix.suggest import suggest
from smemlint.running import pipeline
from smemlint.system.workers import OutOfTimeError

HEAD = "#include <cuda_fp16.h>\n"


def suggestions(
    tmp_path: Path, shared: str, body: str, block: str, before: str = "", launch: str = ""
) -> dict[str, Suggestion]:
    """Suggestions by array name for one kernel started once."""
    text = (
        f"{HEAD}{before}\n__global__ void k(float *out, const float *in, int n, int *data) {{\n"
        f"    {shared}\n    int tx = threadIdx.x, ty = threadIdx.y;\n    {body}\n}}\n"
        f"void start(float *o, const float *in, int *d) {{ k<<<4, {block}{launch}>>>(o, in, 8, d); }}\n"
    )
    return of_text(tmp_path, text.encode())[0]


def of_text(tmp_path: Path, text: bytes) -> tuple[dict[str, Suggestion], str]:
    path = tmp_path / "a.cu"
    path.write_bytes(text)
    report = analyse_file(Job(str(path)))
    assert not report.problems, report.problems
    return {s.array.name: s for s in report.suggestions}, str(path)


def transpose(tmp_path: Path, declared: str, block: str, store: str = "t[ty][tx] = 0;") -> Suggestion:
    body = f"{store} __syncthreads(); out[ty * n + tx] = (float)t[tx][ty];"
    return suggestions(tmp_path, f"__shared__ {declared};", body, block)["t"]


def test_a_32_by_32_float_column_becomes_33(tmp_path: Path) -> None:
    fix = transpose(tmp_path, "float t[32][32]", "dim3(32, 32)")
    assert fix.code == "t[32][33]"
    assert fix.safe and fix.edits is not None
    assert fix.words == "pad the row: `t[32][33]`; both accesses of the array are then conflict-free, +128 B"
    assert (fix.before, fix.after) == (32 * 32 + 32, 64)


def test_a_16_by_16_tile_gets_two_words_and_not_one(tmp_path: Path) -> None:
    fix = transpose(tmp_path, "float t[16][16]", "dim3(16, 16)")
    assert fix.code == "t[16][18]" and fix.edits is not None
    assert fix.after == 24 and fix.bytes_added == 128


def test_a_16_by_17_tile_is_mended_too(tmp_path: Path) -> None:
    fix = transpose(tmp_path, "float t[16][16 + 1]", "dim3(16, 16)")
    assert fix.code == "t[16][16 + 2]" and fix.bytes_added == 64
    assert fix.edits is not None and fix.after == 24


@pytest.mark.parametrize(
    ("declared", "store"),
    [
        ("__half t[32][32]", "t[ty][tx] = __half(0.0f);"),
        ("char t[32][32]", "t[ty][tx] = 0;"),
        ("double t[32][32]", "t[ty][tx] = 0;"),
    ],
)
def test_columns_of_other_elements_get_a_pad_that_frees_them(
    tmp_path: Path, declared: str, store: str
) -> None:
    fix = transpose(tmp_path, declared, "dim3(32, 32)", store)
    assert fix.kind == "padding" and fix.safe
    assert all(change.after == change.ideal for change in fix.sites)


def test_a_float4_column_gets_one_more_vector(tmp_path: Path) -> None:
    body = "t[ty][tx] = make_float4(0, 0, 0, 0); __syncthreads(); float4 v = t[tx][ty]; out[tx] = v.x + v.w;"
    fix = suggestions(tmp_path, "__shared__ float4 t[8][8];", body, "dim3(8, 8)")["t"]
    assert fix.code == "t[8][9]" and fix.edits is not None


def test_the_textbook_matrix_product_gets_no_advice(tmp_path: Path) -> None:
    body = (
        "float sum = 0; As[ty][tx] = in[tx]; Bs[ty][tx] = in[ty]; __syncthreads();"
        "for (int i = 0; i < 32; ++i) sum += As[ty][i] * Bs[i][tx]; out[ty * n + tx] = sum;"
    )
    shared = "__shared__ float As[32][32]; __shared__ float Bs[32][32];"
    assert suggestions(tmp_path, shared, body, "dim3(32, 32)") == {}


def test_an_array_read_by_16_byte_loads_never_gets_an_odd_pitch(tmp_path: Path) -> None:
    body = (
        "t[tx][ty] = in[tx]; __syncthreads();"
        "float4 v = *reinterpret_cast<float4 *>(&t[ty][4 * (tx % 8)]); out[tx] = v.x + v.y + v.z + v.w;"
    )
    fix = suggestions(tmp_path, "__shared__ float t[32][32];", body, "dim3(32, 32)")["t"]
    assert fix.kind in ("padding", "swizzle")
    if fix.kind == "padding":
        assert fix.bytes_added % (32 * 16) == 0


def test_a_flat_tile_gets_a_named_pitch(tmp_path: Path) -> None:
    body = "t[ty * BK + tx] = 0; __syncthreads(); out[tx] = t[tx * BK + ty];"
    fix = suggestions(
        tmp_path, "__shared__ float t[BM * BK];", body, "dim3(32, 32)", "#define BM 32\n#define BK 32"
    )["t"]
    assert fix.kind == "pitch" and fix.code == "T_PITCH = BK + 1"
    assert fix.edits is not None and fix.safe


def test_a_run_time_loop_leaves_the_padding_exact(tmp_path: Path) -> None:
    body = "t[ty][tx] = 0; __syncthreads(); for (int i = 0; i < n; ++i) out[i] += t[tx][i];"
    fix = suggestions(tmp_path, "__shared__ float t[32][32];", body, "dim3(32, 32)")["t"]
    assert fix.kind == "padding" and fix.edits is not None
    assert all(change.after == change.ideal for change in fix.sites)


def test_every_instance_of_a_template_is_served(tmp_path: Path) -> None:
    text = """
template <typename T> __global__ void k(T *out) {
    __shared__ T t[32][32];
    t[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
void start(float *f, double *d) { k<<<1, dim3(32, 32)>>>(f); k<<<1, dim3(32, 32)>>>(d); }
"""
    fix = of_text(tmp_path, text.encode())[0]["t"]
    assert fix.code == "t[32][33]"
    assert len(fix.sites) == 4 and all(change.after == change.ideal for change in fix.sites)


REFUSED = [
    (
        "struct S { float a, b, c, d; };",
        "__shared__ S t[64];",
        "t[tx].a = 0; out[tx] = t[tx].b;",
        "struct-layout",
    ),
    (
        "struct S { float a, b, c; };",
        "__shared__ S t[64];",
        "t[tx].a = 0; float *p = (float *)t; out[tx] = p[tx * 32 % 192];",
        "not-worth-it",
    ),
    ("", "extern __shared__ float t[];", "t[tx * 32 + ty] = 0;", "size-elsewhere"),
    (
        "",
        "__shared__ int t[64]; __shared__ float u[1024];",
        "for (int i = 0; i < 256; i++) out[i * 32 + tx] = u[(32 * i + tx) % 1024];"
        "t[2 * tx] = 0; out[tx] = t[2 * tx + 1];",
        "not-worth-it",
    ),
    (
        "",
        "__shared__ int t[1024];",
        "atomicAdd(&t[data[tx] & 31], 1); t[tx * 32] = 0;",
        "data-dependent",
    ),
    (
        "__device__ void fill(float *p) { p[threadIdx.x * 32 + threadIdx.y] = 0; }",
        "__shared__ float t[1024];",
        "fill(t); fill(out);",
        "passed-on",
    ),
    ("", "__shared__ float t[32][32];", "float *p = &t[3][0]; p[tx % 16 * 32 + ty] = 0;", "not-proved"),
    ("#define PUT(i, v) t[i] = v", "__shared__ float t[1024];", "PUT(tx * 32 + ty, 0);", "used-in-macro"),
]


@pytest.mark.parametrize(("before", "shared", "body", "code"), REFUSED, ids=[r[3] for r in REFUSED])
def test_what_cannot_be_edited_is_refused_by_name(
    tmp_path: Path, before: str, shared: str, body: str, code: str
) -> None:
    found = suggestions(tmp_path, shared, body, "dim3(16, 16)" if "16" in shared else "dim3(32, 32)", before)
    if "t" not in found:
        pytest.fail(f"no suggestion for t: {found}")
    fix = found["t"]
    assert fix.edits is None and fix.refused is not None
    assert fix.refused.code == code, fix.refused


def test_an_array_whose_size_is_taken_keeps_it(tmp_path: Path) -> None:
    body = "t[ty][tx] = sizeof(t); __syncthreads(); out[ty * 32 + tx] = t[tx][ty];"
    fix = suggestions(tmp_path, "__shared__ float t[32][32];", body, "dim3(32, 32)")["t"]
    assert fix.kind == "swizzle" and fix.edits is not None and fix.bytes_added == 0
    body = "t[tx][ty] = sizeof(t);"
    fix = suggestions(tmp_path, "__shared__ float t[32][32];", body, "dim3(32, 32)")["t"]
    assert fix.kind == "exchange" and fix.edits is not None and fix.bytes_added == 0


def test_an_assumed_block_shape_makes_a_fix_unsafe(tmp_path: Path) -> None:
    text = b"""
__global__ void k(float *out) {
    __shared__ float t[32][32];
    t[threadIdx.x][threadIdx.y] = 0;
    out[threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
"""
    found = of_text(tmp_path, text)[0]
    assert all(not fix.safe and "assumed" in fix.unsafe_because for fix in found.values() if fix.edits)


def test_a_use_that_no_launch_runs_makes_a_fix_unsafe(tmp_path: Path) -> None:
    text = b"""
template <bool FLIP> __global__ void k(float *out) {
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    if constexpr (FLIP)
        out[0] = t[0][threadIdx.x];
    out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
void start(float *out) { k<false><<<1, dim3(32, 32)>>>(out); }
"""
    fix = of_text(tmp_path, text)[0]["t"]
    assert fix.edits is not None and not fix.safe
    assert fix.unsafe_because == "no launch that was seen runs the use of `t` on line 7"


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_an_edit_changes_its_own_bytes_only(tmp_path: Path, newline: bytes, mark: bytes) -> None:
    text = (
        mark
        + """// Größe: überall
__global__ void k(float *out) {
\t__shared__ float t[32][\t32 /* Spalten ä */ ];
\tt[threadIdx.y][threadIdx.x] = 0; // ünï
\t__syncthreads();
\tout[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
void start(float *out) { k<<<1, dim3(32, 32)>>>(out); }
""".encode().replace(b"\n", newline)
    )
    fix = of_text(tmp_path, text)[0]["t"]
    assert fix.edits is not None, fix.refused
    assert apply(fix.edits, text) == text.replace(
        b"32 /* Spalten \xc3\xa4 */ ]", b"33 /* Spalten \xc3\xa4 */ ]"
    )


def test_invalid_utf8_survives_a_swizzle(tmp_path: Path) -> None:
    text = b"""// \xff\xfe caf\xe9
__global__ void k(float *out) {
    __shared__ float t[256]; // \xe9
    t[threadIdx.x * 8] = sizeof(t);
}
void start(float *out) { k<<<1, 32>>>(out); }
"""
    fix = of_text(tmp_path, text)[0]["t"]
    assert fix.edits is not None, fix.refused
    after = apply(fix.edits, text)
    assert b"\xff\xfe caf\xe9" in after and b"; // \xe9\n" in after and b"swizzle_t(" in after


def test_two_arrays_of_one_name_get_helpers_of_their_own(tmp_path: Path) -> None:
    kernel = """__global__ void %s(float *out) {
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = sizeof(t);
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
"""
    launches = "void start(float *o) { a<<<1, dim3(32, 32)>>>(o); b<<<1, dim3(32, 32)>>>(o); }\n"
    path = tmp_path / "a.cu"
    path.write_text(kernel % "a" + kernel % "b" + launches)
    report = analyse_file(Job(str(path)))
    edits = [e for s in report.suggestions for e in s.edits or ()]
    text = apply(edits, path.read_bytes())
    assert text.count(b"int swizzle_t(int row") == 1 and text.count(b"int swizzle_t2(int row") == 1
    path.write_bytes(text)
    again = analyse_file(Job(str(path)))
    assert not again.suggestions
    assert all(access.ways == 1 for k in again.kernels for access in k.accesses)


def test_paths_are_as_the_user_named_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fix = transpose(Path(os.curdir), "float t[32][32]", "dim3(32, 32)")
    assert fix.edits is not None and fix.edits[0].path == "a.cu"


TREE = """__global__ void k(float *out, const float *in)
{{
    __shared__ float t[512];
    int x = threadIdx.x;
    t[x] = in[x]; t[x + 256] = in[x + 256];
    for (int d = {first}; d < 512; d *= 2) {{
        __syncthreads();
        if (x < 256 / d) t[d * (2 * x + 2) - 1] += t[d * (2 * x + 1) - 1];
    }}
    __syncthreads();
    out[x] = t[x]; out[x + 256] = t[x + 256];
}}
void start(float *out, const float *in) {{ k<<<1, 256>>>(out, in); }}
"""


def test_neighbours_are_taken_apart_where_a_swizzle_pays_for_it(tmp_path: Path) -> None:
    """The first step of a tree is one 8-byte load; the conflicts are in the steps that follow."""
    whole = of_text(tmp_path, TREE.format(first=1).encode())[0]["t"]
    assert whole.edits is not None
    assert sum(c.after for c in whole.sites) < sum(c.before for c in whole.sites) / 2
    sized = TREE.replace("int x = threadIdx.x;", "int x = threadIdx.x + 0 * (int)sizeof(t);")
    apart = of_text(tmp_path, sized.format(first=1).encode())[0]["t"]
    assert apart.edits is not None
    assert apart.words.endswith("neighbours are accessed one by one, +0 B")
    later = of_text(tmp_path, TREE.format(first=2).encode())[0]["t"]
    assert later.edits is not None
    assert not any(c.apart for c in later.sites)


def copied_rows(tmp_path: Path, row: str) -> Suggestion:
    """The fix of a tile of which lanes copy 16 bytes each and then read a column."""
    body = (
        "for (int i = 0; i < 4; i++) __pipeline_memcpy_async("
        f"&t[{row}][8 * (tx % 8)], in + n * 64 + 8 * (tx % 8), 16);"
        "__pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();"
        "float a = 0; for (int c = 0; c < 64; c++) a += __half2float(t[tx][c]); out[tx] = a;"
    )
    head = "#include <cuda_pipeline.h>\n"
    return suggestions(tmp_path, "__shared__ __align__(16) half t[64][64];", body, "64", head)["t"]


def test_no_layout_is_told_that_an_access_without_a_known_cost_may_not_survive(tmp_path: Path) -> None:
    """A pitch of 136 bytes, which frees the column, makes every copy of 16 bytes fault."""
    fix = copied_rows(tmp_path, "data[tx + 64 * i]")
    assert fix.edits is None
    assert fix.code == "" and fix.words == "a better layout cannot be proved"


def test_a_copy_whose_place_is_known_moves_and_stays_aligned(tmp_path: Path) -> None:
    """What it costs depends on where it reads, too, so the fix is no safe one."""
    fix = copied_rows(tmp_path, "(tx / 8 + 8 * i)")
    assert fix.edits is not None and not fix.safe and "where it reads" in fix.unsafe_because
    columns = int(fix.code.removeprefix("t[64][").removesuffix("]"))
    assert columns > 64 and columns * 2 % 16 == 0


PICKED = b"""__global__ void k(const int* in, const int* pick, int* out) {
    __shared__ int t[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    t[y][x] = in[y * 32 + x];
    __syncthreads();
    out[y * 32 + x] = t[x][y] + %s;
}
int main() { int* a; int* b; int* c; k<<<1, dim3(32, 32)>>>(a, b, c); }
"""


def test_an_access_by_data_moves_with_the_array_and_makes_the_edit_unsafe(tmp_path: Path) -> None:
    found, _ = of_text(tmp_path, PICKED % b"t[pick[x]][y]")
    fix = found["t"]
    assert fix.code == "t[32][33]" and fix.edits is not None and not fix.safe
    assert fix.unsafe_because == (
        "`t[pick[x]][y]` on line 6 depends on data: what it costs after the edit is not known"
    )
    assert len({x * 33 % 32 for x in range(32)}) == 32  # the column that is known
    # Four elements at once would not stay aligned with rows of 33.
    wide = PICKED.replace(b"    out[", b"    int4 v = *(int4 *)&t[pick[x]][y / 4 * 4];\n    out[")
    found, _ = of_text(tmp_path, wide % b"v.x + v.y + v.z + v.w")
    refused = found["t"].refused
    assert found["t"].edits is None and refused is not None and refused.code == "data-dependent"


TWO_TYPES = b"""template <typename T> __global__ void rows(int n, int m, const T *x, T *y) {
    const int line = blockDim.x * blockIdx.x + threadIdx.x;
    if (line >= m) return;
    extern __shared__ int raw[];
    T *s = reinterpret_cast<T *>(raw);
    const int j = threadIdx.y;
    const int stride = blockDim.y;
    const int row = threadIdx.x * stride;
    T sum = 0;
    for (int i = j; i < n; i += stride) sum += x[line * n + i];
    s[row + j] = sum;
    __syncthreads();
    for (int k = stride / 2; k > 0; k >>= 1) {
        if (j < k) s[row + j] += s[row + j + k];
        __syncthreads();
    }
    const T mean = s[row] / n;
    __syncthreads();
    T rest = 0;
    for (int i = j; i < n; i += stride) rest += (x[line * n + i] - mean) * (x[line * n + i] - mean);
    s[row + j] = rest;
    __syncthreads();
    for (int k = stride / 2; k > 0; k >>= 1) {
        if (j < k) s[row + j] += s[row + j + k];
        __syncthreads();
    }
    y[line] = s[row];
}
template <typename T> void start(int n, int m, const T *x, T *y) {
    dim3 block(4, 256);
    const int bytes = sizeof(T) * block.x * block.y;
    rows<T><<<(m + 3) / 4, block, bytes>>>(n, m, x, y);
}
void both(int n, int m, float *a, double *b) {
    start(n, m, a, a);
    start(n, m, b, b);
}
"""


def test_a_launch_of_several_types_asks_for_what_the_widest_needs(tmp_path: Path) -> None:
    """Four rows of 260 doubles end at byte 3 * 260 * 8 + 256 * 8 = 8288: 96 bytes behind those of today."""
    fix = of_text(tmp_path, TWO_TYPES)[0]["raw"]
    said = [e.replacement.strip() for e in fix.edits]
    assert said == ["const int S_PITCH = stride + 4;", "S_PITCH", "+ 128"]


NEIGHBOURS = """
    t[tx][ty * 2] = in[tx]; t[tx][ty * 2 + 1] = in[tx + n]; __syncthreads();
    float s = 0, r = 0;
    for (int k = 0; k < 16; ++k) { s += t[k][ty * 2]; r += t[k][ty * 2 + 1]; }
    out[ty * 16 + tx] = s * r;
"""


def test_neighbours_that_are_written_one_by_one_are_understood(tmp_path: Path) -> None:
    # sm_90: STS.64 and LDS.64 with a pitch of 32 and of 34, half of the loads apart with one of 33.
    fix = suggestions(tmp_path, "__shared__ float t[16][32];", NEIGHBOURS, "dim3(16, 16)")["t"]
    assert fix.code == "t[16][34]" and fix.safe


def test_a_pointer_with_two_places_is_not_told_as_one_that_depends_on_data(tmp_path: Path) -> None:
    body = "float (*p)[32] = n > 4 ? &t[0] : &t[tx & 16]; p[tx][ty] = 1; __syncthreads(); "
    body += "out[tx] = t[ty][tx];"
    text = "__global__ void k(float *out, int n) { __shared__ float t[64][32]; int tx = threadIdx.x;\n"
    text += f"int ty = threadIdx.y; {body} }}\nvoid f(float *o, int n) {{ k<<<1, dim3(32, 32)>>>(o, n); }}\n"
    why = of_text(tmp_path, text.encode())[0]["t"].refused
    assert why is not None and why.code == "passed-on"
    assert why.text == "`t` is passed on whole on line 2, with its extents"


TWO_PLACES = """
    int side = tx < 16 ? (blockIdx.x & 1) * 32 : 0;
    t[ty][tx] = in[tx]; t[ty + 32][tx] = in[tx + n]; __syncthreads();
    out[ty * 32 + tx] = t[tx][ty] + t[side + ty][tx];
"""


def test_an_access_with_two_places_moves_with_the_rest(tmp_path: Path) -> None:
    fix = suggestions(tmp_path, "__shared__ float t[64][32];", TWO_PLACES, "dim3(32, 32)")["t"]
    assert fix.code == "t[64][33]" and not fix.safe
    assert fix.unsafe_because == "where `t[side + ty][tx]` on line 9 goes is decided at run time"
    two = next(c for c in fix.sites if c.site.expression == "t[side + ty][tx]")
    assert two.before == two.after == two.ideal == 32


REFERENCE = b"""
__global__ void k(float *out, const float *in)
{
    extern __shared__ float pool[];
    float *a = pool;
    float *b = pool + 256;
    int t = threadIdx.x;
    a[t] = in[t];
    for (int i = 0; i < 32; i++) {
        float &p = b[t * 32 + i];
        p = in[i] + a[t];
    }
    __syncthreads();
    out[t] = b[t];
}
void start(float *o, const float *in) { k<<<1, 256, (256 + 256 * 32) * sizeof(float)>>>(o, in); }
"""


def test_an_access_by_a_reference_goes_through_what_it_is_bound_to(tmp_path: Path) -> None:
    fix = of_text(tmp_path, REFERENCE)[0]["pool"]
    assert fix.refused is None or fix.refused.code != "part-overlaps"
    assert fix.edits is not None and fix.after < fix.before


def test_a_search_that_is_interrupted_leaves_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*arguments: object) -> None:
        raise OutOfTimeError

    monkeypatch.setattr("smemlint.fix.suggest._suggestion", late)
    path = tmp_path / "a.cu"
    path.write_text(
        "__global__ void k(float *out) { __shared__ float t[32][32];\n"
        "t[threadIdx.x][0] = 1; __syncthreads(); out[threadIdx.x] = t[threadIdx.x][1]; }\n"
        "void start(float *o) { k<<<1, 32>>>(o); }\n"
    )
    report = analyse_file(Job(str(path)))
    (problem,) = report.problems
    assert "time" in problem.message
    (found,) = report.suggestions
    assert found.refused is not None and found.refused.code == "out-of-time"


@pytest.mark.other_work
def test_a_proof_that_the_work_of_a_file_cuts_off_is_out_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"""__global__ void k(float *o) { __shared__ float t[32][32]; int x = threadIdx.x, y = threadIdx.y;
    t[x][y] = o[x]; __syncthreads(); o[y * 32 + x] = t[y][x]; }
void f(float *o) { k<<<1, dim3(32, 32)>>>(o); }
"""
    assert of_text(tmp_path, text)[0]["t"].edits is not None
    real = pipeline.again

    def again(*args: object) -> object:
        real(*args)  # type: ignore[arg-type]
        work = args[3]

        def nothing(_path: str, _data: bytes, before: list[object]) -> list[None]:
            work.take(10**9)  # type: ignore[attr-defined]
            return [None] * len(before)

        return nothing

    monkeypatch.setattr(pipeline, "again", again)
    found = of_text(tmp_path, text)[0]["t"]
    assert found.edits is None and found.refused is not None and found.refused.code == "out-of-time"


def test_an_array_of_two_instances_in_one_kernel_is_laid_out_for_both(tmp_path: Path) -> None:
    turned = (
        b"template <typename E> __device__ E turned(E v, int t) {\n"
        b"  __shared__ E tile[1024];\n"
        b"  tile[t * 32] = v; __syncthreads(); E r = tile[t]; __syncthreads(); return r;\n}\n"
        b"__global__ void k(float *p) {\n"
        b"  p[0] = turned(p[0], threadIdx.x) + (float)turned((double)p[1], threadIdx.x);\n}\n"
        b"void go(float *p) { k<<<1, 32>>>(p); }\n"
    )
    found, _ = of_text(tmp_path, turned)
    assert found["tile"].edits is not None
    (tmp_path / "b.cu").write_bytes(apply(found["tile"].edits, turned))
    report = analyse_file(Job(str(tmp_path / "b.cu")))
    assert {round(a.ways or 0, 2) for k in report.kernels for a in k.accesses} == {1}


def test_instances_that_are_the_same_in_all_numbers_are_told_apart() -> None:
    t = array(32, 32)
    first, second = (kernel((32, 1), [t], [access(t, (32, 1), lambda x, y: (x, y))]) for _ in range(2))
    assert [s.array.name for s in suggest([first, second], {}).values()] == ["t"]
