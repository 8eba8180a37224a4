from __future__ import annotations

import re
from typing import TYPE_CHECKING

from smemlint.rules.base import ConflictRule, Finding, Kernel, shared
from smemlint.rules.walk import definitions, has_xor
from smemlint.rules.words import meeting_text, pitch_label

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis

_DEPTH = 3
"""How many local variables deep an exclusive-or is looked for."""


class IneffectiveSwizzle(ConflictRule):
    """The index is swizzled with an exclusive-or, and the access conflicts all the same.

    ## Why it is slow
    A swizzle frees a column only when the bits that it mixes in differ between the lanes that meet, and
    land in the bits that choose the bank. Mixing too few bits leaves a part of the conflict; mixing the
    wrong ones (the column into the row, bits above the bank, a value that all lanes share) leaves all of
    it.

    ## Use instead
    Exclusive-or the column, in units of the access width, with as many low bits of the row as there are
    such units in 128 bytes: 5 bits for 4-byte accesses, 3 bits for 16-byte ones.

    ## Fix safety
    Every access of the array must use the same swizzle.

    ## References
    PTX ISA, "Tensor swizzling modes" of the matrix instructions.
    """

    code, name = "SMEM108", "ineffective-swizzle"
    conflicting = (
        Kernel(
            "t[threadIdx.x][threadIdx.y ^ (threadIdx.x & 3)] = 0;", shared("float t[32][32]"), (32, 8), ways=8
        ),
        Kernel("t[threadIdx.x ^ threadIdx.y][threadIdx.y] = 0;", shared("float t[32][32]"), (32, 8), ways=32),
    )
    clean = (Kernel("t[threadIdx.x][threadIdx.y ^ threadIdx.x] = 0;", shared("float t[32][32]"), (32, 8)),)

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        if not _swizzled(conflict.site.expression, kernel):
            return None
        return Finding(
            meeting_text(conflict),
            pitch_label(conflict, kernel),
            ("swizzle: the exclusive-or of the index leaves this conflict",),
        )


def _swizzled(expression: str, kernel: KernelAnalysis) -> bool:
    """Whether the index holds `a ^ b` of two variables, itself or through local variables."""
    if re.search(r"[A-Za-z_)\]]\w*\s*\^\s*\(*\s*[A-Za-z_]", expression):
        return True
    known = definitions(kernel.kernel.body)
    names, seen = set(re.findall(r"[A-Za-z_]\w*", expression)), set[str]()
    for _ in range(_DEPTH):
        new = (names - seen) & known.keys()
        if any(has_xor(value) for name in new for value in known[name][0]):
            return True
        seen |= names
        names = set().union(*(known[name][1] for name in new)) if new else set()
    return False
