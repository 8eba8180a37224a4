from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smemlint.rules.base import DeclarationRule, Finding, Kernel, Label, shared

from smemlint.fix.eligible import may_be_padded
from smemlint.ir import Place

if TYPE_CHECKING:
    from smemlint.score.model import KernelAnalysis


class NeedlessPadding(DeclarationRule):
    """A row is padded, and no access costs less for it.

    ## Why it matters
    Padding cures lanes that step by whole rows. Where none do, it spends shared memory, and an odd pitch
    forbids the compiler to join neighbouring elements into 8- and 16-byte accesses: a textbook matrix
    product ran at 0.77 times its speed after its tiles were padded.

    ## Use instead
    Declare the array without the padding.

    ## Fix safety
    Every access is known and stays inside the narrower rows; code that takes the pitch from elsewhere must
    follow.

    ## References
    CUDA C++ Best Practices Guide, "Shared Memory in Matrix Multiplication (C=AB)".
    """

    code, name = "SMEM204", "needless-padding"
    unanimous = True
    conflicting = (Kernel("t[threadIdx.y][threadIdx.x] = 0;", shared("float t[8][32 + 1]"), (32, 8)),)
    clean = (
        Kernel("t[threadIdx.x][threadIdx.y] = 0;", shared("float t[32][32 + 1]"), (32, 8)),
        Kernel("t[threadIdx.y][threadIdx.x] = 0;", shared("float t[8][32]"), (32, 8)),
    )

    def check(self, kernel: KernelAnalysis, text: str | None) -> Iterator[tuple[Place, Finding]]:
        if not may_be_padded(kernel):
            return
        from smemlint.fix.search.padding import padded_arrays

        for padded in padded_arrays(kernel, text.encode() if text is not None else None):
            if not padded.needless:
                continue
            costs = tuple(Label(c.site.place, "this access costs more with it") for c in padded.worse)
            yield (
                padded.array.place,
                Finding(
                    f"{padded.bytes} B that free no access",
                    costs,
                    title=f"padding of {padded.extra} that `{padded.array.name}` does not need",
                ),
            )
