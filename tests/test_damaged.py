"""Damaged sources on which a version of smemlint had an internal error, reduced to what it stumbled over."""

from __future__ import annotations

import pytest

from smemlint.api import analyse_file
from smemlint.running.jobs import Job, Options

TILE = (
    "#include <mma.h>\n__global__ void k(float *out, const float *in) {\n"
    "__shared__ float s[256];\nint t = threadIdx.x;\n"
)


@pytest.mark.parametrize(
    "body",
    [
        "s[2 * t] = in[t]; s[2 * t + ] = in[t + 128]; __syncthreads(); out[t] = s[2 * t];",
        "unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);"
        'asm volatile("cp.async.ca.shared.global [%0], [%1], 18446744073709551616;"'
        ' :: "r"(to), "l"(in + t));',
        "unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);"
        'asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(to), "l"(in + t), "n"(3));',
        "nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 1, 16, __half, nvcuda::wmma::row_major> b;"
        "nvcuda::wmma::load_matrix_sync(b, (__half *)s, 72);",
        "s[(blockIdx.x * 16 + int) * 4294967296 * 4294967296 + t] = in[0];",
    ],
    ids=[
        "an index that ends early",
        "a copy of 2^64 bytes",
        "a copy of 3 bytes",
        "a matrix of one row",
        "a huge factor",
    ],
)
def test_a_damaged_source_is_no_internal_error(body: str) -> None:
    text = f"{TILE}{body}\n}}\nvoid start(float *p) {{ k<<<1, 64>>>(p, p); }}\n"
    report = analyse_file(Job("k.cu", text=text))
    assert not report.problems
    assert [kernel.name for kernel in report.kernels] == ["k"]


def test_a_text_that_ends_in_a_name_is_no_internal_error() -> None:
    text = (
        "__global__ void k(float *out) {\n__shared__ float2 s[256];\nint t = threadIdx.x;\n"
        "s[t].x = out[t]; s[t + 128].x = out[t + 128];\n__syncthreads();\n"
        "float2 even = s[2 * t];\ns[t].x = even.x;\nout[t/* = s[127 - t].x;\n}\n"
    )
    report = analyse_file(Job("k.cu", Options(blocks={"": (128, 1, 1)}), text=text))
    assert not [p for p in report.problems if "internal error" in p.message]
