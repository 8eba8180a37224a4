"""Programs that start their kernels in another shape when they are told to: an edit holds for every shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from fix import emulated
from fix.edits.test_through import fixed
from smemlint.cli import main

TRANSPOSE = """
__global__ void transpose(float *out, const float *in, int n) {
    extern __shared__ float tile[];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    tile[threadIdx.y * blockDim.x + threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[y * n + x] = tile[threadIdx.x * blockDim.x + threadIdx.y];
}
int main(int argc, char **argv) {
    int bs = 32;
    if (argc > 1) bs = atoi(argv[1]);
    float *a, *b;
    dim3 block(bs, bs);
    size_t bytes = bs * bs * sizeof(float);
    transpose<<<dim3(1024 / bs, 1024 / bs), block, bytes>>>(b, a, 1024);
}
"""


def test_a_tile_as_wide_as_the_block_grows_with_the_block(tmp_path: Path) -> None:
    found, after = fixed(TRANSPOSE, tmp_path)
    assert found.edits is not None and not found.safe
    assert found.unsafe_because == "the block shape of `transpose` depends on the arguments of the program"
    assert "const int TILE_PITCH = blockDim.x | 1;" in after
    assert "size_t bytes = bs * bs * sizeof(float) + bs * sizeof(float);" in after
    # The last element that a square block of any width reaches lies within the bytes.
    for width in range(1, 33):
        pitch = width | 1
        assert (width - 1) * pitch + width - 1 < width * width + width


def test_the_block_of_a_program_without_arguments_stands_for_its_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not the least of the usual shapes that are tried beside it."""
    (tmp_path / "a.cu").write_text(TRANSPOSE, encoding="utf-8")
    main([str(tmp_path / "a.cu"), "--no-cache"])
    assert "(1,024 of 1,056 a block), 992 excess" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("block(bs, bs)", "block(bs, bs)"),
        ("block(bs, bs)", "block(32, bs)"),
        ("bs * bs * sizeof(float)", "4096"),
        ("bs * bs * sizeof(float)", "size_of(bs)"),
        ("bs * bs * sizeof(float)", "sizeof(float) << 10"),
    ],
)
def test_no_number_of_one_run_is_written_into_the_size(before: str, after: str, tmp_path: Path) -> None:
    text = TRANSPOSE.replace(before, after).replace(
        "int main", "int size_of(int n) { return n * n * 4; }\nint main"
    )
    found, done = fixed(text, tmp_path)
    assert not found.safe or found.edits is None
    assert "+ 128" not in done and "PITCH = 33" not in done and "4224" not in done


def test_a_block_that_nothing_changes_leaves_the_edit_safe(tmp_path: Path) -> None:
    text = TRANSPOSE.replace("    if (argc > 1) bs = atoi(argv[1]);\n", "    use(argv[1]);\n")
    found, after = fixed(text, tmp_path)
    assert found.safe, found.unsafe_because
    assert "+ bs * sizeof(float);" in after


@emulated.needs_compiler
def test_a_pitch_that_is_set_after_the_array_is_not_written_as_a_number(tmp_path: Path) -> None:
    text = TRANSPOSE.replace("    int x =", "    int w = blockDim.x;\n    int x =").replace(
        "* blockDim.x + threadIdx.", "* w + threadIdx."
    )
    text = text.replace("blockIdx.x * w", "blockIdx.x * blockDim.x")
    _, after = fixed(text, tmp_path)
    assert "PITCH = 33" not in after and "+ 128" not in after


COPIED = """
static __global__ void k(float *out, const float *in, int n) {
    extern __shared__ float t[];
    for (int r = 0; r < n; ++r) t[r * n + threadIdx.x] = in[r * n + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int c = 0; c < n; ++c) sum += t[threadIdx.x * n + c];
    out[threadIdx.x] = sum;
}
void start(float *a, float *b, const float *host) {
    const int n = 32;
    size_t bytes = n * n * sizeof(float);
    cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice);
    k<<<1, n, bytes>>>(a, b, n);
}
"""


def test_bytes_that_something_else_takes_too_grow_at_the_launch_alone(tmp_path: Path) -> None:
    found, after = fixed(COPIED, tmp_path)
    assert found.safe, found.unsafe_because
    assert "size_t bytes = n * n * sizeof(float);" in after
    assert "cudaMemcpy(b, host, bytes, " in after
    assert "k<<<1, n, bytes + n * sizeof(float)>>>" in after


def test_the_bytes_that_a_kernel_is_allowed_grow_with_its_launch(tmp_path: Path) -> None:
    text = COPIED.replace("bytes>>>", "n * n * sizeof(float)>>>").replace(
        "    cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice);",
        "    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, n * n * sizeof(float));",
    )
    found, after = fixed(text, tmp_path)
    assert found.edits is not None and not found.safe
    assert after.count("n * n * sizeof(float) + n * sizeof(float)") == 2


FIRST_ROW = """
#define P 32
__global__ void k(float *out, const float *in, int n) {
    __shared__ float t[P * P];
    for (int e = threadIdx.x; e < n; e += 32) t[e] = in[e];
    __syncthreads();
    float sum = 0;
    for (int c = 0; c < P; ++c) sum += t[threadIdx.x * P + c];
    out[threadIdx.x] = sum;
}
void start(float *a, float *b) { k<<<1, 32>>>(a, b, N); }
"""


@pytest.mark.parametrize("n", [32, 64])
def test_an_index_that_says_no_row_is_rewritten_or_the_edit_is_unsafe(n: int, tmp_path: Path) -> None:
    """Told 32 the loop fills one row; another launch goes on to the next."""
    found, after = fixed(FIRST_ROW.replace("N)", f"{n})"), tmp_path)
    assert found.edits is not None
    assert "t[e / P * T_PITCH + e % P]" in after if found.safe else "shows no row" in found.unsafe_because


def test_a_number_made_of_two_addresses_keeps_an_edit_from_being_safe(tmp_path: Path) -> None:
    text = FIRST_ROW.replace("t[P * P]", "t[P][P]").replace("t[threadIdx.x * P + c]", "t[threadIdx.x][c]")
    text = text.replace("t[e] = in[e]", "t[e][threadIdx.x] = in[e]").replace("N)", "32)")
    found, _ = fixed(text, tmp_path)
    assert found.safe, found.unsafe_because
    found, _ = fixed(text.replace("float sum = 0", "float sum = &t[1][0] - &t[0][0]"), tmp_path)
    assert not found.safe and "a number is made of the address of `t` on line 7" in found.unsafe_because
