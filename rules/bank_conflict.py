from __future__ import annotations

from typing import TYPE_CHECKING

from smemlint.rules.base import ConflictRule, Finding, Kernel, shared
from smemlint.rules.words import explained

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis


class BankConflict(ConflictRule):
    """Lanes of one warp ask one bank for different words, in a pattern without a name of its own.

    ## Why it is slow
    A bank delivers one word of 4 bytes per wavefront. A request whose lanes need k different words of one
    bank takes k wavefronts.

    ## Use instead
    Look at the lanes and the bank that the finding names, and change the index or the layout so that the
    words of one request differ modulo 128 bytes.

    ## Fix safety
    No fix is offered without a pattern.

    ## References
    CUDA C++ Programming Guide, "Shared Memory"; docs/dev/banks.md has the measured rule.
    """

    code, name = "SMEM199", "bank-conflict"
    conflicting = (
        Kernel("out[threadIdx.x] = s[threadIdx.x * threadIdx.x];", shared("float s[1024]"), (32,), ways=8),
    )
    clean = (Kernel("out[threadIdx.x] = s[31 - threadIdx.x];", shared("float s[1024]"), (32,)),)

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        return explained(conflict, kernel)
