from __future__ import annotations

from typing import TYPE_CHECKING

from smemlint.rules.base import ConflictRule, Finding, Kernel, shared
from smemlint.rules.words import declared, meeting, meeting_text, unknown_text

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis


class SerialisedAtomic(ConflictRule):
    """Several lanes of a warp update the same word atomically, one after the other.

    ## Why it is slow
    A load of one word by many lanes is a broadcast and costs one wavefront. An atomic is not: lanes on the
    same word serialise, and a compare-and-swap costs twice that. Adding a constant 1 without using the
    result is the exception: the hardware merges it.

    ## Use instead
    Reduce within the warp first (`__reduce_add_sync`, shuffles) and let one lane update, or keep several
    copies of the counter in different banks and add them up at the end.

    ## Fix safety
    The order of floating-point additions changes.

    ## References
    docs/banks.md has the measurement.
    """

    code, name = "SMEM106", "serialised-atomic"
    conflicting = (
        Kernel("atomicAdd(&sum[0], out[threadIdx.x]);", shared("float sum[1]"), (32,), ways=32),
        Kernel("atomicMax(&top[threadIdx.x / 8], n + threadIdx.x);", shared("int top[4]"), (32,), ways=8),
    )
    clean = (
        Kernel("atomicAdd(&sum[threadIdx.x], out[threadIdx.x]);", shared("float sum[32]"), (32,)),
        Kernel("if (threadIdx.x == 0) atomicAdd(&sum[0], out[0]);", shared("float sum[1]"), (32,)),
    )

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        if conflict.site.op not in ("atomic", "cas", "cas loop", "increment"):
            return None
        found = meeting(conflict)
        if found is None or conflict.trace.low is not None:
            return Finding(unknown_text(conflict), declared(conflict, kernel))
        if len(found.lanes) == found.words:
            return None
        return Finding(meeting_text(conflict), declared(conflict, kernel))
