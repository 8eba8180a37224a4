from __future__ import annotations

from typing import TYPE_CHECKING

from smemlint.rules.base import ConflictRule, Finding, Kernel, shared
from smemlint.rules.words import BANK_CYCLE, common_stride, meeting_text, pitch_label

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis


class WideAccessPhase(ConflictRule):
    """An access of 8 or 16 bytes a lane conflicts within one of its phases.

    ## Why it is slow
    A request of w bytes a lane runs in phases of 128/w lanes: 16 lanes for 8 bytes, 8 for 16 bytes, one row
    address each for `ldmatrix` and `stmatrix`. At best each phase is one wavefront. Lanes of the same phase
    whose addresses are equal modulo 128 bytes, or overlap in part, make it several.

    ## Use instead
    Let the lanes of one phase cover 128 consecutive bytes, or rows whose pitch modulo 128 bytes differs by
    the width: pad rows by 16 bytes, not by one word, or swizzle in units of 16 bytes.

    ## Fix safety
    A pitch that is no multiple of the access width faults: wide accesses must stay aligned.

    ## References
    PTX ISA, `ld.shared.v4` and `ldmatrix`; docs/dev/banks.md has the measured rule.
    """

    code, name = "SMEM105", "wide-access-phase"
    conflicting = (
        Kernel("s[2 * threadIdx.x] = make_float4(0, 0, 0, 0);", shared("float4 s[64]"), (32,), ways=2),
    )
    clean = (
        Kernel("s[threadIdx.x] = make_float4(0, 0, 0, 0);", shared("float4 s[64]"), (32,)),
        Kernel("s[threadIdx.x] = make_float2(0, 0);", shared("float2 s[64]"), (32,)),
    )

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        width = conflict.joined or conflict.site.width
        matrix = conflict.site.op in ("ldmatrix", "stmatrix")
        if width < 8 and not matrix:
            return None
        if len({ways for ways, _ in conflict.ways_by_visit}) > 1:  # a tree's growing stride is the cause
            return None
        lanes = 8 if matrix else BANK_CYCLE // width
        unit = "row addresses of 16 B" if matrix else f"lanes of {width} B"
        stride = common_stride(conflict)
        step = f"; lanes step by {stride} B" if stride else ""
        note = f"phase: the request runs in phases of {lanes} {unit}{step}"
        return Finding(meeting_text(conflict), pitch_label(conflict, kernel), (note,))
