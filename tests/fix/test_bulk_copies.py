"""An array that the tensor memory accelerator or a descriptor reaches is not laid out anew: these lay out
rows by themselves, and would find the program's elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fix.test_suggest import of_text

TEXT = """#include <cstdint>
#include <cuda.h>
#include <cuda/barrier>
__global__ void k(float *out, const float *in, const __grid_constant__ CUtensorMap map) {{
    __shared__ alignas(128) float t[32][32];
    __shared__ uint64_t barrier;
    uint32_t bar = (uint32_t)__cvta_generic_to_shared(&barrier);
    {filled}
    __syncthreads();
    float s = 0;
    for (int i = 0; i < 32; i++) s += t[threadIdx.x][i];
    out[threadIdx.x] = s;
}}
void start(float *o, const float *i, CUtensorMap m) {{ k<<<4, 32>>>(o, i, m); }}
"""
TENSOR = """uint32_t at = (uint32_t)__cvta_generic_to_shared(t);
    asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" :: "r"(at), "l"(&map), "r"(0), "r"(0), "r"(bar));"""
BULK = """asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"((uint32_t)__cvta_generic_to_shared(&t[0][0])), "l"(in), "r"(4096), "r"(bar));"""
DESCRIPTOR = """uint64_t desc = ((__cvta_generic_to_shared(&t[0][0]) & 0x3FFFF) >> 4) | (1ull << 62);
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
                 :: "f"(0.f), "f"(0.f), "f"(0.f), "f"(0.f), "l"(desc));"""
LIBRARY = """__shared__ cuda::barrier<cuda::thread_scope_block> b;
    cuda::memcpy_async(&t[0][0], in, cuda::aligned_size_t<16>(4096), b);"""


@pytest.mark.parametrize("filled", [TENSOR, BULK, DESCRIPTOR, LIBRARY])
def test_no_edit_moves_what_a_bulk_copy_or_a_descriptor_reaches(tmp_path: Path, filled: str) -> None:
    fix = of_text(tmp_path, TEXT.format(filled=filled).encode())[0]["t"]
    assert fix.edits is None
    assert fix.refused is not None and fix.refused.code == "escapes"


def test_the_same_tile_filled_by_its_threads_has_one(tmp_path: Path) -> None:
    filled = "for (int i = 0; i < 32; i++) t[i][threadIdx.x] = in[i * 32 + threadIdx.x];"
    fix = of_text(tmp_path, TEXT.format(filled=filled).encode())[0]["t"]
    assert fix.edits is not None, fix.refused
