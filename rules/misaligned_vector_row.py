from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smemlint.rules.base import DeclarationRule, Finding, Kernel, Label, Severity, shared
from smemlint.rules.words import row_pitch

from smemlint.ir import Place

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis


class MisalignedVectorRow(DeclarationRule):
    """A vector, matrix or asynchronous access goes to rows whose pitch is no multiple of its width.

    ## Why it matters
    An access of 8 or 16 bytes must start at a multiple of its width, and so must every row of ldmatrix.
    With an odd pitch the second row does not: the kernel ends with "misaligned address".

    ## Use instead
    Pad by whole vectors: 4 floats or 8 halves for 16-byte accesses.

    ## Fix safety
    The pitch changes; code that takes it from elsewhere must follow.

    ## References
    CUDA C++ Programming Guide, "Device Memory Accesses: Size and Alignment Requirement"; PTX ISA,
    "ldmatrix".
    """

    code, name, severity = "SMEM301", "misaligned-vector-row", Severity.ERROR
    conflicting = (
        Kernel(
            "reinterpret_cast<float4 *>(&t[threadIdx.y][0])[threadIdx.x] = make_float4(0, 0, 0, 0);",
            shared("float t[16][32 + 1]"),
            (8, 16),
        ),
    )
    clean = (
        Kernel(
            "reinterpret_cast<float4 *>(&t[threadIdx.y][0])[threadIdx.x] = make_float4(0, 0, 0, 0);",
            shared("float t[16][32 + 4]"),
            (8, 16),
        ),
    )

    def check(self, kernel: KernelAnalysis, text: str | None) -> Iterator[tuple[Place, Finding]]:
        for conflict in kernel.conflicts:
            array = kernel.arrays.get(conflict.site.array)
            pitch = row_pitch(array) if array is not None else None
            width = _alignment(conflict)
            if array is None or pitch is None or not _faults(conflict, width) or pitch % width == 0:
                continue
            yield (
                conflict.site.place,
                Finding(
                    f"rows of {pitch} B do not start at multiples of {width} B",
                    (Label(array.place, f"row pitch {pitch} B"),),
                    title=f"misaligned {width}-byte {conflict.site.op}",
                ),
            )


def _alignment(conflict: Conflict) -> int:
    return 16 if conflict.site.op in ("ldmatrix", "stmatrix") else conflict.site.width


def _faults(conflict: Conflict, width: int) -> bool:
    """Whether some lane that surely runs has an address that is no multiple of the width."""
    trace = conflict.trace
    if width < 8 or trace.alignment % width or trace.offsets.size == 0:
        return False
    wrong = (trace.offsets >= 0) & (trace.offsets % width != 0)
    if trace.maybe is not None:
        wrong &= ~trace.maybe
    return bool(wrong.any())
