from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smemlint.rules.base import DeclarationRule, Finding, Kernel, Label, shared
from smemlint.rules.words import ways_text

from smemlint.fix.eligible import may_be_padded
from smemlint.ir import Place

if TYPE_CHECKING:
    from smemlint.score.model import KernelAnalysis


class WrongPadding(DeclarationRule):
    """A row is padded against conflicts, and the padding leaves some that another layout would not.

    ## Why it matters
    One word of padding frees a column that 32 lanes read alone. Where a warp covers several rows (a 16x16
    tile under a 16x16 block) the rows shift against each other as well: 16x17 is 2-way both ways.

    ## Use instead
    The layout that the finding names: another pitch, or a swizzle of the column by the row.

    ## Fix safety
    That of the fix that the finding names.

    ## References
    NVIDIA technical blog, "An Efficient Matrix Transpose in CUDA C/C++".
    """

    code, name = "SMEM205", "wrong-padding"
    unanimous = True
    conflicting = (
        Kernel(
            "t[threadIdx.y][threadIdx.x] = 0;\nout[0] = t[threadIdx.x][threadIdx.y];",
            shared("float t[16][16 + 1]"),
            (16, 16),
            ways=2,
        ),
    )
    clean = (
        Kernel(
            "t[threadIdx.y][threadIdx.x] = 0;\nout[0] = t[threadIdx.x][threadIdx.y];",
            shared("float t[32][32 + 1]"),
            (32, 8),
        ),
    )

    def check(self, kernel: KernelAnalysis, text: str | None) -> Iterator[tuple[Place, Finding]]:
        if not may_be_padded(kernel):
            return
        from smemlint.fix.search.padding import padded_arrays

        for padded in padded_arrays(kernel, text.encode() if text is not None else None):
            # A rest of less than a quarter (a warp at the edge) is no reason to speak.
            if not padded.freed or 4 * padded.wavefronts <= 5 * padded.ideal or not padded.curable:
                continue
            left = tuple(
                Label(c.site.place, f"{ways_text(c.ways)}-way")
                for c in kernel.conflicts
                if c.site.array == padded.array.id and c.ways is not None and c.ways > 1
            )
            yield (
                padded.array.place,
                Finding(
                    f"{padded.wavefronts} wavefronts a block, {padded.ideal} would do",
                    left,
                    title=f"padding of {padded.extra} that leaves conflicts in `{padded.array.name}`",
                ),
            )
