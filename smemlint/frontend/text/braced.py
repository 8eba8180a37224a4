"""Braces in the shape of a launch, `<<<{3, 3}, {16, 4}>>>`: nvcc reads them, clang does not."""

from __future__ import annotations

import re

from smemlint.patterns import pattern
from smemlint.source.blank import blanked

_LAUNCH = pattern(rb"<<<")
_TOKEN = pattern(rb"//[^\n]*|/\*.*?\*/|>>>|[()\[\]{},;]|[^\s()\[\]{},;/>]+|\S", re.DOTALL)


def in_parentheses(data: bytes) -> bytes:
    """Return the text, as long as before, with such braces as parentheses: `<<<(3, 3), (16, 4)>>>`. Where
    the text has these itself, what the comma operator drops is blanked."""
    text = None
    for launch in _LAUNCH.finditer(data) if b"<<<" in data else ():
        for start, comma, end in _shapes(data, launch.end()):
            brace = data[start : start + 1] == b"{"
            if brace or comma > start:
                text = text or bytearray(data)
                text[start], text[end] = b"()"
            if text and comma > start and not brace:
                text[start + 1 : comma + 1] = blanked(data[start + 1 : comma + 1])
    return bytes(text) if text else data


def _shapes(data: bytes, at: int) -> list[tuple[int, int, int]]:
    """Where the arguments of a launch's shape open, have their last comma and close that begin with a brace
    or parenthesis."""
    found: list[tuple[int, int, int]] = []
    opened: list[tuple[int, int]] = []
    begins = True
    for token in _TOKEN.finditer(data, at):
        word, where = token.group(), token.start()
        if word.startswith((b"//", b"/*")):
            continue
        if word == b";" or (word == b">>>" and not opened):
            break
        if word in b"([{":
            opened.append((where if begins and not opened and word != b"[" else -1, -1))
        elif word in b")]}" and opened:
            start, comma = opened.pop()
            if start >= 0 and data[start + 1 : where].strip():
                found.append((start, comma, where))
        elif word == b"," and len(opened) == 1:
            opened[0] = (opened[0][0], where)
        begins = word == b"," and not opened
    return found
