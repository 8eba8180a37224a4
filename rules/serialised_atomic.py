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
    same word serialise, and a compare-and-swap costs twice that. What the compiler and the hardware merge is
    free: adding a constant 1 without using the result, and integer additions to an address that is visibly
    the same for all threads, which one lane makes for the warp. Atomics without an instruction of their own
    (float, half2, 64-bit) run as a loop of loads and compare-and-swaps; a profiler counts each round on its
    own, and so does this rule, so the rounds that lanes on one word cost do not show as ways.

    ## Use instead
    Reduce within the warp first (`__reduce_add_sync`, shuffles) and let one lane update, or keep several
    copies of the counter in different banks and add them up at the end.

    ## Fix safety
    The order of floating-point additions changes.

    ## References
    docs/dev/banks.md has the measurement.
    """

    code, name = "SMEM106", "serialised-atomic"
    conflicting = (
        Kernel("atomicExch(&last[0], k + threadIdx.x);", shared("int last[1]"), (32,), ways=32),
        Kernel("atomicMax(&top[threadIdx.x / 8], n + threadIdx.x);", shared("int top[4]"), (32,), ways=8),
    )
    clean = (
        Kernel("atomicAdd(&sum[threadIdx.x], out[threadIdx.x]);", shared("float sum[32]"), (32,)),
        Kernel("atomicAdd(&sum[0], k + threadIdx.x);", shared("int sum[1]"), (32,)),
        Kernel("if (threadIdx.x == 0) atomicAdd(&sum[0], out[0]);", shared("float sum[1]"), (32,)),
    )

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        if conflict.site.op not in ("atomic", "cas", "cas loop", "increment"):
            return None
        found = meeting(conflict)
        if found is None or conflict.trace.ends is not None:
            return Finding(unknown_text(conflict), declared(conflict, kernel))
        if len(found.lanes) == found.words:
            return None
        return Finding(meeting_text(conflict), declared(conflict, kernel))
