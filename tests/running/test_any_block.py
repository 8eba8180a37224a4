"""Blocks of run-time size: what one warp of any of them tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file
from smemlint.banks import wavefronts
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


def worst(words: Callable[[int, int], int | None]) -> int:
    """The most words of one bank that one warp of a block of up to 1024 threads asks for. words: block and
    thread to the word, None where the thread takes no part."""
    found = 0
    for block in range(1, 1025):
        for first in range(0, block, 32):
            asked = {words(block, t) for t in range(first, min(first + 32, block))} - {None}
            found = max(found, *Counter(w % 32 for w in asked if w is not None).values(), 0)
    return found


def test_what_has_no_conflict_in_any_block_is_exact(tmp_path: Path) -> None:
    """Fewer lanes have none either, so that it does not matter whether the warps are whole."""
    assert worst(lambda block, t: t // 32 if t % 32 == 0 else None) == 1
    assert worst(lambda block, t: t) == 1
    assert worst(lambda block, t: t % 32 if t < block // 32 else None) == 1
    assert worst(lambda block, t: block - 1 - t) == 1
    for kernel in kernels(tmp_path, REDUCE):
        assert {(a.expression, a.ways, a.grade) for a in kernel.accesses if a.any_block} == {
            (text, 1, "exact")
            for text in ("part[warp]", "s[threadIdx.x]", "part[lane]", "s[blockDim.x - 1 - threadIdx.x]")
        }


STRIDE = """
__global__ void pairs(float *out) {
    extern __shared__ float s[];
    s[threadIdx.x * 2] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * 2 + 1];
}
void host(float *out, int n) { pairs<<<1, %s, 8192>>>(out); }
"""


@pytest.mark.parametrize(
    ("block", "grade"),
    [
        ("n", "assumed"),
        ("(n + 31) / 32 * 32", "exact"),
        ("min(1024, (n + 255) / 256 * 64)", "exact"),
        ("min(1024, n)", "assumed"),
    ],
)
def test_conflicts_are_exact_where_the_launch_makes_whole_warps(
    tmp_path: Path, block: str, grade: str
) -> None:
    """16 lanes of a block of 48 have no conflict at a stride of 2, 32 lanes have 2 ways."""
    assert [max(Counter(2 * t % 32 for t in range(n)).values()) for n in (16, 32)] == [1, 2]
    for kernel in kernels(tmp_path, STRIDE % block):
        assert {(a.ways, a.grade, a.any_block) for a in kernel.accesses} == {(2, grade, True)}


DISPATCHED = """
template <typename T> __global__ void rows(T *p) {
    __shared__ T s[4096];
    s[threadIdx.y * 64 + threadIdx.x * 2] = p[0];
    p[1] = s[threadIdx.y * 64 + threadIdx.x];
}
"""


@pytest.mark.parametrize(
    "host",
    [
        "template <typename T> void run(T *p, int n) { rows<T><<<1, dim3(32, n)>>>(p); }",
        "void run(Tensor t, int n) {"
        ' DISPATCH_TYPES(t.type(), "r", [&] { rows<scalar_t><<<1, dim3(32, n)>>>((scalar_t *)t.p()); }); }',
    ],
)
def test_a_type_that_no_launch_tells_is_assumed_in_any_block(tmp_path: Path, host: str) -> None:
    """It may be of 4 bytes or of 2, with other ways."""
    for kernel in kernels(tmp_path, DISPATCHED + host):
        assert {a.grade for a in kernel.accesses} == {"assumed"}
        assert all("instance" in {kind for kind, *_ in a.assumptions} for a in kernel.accesses)


def test_what_depends_on_the_size_of_the_block_does_not(tmp_path: Path) -> None:
    for kernel in kernels(tmp_path, COLUMNS):
        found = by_text(kernel)
        assert not found["s[threadIdx.x * blockDim.x / 32]"].any_block
        assert found["s[threadIdx.x * blockDim.x / 32]"].assumptions[0][0] == "block-shape"
        assert found["s[threadIdx.x * 2]"].any_block


def test_rows_of_one_warp_are_exact_however_many_there_are(tmp_path: Path) -> None:
    found = kernels(tmp_path, ROWS)
    assert {k.launch.block[0] for k in found} == {32}
    for kernel in found:
        assert {(a.expression, a.ways, a.grade, a.assumptions) for a in kernel.accesses} == {
            ("mine[threadIdx.x * 8]", 8.0, "exact", ()),
            ("mine[threadIdx.x ^ 1]", 1.0, "exact", ()),
        }


def test_ranks_in_the_block_are_not_those_of_the_one_warp(tmp_path: Path) -> None:
    for kernel in kernels(tmp_path, TILES):
        found = by_text(kernel)
        assert not found["s[cg::this_thread_block().thread_rank() / 32 + tile.thread_rank() * 32]"].any_block


WIDE = """
__global__ void wide(double *out, int n) {
    extern __shared__ double s[];
    double4 *v = (double4 *)s;
    s[threadIdx.x] = 1;
    __syncthreads();
    out[0] = s[threadIdx.x + 1] + s[threadIdx.x / 2 * 2];
    if (threadIdx.x %% 2 == 0) s[threadIdx.x] = 2;
}
void host(double *out, int n) { wide<<<1, %s, 9000>>>(out, n); }
"""


@pytest.mark.parametrize(("block", "rest"), [("n", "assumed"), ("(n + 31) / 32 * 32", "exact")])
def test_wide_accesses_are_exact_where_each_number_of_lanes_is_free(
    tmp_path: Path, block: str, rest: str
) -> None:
    """Every lane up to any: the rule of the banks tells it. Every second lane of 18: two wavefronts of 9
    doubles, which one could hold."""

    def free(op: str, at: Callable[[int], int | None]) -> bool:
        each = [wavefronts(op, 8, [at(t) if t < n else None for t in range(32)]) for n in range(1, 33)]
        return all(cost.wavefronts == cost.ideal for cost in each)

    assert free("store", lambda t: 8 * t)
    assert free("load", lambda t: 8 * t + 8)
    assert free("load", lambda t: t // 2 * 16)
    assert not free("store", lambda t: 8 * t if t % 2 == 0 else None)
    for kernel in kernels(tmp_path, WIDE % block):
        told = [(a.op, a.expression, a.grade) for a in kernel.accesses]
        assert told[:3] == [
            ("store", "s[threadIdx.x]", "exact"),
            ("load", "s[threadIdx.x + 1]", "exact"),
            ("load", "s[threadIdx.x / 2 * 2]", "exact"),
        ]
        assert told[3] == ("store", "s[threadIdx.x]", rest)


def test_a_block_that_one_way_tells_beside_ways_that_do_not_is_any_block_too(tmp_path: Path) -> None:
    """512 threads where the size is odd, else any number: 2 wavefronts for whole warps, 1 for half a one."""
    text = REDUCE.replace("s[threadIdx.x] = v;", "s[threadIdx.x * 2 % 64] = v;")
    text = text.replace("int threads) {", "int threads) { if (n % 2 != 0) threads = 512;")
    found = kernels(tmp_path, text)
    assert {k.launch.block[0] for k in found} > {512, 256}
    for each in found:
        told = by_text(each)
        assert told["part[warp]"].grade == told["part[lane]"].grade == "exact"
        assert told["s[threadIdx.x * 2 % 64]"].grade == "assumed"
