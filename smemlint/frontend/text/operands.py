"""Operands of inline assembly with no comma between them, `"r"(a) "r"(b)`: nvcc reads them, not clang."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smemlint.patterns import pattern

_ASM = pattern(rb"\b(?:asm|__asm__|__asm)\b[^;(){}]*\(")
_GAP = pattern(rb'\)[\s\\]+"[=+&]*\w+"\s*\(')
_TOKEN = pattern(
    rb'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[()\[\]{},;]|[^\s"()\[\]{},;/]+|\S',
    re.DOTALL,
)


def with_commas(data: bytes) -> bytes:
    """Return the text, as long as before, with a comma in the space between two such operands."""
    if b"asm" not in data or not _GAP.search(data):
        return data
    text = bytearray(data)
    for start in _ASM.finditer(data):
        for at in _gaps(data, start.end()):
            text[at : at + 1] = b","
    return bytes(text)


def _gaps(data: bytes, at: int) -> Iterator[int]:
    """Where a blank stands for the comma, in what an `asm` holds from here on."""
    opened = [False]
    """Of each parenthesis, whether it is that of an operand."""
    before, end, closed = b"", at, False
    for token in _TOKEN.finditer(data, at):
        word = token.group()
        if word.startswith((b"//", b"/*", b"\\")):
            continue
        if closed and word.startswith(b'"'):
            yield from [i for i in (end, token.start() - 1) if data[i : i + 1] in (b" ", b"\t")][:1]
        closed = False
        if word in b"([{":
            opened.append(len(opened) == 1 and before.endswith(b'"'))
        elif word in b")]}":
            closed = opened.pop()
        if not opened or word == b";":
            return
        before, end = word, token.end()
