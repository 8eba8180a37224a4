"""Text that nvcc reads and clang does not, with something in the place of blanks or brackets that both read:
braces in the shape of a launch, `<<<{3, 3}, {16, 4}>>>`; operands of inline assembly with no comma between
them, `"r"(a) "r"(b)`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smemlint.patterns import pattern
from smemlint.source.blank import blanked

_LAUNCH = pattern(rb"<<<")
_OF_LAUNCH = pattern(rb"//[^\n]*|/\*.*?\*/|>>>|[()\[\]{},;]|[^\s()\[\]{},;/>]+|\S", re.DOTALL)


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
    for token in _OF_LAUNCH.finditer(data, at):
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


_ASM = pattern(rb"\b(?:asm|__asm__|__asm)\b[^;(){}]*\(")
_GAP = pattern(rb'\)[\s\\]+"[=+&]*\w+"\s*\(')
_OF_ASM = pattern(
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
    for token in _OF_ASM.finditer(data, at):
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
