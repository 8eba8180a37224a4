from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smemlint.rules.base import DeclarationRule, Finding, Kernel, Label, Severity, shared

from smemlint.ir import Place

if TYPE_CHECKING:
    from smemlint.score.model import KernelAnalysis

STATIC_LIMIT = 48 * 1024


class StaticSizeOverLimit(DeclarationRule):
    """A kernel declares more than 48 KiB of static shared memory.

    ## Why it matters
    On every architecture a block may hold at most 48 KiB of shared memory that is declared statically:
    `ptxas` refuses a kernel with more.

    ## Use instead
    Declare the array `extern __shared__`, raise the limit with `cudaFuncSetAttribute(kernel,
    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)` and pass the size at launch.

    ## Fix safety
    The launch changes as well.

    ## References
    CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
    """

    code, name, severity = "SMEM202", "static-size-over-limit", Severity.ERROR
    conflicting = (Kernel("t[k][threadIdx.x] = 0;", shared("float t[128][128]"), (32,)),)
    clean = (Kernel("t[k][threadIdx.x] = 0;", shared("float t[96][128]"), (32,)),)

    def check(self, kernel: KernelAnalysis, text: str | None) -> Iterator[tuple[Place, Finding]]:
        static = [a for a in kernel.arrays.values() if not a.dynamic]
        total = sum(a.bytes or 0 for a in static)
        if total <= STATIC_LIMIT:
            return
        largest = max(static, key=lambda a: a.bytes or 0)
        others = tuple(Label(a.place, f"{a.bytes} B") for a in static if a is not largest and a.bytes)
        yield (
            largest.place,
            Finding(
                f"{largest.bytes} B",
                others,
                title=f"{total} B of static shared memory, {STATIC_LIMIT} B is the limit",
            ),
        )
