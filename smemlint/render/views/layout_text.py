"""The shared memory of kernels as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap

from smemlint.render.summary import count
from smemlint.system.visible import visible, visible_path
from smemlint.view.memory import KernelMemory, Piece, Residency

_INDENT = "    "


def render_layout(kernels: Sequence[KernelMemory], *, width: int = 80) -> str:
    """One table a kernel. width: columns of the terminal, at which sentences are broken; rows are not."""
    return "\n".join("\n".join(_kernel(kernel, width)) + "\n" for kernel in kernels)


def _kernel(kernel: KernelMemory, width: int) -> Iterator[str]:
    block = ", ".join(map(str, kernel.block))
    origin = f" from {kernel.origin}" if kernel.origin else ""
    yield f"{visible_path(kernel.path)}:{kernel.line} {visible(f'{kernel.kernel}, block ({block}){origin}')}"
    yield "    offset     bytes  align  bank  array"
    for piece in kernel.pieces:
        yield _row(piece)
    for gone in kernel.vanished:
        yield f"         -         -      -     -  {visible(gone.declared)}: nothing reads it, nvcc drops it"
    said = [totals(kernel), *remarks(kernel)]
    if kernel.resident:
        said.append(f"resident blocks: {resident(kernel.resident)}")
    for line in said:
        yield from wrap(line, width, initial_indent=_INDENT, subsequent_indent=_INDENT * 2)


def _row(piece: Piece) -> str:
    start = "?" if piece.start is None else f"{piece.start:,}"
    size = "?" if piece.bytes is None else f"{piece.bytes:,}"
    if piece.array is None:
        return f"{start:>10}{size:>10}      -     -  padding"
    bank = "?" if piece.bank is None else str(piece.bank)
    pitch = f", row pitch {piece.array.pitch} B" if piece.array.pitch else ""
    kind = "extern " if piece.array.dynamic else ""
    wide = f", widest access {piece.wide} B" if piece.wide else ""
    if piece.left is not None:
        wide += f", {count(piece.left, 'element')} left of it"
    return (
        f"{start:>10}{size:>10}{piece.align:>7}{bank:>6}  {visible(kind + piece.array.declared)}{pitch}{wide}"
    )


def totals(kernel: KernelMemory) -> str:
    """Static, dynamic and both together against the limits."""
    static = "not known" if kernel.static is None else f"{kernel.static:,} B"
    if kernel.padding:
        static += f" ({kernel.padding} B of it padding)"
    dynamic = "not known" if kernel.dynamic is None else f"{kernel.dynamic:,} B"
    both = "" if kernel.total is None else f", total {kernel.total:,} B"
    return f"static {static}, dynamic {dynamic}{both}"


def remarks(kernel: KernelMemory) -> list[str]:
    """What the limits mean for this kernel."""
    lines = []
    if kernel.static is not None and kernel.static > kernel.limit_static:
        lines.append(f"more than the {kernel.limit_static:,} B that may be static: nvcc refuses it")
    if kernel.total is not None and kernel.total > kernel.limit_block:
        lines.append(
            f"more than the {kernel.limit_block:,} B of a block on {kernel.arch}: it cannot be launched"
        )
    elif kernel.total is not None and kernel.total > kernel.limit_static and kernel.uses_dynamic:
        lines.append(
            f"more than {kernel.limit_static:,} B: the launch must opt in "
            "(cudaFuncAttributeMaxDynamicSharedMemorySize)"
        )
    dynamic = [p for p in kernel.pieces if p.array is not None and p.array.dynamic]
    if len(dynamic) > 1:
        lines.append(f"the {count(len(dynamic), 'extern array')} share one start")
    return lines


def resident(found: Sequence[Residency]) -> str:
    """`sm_70 to sm_89: 8, sm_90: 16`, registers left out."""
    parts = []
    for blocks, run in groupby(found, key=lambda r: r.blocks):
        names = [r.arch for r in run]
        where = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        parts.append(f"{where}: {blocks if blocks else 'does not fit'}")
    return ", ".join(parts) + " (registers left out)"
