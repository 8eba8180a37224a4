"""The shared memory of kernels as bars: arrays in proportion, padding marked, the 48 KiB line."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.render.views.drawing import Drawing, document, group, paragraph, rect, stacked, text
from smemlint.render.views.layout_text import remarks, resident, totals
from smemlint.view.memory import KernelMemory, Piece

_WIDTH, _HEIGHT = 860.0, 26.0
_LEAST = 3.0
"""Pixels that a piece has at least."""


def render_layout_svg(kernels: Sequence[KernelMemory]) -> str:
    parts = [drawing for kernel in kernels for drawing in _kernel(kernel)]
    return document(stacked(parts), "shared memory")


def _kernel(kernel: KernelMemory) -> list[Drawing]:
    block = ", ".join(map(str, kernel.block))
    lines = [(totals(kernel), ""), *((line, "d") for line in remarks(kernel))]
    if kernel.resident:
        lines.append((f"resident blocks: {resident(kernel.resident)}", "d"))
    return [
        paragraph([(f"{kernel.path}:{kernel.line} {kernel.kernel}, block ({block})", "h")]),
        _bar(kernel),
        paragraph(lines),
    ]


def _bar(kernel: KernelMemory) -> Drawing:
    known = [p for p in kernel.pieces if p.start is not None and p.bytes]
    whole = max([kernel.limit_static, *((p.start or 0) + (p.bytes or 0) for p in known)])
    scale = _WIDTH / whole
    shapes = [rect(0, 0, _WIDTH, _HEIGHT, "grid")]
    shapes += [_piece(p, at, scale) for at, p in enumerate(known)]
    limit = kernel.limit_static * scale
    shapes.append(f'<path class="axis" d="M{limit:.1f} -3V{_HEIGHT + 3:.1f}"/>')
    labels = []
    for at, p in enumerate(known):
        size = f"{p.bytes:,} B at {p.start:,}"
        labels.append((f"{_name(p)}: {size}" if p.array else f"padding: {size}", "d" if at % 2 else ""))
    below = paragraph(labels)
    shapes.append(f'<g transform="translate(0 {_HEIGHT + 8:.0f})">{"".join(below.shapes)}</g>')
    shapes.append(text(max(0.0, limit - 44), -6, "48 KiB", "d"))
    return Drawing(
        (f'<g transform="translate(0 12)">{"".join(shapes)}</g>',), _WIDTH, 20 + _HEIGHT + below.height
    )


def _name(piece: Piece) -> str:
    assert piece.array is not None
    return ("extern " if piece.array.dynamic else "") + piece.array.declared


def _piece(piece: Piece, at: int, scale: float) -> str:
    x, width = (piece.start or 0) * scale, max(_LEAST, (piece.bytes or 0) * scale)
    color = "" if piece.array is None else f' style="fill:hsl({at * 67 % 360} 70% 80%)"'
    kind = "busy" if piece.array is None else "grid"
    named = piece.array.name if piece.array is not None else "padding"
    data = {"piece": named, "offset": piece.start, "bytes": piece.bytes}
    return group(
        [rect(x, 0, width, _HEIGHT, kind, color)], data, f"{named}: {piece.bytes:,} B at {piece.start:,}"
    )
