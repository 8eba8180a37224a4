from __future__ import annotations

from typing import TYPE_CHECKING

from smemlint.rules.base import ConflictRule, Finding, Kernel, shared
from smemlint.rules.words import BANKS, meeting_text, pitch_label

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis


class NarrowBlockRows(ConflictRule):
    """A block narrower than a warp puts several rows into one warp, and the rows overlap in the banks.

    ## Why it is slow
    With 16 threads in x a warp holds two rows of threads. Each row alone is free of conflicts, but together
    they ask more than 32 consecutive words or the same banks twice. The usual padding by one is the classic
    case: a 16x16 tile padded to a pitch of 17 words stays 2-way, read by rows as well as by columns.

    ## Use instead
    For a tile as wide as the block choose a pitch that is a multiple of 32 plus the block's width (16 for a
    16-wide block; 48 when the tile must be padded), swizzle the column by the row, or make the block 32
    wide.

    ## Fix safety
    Another block shape changes the launch; another pitch changes the size of the array.

    ## References
    CUDA C++ Programming Guide, "Thread Hierarchy": threads are numbered x first, and 32 consecutive ones
    are a warp.
    """

    code, name = "SMEM103", "narrow-block-rows"
    conflicting = (
        Kernel("t[threadIdx.y][threadIdx.x] = 0;", shared("float t[16][17]"), (16, 16), ways=2),
        Kernel("out[threadIdx.x] = t[threadIdx.y][threadIdx.x];", shared("float t[8][32]"), (8, 8), ways=4),
    )
    clean = (
        Kernel("t[threadIdx.y][threadIdx.x] = 0;", shared("float t[16][16]"), (16, 16)),
        Kernel("t[threadIdx.y][threadIdx.x] = 0;", shared("float t[32][33]"), (32, 8)),
    )

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        width, worst, site = kernel.launch.block[0], conflict.worst, conflict.site
        if width >= BANKS or BANKS % width or worst is None or site.op in ("ldmatrix", "stmatrix"):
            return None
        from smemlint.banks import ONE_ROUND, wavefronts

        for first in range(0, BANKS, width):
            row = tuple(
                offset if first <= lane < first + width else None for lane, offset in enumerate(worst.offsets)
            )
            if all(offset is None for offset in row):
                continue
            alone = wavefronts(ONE_ROUND.get(site.op, site.op), conflict.joined or site.width, row)
            if alone.wavefronts > alone.ideal:
                return None
        rows = BANKS // width
        note = f"rows: a warp holds {rows} rows of the {width}-wide block; each row alone has no conflict"
        return Finding(meeting_text(conflict), pitch_label(conflict, kernel), (note,))
