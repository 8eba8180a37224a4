"""One file as text: bytes as the parser gets them, and a table of its lines."""

from __future__ import annotations

import bisect
import re
from functools import cached_property
from pathlib import Path

from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source.guard import find_excess
from smemlint.system.reading import UnreadableError, read_regular, too_large

MAX_BYTES = 8 * 1024 * 1024
"""Larger files are refused: the largest CUDA sources written by hand stay under 1 MiB."""

_LINE_END = pattern(rb"\r\n|\n|\r")
_SPACED = pattern(rb"<<[ \t]+<|>>[ \t]+>")
_OPENED = pattern(rb"(?<!<)<<[ \t]*<(?!<)")
_PRAGMA_MACRO = pattern(rb"(?m)^([ \t]*#[ \t]*define[ \t]+\w+[ \t]+)#pragma[ \t]+([^\n\r/\\]*[^\s/\\])")
_IN_LAUNCH = pattern(rb"[(){};]|>>[ \t]*>(?!>)")


class SourceError(Exception):
    """A file that cannot be analysed at all, with the place and a sentence for the user."""

    def __init__(self, path: str, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"{path}:{line}:{column}: {message}")
        self.path = path
        self.line = line
        self.column = column
        self.message = message


@record(frozen=True)
class SourceFile:
    """A file's text.

    path: as the user named it. raw: the bytes on disk. bytes: what is parsed, of the same length, with
    each byte that is not UTF-8 replaced by `?` (`valid_utf8` tells whether any was) and the brackets of
    launches closed up, so that offsets agree.
    """

    path: str
    raw: bytes
    bytes: bytes
    valid_utf8: bool = True

    @cached_property
    def text(self) -> str:
        return self.bytes.decode("utf-8")

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Byte offset at which each line starts."""
        return (0, *(match.end() for match in _LINE_END.finditer(self.bytes)))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte offset; both count from 1, columns in bytes."""
        line = bisect.bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a line and column, cut to the text."""
        if line < 1:
            return 0
        if line > len(self.line_starts):
            return len(self.bytes)
        return min(self.line_starts[line - 1] + column - 1, len(self.bytes))

    def line(self, number: int) -> str:
        """The text of one line without its end; empty beyond the text."""
        if not 1 <= number <= len(self.line_starts):
            return ""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.bytes)
        return self.bytes[start:end].decode("utf-8").rstrip("\r\n").removeprefix("\ufeff")


def read_source(path: Path | str) -> SourceFile:
    """Read one file. Raises SourceError when it cannot be read or must not reach the parser."""
    name = str(path)
    try:
        raw = read_regular(path, MAX_BYTES)
    except UnreadableError as error:
        raise SourceError(name, error.message) from error
    return source_from_bytes(name, raw)


def source_from_bytes(path: str, raw: bytes) -> SourceFile:
    """The same for text that is at hand (standard input, an edit in memory)."""
    if len(raw) > MAX_BYTES:
        raise SourceError(path, too_large(len(raw), MAX_BYTES))
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(path, "is UTF-16 text; CUDA compilers read UTF-8")
    nul = raw.find(b"\0")
    if nul >= 0:
        line = raw.count(b"\n", 0, nul) + 1
        column = nul - (raw.rfind(b"\n", 0, nul) + 1) + 1
        raise SourceError(path, "is not text: it holds a NUL byte", line, column)
    data, valid = _as_utf8(raw)
    data = spell_out_pragmas(close_up_launches(data))
    source = SourceFile(path, raw, data, valid)
    excess = find_excess(data)
    if excess is not None:
        line, column = source.position(excess.offset)
        raise SourceError(path, excess.message, line, column)
    return source


def _as_utf8(raw: bytes) -> tuple[bytes, bool]:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "surrogateescape")
        return re.sub("[\udc80-\udcff]", "?", text).encode("utf-8"), False
    return raw, True


def close_up_launches(data: bytes) -> bytes:
    """The text with `k << <1, 64 >> >(p)`, as some formatters leave it, spelled `k <<< 1, 64 >>> (p)`.

    nvcc takes both. Nothing changes its place: only the spaces move behind the brackets.
    """
    if not _SPACED.search(data):
        return data
    text = bytearray(data)
    for opened in _OPENED.finditer(data):
        _close_up(text, opened)
        depth = 0
        for token in _IN_LAUNCH.finditer(data, opened.end()):
            if token.group() in (b";", b"{", b"}"):
                break
            if depth == 0 and token.group().startswith(b">>"):
                _close_up(text, token)
                break
            depth += (token.group() == b"(") - (token.group() == b")")
    return bytes(text)


def spell_out_pragmas(data: bytes) -> bytes:
    """The text with `#define U #pragma unroll`, which nvcc takes, spelled `#define U __SMP(unroll)`.

    `__SMP` is the prelude's and stands for `_Pragma`. Nothing changes its place.
    """
    if b"#pragma" not in data:
        return data
    return _PRAGMA_MACRO.sub(lambda m: (m[1] + b"__SMP(" + m[2] + b")").ljust(len(m[0])), data)


def _close_up(text: bytearray, brackets: re.Match[bytes]) -> None:
    together = re.sub(rb"[ \t]", b"", brackets.group())
    text[brackets.start() : brackets.end()] = together.ljust(len(brackets.group()))
