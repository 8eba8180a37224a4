"""Shared memory behind macros and functions of missing headers: it is read, or the kernel is listed."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file
from smemlint.diagnose.model import KernelReport

SCALE = """
#include "platform.h"
{head} scale(float *p) {{
  {declared}
  s[threadIdx.x * 2] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x * 2];
}}
void run(float *p, int n) {{ scale{arguments}<<<1, 64{given}>>>(p); }}
"""


def scale(declared: str, given: str = "", template: bool = False) -> KernelReport:
    head = "template <int N> __global__ void" if template else "__global__ void"
    arguments = "<64>" if template else ""
    text = SCALE.format(head=head, declared=declared, arguments=arguments, given=given)
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    return kernel


@pytest.mark.parametrize(
    ("declared", "given", "template"),
    [
        ("LIB_SHARED float s[128];", "", False),
        ("LIB_SHARED float s[N * 2];", "", True),
        ("PLATFORM_SMEM lib::array_t s[128];", "", False),
        ("extern GPU_SHARED float s[];", ", 512", False),
    ],
)
def test_a_qualifier_that_is_named_after_shared_memory_declares_the_array_so(
    declared: str, given: str, template: bool
) -> None:
    assert [a.op for a in scale(declared, given, template).accesses] == ["store", "load"]


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        ("DYNAMIC_SHARED(float, s);", ", 512"),
        ("SMEM(float, s, 128);", ""),
        ("LIB_SHARED lib::Tile<float, 128> s;", ""),
        ("auto *s = lib::dynamic_memory<float>();", ", 512"),
        ("float *s = lib::dynamic_memory();", ", n * sizeof(float)"),
    ],
)
def test_what_is_not_read_of_it_is_said(declared: str, given: str) -> None:
    kernel = scale(declared, given)
    assert kernel.accesses or kernel.shares


@pytest.mark.parametrize("given", ["", ", 0", ", 0, stream"])
def test_a_kernel_that_is_given_none_and_names_none_is_not_listed(given: str) -> None:
    assert not scale("float *s = lib::global_memory();", given).shares


def test_an_export_macro_is_no_shared_memory() -> None:
    text = "#include <lib.h>\nLIB_SHARED_EXPORT void run(float *p, int n);\nMY_SHARED_API float table[64];\n"
    text += "__global__ void k(float *p) { __shared__ float s[64]; s[threadIdx.x] = p[0]; p[0] = s[0]; }\n"
    text += "LIB_SHARED_EXPORT void run(float *p, int n) { k<<<1, 64>>>(p); }\n"
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert [(a.expression, a.grade) for a in kernel.accesses] == [
        ("s[threadIdx.x]", "exact"),
        ("s[0]", "exact"),
    ]
