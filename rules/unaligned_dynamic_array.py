from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smemlint.rules.base import DeclarationRule, Finding, Kernel, Label, Severity, shared

from smemlint.ir import Place

if TYPE_CHECKING:
    from smemlint.score.model import KernelAnalysis


class UnalignedDynamicArray(DeclarationRule):
    """A dynamic shared array is accessed with a wider type than its declaration is aligned for.

    ## Why it matters
    `extern __shared__ float s[]` promises 4-byte alignment by its type. nvcc 13 aligns every dynamic shared
    array to 16 bytes, whatever its type and whatever static arrays stand before it, so a `float4` access does
    not fault there: a note only. The language does not ask it of a compiler, and other compilers may place
    the array at any multiple of its own alignment.

    ## Use instead
    `extern __shared__ __align__(16) float s[];`

    ## Fix safety
    Every declaration of the same name must carry the same alignment.

    ## References
    CUDA C++ Programming Guide, "`__shared__`" and "Vector Types".
    """

    code, name, severity = "SMEM203", "unaligned-dynamic-array", Severity.NOTE
    conflicting = (
        Kernel(
            "if (threadIdx.x == 0) flag = 1;\n"
            "reinterpret_cast<float4 *>(s)[threadIdx.x] = make_float4(0, 0, 0, 0);",
            "extern __shared__ float s[]; __shared__ int flag",
            (32,),
        ),
    )
    clean = (
        Kernel(
            "if (threadIdx.x == 0) flag = 1;\n"
            "reinterpret_cast<float4 *>(s)[threadIdx.x] = make_float4(0, 0, 0, 0);",
            "extern __shared__ __align__(16) float s[]; __shared__ int flag",
            (32,),
        ),
        Kernel("s[threadIdx.x] = 0;", shared("float s[32]"), (32,)),
    )

    def check(self, kernel: KernelAnalysis, text: str | None) -> Iterator[tuple[Place, Finding]]:
        for array in kernel.arrays.values():
            if not array.dynamic:
                continue
            wide = [
                c.site
                for c in kernel.conflicts
                if c.site.array == array.id
                and c.site.reached
                and c.site.op in ("load", "store")
                and c.site.width > max(array.align, 1)
            ]
            if not wide:
                continue
            widest = max(wide, key=lambda site: site.width)
            yield (
                array.place,
                Finding(
                    f"aligned to {array.align} B by its type, to 16 B by nvcc",
                    (Label(widest.place, f"accessed {widest.width} B at a time"),),
                    title=f"`{array.name}`, aligned to {array.align} B, is accessed by {widest.width} B",
                ),
            )
