"""Where nvcc puts the shared memory of a kernel: static arrays as declared, dynamic ones behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from smemlint.banks import ARCHITECTURES, BANKS, WORD, Arch
from smemlint.evaluate.model import SharedArray
from smemlint.records import record
from smemlint.score.model import KernelAnalysis
from smemlint.view.shrunk import elements_left, placed_elements
from smemlint.view.site import ArrayView, array_view, kernel_name

DYNAMIC_ALIGN = 16
"""Bytes that divide the start of dynamic shared memory, whatever its type."""


@record(frozen=True, slots=True)
class Piece:
    """A stretch of the block's shared memory: an array, or padding (array None).

    start: byte offset, None where it is not known. bytes: None likewise. align: of the declaration. wide:
    bytes of the widest access, 0 without one.
    """

    array: ArrayView | None
    start: int | None
    bytes: int | None
    align: int
    line: int = 0
    wide: int = 0
    left: int | None = None
    """Elements that are left of an array of which nvcc keeps single ones."""

    @property
    def bank(self) -> int | None:
        """The bank of the first byte."""
        return None if self.start is None else self.start // WORD % BANKS


@record(frozen=True, slots=True)
class Residency:
    """Blocks that a multiprocessor holds at once by threads and shared memory; 0: a block does not fit."""

    arch: str
    blocks: int


@record(frozen=True, slots=True)
class KernelMemory:
    """Shared memory of one kernel under one launch, in bytes.

    pieces: in order of their offsets. vanished: arrays that nothing reads, which nvcc drops. static: with
    padding, None where a size is not known. dynamic: as the launch says, None where it does not.
    limit_static, limit_block, limit_sm: of `arch`.
    """

    kernel: str
    path: str
    line: int
    block: tuple[int, int, int]
    origin: str
    pieces: tuple[Piece, ...]
    vanished: tuple[ArrayView, ...]
    static: int | None
    dynamic: int | None
    uses_dynamic: bool
    arch: str
    limit_static: int
    limit_block: int
    limit_sm: int
    resident: tuple[Residency, ...]

    @property
    def total(self) -> int | None:
        if self.static is None or self.dynamic is None:
            return None
        return self.static + self.dynamic

    @property
    def padding(self) -> int:
        """Bytes between and behind static arrays that alignment costs."""
        return sum(p.bytes or 0 for p in self.pieces if p.array is None)


def module_alignment(arrays: Iterable[SharedArray]) -> int:
    """What the static size of every kernel of a file is rounded up to: what its dynamic arrays ask for."""
    return max((max(DYNAMIC_ALIGN, a.align) for a in arrays if a.dynamic), default=1)


def memory_of(analysis: KernelAnalysis, path: str, arch: Arch, rounding: int) -> KernelMemory:
    """The layout of one kernel under one launch. rounding: `module_alignment` of all kernels of the file."""
    arrays = list(analysis.arrays.values())
    wide = _widest(analysis)
    placed = sorted((a for a in arrays if a.start is not None and not a.dynamic), key=_start)
    unknown = any(a.bytes is None for a in arrays if not a.dynamic)
    gone = [a for a in arrays if a.start is None and not a.dynamic]
    pieces: list[Piece] = []
    end = 0
    kept = {a.id: elements_left(a, [c.site for c in analysis.conflicts]) for a in placed}
    moved = False  # an array before this one has shrunk
    for a in placed:
        left = kept[a.id]
        if left is not None and len(left) * a.element < (a.bytes or 0):
            start, new_end = placed_elements(a, left, end)
            moved = True
        else:
            left = None
            start = -(-end // a.align) * a.align if moved else _start(a)
            new_end = start + (a.bytes or 0)
        if start > end:
            pieces.append(Piece(None, end, start - end, 1))
        many = len(left) if left is not None else None
        size = new_end - start
        pieces.append(Piece(array_view(a), start, size, a.align, a.place.line, wide.get(a.id, 0), many))
        end = new_end
    static = -(-end // rounding) * rounding
    if static > end and not unknown:
        pieces.append(Piece(None, end, static - end, 1))
    if unknown:
        pieces += [
            Piece(array_view(a), None, a.bytes, a.align, a.place.line, wide.get(a.id, 0)) for a in gone
        ]
    dynamic = [a for a in arrays if a.dynamic]
    launch = analysis.launch
    asked = launch.dynamic if launch.dynamic is not None or dynamic else 0
    behind = None if unknown else static
    pieces += [
        Piece(array_view(a), behind, asked, max(DYNAMIC_ALIGN, a.align), a.place.line, wide.get(a.id, 0))
        for a in dynamic
    ]
    total = None if unknown or asked is None else static + asked
    return KernelMemory(
        kernel=kernel_name(analysis),
        path=path,
        line=analysis.kernel.place.line,
        block=launch.block,
        origin=launch.origin,
        pieces=tuple(pieces),
        vanished=() if unknown else tuple(map(array_view, gone)),
        static=None if unknown else static,
        dynamic=asked,
        uses_dynamic=bool(dynamic),
        arch=arch.name,
        limit_static=arch.shared_static,
        limit_block=arch.shared_block,
        limit_sm=arch.shared_sm,
        resident=() if total is None else residency(launch.threads, total),
    )


def residency(threads: int, shared: int, archs: Sequence[Arch] = ARCHITECTURES) -> tuple[Residency, ...]:
    """Resident blocks on every architecture; registers are left out."""
    return tuple(Residency(arch.name, arch.resident_blocks(threads, shared)) for arch in archs)


def _start(array: SharedArray) -> int:
    assert array.start is not None
    return array.start


def _widest(analysis: KernelAnalysis) -> dict[str, int]:
    """Bytes of the widest access of each array, by its id."""
    found: dict[str, int] = {}
    for conflict in analysis.conflicts:
        array = conflict.site.array
        found[array] = max(found.get(array, 0), conflict.joined or conflict.site.width)
    return found
