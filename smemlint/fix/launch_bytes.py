"""Whether the launches of an edited text give the bytes that its kernels reach.

The text that says the bytes is edited as a formula; the proof of the accesses takes it for right. Here the
whole file is analysed anew, so that the bytes of each launch come from the edited text.
"""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.model import SharedArray
from smemlint.fix.edits import apply as application
from smemlint.fix.model import Refusal, Suggestion
from smemlint.fix.whole import Program
from smemlint.score.model import KernelAnalysis


def too_few(found: Suggestion, pool: SharedArray, program: Program) -> Refusal | None:
    """Why a launch of the edited text does not do for a dynamic array; None where each that is known does."""
    try:
        text = application.apply(
            sorted(found.edits or (), key=lambda e: (e.offset, e.end_offset)), program.source.data
        )
    except application.EditError as error:
        return Refusal("not-proved", str(error))
    after = program.whole(text)
    if after is None:
        return Refusal("out-of-time", "the time for this file was over")
    before = [_overrun(a) for a in _launched(program.analyses, pool)]
    now = [_overrun(a) for a in _launched(after, pool)]
    if len(before) != len(now):
        return Refusal("not-proved", f"after the edit `{pool.name}` is launched in another way")
    for old, (over, new) in zip(before, now, strict=True):
        if old[0] <= 0 < over:
            place = new.launch.place
            line = f"the launch on line {place.line}" if place is not None else "a launch"
            given = new.launch.dynamic
            return Refusal(
                "not-proved", f"after the edit {line} gives {given} B, and {over + (given or 0)} are reached"
            )
    return None


def _launched(analyses: Sequence[KernelAnalysis], pool: SharedArray) -> list[KernelAnalysis]:
    """The analyses with a dynamic array of that name whose launch tells the bytes."""
    return [
        a
        for a in analyses
        if a.launch.dynamic is not None and any(x.dynamic and x.name == pool.name for x in a.arrays.values())
    ]


def _overrun(analysis: KernelAnalysis) -> tuple[int, KernelAnalysis]:
    """How many bytes more than it has a kernel reaches of its dynamic memory."""
    ids = {a.id for a in analysis.arrays.values() if a.dynamic}
    reached = max(
        (
            int(c.trace.offsets.max(initial=-1)) + c.site.width
            for c in analysis.conflicts
            if c.site.array in ids and c.trace.offsets.size
        ),
        default=0,
    )
    return reached - (analysis.launch.dynamic or 0), analysis
