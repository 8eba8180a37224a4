"""A number whose type no file declares is tried with 4 and with 8 bytes; a class is not taken for one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smemlint.api import Job, analyse_file, check
from smemlint.diagnose.model import Access, KernelReport

NORM = """
#include "blas_of_somebody.hh"
namespace tiles {
template <typename scalar_t>
__global__ void norm_max(long m, scalar_t const* const* A, blas::real_type<scalar_t>* out) {
    using real_t = blas::real_type<scalar_t>;
    extern __shared__ char dynamic_data[];
    real_t* row = (real_t*) dynamic_data;
    row[threadIdx.x INDEX] = 0;
    for (long i = threadIdx.x; i < m; i += blockDim.x)
        row[threadIdx.x INDEX] += A[blockIdx.x][i];
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = row[0];
}
template <typename scalar_t>
void norm(long m, scalar_t const* const* A, blas::real_type<scalar_t>* values, blas::Queue &queue) {
    norm_max<<<4, 512, 512 * sizeof(blas::real_type<scalar_t>), queue.stream()>>>(m, A, values);
}
template
void norm(long m, float const* const* A, float* values, blas::Queue &queue);
template
void norm(long m, double const* const* A, double* values, blas::Queue &queue);
}
"""


def kernels(index: str) -> tuple[KernelReport, ...]:
    return analyse_file(Job("k.cu", text=NORM.replace("INDEX", index))).kernels


def ways_of(bytes: int, index: Callable[[int], int]) -> float:
    """Wavefronts of 32 lanes that store `bytes` each, over what they need at least: a warp of 8-byte accesses
    runs by halves."""
    lanes = 128 // bytes
    total = 0
    for first in range(0, 32, lanes):
        words = {
            word
            for lane in range(first, first + lanes)
            for word in range(index(lane) * bytes // 4, (index(lane) + 1) * bytes // 4)
        }
        total += max(sum(w % 32 == bank for w in words) for bank in range(32))
    return total / (32 // lanes)


def stores(index: str) -> list[Access]:
    return [a for k in kernels(index) for a in k.accesses if a.line == 9 and a.op == "store"]


def test_instances_that_only_their_parameters_tell_are_found_beside_types_of_a_missing_library() -> None:
    assert [dict(k.template_arguments) for k in kernels("")] == [
        {"scalar_t": "float"},
        {"scalar_t": "double"},
    ]


@pytest.mark.parametrize("scale", [1, 2, 4])
def test_what_both_sizes_give_is_told_and_said_to_be_assumed(scale: int) -> None:
    expected = ways_of(4, lambda t: t * scale)
    assert expected == ways_of(8, lambda t: t * scale)
    told = stores(f"* {scale}")
    assert len(told) == 2
    for access in told:
        assert access.ways == expected
        assert access.grade == "assumed"
        assert "type-size" in [a[0] for a in access.assumptions]


def test_what_depends_on_the_size_is_a_range_over_both() -> None:
    ends = [ways_of(bytes, lambda t: t % 16 * 2) for bytes in (4, 8)]
    assert ends == [1, 2]
    for access in stores("% 16 * 2"):
        assert access.ideal
        assert [access.wavefronts_low, access.wavefronts] == [end * access.ideal for end in ends]
        assert access.reason is not None
        assert access.reason[0] == "unknown-size"


def test_a_class_that_is_only_copied_has_no_size() -> None:
    text = """
#include "missing.h"
__global__ void k(lib::Thing<3> *p) {
    __shared__ lib::Thing<3> s[64];
    s[threadIdx.x * 2] = p[0];
    p[threadIdx.x] = s[threadIdx.x];
}
void go(lib::Thing<3> *p) { k<<<1, 32>>>(p); }
"""
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert [a.ways for a in kernel.accesses] == [None, None]


COLUMNS = """
#include "missing.h"
__global__ void turn(const real_t *in, real_t *out) {
    DECLARED
    FIRST = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = in[1] * SECOND;
}
void go(const real_t *in, real_t *out) { turn<<<4, dim3(32, 8), 8192>>>(in, out); }
"""
TILE = ("__shared__ real_t x[32][32];", "x[threadIdx.y][threadIdx.x]", "x[threadIdx.x][threadIdx.y]")
NAMED = ("enum { W = 32 }; __shared__ real_t x[32][W];", *TILE[1:])
PARTS = (
    "extern __shared__ real_t pool[]; real_t *x = pool, *y = pool + 1024; y[threadIdx.x * 32] = 0;",
    "x[threadIdx.y * 32 + threadIdx.x]",
    "x[threadIdx.x * 32 + threadIdx.y]",
)


@pytest.mark.parametrize("written", [TILE, NAMED, PARTS])
def test_a_conflict_of_numbers_without_a_size_is_told_and_has_no_fix(written: tuple[str, str, str]) -> None:
    text = COLUMNS
    for name, code in zip(("DECLARED", "FIRST", "SECOND"), written, strict=True):
        text = text.replace(name, code)
    report = check([Job("k.cu", text=text)])
    assert not report.problems
    access = report.kernels[0].accesses[-1]
    ends = sorted(ways_of(size, lambda t: t * 32) for size in (4, 8))
    assert ends == [16, 32]
    assert [access.op, access.worst_low, access.worst] == ["load", *ends]
    found = next(d for d in report.diagnostics if d.place == access.place or "in 2 places" in d.title)
    assert found.severity.value == "warning" and found.title.startswith("16- to 32-way bank conflict")
    assert found.cost is not None and found.cost.own.excess > 0
    name = "pool" if written is PARTS else "x"
    assert found.fix is not None and not found.fix.edits
    assert f"the size of an element of `{name}` is not known" in found.fix.refused.text
    assert not any("pitch" in label.text for label in found.also)
