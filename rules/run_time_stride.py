from __future__ import annotations

from typing import TYPE_CHECKING

from smemlint.rules.base import ConflictRule, Finding, Kernel, shared
from smemlint.rules.words import declared, ways_text

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis


class RunTimeStride(ConflictRule):
    """Lanes step by a value that is known at run time only, and some values conflict.

    ## Why it is slow
    `s[threadIdx.x * stride]` is free of conflicts for an odd stride and 32-way for a multiple of 32. What
    the source does not say, the finding gives as a condition on the value: it never guesses.

    ## Use instead
    Make the stride a compile-time constant, round it up to an odd number of words where it is computed, or
    state the value with a template argument.

    ## Fix safety
    The value may be shared with the layout of global memory.

    ## References
    CUDA C++ Best Practices Guide, "Strided Accesses".
    """

    code, name = "SMEM107", "run-time-stride"
    conflicting = (Kernel("out[threadIdx.x] = s[threadIdx.x * n];", shared("float s[1024]"), (32,), ways=32),)
    clean = (Kernel("out[threadIdx.x] = s[threadIdx.x + n];", shared("float s[1024]"), (32,)),)

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        stride = conflict.stride
        if stride is None:
            return None
        worst = max(stride.ways)
        bad = [r for r, ways in enumerate(stride.ways) if ways == worst]
        when = (
            f"{stride.name} % {stride.modulus} == {bad[0]}"
            if len(bad) == 1
            else f"{len(bad)} of {stride.modulus} residues"
        )
        here = f"lanes step by a multiple of `{stride.name}`: {ways_text(worst)}-way when {when}"
        notes = (f"clean: when {stride.clean}",) if stride.clean else ()
        return Finding(here, declared(conflict, kernel), notes)
