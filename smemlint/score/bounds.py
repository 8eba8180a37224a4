"""Whether a kernel stays inside its arrays under a launch: one that was guessed cannot be meant where it does
not."""

from __future__ import annotations

from smemlint.score.model import Conflict, KernelAnalysis


def leaves_an_array(analysis: KernelAnalysis) -> bool:
    """Whether some lane surely accesses bytes behind the end of an array whose size is known."""
    sizes = {name: array.bytes for name, array in analysis.arrays.items()}
    # A site that may go to several arrays is in none of them.
    return any(_leaves(c, sizes.get(c.site.array)) for c in analysis.conflicts)


def _leaves(conflict: Conflict, size: int | None) -> bool:
    trace = conflict.trace
    known = trace.reason is None and trace.maybe is None and trace.groups is None and trace.ways == 1
    if size is None or not known or trace.alignment or trace.data or trace.parameter is not None:
        return False
    return bool(trace.offsets.size) and int(trace.offsets.max()) + trace.site.width > size
