"""`__align__(16)` at the declaration of an array whose neighbours the compiler joins.

nvcc 13.0 widens the alignment of an array by itself, but not in every loop: behind an exclusive-or it made
LDS.64 of what was LDS.128 before, behind another pitch single LDS. That cost as much as the conflict.
"""

from __future__ import annotations

from dataclasses import replace

from smemlint.fix.model import TextEdit
from smemlint.fix.text.declared import Declared, Edited

_ALIGN = " __align__"
ALIGNED = "aligned, so that the compiler still joins neighbours"


def is_aligned(edited: Edited) -> bool:
    """Whether the edits align the array."""
    return any(e.replacement.startswith(_ALIGN) for e in edited.edits)


def aligned(edited: Edited, at: Declared, alignment: int, wanted: int) -> Edited:
    """The same edits, and what aligns the array. alignment: that it is declared with; wanted: in bytes."""
    insertion = _insertion(at, wanted) if alignment < wanted else None
    if insertion is None:
        return edited
    edits = sorted((insertion, *edited.edits), key=lambda e: (e.offset, e.end_offset))
    otherwise = aligned(edited.otherwise, at, alignment, wanted) if edited.otherwise is not None else None
    return replace(edited, edits=tuple(edits), otherwise=otherwise)


def _insertion(at: Declared, wanted: int) -> TextEdit | None:
    """Behind the `__shared__` of the declaration; None where that does not stand there."""
    code = at.source.code
    i = at.index - 1
    while i >= 0 and code[i].text not in (";", "{", "}"):
        if code[i].text == "__shared__":
            return TextEdit(at.source.path, code[i].end, code[i].end, f"{_ALIGN}({wanted})", once=True)
        i -= 1
    return None
