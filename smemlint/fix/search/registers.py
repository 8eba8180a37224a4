"""Whether an edit may cost a kernel resident blocks by the registers that it takes.

The source does not tell how many registers nvcc takes: of kernels with equal tiles, some take 96 a thread and
some 128, and an index that is computed in another way may lift the second above 128. What the source tells is
how much a thread holds, and so whether the number may lie near a step at which half of the blocks are lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.banks import Arch
from smemlint.records import record
from smemlint.score.model import KernelAnalysis

_TILE = 32
"""4-byte words of local data from which a kernel is said to keep a tile in registers."""
_LEAST, _MORE = 0.7, 72
"""A kernel takes at least this share of its tile in registers, and at most so many beside it. Measured (nvcc
13.0, sm_90, docs/dev/evaluation-fixes.md): from 0.72 of the tile to 48 above it, 72 after an edit."""


@record(frozen=True, slots=True)
class Step:
    """Above so many `registers` a thread, one block is resident instead of two. threads: of a block."""

    registers: int
    threads: int

    @property
    def text(self) -> str:
        return (
            f"with more than {self.registers} registers a thread one block would be resident instead of two, "
            f"and whether nvcc then takes them is not known (`-Xptxas -v` tells, "
            f"`__launch_bounds__({self.threads}, 2)` keeps both)"
        )


def first_step(analyses: Sequence[KernelAnalysis], arch: Arch) -> Step | None:
    """The step that one of several instances of a kernel is near."""
    return next((step for a in analyses if (step := step_near(a, arch)) is not None), None)


def step_near(analysis: KernelAnalysis, arch: Arch) -> Step | None:
    """The step at which a kernel that keeps a tile in registers may lose one of two blocks; None: it is far
    from one, or other limits leave it one block anyway."""
    words = analysis.held // 4
    threads = analysis.launch.threads
    most = arch.registers_for(threads, 2)
    if words < _TILE or analysis.blocks_asked > 1 or not most < arch.registers_for(threads, 1):
        return None
    shared = sum(a.bytes or 0 for a in analysis.arrays.values() if not a.dynamic)
    if arch.resident_blocks(threads, shared + (analysis.launch.dynamic or 0)) < 2:
        return None
    return Step(most, threads) if words * _LEAST <= most < words + _MORE else None


def tile_kept(analyses: Sequence[KernelAnalysis]) -> KernelAnalysis | None:
    """The first kernel that keeps a tile in registers; None without one."""
    return next((a for a in analyses if a.held // 4 >= _TILE), None)
