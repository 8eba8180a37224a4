"""The shared memory of kernels as JSON, for tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smemlint.render.json import dumps
from smemlint.view.memory import KernelMemory

VERSION = 1


def render_layout_json(kernels: Sequence[KernelMemory]) -> str:
    return dumps({"version": VERSION, "kernels": [_kernel(k) for k in kernels]}, indent=1)


def _kernel(kernel: KernelMemory) -> dict[str, Any]:
    return {
        "name": kernel.kernel,
        "path": kernel.path,
        "line": kernel.line,
        "block": list(kernel.block),
        "pieces": [
            {
                "array": piece.array.declared if piece.array is not None else None,
                "dynamic": piece.array.dynamic if piece.array is not None else None,
                "offset": piece.start,
                "bytes": piece.bytes,
                "align": piece.align,
                "bank": piece.bank,
                "line": piece.line or None,
                "widest_access": piece.wide or None,
                "elements_left": piece.left,
            }
            for piece in kernel.pieces
        ],
        "dropped": [array.declared for array in kernel.vanished],
        "static": kernel.static,
        "padding": kernel.padding,
        "dynamic": kernel.dynamic,
        "total": kernel.total,
        "limits": {
            "arch": kernel.arch,
            "static": kernel.limit_static,
            "block": kernel.limit_block,
            "multiprocessor": kernel.limit_sm,
        },
        "resident_blocks": {r.arch: r.blocks for r in kernel.resident},
    }
