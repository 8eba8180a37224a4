"""Blocks of run-time size: what one warp of any of them tells."""

from __future__ import annotations

from pathlib import Path

from smemlint.api import Job, analyse_file
from smemlint.diagnose.model import Access, KernelReport

REDUCE = """
__global__ void sums(const float *in, float *out, int n) {
    __shared__ float part[33];
    __shared__ float s[1024];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float v = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) v += in[i];
    s[threadIdx.x] = v;
    if (lane == 0) part[warp] = v;
    __syncthreads();
    if (threadIdx.x < blockDim.x / 32) v = part[lane];
    out[threadIdx.x] = v + s[blockDim.x - 1 - threadIdx.x];
}
void host(const float *in, float *out, int n, int threads) { sums<<<1, threads>>>(in, out, n); }
"""
COLUMNS = """
__global__ void columns(float *out) {
    extern __shared__ float s[];
    s[threadIdx.x * blockDim.x / 32] = 1;
    out[threadIdx.x] = s[threadIdx.x * 2];
}
void host(float *out, int threads) { columns<<<1, threads, 8 * threads>>>(out); }
"""
ROWS = """
__global__ void rows(float *out) {
    extern __shared__ float s[];
    float *mine = s + (threadIdx.y + threadIdx.z * blockDim.y) * 256;
    mine[threadIdx.x * 8] = 1;
    out[threadIdx.x] = mine[threadIdx.x ^ 1];
}
void host(float *out, int lanes, int jobs) {
    rows<<<1, dim3(32, lanes, jobs), 1024 * lanes * jobs>>>(out);
}
"""
TILES = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void tiles(float *out) {
    __shared__ float s[64 * 64];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    s[tile.meta_group_rank() * 33 + tile.thread_rank()] = 1;
    s[cg::this_thread_block().thread_rank() / 32 + tile.thread_rank() * 32] = 1;
    out[threadIdx.x] = s[threadIdx.x];
}
void host(float *out, int threads) { tiles<<<1, threads>>>(out); }
"""


def kernels(folder: Path, text: str) -> tuple[KernelReport, ...]:
    path = folder / "a.cu"
    path.write_text(text)
    return analyse_file(Job(str(path))).kernels


def by_text(kernel: KernelReport) -> dict[str, Access]:
    return {a.expression: a for a in kernel.accesses}


def test_what_depends_on_the_lane_alone_holds_for_any_block_of_whole_warps(tmp_path: Path) -> None:
    for kernel in kernels(tmp_path, REDUCE):
        assert {a.expression for a in kernel.accesses if a.any_block} == {
            "part[warp]", "s[threadIdx.x]", "part[lane]", "s[blockDim.x - 1 - threadIdx.x]",
        }  # fmt: skip
        assert {a.grade for a in kernel.accesses} == {"assumed"}
        assert all(a.assumptions[0][0] == "whole-warps" for a in kernel.accesses)


def test_what_depends_on_the_size_of_the_block_does_not(tmp_path: Path) -> None:
    for kernel in kernels(tmp_path, COLUMNS):
        found = by_text(kernel)
        assert not found["s[threadIdx.x * blockDim.x / 32]"].any_block
        assert found["s[threadIdx.x * blockDim.x / 32]"].assumptions[0][0] == "block-shape"
        assert found["s[threadIdx.x * 2]"].any_block


def test_rows_of_one_warp_are_exact_however_many_there_are(tmp_path: Path) -> None:
    found = kernels(tmp_path, ROWS)
    assert {k.block[0] for k in found} == {32}
    for kernel in found:
        assert {(a.expression, a.ways, a.grade, a.assumptions) for a in kernel.accesses} == {
            ("mine[threadIdx.x * 8]", 8.0, "exact", ()),
            ("mine[threadIdx.x ^ 1]", 1.0, "exact", ()),
        }


def test_ranks_in_the_block_are_not_those_of_the_one_warp(tmp_path: Path) -> None:
    for kernel in kernels(tmp_path, TILES):
        found = by_text(kernel)
        assert not found["s[cg::this_thread_block().thread_rank() / 32 + tile.thread_rank() * 32]"].any_block
