"""How many iterations of a long loop are run, and what is said of those that are not."""

from __future__ import annotations

import pytest
from costs import scored

PRODUCT = """
int tx = threadIdx.x % 16 * 8, ty = threadIdx.x / 16 * 8;
float tmp[8][8] = {{0.f}};
a[threadIdx.x] = in[threadIdx.x]; b[threadIdx.x] = in[n + threadIdx.x];
__syncthreads();
{pragma}
for (int i = 0; i < 8; i++)
  for (int j = 0; j < 8; j++)
    for (int l = 0; l < 8; l++)
      tmp[j][l] += a[(ty + j) * 8 + i] * b[tx + l + i * 128];
for (int j = 0; j < 8; j++)
  for (int l = 0; l < 8; l++) out[ty * 128 + j * 128 + tx + l] = tmp[j][l];
"""


@pytest.mark.parametrize(
    ("pragma", "column", "row"),
    [
        # The loop stays: a load of `a` in each of 64 steps; those of `b` are neighbours within a step.
        ("", (8 * 64, 1024, 512), (8 * 16, 1024, 512)),
        # The loop is gone: neighbours of `a` stand one step apart, and run as 16-byte loads too.
        ("#pragma unroll", (8 * 16, 256, 256), (8 * 16, 1024, 512)),
    ],
)
def test_a_large_register_tile_counts_each_load_once(
    pragma: str, column: tuple[int, int, int], row: tuple[int, int, int]
) -> None:
    """Requests, wavefronts and ideal of a block of 8 warps, in the machine code of nvcc 13."""
    body = PRODUCT.format(pragma=pragma)
    costs = scored(body, shared="float a[1024], b[1024]", block=(256, 1, 1))
    loads = [c for c in costs if c.site.op == "load"]
    assert [(c.executions, c.wavefronts, c.ideal) for c in loads] == [column, row]


@pytest.mark.parametrize(
    ("start", "index", "step"),
    [
        ("threadIdx.x * 2", "a", "a ^= 1024"),
        ("threadIdx.x * 2", "a", "a += 32 * n"),
        ("0", "a + threadIdx.x * 2", "a = 1024 - a"),
    ],
)
def test_a_second_buffer_moves_no_bank(start: str, index: str, step: str) -> None:
    """The lanes start apart; what all of them are moved by is a number of whole bank cycles."""
    loop = f"for (int i = 0; i < n; i++) {{ sum += s[{index}]; {step}; }}"
    body = f"int a = {start}, sum = 0; {loop} out[0] = sum;"
    (load,) = [c for c in scored(body, shared="int s[4096]") if c.site.op == "load"]
    assert (load.ways, load.ways_low, load.grade.value) == (2, 2, "exact")


def test_a_loop_that_disappears_is_joined_inside_loops_of_unknown_length() -> None:
    """As measured on an H100 in a product of SparseConvNet: 8 loads of 16 bytes a warp, not 32 of 4."""
    body = """
double sum[8], other[8]; int tx = threadIdx.x, ty[8];
for (int v = 0; v < 8; v++) ty[v] = threadIdx.y + v * 4;
for (int a = 0; a < n; a++) {
    for (int v = 0; v < 8; v++) w[ty[v]][tx] = in[ty[v] * n + tx];
    for (int s = blockIdx.x * 32; s < n; s += 32 * gridDim.x) {
        __syncthreads();
        for (int v = 0; v < 8; v++) { i[ty[v]][tx] = in[s + v]; d[ty[v]][tx] = in[n + s + v]; }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 32; k++)
            #pragma unroll
            for (int v = 0; v < 8; v++) {
                sum[v] += d[ty[v]][k] * w[tx][k];
                other[v] += i[k][ty[v]] * d[k][tx];
            }
        __syncthreads();
    }
}
for (int v = 0; v < 8; v++) out[v * n + tx] = sum[v] + other[v];
"""
    costs = scored(body, shared="float w[32][32], d[32][32], i[32][32]", block=(32, 4, 1))
    assert (4 * 8 * 32, 4 * 8 * 4) in [(c.wavefronts, c.ideal) for c in costs if c.site.op == "load"]


MIXING = """
unsigned h[16];
#pragma unroll
for (int i = 0; i < 16; i++) h[i] = n * i;
#pragma unroll
for (int round = 0; round < 64; round++) {
  #pragma unroll
  for (int i = 0; i < 16; i++) h[i] = (h[i] ^ (h[(i + 3) & 15] << 7)) + (h[(i + 5) & 15] >> 3) * 0x9e3779b9u;
}
s[(h[0] + threadIdx.x * 2) & 1023] = 1;
__syncthreads();
out[threadIdx.x] = s[threadIdx.x * 2];
"""


def test_long_work_before_the_first_access() -> None:
    """1,024 rounds of arithmetic between a start that nobody knows and an address: the kernel is not given
    up, and what they leave is not known, but the same for all lanes."""
    store, load = scored(MIXING, shared="unsigned s[1024]")
    assert (store.ways_low, store.ways, store.grade.value) == (2, 2, "exact")
    assert (load.ways, load.grade.value) == (2, "exact")


def test_a_window_that_slides_with_a_long_loop_is_followed_to_its_end() -> None:
    """800 rounds, of which each lane takes part in 300 that begin 3 after those of the lane before it."""
    body = """for (int d = 0; d < 800; ++d) {
        int j = d - 3 * (int)threadIdx.x;
        if (j >= 0 && j < 300) s[threadIdx.x] += in[j];
        __syncthreads();
    }
    out[threadIdx.x] = s[threadIdx.x];"""
    store, *_ = (c for c in scored(body, shared="float s[1024]") if c.site.op == "store")
    taking_part = [{t // 32 for t in range(64) if 0 <= d - 3 * t < 300} for d in range(800)]
    assert store.executions == sum(map(len, taking_part))
