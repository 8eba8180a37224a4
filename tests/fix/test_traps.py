"""Edits of code that is easily broken: what a kernel computes must be the same after every edit offered.

Each program is analysed, all its edits are done, and both texts are compiled and run (see emulated.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fix import emulated
from smemlint.api import Job, analyse_file
from smemlint.fix.edits.apply import apply
from smemlint.fix.model import Suggestion

TX = "int tx = threadIdx.x, ty = threadIdx.y;"


def kernel(body: str, block: str = "dim3(32, 16)", before: str = "", dynamic: str = "") -> str:
    return (
        f"{before}\n__global__ void k(float *out, const float *in, int n)\n{{\n    {TX}\n{body}\n}}\n"
        f"void start(float *out, const float *in) {{ k<<<1, {block}{dynamic}>>>(out, in, 32); }}\n"
        "int main();\n"
    )


def fixed(text: str, folder: Path) -> tuple[dict[str, Suggestion], str]:
    """Suggestions by array, and the text with all edits done."""
    path = folder / "a.cu"
    data = text.encode("utf-8", errors="surrogateescape")
    path.write_bytes(data)
    report = analyse_file(Job(str(path)))
    assert not report.problems, report.problems
    found = {s.array.name: s for s in report.suggestions}
    edits = [e for s in report.suggestions for e in s.edits or ()]
    return found, apply(edits, data).decode("utf-8", errors="surrogateescape")


COLUMN = "    {0}; __syncthreads();\n    out[ty * 32 + tx] = {1};"

EDITED = {
    "a row pointer that decays": kernel(
        """    __shared__ float t[32][32];
    for (int i = ty; i < 32; i += 16) { float *row = t[i]; row[tx] = in[i * 32 + tx]; }
    __syncthreads();
    out[ty * 32 + tx] = t[tx][ty];"""
    ),
    "auto reference to a row": kernel(
        """    __shared__ float t[32][32];
    for (int i = ty; i < 32; i += 16) { auto &row = t[i]; row[tx] = in[i * 32 + tx]; }
    __syncthreads();
    out[ty * 32 + tx] = t[tx][ty];"""
    ),
    "two kernels with an array of one name": """
