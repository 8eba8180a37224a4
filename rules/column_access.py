from __future__ import annotations

from typing import TYPE_CHECKING

from smemlint.rules.base import ConflictRule, Finding, Kernel, shared
from smemlint.rules.words import (
    BANK_CYCLE,
    MATRIX_OPS,
    WORD,
    array_of,
    common_stride,
    meeting,
    meeting_text,
    pitch_label,
    row_pitch,
)

if TYPE_CHECKING:
    from smemlint.score.model import Conflict, KernelAnalysis


class ColumnAccess(ConflictRule):
    """Lanes walk down a column, and the row pitch brings several rows back to the same bank.

    ## Why it is slow
    The 32 banks repeat every 128 bytes. When the row pitch is a multiple of 128 bytes every row starts in
    the same bank, and a warp that reads one column asks one bank for 32 different words: 32 wavefronts
    where one would do. A shorter power-of-two pitch brings every second or fourth row back to the same
    bank.

    ## Use instead
    Pad the row by one word (by one element of 8 or 16 bytes for wide elements), or swizzle the column by
    the row.

    ## Fix safety
    Padding changes the size of the array and its row pitch: it is unsafe where the array is addressed
    through a pointer with the old pitch, and it forbids 8- and 16-byte accesses that rely on the rows'
    alignment.

    ## References
    CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks"; the transpose example of the same
    chapter.
    """

    code, name = "SMEM101", "column-access"
    conflicting = (
        Kernel("t[threadIdx.x][k] = 0;", shared("float t[32][32]"), (32, 1), ways=32),
        Kernel(
            "out[threadIdx.x] = t[threadIdx.x][threadIdx.y];", shared("float t[16][16]"), (16, 16), ways=8
        ),
        Kernel("t[threadIdx.x][k] = 0;", shared("double t[32][32]"), (32, 1), ways=16),
    )
    clean = (
        Kernel("t[threadIdx.x][k] = 0;", shared("float t[32][33]"), (32, 1)),
        Kernel("t[threadIdx.x][threadIdx.y ^ threadIdx.x] = 0;", shared("float t[32][32]"), (32, 8)),
    )

    def explains(self, conflict: Conflict, kernel: KernelAnalysis) -> Finding | None:
        array = array_of(conflict, kernel)
        if array is None or conflict.worst is None:
            return None
        columns = _across_rows if len(array.dims) > 1 else _across_flat_rows
        if not columns(conflict, row_pitch(array)):
            return None
        return Finding(meeting_text(conflict), pitch_label(conflict, kernel))


def _wide(conflict: Conflict) -> bool:
    return (conflict.joined or conflict.site.width) > WORD or conflict.site.op in MATRIX_OPS


def _across_rows(conflict: Conflict, pitch: int | None) -> bool:
    """Whether the lanes that meet stand in one column of different rows, or step by whole bank cycles."""
    stride, found = common_stride(conflict), meeting(conflict)
    if stride and stride % BANK_CYCLE == 0:
        return True
    if found is None or conflict.worst is None or found.words < 2 or not pitch:
        return False
    if conflict.trace.alignment % pitch or (_wide(conflict) and pitch % BANK_CYCLE):
        return False
    offsets = [conflict.worst.offsets[lane] or 0 for lane in found.lanes]
    return len({o % pitch for o in offsets}) == 1 and len({o // pitch for o in offsets}) > 1


def _across_flat_rows(conflict: Conflict, _: int | None) -> bool:
    """The same for an array of one dimension that is used as rows of the lanes' stride: the stride is the
    same in every
    visit (a tree's is not), and spans all banks, or the threads of the block stand in several columns."""
    stride = common_stride(conflict)
    if not stride or len({ways for ways, _ in conflict.ways_by_visit}) > 1:
        return False
    if stride % BANK_CYCLE == 0:
        return True
    trace = conflict.trace
    first, count = next(iter(trace.visited.ranges), (0, len(trace.offsets)))
    visit = trace.offsets[first : first + count]
    return not _wide(conflict) and len({int(o) % abs(stride) for o in visit[visit >= 0]}) > 1
