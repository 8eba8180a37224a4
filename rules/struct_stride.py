from __future__ import annotations

from typing import TYPE_CHECKING

from smemlint.rules.base import ConflictRule, Finding, Kernel, Label, shared
from smemlint.rules.words import array_of, common_stride, meeting_text

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis


class StructStride(ConflictRule):
    """Each lane touches one member of its own struct, so lanes step by the struct's size.

    ## Why it is slow
    In an array of structures the same member of neighbouring elements lies `sizeof(struct)` bytes apart.
    With a size of 16 bytes the lanes use every fourth bank only: a 4-way conflict for each member that is
    touched alone. Members of vector types such as `float4` are the same.

    ## Use instead
    Keep one array per member (a structure of arrays), or read and write the whole element with one wide
    access, or give the struct an odd number of words.

    ## Fix safety
    Another layout touches every use of the array.

    ## References
    CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks".
    """

    code, name = "SMEM104", "struct-stride"
    conflicting = (
        Kernel(
            "out[threadIdx.x] = p[threadIdx.x].mass;",
            shared("Body p[32]"),
            (32,),
            ways=4,
            before="struct Body { float x, y, z, mass; };",
        ),
    )
    clean = (
        Kernel(
            "out[threadIdx.x] = p[threadIdx.x].mass;",
            shared("Body p[32]"),
            (32,),
            before="struct Body { float x, y, z, vx, mass; };",
        ),
    )

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        array, stride = array_of(conflict, kernel), common_stride(conflict)
        if array is None or stride is None or conflict.joined:
            return None
        if array.element <= conflict.site.width or abs(stride) != array.element:
            return None
        label = Label(
            array.place, f"element of {array.element} B, {conflict.site.width} B of it touched by each lane"
        )
        return Finding(meeting_text(conflict), (label,))
