"""The prelude parses in every standard, is kept compiled, and survives a damaged or missing cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from smemlint.api import Job, Options, analyse_file
from smemlint.frontend.parse import parse_unit
from smemlint.frontend.prelude import precompiled
from smemlint.frontend.project.options import ParseOptions
from smemlint.frontend.unit import Unit
from smemlint.source import source_from_bytes


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    precompiled.prelude_arguments.cache_clear()
    yield tmp_path / "smemlint"
    precompiled.prelude_arguments.cache_clear()


def parsed(text: str, std: str | None = None) -> Unit:
    return parse_unit(source_from_bytes("/nowhere/k.cu", text.encode()), ParseOptions(std=std))


KERNEL = "__global__ void k(float* p) { __shared__ float s[2]; s[0] = __ldg(p + threadIdx.x); }"


@pytest.mark.parametrize("std", ["c++11", "c++17", "c++20", "c++23"])
def test_every_standard_works(std: str, cache: Path) -> None:
    assert parsed(KERNEL, std).problems == ()


def test_the_compiled_prelude_is_kept_and_made_anew_when_damaged(cache: Path) -> None:
    assert parsed(KERNEL).problems == ()
    (header,) = cache.glob("*.pch")
    header.write_bytes(b"damaged")
    precompiled.prelude_arguments.cache_clear()
    assert parsed(KERNEL).problems == ()
    assert header.stat().st_size > 100_000


def test_without_any_folder_the_prelude_is_read_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(precompiled, "cache_folders", lambda: (tmp_path / "file" / "sub",))
    precompiled.prelude_arguments.cache_clear()
    unit = parsed(KERNEL)
    precompiled.prelude_arguments.cache_clear()
    assert unit.problems == ()
    assert unit.files == ("/nowhere/k.cu",)


SIZES = {
    "char3": 3,
    "float4": 16,
    "double2": 16,
    "double4": 32,
    "half": 2,
    "__nv_bfloat162": 4,
    "long3": 24,
    "dim3": 12,
}


def test_vector_types_have_their_sizes_and_alignments() -> None:
    unit = parsed(
        "".join(f"{name} a_{name};\n" for name in SIZES) + "char4 x; float3 y; longlong4 z; half2 w;"
    )
    variables = {c.spelling: c.type for c in unit.tu.cursor.get_children() if c.kind.name == "VAR_DECL"}
    assert {name: variables[f"a_{name}"].get_size() for name in SIZES} == SIZES
    assert [variables[name].get_align() for name in "xyzw"] == [4, 4, 16, 4]


DEVICE = """
#include <cooperative_groups.h>
#include <mma.h>
namespace cg = cooperative_groups;
using namespace nvcuda;
template <class T> __global__ void __launch_bounds__(256, 2) k(T* p, cudaTextureObject_t tex) {
    __shared__ half s[16][16 + 8];
    extern __shared__ __align__(16) unsigned char pool[];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    float v = tile.shfl_xor(1.0f, 3) + cg::reduce(tile, 1.0f, cg::plus<float>());
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, &s[0][0], 24);
    cg::memcpy_async(block, pool, p, sizeof(T) * 4);
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(&s[threadIdx.y][0]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(address) : "r"(address));
    __pipeline_memcpy_async(&s[0][0], p, 16);
    atomicAdd(&s[0][0], __float2half(v)); atomicCAS((unsigned*)pool, 0u, 1u);
    s[1][2] += s[2][1] * __half(0.5f) + (half)v; half2 h = __hmul2(__half2(), h2exp(__half2()));
    v = min(v, max(1, 2)) + fabsf(tex2D<float>(tex, 1.0f, 2)) + std::numeric_limits<float>::max() + rsqrtf(v);
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (block.thread_rank() == 0) init(&bar, blockDim.x);
    int lane = threadIdx.x % warpSize, m = __shfl_down_sync(0xffffffff, lane, 16) + __ballot_sync(~0u, v > 0);
    float4 f = make_float4(v, v, v, v); reinterpret_cast<float4*>(pool)[lane] = f; __syncthreads();
}
"""


def test_the_names_that_kernels_use_need_no_healing() -> None:
    unit = parsed(DEVICE)
    assert unit.problems == ()
    assert unit.healed == {}


@pytest.mark.parametrize("std", ["c++17", "c++20", "c++23"])
def test_host_code_may_delete_in_any_standard(std: str) -> None:
    """clang ends at `delete` in C++20 where an `operator new` is precompiled."""
    text = "void drop(int *p) { delete p; }\n"
    text += "__global__ void k(float *p) { __shared__ float s[32];\n"
    text += "  new (s + threadIdx.x) float(p[0]); __syncthreads(); p[threadIdx.x] = s[threadIdx.x]; }\n"
    report = analyse_file(Job("k.cu", Options(std=std), text=text))
    assert not report.problems
    assert [a.op for k in report.kernels for a in k.accesses] == ["store", "load"]
