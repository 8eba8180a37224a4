from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from smemlint.rules.base import ConflictRule, Finding, Kernel, shared
from smemlint.rules.words import BANKS, WORD, common_stride, declared, meeting_text

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis


class PowerOfTwoStride(ConflictRule):
    """Lanes step by an even number of words, so they share a part of the banks.

    ## Why it is slow
    A step of s words visits 32 / gcd(s, 32) banks only: a step of 2 is a 2-way conflict, of 16 a 16-way
    one. An odd step visits all 32. Tree reductions and scans with a doubling stride pass through every
    power of two.

    ## Use instead
    Give neighbouring lanes neighbouring words (in a tree reduction, halve the distance instead of doubling
    it), or insert one word of padding after every 32 words, or make the step odd.

    ## Fix safety
    Reordering the steps of a floating-point reduction changes its rounding.

    ## References
    Mark Harris, "Optimizing Parallel Reduction in CUDA"; CUDA C++ Best Practices Guide, "Strided Accesses".
    """

    code, name = "SMEM102", "power-of-two-stride"
    conflicting = (
        Kernel("out[threadIdx.x] = s[2 * threadIdx.x];", shared("float s[64]"), (32,), ways=2),
        Kernel("out[threadIdx.x] = s[12 * threadIdx.x];", shared("float s[384]"), (32,), ways=4),
    )
    clean = (
        Kernel("out[threadIdx.x] = s[threadIdx.x];", shared("float s[64]"), (32,)),
        Kernel("out[threadIdx.x] = s[3 * threadIdx.x];", shared("float s[96]"), (32,)),
    )

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        stride = common_stride(conflict)
        if not stride or stride % WORD:
            return None
        words = abs(stride) // WORD
        shared_factor = gcd(words, BANKS)
        if shared_factor == 1:
            return None
        note = f"stride: lanes step by {words} words, which visits {BANKS // shared_factor} of {BANKS} banks"
        return Finding(meeting_text(conflict), declared(conflict, kernel), (note,))
