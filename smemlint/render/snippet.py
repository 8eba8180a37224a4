"""Source lines with carets under them: gutter, gaps, tabs, long and wide text."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from smemlint.ir import Place
from smemlint.records import record
from smemlint.render.style import WIDTH, wrapped
from smemlint.system.visible import pieces

TAB = 4
_LEAST = 30
_WORDS = 44
"""Columns that words below a mark have at least, where there are so many."""
_MARK = "..."
_BYTE_ORDER = "\ufeff"
"""The mark that a file may begin with: bytes of its first line that are none of the text."""


@record(frozen=True, slots=True)
class Mark:
    """Something to point at. Only its first line is underlined."""

    place: Place
    text: str
    primary: bool


@record(frozen=True, slots=True)
class Line:
    """One line of output: `number` in the gutter (None: blank), the kind tells how to paint it."""

    number: int | None
    text: str
    kind: str


def snippet(source: str | None, marks: Sequence[Mark], width: int = WIDTH) -> list[Line]:
    """The marked lines of one file in source order, `...` between distant ones.

    width: columns. A longer source line is clipped around what its first mark is about, which is always
    shown whole; words that do not fit beside their mark stand below it.
    """
    width = max(width, _LEAST)
    lines = _lines(source) if source is not None else []
    result: list[Line] = []
    last = 0
    for number in sorted({m.place.line for m in marks}):
        if last and number > last + 1:
            result.append(Line(None, _MARK, "gap"))
        last = number
        here = sorted((m for m in marks if m.place.line == number), key=lambda m: not m.primary)
        raw = lines[number - 1].rstrip("\r") if number <= len(lines) else ""
        shown = _shown_line(raw, marked=number == 1 and raw.startswith(_BYTE_ORDER))
        spans = [shown.span(m.place) for m in here]
        text, shift = shown.clipped(spans[0], width)
        if spans[0][1] - spans[0][0] > width - 2 * len(_MARK) and here[0].primary:
            result += _in_rows(shown, number, here[0], spans[0], width)
            here, spans = here[1:], spans[1:]
        else:
            result.append(Line(number, text, "source"))
        for mark, (start, end) in zip(here, spans, strict=True):
            start, end = start - shift, min(end - shift, cells(text))
            if start < 0:
                continue
            line = " " * start + ("^" if mark.primary else "-") * max(1, end - start)
            result += _marked(line, start, mark, width)
    return result


def _marked(carets: str, start: int, mark: Mark, width: int) -> list[Line]:
    """The row of carets with its words beside it, or below it where they do not fit."""
    kind = "primary" if mark.primary else "secondary"
    if len(carets) + 1 + cells(mark.text) <= width or not mark.text:
        return [Line(None, f"{carets} {mark.text}".rstrip(), kind)]
    indent = max(0, min(start, width - _WORDS))
    first, *rest = wrapped(mark.text, width, indent)
    return [Line(None, carets, kind), *(Line(None, t, kind) for t in (" " * indent + first, *rest))]


def _in_rows(shown: _ShownLine, number: int, mark: Mark, span: tuple[int, int], width: int) -> list[Line]:
    """What is longer than a line, in rows with carets below each."""
    result = []
    for first in range(span[0], span[1], width):
        text = shown.part(first, min(first + width, span[1]))
        result.append(Line(number if first == span[0] else None, text, "source"))
        last = first + width >= span[1]
        row = "^" * cells(text)
        result += _marked(row, 0, mark, width) if last else [Line(None, row, "primary")]
    return result


@lru_cache(maxsize=4)
def _lines(source: str) -> list[str]:
    return source.split("\n")


def cells(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return len(text) if text.isascii() else sum(_cell(c) for c in text)


def _cell(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class _ShownLine:
    """A line as a terminal gets it: tabs go to the next stop, what it would obey is visible text.

    It is worked out once, however many findings stand on it.
    """

    def __init__(self, raw: str, *, marked: bool) -> None:
        self._raw = raw
        parts: list[str] = []
        columns: list[int] = []
        width = 0
        for written, text in pieces(raw):
            if written == "\t":
                text = " " * (TAB - width % TAB)
            elif marked and not columns:
                text = ""
            columns += range(width, width + len(written)) if written == text else [width] * len(written)
            parts.append(text)
            width += cells(text)
        self.text = "".join(parts)
        self.width = width
        self._columns = (*columns, width)
        """By character of the raw line: the column at which it is shown."""
        self._at = () if self.text.isascii() else (0, *accumulate(map(_cell, self.text)))
        """By character of the text: its column, where that is not its number."""
        self._bytes = () if raw.isascii() else (0, *accumulate(len(c.encode(errors="replace")) for c in raw))

    def span(self, place: Place) -> tuple[int, int]:
        """Return the (first, end) columns of a place on its first line, counted from 0."""
        first = self._character(place.column - 1)
        end = self._character(place.end_column - 1) if place.end_line == place.line else len(self._raw)
        while end and self._raw[end - 1].isspace():
            end -= 1
        start = self._columns[first]
        return start, max(start + 1, self._columns[end])

    def _character(self, byte: int) -> int:
        """The number of the character that begins at or behind a byte of the line."""
        return min(bisect_left(self._bytes, byte) if self._bytes else byte, len(self._raw))

    def part(self, first: int, last: int) -> str:
        """The text of some columns."""
        return self.text[self._index(first) : self._index(last)]

    def clipped(self, span: tuple[int, int], width: int) -> tuple[str, int]:
        """Return (text of at most `width` columns around the span, columns that it moved to the left)."""
        if self.width <= width:
            return self.text.rstrip(), 0
        start, end = span
        room = width - 2 * len(_MARK)
        before = max(0, min(width // 4, room - (end - start)))
        first = 0 if end <= width - len(_MARK) else max(0, start - before)
        last = first + (width - len(_MARK) if not first else room)
        kept = self.text[self._index(first) : self._index(last)]
        tail = _MARK if self.width > last else ""
        if not first:
            return kept + tail, 0
        return _MARK + kept + tail, first - len(_MARK)

    def _index(self, column: int) -> int:
        """The first character of the text at or behind a column."""
        return min(bisect_left(self._at, column) if self._at else column, len(self.text))


@lru_cache(maxsize=4)
def _shown_line(raw: str, *, marked: bool) -> _ShownLine:
    return _ShownLine(raw, marked=marked)
