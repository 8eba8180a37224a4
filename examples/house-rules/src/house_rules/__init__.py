"""Two rules of one's own: one that explains conflicts, one that looks at what a kernel declares."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from smemlint.rules import ConflictRule, DeclarationRule, Finding, Kernel
from smemlint.rules.base import shared

from smemlint.ir import Place
from smemlint.score.model import Conflict, KernelAnalysis


class InterleavedReduction(ConflictRule):
    """The distance between lanes doubles from step to step of a reduction.

    ## Why it is slow
    In the step with distance s the lanes ask every 2s-th word: the ways double with every step.

    ## Use instead
    Halve the distance instead (`s[t] += s[t + n]`), or use the house's `block_sum`, which shuffles.

    ## Fix safety
    The order of the additions changes, and with it the rounding.

    ## References
    Mark Harris, "Optimizing Parallel Reduction in CUDA".
    """

    code, name = "HOUSE101", "interleaved-reduction"
    conflicting = (
        Kernel(
            "for (int d = 1; d < 32; d *= 2) { s[2 * d * threadIdx.x] += 1; __syncthreads(); }",
            shared("float s[2048]"),
            (32,),
            ways=32,
        ),
    )
    clean = (Kernel("out[threadIdx.x] = s[2 * threadIdx.x];", shared("float s[64]"), (32,), ways=2),)

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        ways = [each for each, _ in conflict.ways_by_visit]
        if len(ways) < 3 or any(b != 2 * a for a, b in itertools.pairwise(ways)):
            return None
        return Finding("the distance between lanes doubles; use block_sum")


class SharedMemoryBudget(DeclarationRule):
    """A block takes more static shared memory than the house allows, so that fewer than four fit.

    ## Why it matters
    Our kernels hide latency by four blocks on a multiprocessor; 16 KiB a block leave room for them on every
    card that we run on.

    ## Use instead
    Smaller tiles, or dynamic shared memory where the launch decides.

    ## Fix safety
    Another tile size changes the launch.

    ## References
    The house's own measurements.
    """

    code, name = "HOUSE201", "shared-memory-budget"
    conflicting = (Kernel("t[k][threadIdx.x] = 0;", shared("float t[64][128]"), (128,)),)
    clean = (Kernel("t[k][threadIdx.x] = 0;", shared("float t[32][128]"), (128,)),)
    budget = 16 * 1024

    def check(self, kernel: KernelAnalysis, text: str | None) -> Iterator[tuple[Place, Finding]]:
        static = [a for a in kernel.arrays.values() if not a.dynamic]
        total = sum(a.bytes or 0 for a in static)
        if total > self.budget:
            largest = max(static, key=lambda a: a.bytes or 0)
            title = f"{total:,} B of shared memory a block, {self.budget:,} B are allowed"
            yield largest.place, Finding(f"{largest.bytes:,} B", title=title)
