"""Pools cut into parts, through every stage: what is edited, what moves with it, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from fix.cases import joined

from smemlint.api import Job, analyse_file
from smemlint.fix.edits.apply import apply
from smemlint.fix.model import Suggestion

HEAD = (
    "__device__ void put(float4 *p, int at) { p[at] = make_float4(1, 2, 3, 4); }\n"
    "__global__ void k(float *out, const float *in, int w) {\n    int tx = threadIdx.x, ty = threadIdx.y;\n"
)


def fix(
    tmp_path: Path, body: str, launches: str, *, main: str = "int main()", array: str = "pool"
) -> tuple[Suggestion, str]:
    """The suggestion for an array and the text with its edits."""
    text = f"{HEAD}    {body}\n}}\n{main} {{ float *o = 0; const float *in = 0; {launches} }}\n"
    path = tmp_path / "a.cu"
    path.write_text(text)
    report = analyse_file(Job(str(path)))
    assert not report.problems
    found = {s.array.name: s for s in report.suggestions}[array]
    return found, joined(apply(found.edits or (), text.encode()).decode())


POOL = """extern __shared__ float pool[];
    float *a = pool;
    float *b = pool + 32 * 32;
    a[ty * 32 + tx] = in[tx]; b[tx] = in[ty];
    __syncthreads();
    out[ty] = a[tx * 32 + ty] + b[tx];"""
LAUNCH = "k<<<1, dim3(32, 32), (32 * 32 + 32) * sizeof(float)>>>(o, in, 32);"


def test_a_wider_part_moves_what_is_behind_it_and_the_launch_gives_more(tmp_path: Path) -> None:
    found, text = fix(tmp_path, POOL, LAUNCH)
    assert found.kind == "pitch" and found.safe, found.unsafe_because
    assert "const int A_PITCH = 33;" in text and "a[tx * A_PITCH + ty]" in text
    assert "float *b = pool + 32 * A_PITCH;" in text
    assert "(32 * 32 + 32) * sizeof(float) + 32 * sizeof(float)>>>" in text


def test_the_edited_launch_gives_enough_bytes_for_every_access(tmp_path: Path) -> None:
    _, text = fix(tmp_path, POOL, LAUNCH)
    path = tmp_path / "b.cu"
    path.write_text(text)
    again = analyse_file(Job(str(path)))
    assert not again.suggestions
    assert again.kernels[0].launch.dynamic == (32 * 33 + 32) * 4


def test_launches_that_are_not_all_known_make_it_unsafe(tmp_path: Path) -> None:
    found, _ = fix(tmp_path, POOL, LAUNCH, main="void start()")
    assert found.edits is not None and not found.safe
    assert found.unsafe_because == "`k` may be launched by other files"


def test_every_launch_gets_its_bytes(tmp_path: Path) -> None:
    other = "size_t bytes = 8192; k<<<2, dim3(32, 16), bytes>>>(o, in, 32);"
    found, text = fix(tmp_path, POOL, LAUNCH + other)
    assert found.edits is not None
    assert "size_t bytes = 8320; k<<<2, dim3(32, 16), bytes>>>" in text
    assert "sizeof(float) + 32 * sizeof(float)>>>" in text


TILES = """template <const int Br, const int Bc>
__global__ void k(float* Q, float* K, int N, int d, float* O) {
    int tx = threadIdx.x;
    extern __shared__ float smem[];
    float* Qi = smem;
    float* Kj = Qi + Br * d;
    for (int e = 0; e < (d + Br - 1) / Br; e++) {
        int idx = e * (Br * Bc) + tx;
        int row = idx / d;
        int col = idx % d;
        if (idx < Br * d) Qi[row * d + col] = Q[row * d + col];
        if (idx < Bc * d) Kj[row * d + col] = K[row * d + col];
    }
    __syncthreads();
    float acc = 0.f;
    for (int x = 0; x < d; x++)
        acc += Qi[(tx / Bc) * d + x] * Kj[(tx % Bc) * d + x];
    O[tx] = acc;
}
int main() {
    const int Bc = 16, Br = 8;
    int width = 64, N = 1024;
    float *Q, *K, *O;
    const int bytes = ((Br * width) + (Bc * width)) * sizeof(float);
    k<Br, Bc><<<1, Br * Bc, bytes>>>(Q, K, N, width, O);
}
"""


def test_tiles_of_run_time_width_grow_by_a_formula_where_the_bytes_are_computed(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(TILES)
    report = analyse_file(Job(str(path)))
    (found,) = report.suggestions
    after = joined(apply(found.edits or (), TILES.encode()).decode())
    changed = [line.strip() for line in after.splitlines() if line not in TILES.splitlines()]
    assert changed == [
        "const int QI_PITCH = d | 1;",
        "const int KJ_PITCH = d | 1;",
        "float* Kj = Qi + Br * QI_PITCH;",
        "if (idx < Br * d) Qi[row * QI_PITCH + col] = Q[row * d + col];",
        "if (idx < Bc * d) Kj[row * KJ_PITCH + col] = K[row * d + col];",
        "acc += Qi[(tx / Bc) * QI_PITCH + x] * Kj[(tx % Bc) * KJ_PITCH + x];",
        "const int bytes = ((Br * width) + (Bc * width)) * sizeof(float) + Br * sizeof(float)"
        " + Bc * sizeof(float);",
    ]
    assert found.safe, found.unsafe_because
    # 16 lanes of a warp read 16 rows of K at once: 64 floats apart they meet in bank 0, 65 apart nowhere.
    assert [len({lane * pitch % 32 for lane in range(16)}) for pitch in (64, 65)] == [1, 16]


DIRECT = "extern __shared__ float pool[]; pool[{0}] = in[tx]; __syncthreads(); out[tx] = pool[{1}];"


def test_launches_that_need_different_sizes_get_a_swizzle(tmp_path: Path) -> None:
    body = DIRECT.format("ty * w + tx", "tx * w + ty")
    launches = "k<<<1, dim3(32, 32), 4096>>>(o, in, 32); k<<<1, dim3(16, 16), 1024>>>(o, in, 16);"
    found, text = fix(tmp_path, body, launches)
    if found.edits is None:
        assert found.refused is not None and found.refused.code in ("no-better-layout", "launches-differ")
    else:
        assert found.kind == "swizzle" and "<<<1, dim3(32, 32), 4096>>>" in text


def test_a_pitch_that_an_argument_gives_may_be_padded(tmp_path: Path) -> None:
    found, text = fix(
        tmp_path, DIRECT.format("ty * w + tx", "tx * w + ty"), "k<<<1, dim3(32, 32), 4096>>>(o, in, 32);"
    )
    assert found.edits is not None
    assert found.kind == "swizzle" or "const int POOL_PITCH = w | 1;" in text


@pytest.mark.parametrize(
    "body",
    [
        DIRECT.format("ty * 32 + tx", "tx * 32 + ty"),
        "extern __shared__ float pool[][32]; pool[ty][tx] = in[tx]; __syncthreads(); out[tx] = pool[tx][ty];",
        "extern __shared__ float pool[]; float *a = pool, *b = pool + 1024; a[ty * 32 + tx] = in[tx];"
        " b[ty * 32 + tx] = in[tx]; __syncthreads(); out[tx] = a[tx * 32 + ty] + b[tx * 32 + ty];",
    ],
    ids=["flat", "rows", "parts"],
)
def test_an_array_of_unknown_size_may_be_swizzled_within_what_is_reached(tmp_path: Path, body: str) -> None:
    found, text = fix(tmp_path, body, "extern int bytes; k<<<1, dim3(32, 32), bytes>>>(o, in, 32);")
    assert found.edits is not None and found.kind == "swizzle" and not found.safe
    assert "<<<1, dim3(32, 32), bytes>>>" in text


REFUSED = [
    (
        "a part that starts where each thread is",
        "extern __shared__ float pool[]; float *mine = pool + tx * 32; mine[ty] = 0; out[tx] = mine[ty];",
        "k<<<1, dim3(32, 32), 4100>>>(o, in, 32);",
        "part-start",
    ),
    (
        "a size that the launch does not tell",
        DIRECT.format("tx * 32", "tx * 32"),
        "extern int bytes; k<<<1, 32, bytes>>>(o, in, 32);",
        "size-elsewhere",
    ),
    (
        "a wide access of the pool that depends on data",
        "extern __shared__ float pool[]; reinterpret_cast<float2 *>(pool)[(int)in[tx]] = make_float2(1, 2);"
        " out[tx] = pool[tx * 32] + pool[tx * 32 + 3];",
        "k<<<1, 32, 4096>>>(o, in, 32);",
        "data-dependent",
    ),
    (
        "a function that is given the part",
        "extern __shared__ float pool[]; float *a = pool, *b = pool + 1024;"
        " put(reinterpret_cast<float4 *>(a), (int)in[tx]); b[tx] = 0; out[tx] = a[tx * 32] + a[tx * 32 + 3];",
        "k<<<1, 32, 8192>>>(o, in, 32);",
        "data-dependent",
    ),
    (
        "a part that is left",
        "extern __shared__ float pool[]; float *a = pool, *b = pool + 16;"
        " a[tx * 32] = in[tx]; b[tx & 15] = 0; out[tx] = a[tx * 32];",
        "k<<<1, 32, 4100>>>(o, in, 32);",
        "part-overlaps",
    ),
]


@pytest.mark.parametrize(("body", "launches", "code"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_a_part_that_may_not_move_is_refused_by_name(
    tmp_path: Path, body: str, launches: str, code: str
) -> None:
    found, _ = fix(tmp_path, body, launches)
    assert found.edits is None and found.refused is not None
    assert found.refused.code == code, found.refused
    assert code != "data-dependent" or not found.code, (
        "no layout in words either: it may misalign that access"
    )


FLASH = """__global__ void k(const float* Q, const float* K, int d, int Bc, int Br, float* O) {
    int tx = threadIdx.x;
    extern __shared__ float sram[];
    int tile_size = Bc * d;
    float* Qi = sram;
    float* Kj = &sram[tile_size];
    float* S = &sram[tile_size * 2];
    for (int x = 0; x < d; x++) {
        Qi[(tx * d) + x] = Q[(tx * d) + x];
        Kj[(tx * d) + x] = K[(tx * d) + x];
    }
    __syncthreads();
    for (int y = 0; y < Bc; y++) {
        float sum = 0;
        for (int x = 0; x < d; x++) sum += Qi[(tx * d) + x] * Kj[(y * d) + x];
        S[(Bc * tx) + y] = sum;
    }
    for (int y = 0; y < Bc; y++) O[tx] += S[(Bc * tx) + y];
}
void start(Tensor Q) {
    const int Bc = 32; const int Br = 32;
    const int d = Q.size(3);
    const int bytes = (2 * Bc * d * sizeof(float)) + (Bc * Br * sizeof(float));
    k<<<8, Bc, bytes>>>(Q.data(), Q.data(), d, Bc, Br, Q.data());
}
"""


def test_a_width_that_only_the_launch_knows_is_tried_by_a_sample_and_edited_as_a_formula(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.cu"
    path.write_text(FLASH)
    report = analyse_file(Job(str(path)))
    (found,) = report.suggestions
    after = joined(apply(found.edits or (), FLASH.encode()).decode())
    changed = [line.strip() for line in after.splitlines() if line not in FLASH.splitlines()]
    assert changed == [
        "const int QI_PITCH = d | 1;",
        "const int KJ_PITCH = d | 1;",
        "float* Kj = &sram[tile_size + Bc];",
        "const int S_PITCH = Bc + 1;",
        "float* S = &sram[tile_size * 2 + Bc + Bc];",
        "Qi[(tx * QI_PITCH) + x] = Q[(tx * d) + x];",
        "Kj[(tx * KJ_PITCH) + x] = K[(tx * d) + x];",
        "for (int x = 0; x < d; x++) sum += Qi[(tx * QI_PITCH) + x] * Kj[(y * KJ_PITCH) + x];",
        "S[(S_PITCH * tx) + y] = sum;",
        "for (int y = 0; y < Bc; y++) O[tx] += S[(S_PITCH * tx) + y];",
        "const int bytes = (2 * Bc * d * sizeof(float)) + (Bc * Br * sizeof(float))"
        " + Bc * sizeof(float) + Bc * sizeof(float) + Br * sizeof(float);",
    ]
    assert not found.safe
    assert found.unsafe_because == "the layout was looked for with `d` = 32, which the launch gives"
    # Whatever the width, an odd pitch brings 32 rows to 32 banks.
    assert all(len({lane * (d | 1) % 32 for lane in range(32)}) == 32 for d in range(1, 200))


def test_a_type_that_the_launch_cannot_name_is_counted_in_bytes(tmp_path: Path) -> None:
    text = TILES.replace("template <const int Br, const int Bc>", "template <int Br, int Bc, typename T>")
    text = text.replace("float* Q, float* K", "T* Q, T* K").replace("float* Qi", "T* Qi")
    text = text.replace("extern __shared__ float smem[]", "extern __shared__ T smem[]")
    text = text.replace("float* Kj", "T* Kj")
    path = tmp_path / "a.cu"
    path.write_text(text)
    (found,) = analyse_file(Job(str(path))).suggestions
    after = joined(apply(found.edits or (), text.encode()).decode())
    assert "sizeof(float) + Br * 4 + Bc * 4;" in after
    path.write_text(text.replace("k<Br, Bc>", "k<Br, Bc, float>"))
    (found,) = analyse_file(Job(str(path))).suggestions
    after = apply(found.edits or (), path.read_bytes()).decode()
    assert "sizeof(float) + Br * sizeof(float) + Bc * sizeof(float);" in after


FRAGMENTS = """#include <mma.h>
using namespace nvcuda;
__global__ void k(float *out, int n) {
    extern __shared__ float smem[];
    float *s = smem;
    half *p = (half *)&s[16 * 16];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    for (int j = 0; j < n; j++) {
        wmma::store_matrix_sync(s, sum, 16, wmma::mem_row_major);
        __syncthreads();
        if (threadIdx.x < 16)
            for (int c = 0; c < 16; c++) p[threadIdx.x * 16 + c] = __float2half(s[threadIdx.x * 16 + c]);
        __syncthreads();
        wmma::load_matrix_sync(a, p, 16);
    }
}
void start(float *out, int n) {
    size_t bytes = %s;
    k<<<8, 32, bytes>>>(out, n);
}
"""


@pytest.mark.parametrize("bytes_", ["(size_t)16 * 16 * sizeof(float) + 512", "16 * n * sizeof(float) + 512"])
def test_parts_that_fragments_are_loaded_from_by_their_pointer_get_a_pitch(
    tmp_path: Path, bytes_: str
) -> None:
    path = tmp_path / "a.cu"
    text = FRAGMENTS % bytes_
    path.write_text(text)
    (found,) = analyse_file(Job(str(path))).suggestions
    after = joined(apply(found.edits or (), text.encode()).decode())
    assert "S_PITCH = 20;" in after and "store_matrix_sync(s, sum, S_PITCH, " in after
    assert "&s[16 * S_PITCH]" in after and "s[threadIdx.x * S_PITCH + c]" in after
    assert f"{bytes_} + 16 * 4 * sizeof(float)" in after
    assert found.safe is False
