"""`#pragma pack`, which clang obeys and does not tell: read from the text."""

from __future__ import annotations

import re

from smemlint.patterns import pattern

_PRAGMA = pattern(rb"^[ \t]*(?:#[ \t]*pragma[ \t]+|_Pragma\(\")pack[ \t]*\(([^)\n]*)\)", re.MULTILINE)


def packing(text: bytes, offset: int) -> int:
    """The number of bytes that limits alignment at an offset, 0: none does."""
    if b"pack" not in text:
        return 0
    now, kept = 0, list[int]()
    for found in _PRAGMA.finditer(text, 0, offset):
        words = [word.strip() for word in found[1].decode("ascii", "replace").split(",")]
        if words[0] == "push":
            kept.append(now)
        elif words[0] == "pop":
            now = kept.pop() if kept else 0
        number = next((int(word) for word in words if word.isdigit()), None)
        if number is not None:
            now = number
        elif words == [""]:
            now = 0
    return now