template <typename T> __global__ void a(T *out, const T *in)
{
    __shared__ T t[16][16];
    t[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 16 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
__global__ void b(float *out, const float *in)
{
    __shared__ float t[32 * 32];
    for (int i = threadIdx.y; i < 32; i += blockDim.y)
        t[i * 32 + threadIdx.x] = in[i * 32 + threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += blockDim.y)
        out[i * 32 + threadIdx.x] = t[threadIdx.x * 32 + i];
}
void start(float *out, const float *in)
{
    a<<<1, dim3(16, 16)>>>(out, in);
    b<<<1, dim3(32, 8)>>>(out + 4096, in);
}
""",
    "two instances of a template": """
template <int N> __global__ void k(float *out, const float *in)
{
    __shared__ float t[N][N];
    t[threadIdx.y][threadIdx.x] = in[threadIdx.y * N + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * N + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
void start(float *out, const float *in)
{
    k<16><<<1, dim3(16, 16)>>>(out, in);
    k<32><<<1, dim3(32, 32)>>>(out + 4096, in);
}
""",
    "a branch of #if that is not compiled": kernel(
        """    __shared__ float t[16][16];
#ifdef OTHER_WAY
    t[tx][ty] = 1;
#else
    if (tx < 16) t[ty][tx] = in[ty * 16 + tx];
#endif
    __syncthreads();
    out[ty * 16 + tx] = t[tx][ty];""",
        "dim3(16, 16)",
    ),
    "a tree whose first step is joined": kernel(
        """    __shared__ float t[512];
    t[tx] = in[tx]; t[tx + 256] = in[tx + 256];
    int offset = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (tx < d) t[offset * (2 * tx + 2) - 1] += t[offset * (2 * tx + 1) - 1];
        offset *= 2;
    }
    __syncthreads();
    out[tx] = t[tx]; out[tx + 256] = t[tx + 256];""",
        "256",
    ),
    "a name that is taken": kernel(
        """    const int T_PITCH = 3; int swizzle_t = T_PITCH;
    __shared__ float t[32 * 32];
    for (int i = ty; i < 32; i += 16) t[i * 32 + tx] = in[i * 32 + tx];
    __syncthreads();
    out[ty * 32 + tx] = t[tx * 32 + ty] + swizzle_t;"""
    ),
    "a pitch that is declared after the array": kernel(
        """    __shared__ float t[1024];
    const int width = 32;
    for (int i = ty; i < 32; i += 16) t[i * width + tx] = in[i * 32 + tx];
    __syncthreads();
    out[ty * 32 + tx] = t[tx * width + ty];"""
    ),
    "pointers to rows of a flat array": kernel(
        """    __shared__ float t[32 * 32];
    for (int i = ty; i < 32; i += 16) { float *row = &t[i * 32]; row[tx] = in[i * 32 + tx]; }
    __syncthreads();
    const float *mine = &t[tx * 32];
    out[ty * 32 + tx] = mine[ty];"""
    ),
    "a pitch that the block gives": kernel(
        """    const int width = blockDim.x;
    __shared__ float t[1024];
    for (int i = ty; i < 32; i += 16) t[i * width + tx] = in[i * 32 + tx];
    __syncthreads();
    out[ty * 32 + tx] = t[tx * width + ty];"""
    ),
    "a pitch of a part that is declared after it": kernel(
        """    extern __shared__ float pool[];
    float *t = pool;
    constexpr int width = 32;
    for (int i = ty; i < 32; i += 16) t[i * width + tx] = in[i * 32 + tx];
    __syncthreads();
    out[ty * 32 + tx] = t[tx * width + ty];""",
        dynamic=", 32 * 32 * sizeof(float)",
    ),
    "two arrays in one declaration": kernel(
        """    __shared__ float a[32 * 32], b[32 * 32];
    for (int i = ty; i < 32; i += 16) { a[i * 32 + tx] = in[i * 32 + tx]; b[i * 32 + tx] = in[tx]; }
    __syncthreads();
    out[ty * 32 + tx] = a[tx * 32 + ty] + b[tx * 32 + ty];"""
    ),
    "a namespace, a macro for the extent, a continued line": """
#define TILE \\
    32
namespace deep { namespace {
// Doc.
__global__ __launch_bounds__(512) void k(float *out, const float *in)
{
\t__shared__ float t[TILE][TILE]; /* Größe */
\tfor (int i = threadIdx.y; i < TILE; i += 16) t[i][threadIdx.x] = in[i * TILE + threadIdx.x];
\t__syncthreads();
\tout[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
} }
void start(float *out, const float *in) { deep::k<<<1, dim3(32, 16)>>>(out, in); }
""",
    "an index with a side effect": kernel(
        """    __shared__ float t[32 * 32];
    int i = ty;
    while (i < 32) { t[i * 32 + tx] = in[i * 32 + tx]; i += 16; }
    __syncthreads();
    int j = 0; float sum = 0;
    for (int m = 0; m < 4; ++m) sum += t[tx * 32 + j++];
    out[ty * 32 + tx] = sum;"""
    ),
    "vector loads of a row": kernel(
        """    __shared__ __align__(16) float t[32][32];
    for (int i = ty; i < 32; i += 16) t[tx][i] = in[i * 32 + tx];
    __syncthreads();
    float4 v = *reinterpret_cast<float4 *>(&t[ty][4 * (tx % 8)]);
    out[ty * 32 + tx] = v.x + 2 * v.y + 3 * v.z + 5 * v.w;"""
    ),
    "a pool cut into three": kernel(
        """    extern __shared__ unsigned char pool[];
    float *a = (float *)pool;
    float *b = reinterpret_cast<float *>(pool + 32 * 32 * sizeof(float));
    double *c = (double *)(b + 32 * 16);
    for (int i = ty; i < 32; i += 16) a[i * 32 + tx] = in[i * 32 + tx];
    b[ty * 32 + tx] = in[tx * 16 + ty];
    if (ty == 0) c[tx] = in[tx + 9];
    __syncthreads();
    out[ty * 32 + tx] = a[tx * 32 + ty] + b[ty * 32 + tx] + (float)c[tx];""",
        dynamic=", 32 * 32 * 4 + 32 * 16 * sizeof(float) + 32 * sizeof(double)",
    ),
    "rows of a dynamic array that each thread has a pointer to": kernel(
        """    extern __shared__ float t[];
    float *row = t + tx * 32;
    for (int i = ty; i < 32; i += 16) t[i * 32 + tx] = in[i * 32 + tx];
    __syncthreads();
    out[ty * 32 + tx] = row[ty] + row[ty + 16];""",
        dynamic=", 32 * 32 * sizeof(float)",
    ),
    "parts of a dynamic pool that is used again as a whole": kernel(
        """    extern __shared__ float pool[];
    float *a = pool, *b = pool + 512, *whole = pool;
    a[ty * 32 + tx] = in[ty * 32 + tx];
    b[ty * 32 + tx] = in[ty * 32 + tx + 5];
    __syncthreads();
    float v = a[tx * 16 + ty] + 3 * b[tx * 16 + ty];
    __syncthreads();
    whole[ty * 64 + tx] = v;
    whole[ty * 64 + tx + 32] = v + 1;
    __syncthreads();
    out[ty * 32 + tx] = whole[tx * 32 + ty];""",
        dynamic=", 2 * 512 * sizeof(float)",
    ),
    "a dynamic array with an access by data": kernel(
        """    extern __shared__ float t[];
    for (int i = ty; i < 32; i += 16) t[i * 32 + tx] = in[i * 32 + tx];
    __syncthreads();
    out[ty * 32 + tx] = t[tx * 32 + ty] + t[(int)in[tx] & 1023];""",
        dynamic=", 32 * 32 * sizeof(float)",
    ),
    "a pool with two columns": kernel(
        """    extern __shared__ float pool[];
    float *a = pool, *b = &pool[32 * 32];
    for (int i = ty; i < 32; i += 16) a[i * 32 + tx] = in[i * 32 + tx];
    for (int i = ty; i < 32; i += 16) b[i * 32 + tx] = in[i * 32 + tx + 7];
    __syncthreads();
    out[ty * 32 + tx] = a[tx * 32 + ty] + 3 * b[tx * 32 + ty];""",
        dynamic=", 2 * 32 * 32 * sizeof(float)",
    ),
    "a dynamic array with the block as pitch": kernel(
        """    extern __shared__ float t[];
    t[threadIdx.y * blockDim.x + threadIdx.x] = in[ty * 16 + tx];
    __syncthreads();
    out[ty * 16 + tx] = t[threadIdx.x * blockDim.x + threadIdx.y];""",
        "dim3(16, 16)",
        dynamic=", 16 * 16 * sizeof(float)",
    ),
    "a static pool": kernel(
        """    __shared__ __align__(16) unsigned char storage[32 * 32 * 4 + 128];
    float *t = reinterpret_cast<float *>(storage);
    float *rest = (float *)(storage + 32 * 32 * 4);
    for (int i = ty; i < 32; i += 16) t[i * 32 + tx] = in[i * 32 + tx];
    if (ty == 0) rest[tx] = in[tx];
    __syncthreads();
    out[ty * 32 + tx] = t[tx * 32 + ty] + rest[tx];"""
    ),
    "a dynamic array of one size for two launches": """
__global__ void k(float *out, const float *in)
{
    extern __shared__ float s[];
    s[threadIdx.x * 16] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * 16];
}
void start(float *out, const float *in)
{
    size_t bytes = 64 * 16 * sizeof(float);
    k<<<1, 64, bytes>>>(out, in);
    k<<<1, 32, bytes>>>(out + 4096, in);
}
int main();
""",
}


@emulated.needs_compiler
@pytest.mark.parametrize("text", EDITED.values(), ids=EDITED)
def test_an_edited_kernel_computes_the_same(text: str, tmp_path: Path) -> None:
    found, after = fixed(text, tmp_path)
    assert any(s.edits for s in found.values()), [(s.array.name, s.refused) for s in found.values()]
    before = emulated.run(text, tmp_path)
    assert before.count("\n") > 60 and "written" not in before
    assert emulated.run(after, tmp_path) == before


@emulated.needs_compiler
@pytest.mark.parametrize("text", [EDITED["two kernels with an array of one name"]])
@pytest.mark.parametrize("form", ["\r\n", "\t", "\ufeff"], ids=["crlf", "tabs", "bom"])
def test_line_ends_tabs_and_marks_do_not_matter(text: str, form: str, tmp_path: Path) -> None:
    if form == "\ufeff":
        written = form + text
    else:
        written = text.replace("\n", form) if form == "\r\n" else text.replace("    ", form)
    _, after = fixed(written, tmp_path)
    assert after != written and (form != "\r\n" or after.count("\n") == after.count(form))
    assert emulated.run(after, tmp_path) == emulated.run(text, tmp_path)


UNTOUCHED = {
    "a linear walk through a row": kernel(
        """    __shared__ float t[32][32];
    for (int i = ty * 32 + tx; i < 1024; i += 512) t[0][i] = in[i];
    __syncthreads();
    out[ty * 32 + tx] = t[tx][ty];"""
    ),
    "a pointer to the first element": kernel(
        """    __shared__ float t[32][32];
    float *p = &t[0][0];
    for (int i = ty * 32 + tx; i < 1024; i += 512) *(p + i) = in[i];
    __syncthreads();
    out[ty * 32 + tx] = t[tx][ty];"""
    ),
    "a reference to a row of so many": kernel(
        """    __shared__ float t[32][32];
    for (int i = ty; i < 32; i += 16) { float (&row)[32] = t[i]; row[tx] = in[i * 32 + tx]; }
    __syncthreads();
    out[ty * 32 + tx] = t[tx][ty];"""
    ),
    "a function that takes rows of so many": kernel(
        """    __shared__ float t[32][32];
    for (int i = ty; i < 32; i += 16) fill(t[i], in[i * 32 + tx]);
    __syncthreads();
    out[ty * 32 + tx] = t[tx][ty];""",
        before="template <int N> __device__ void fill(float (&row)[N], float v) { row[threadIdx.x] = v; }",
    ),
    "memset over the array": kernel(
        """    __shared__ float t[32][32];
    if (tx == 0 && ty == 0) memset(t, 0, sizeof(t));
    __syncthreads();
    if (ty < 8) t[ty][tx] = in[ty * 32 + tx];
    __syncthreads();
    out[ty * 32 + tx] = t[tx][ty] + 1;"""
    ),
    "memcpy over rows": kernel(
        """    __shared__ float t[32][32];
    if (tx == 0 && ty == 0) memcpy(t[0], in, 4096);
    __syncthreads();
    out[ty * 32 + tx] = t[tx][ty];"""
    ),
    "a size that is asserted": kernel(
        """    __shared__ float t[32 * 32];
    static_assert(sizeof(t) == 4096, "as large as a page");
    for (int i = ty; i < 32; i += 16) t[i * 32 + tx] = in[i * 32 + tx];
    __syncthreads();
    out[ty * 32 + tx] = t[tx * 32 + ty];"""
    ),
    "a macro for the access": kernel(
        """    __shared__ float t[32][32];
    for (int i = ty; i < 32; i += 16) AT(i, tx) = in[i * 32 + tx];
    __syncthreads();
    out[ty * 32 + tx] = AT(tx, ty);""",
        before="#define AT(r, c) t[r][c]",
    ),
    "a pool whose pointers move": kernel(
        """    extern __shared__ float pool[];
    float *a = pool, *b = pool + 512;
    a[ty * 32 + tx] = in[ty * 32 + tx];
    b[tx * 16 + ty] = in[tx];
    __syncthreads();
    float *c = a; a = b; b = c;
    out[ty * 32 + tx] = a[tx * 16 + ty] + b[ty];""",
        dynamic=", 2 * 512 * sizeof(float)",
    ),
    "a part that another pointer reaches": kernel(
        """    extern __shared__ float pool[];
    float *a = pool;
    float4 *wide = (float4 *)pool;
    for (int i = ty; i < 32; i += 16) a[i * 32 + tx] = in[i * 32 + tx];
    __syncthreads();
    out[ty * 32 + tx] = a[tx * 32 + ty] + wide[tx].y;""",
        dynamic=", 4096",
    ),
}


@emulated.needs_compiler
@pytest.mark.parametrize("text", UNTOUCHED.values(), ids=UNTOUCHED)
def test_a_kernel_that_relies_on_its_layout_computes_the_same(text: str, tmp_path: Path) -> None:
    """Whatever is offered here, a swizzle or nothing, must leave the result alone; a refusal has a name."""
    found, after = fixed(text, tmp_path)
    assert found and all(s.edits is not None or s.refused is not None for s in found.values())
    before = emulated.run(text, tmp_path)
    assert before.count("\n") > 60
    assert emulated.run(after, tmp_path) == before
