from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smemlint.rules.base import DeclarationRule, Finding, Kernel, Severity, shared
from smemlint.rules.static_size_over_limit import STATIC_LIMIT

from smemlint.ir import Place

if TYPE_CHECKING:
    from smemlint.score.model import KernelAnalysis


class PaddingOverBudget(DeclarationRule):
    """A kernel exceeds 48 KiB of static shared memory by the padding of its rows alone.

    ## Why it matters
    Without the padding the block fits; with it `ptxas` refuses the kernel.

    ## Use instead
    A swizzle of the column by the row frees the same accesses and needs no bytes.

    ## Fix safety
    A swizzle changes every access of the array.

    ## References
    CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
    """

    code, name, severity = "SMEM206", "padding-over-budget", Severity.ERROR
    conflicting = (Kernel("t[threadIdx.x][threadIdx.y] = 0;", shared("float t[384][32 + 1]"), (32, 32)),)
    clean = (Kernel("t[threadIdx.x][threadIdx.y] = 0;", shared("float t[256][32 + 1]"), (32, 32)),)

    def check(self, kernel: KernelAnalysis, text: str | None) -> Iterator[tuple[Place, Finding]]:
        static = sum(a.bytes or 0 for a in kernel.arrays.values() if not a.dynamic)
        if static <= STATIC_LIMIT or text is None:
            return
        from smemlint.fix.search.padding import padded_arrays

        padded = list(padded_arrays(kernel, text.encode()))
        spent = sum(p.bytes for p in padded)
        if not padded or static - spent > STATIC_LIMIT:
            return
        largest = max(padded, key=lambda p: p.bytes)
        yield (
            largest.array.place,
            Finding(
                f"{spent} B of {static} B are padding",
                title=f"padding takes the block over {STATIC_LIMIT} B of static shared memory",
            ),
        )
