"""A kernel whose `__global__` is in no text that was read is listed: nothing about it was said before."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import Job, Options, analyse_file
from smemlint.frontend.text.coverage import SkippedText
from smemlint.frontend.text.kernels import possible_kernels

SCALE = """
#include "platform.h"
GPU_KERNEL void scale(float *p) {
  GPU_SHARED float s[128];
  s[threadIdx.x * 2] = p[threadIdx.x];
  GPU_SYNC();
  p[threadIdx.x] = s[threadIdx.x * 2];
}
"""


@pytest.mark.parametrize("other", ["", "__global__ void other(float *p) { p[0] = 1; }\n"])
@pytest.mark.parametrize("defines", [(), ("GPU_KERNEL=__global__",)])
def test_a_kernel_behind_a_macro_that_no_text_defines_is_listed(other: str, defines: tuple[str, ...]) -> None:
    report = analyse_file(Job("k.cu", Options(defines=defines), text=other + SCALE))
    assert [lost.name for lost in report.lost] == ["`scale`"]


def found(text: str, *headers: str) -> list[str]:
    texts = [SkippedText("k.cu", text.encode(), ())]
    texts += [SkippedText(f"{i}.h", h.encode(), ()) for i, h in enumerate(headers)]
    return [u.text for u in possible_kernels("k.cu", [tuple(texts)], ())]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("KERNEL(scale, 256)(float *p) { SHARED_MEM(float, s, 128); s[THREAD_ID] = *p; }", ["KERNEL"]),
        ("namespace lib { template <class T> LIB_GLOBAL\n__launch_bounds__(64) void k(T *p) "
         "{ T *s = SharedMemory<T>(); s[threadIdx.x] = *p; __syncthreads(); } }", ["k"]),
        ('extern "C" ENTRY(void) k(float *p) { use(p); __syncthreads(); p[threadIdx.x] = 1; }', ["ENTRY"]),
        # Device functions, host code, loops in bodies, kernels that say so, tests.
        ("LIB_DEVICE void sum(float *p) { p[threadIdx.x] += 1; __syncthreads(); }", []),
        ("MY_API void launch(int n) { set(k, MaxDynamicSharedMemorySize, SMEM_SIZE); }", []),
        ("void f(int n) { KERNEL_LOOP(i, n) { SHARED(i); p[threadIdx.x] = i; } }", []),
        ("__global__ void k(int n) { NO_UNROLL for (int i = 0; i < n; i++) { __syncthreads(); } }", []),
        ("LIB_KERNEL __global__ void k(float *p) { p[threadIdx.x] = 1; __syncthreads(); }", []),
        ("TEST(Scale, Small) { run(SMEM_SIZE); }", []),
        ("// GPU_KERNEL void k(float *p) { __syncthreads(); }", []),
    ],
)  # fmt: skip
def test_what_may_be_a_kernel_is_told_by_its_head_and_body(text: str, names: list[str]) -> None:
    assert found(text) == names


def test_a_macro_that_a_header_defines_is_for_clang_to_tell() -> None:
    assert found(SCALE, "#define GPU_KERNEL inline void\n") == []
    assert found(SCALE, "#define GPU_KERNEL_FAST __global__\n") == ["scale"]


def test_a_file_of_such_kernels_alone_does_not_end_a_check_as_clean(tmp_path: Path) -> None:
    from smemlint.cli import main

    (tmp_path / "scale.cu").write_text(SCALE)
    assert main(["check", "--no-cache", "--fail-on-unseen", str(tmp_path / "scale.cu")]) == 1
