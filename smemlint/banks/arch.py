"""What an architecture gives a block and a multiprocessor, from CUDA's documentation.

Figures: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; blocks per
multiprocessor and allocation granularity also stand in CUDA 13.0's `cuda_occupancy.h`.
"""

from __future__ import annotations

from smemlint.records import record

KIB = 1024
REGISTERS = 64 * KIB
"""32-bit registers of a multiprocessor; the same for every architecture of the table."""
MOST_REGISTERS = 255
"""Of a thread."""


@record(frozen=True, slots=True)
class Arch:
    """One compute capability. Sizes in bytes.

    shared_static: most that a block may declare statically. shared_block: most that a block may have after it
    opts in (cudaFuncAttributeMaxDynamicSharedMemorySize). shared_sm: most shared memory of one
    multiprocessor. shared_reserved: what the system keeps of it for each resident block. shared_granularity:
    what a block's share is rounded up to.
    """

    name: str
    shared_static: int
    shared_block: int
    shared_sm: int
    shared_reserved: int
    shared_granularity: int
    threads_block: int
    threads_sm: int
    blocks_sm: int

    @property
    def number(self) -> int:
        return int(self.name.removeprefix("sm_"))

    @property
    def warps_sm(self) -> int:
        return self.threads_sm // 32

    def resident_blocks(self, threads: int, shared: int) -> int:
        """Blocks of one multiprocessor at once, by threads and shared memory (registers left out).

        threads: of a block, 1 or more. shared: static and dynamic bytes of a block. 0: a block does not fit.
        """
        if not 1 <= threads <= self.threads_block or not 0 <= shared <= self.shared_block:
            return 0
        warps = -(-threads // 32)
        used = -(-(shared + self.shared_reserved) // self.shared_granularity) * self.shared_granularity
        by_shared = self.shared_sm // used if used else self.blocks_sm
        return min(self.blocks_sm, self.warps_sm // warps, by_shared)

    def registers_for(self, threads: int, blocks: int) -> int:
        """The most registers of a thread with which so many blocks of `threads` are resident."""
        warps = -(-threads // 32) * blocks
        return min(REGISTERS // (warps * 32) // 8 * 8, MOST_REGISTERS)


def _arch(number: int, block: int, sm: int, threads_sm: int, blocks_sm: int) -> Arch:
    ampere = number >= 80
    return Arch(
        name=f"sm_{number}",
        shared_static=48 * KIB,
        shared_block=block * KIB,
        shared_sm=sm * KIB,
        shared_reserved=KIB if ampere else 0,
        shared_granularity=128 if ampere else 256,
        threads_block=1024,
        threads_sm=threads_sm,
        blocks_sm=blocks_sm,
    )


ARCHITECTURES = (
    _arch(70, block=96, sm=96, threads_sm=2048, blocks_sm=32),
    _arch(72, block=96, sm=96, threads_sm=2048, blocks_sm=32),
    _arch(75, block=64, sm=64, threads_sm=1024, blocks_sm=16),
    _arch(80, block=163, sm=164, threads_sm=2048, blocks_sm=32),
    _arch(86, block=99, sm=100, threads_sm=1536, blocks_sm=16),
    _arch(87, block=163, sm=164, threads_sm=1536, blocks_sm=16),
    _arch(89, block=99, sm=100, threads_sm=1536, blocks_sm=24),
    _arch(90, block=227, sm=228, threads_sm=2048, blocks_sm=32),
    _arch(100, block=227, sm=228, threads_sm=2048, blocks_sm=32),
    _arch(103, block=227, sm=228, threads_sm=2048, blocks_sm=32),
    _arch(110, block=227, sm=228, threads_sm=1536, blocks_sm=24),
    _arch(120, block=99, sm=100, threads_sm=1536, blocks_sm=24),
    _arch(121, block=99, sm=100, threads_sm=1536, blocks_sm=24),
)
_BY_NUMBER = {each.number: each for each in ARCHITECTURES}


def architecture(name: str | int) -> Arch:
    """The architecture of `sm_90`, `sm_90a`, `compute_90`, `90`, `9.0` or 90.

    Raises: ValueError for one that is not in the table; the text lists those that are.
    """
    text = str(name).strip().lower()
    digits = text.removeprefix("sm_").removeprefix("compute_").rstrip("af").replace(".", "")
    found = _BY_NUMBER.get(int(digits)) if digits.isascii() and digits.isdigit() else None
    if found is None:
        known = ", ".join(each.name for each in ARCHITECTURES)
        raise ValueError(f"unknown architecture {str(name)!r}; known: {known}")
    return found
