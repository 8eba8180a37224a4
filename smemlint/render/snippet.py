"""Source lines with carets under them: gutter, gaps, tabs, long and wide text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from smemlint.ir import Place
from smemlint.records import record
from smemlint.visible import visible

TAB = 4
WIDTH = 120
"""Columns of source that are shown; a longer line is clipped around what it is about."""
_MARK = "..."


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


def snippet(source: str | None, marks: Sequence[Mark]) -> list[Line]:
    """The marked lines of one file in source order, `...` between distant ones."""
    lines = source.split("\n") if source is not None else []
    result: list[Line] = []
    last = 0
    for number in sorted({m.place.line for m in marks}):
        if last and number > last + 1:
            result.append(Line(None, _MARK, "gap"))
        last = number
        here = sorted((m for m in marks if m.place.line == number), key=lambda m: not m.primary)
        raw = lines[number - 1].rstrip("\r") if number <= len(lines) else ""
        spans = [_span(raw, m.place) for m in here]
        text, shift = _clip(_expand(raw), spans[0]) if raw else ("", 0)
        result.append(Line(number, text, "source"))
        for mark, (start, end) in zip(here, spans, strict=True):
            start, end = start - shift, min(end - shift, len(text) if not shift else cells(text))
            if start < 0:
                continue
            line = " " * start + ("^" if mark.primary else "-") * max(1, end - start)
            kind = "primary" if mark.primary else "secondary"
            result.append(Line(None, f"{line} {mark.text}".rstrip(), kind))
    return result


def cells(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return len(text) if text.isascii() else sum(_cell(c) for c in text)


def _cell(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _expand(line: str) -> str:
    """Tabs to the next stop, what a terminal would obey as visible text."""
    parts: list[str] = []
    width = 0
    for number, piece in enumerate(line.split("\t")):
        if number:
            step = TAB - width % TAB
            parts.append(" " * step)
            width += step
        safe = visible(piece)
        parts.append(safe)
        width += cells(safe)
    return "".join(parts)


def _span(line: str, place: Place) -> tuple[int, int]:
    """(first, end) columns of a place on its first line, counted from 0 in cells after expansion."""
    encoded = line.encode("utf-8", errors="replace")
    last = place.end_column - 1 if place.end_line == place.line else len(encoded)
    start = cells(_expand(encoded[: place.column - 1].decode("utf-8", errors="replace")))
    end = cells(_expand(encoded[:last].decode("utf-8", errors="replace").rstrip()))
    return start, max(start + 1, end)


def _clip(text: str, span: tuple[int, int]) -> tuple[str, int]:
    """(text of at most WIDTH columns around the span, columns that it moved to the left)."""
    if cells(text) <= WIDTH:
        return text.rstrip(), 0
    start, end = span
    first = 0 if end <= WIDTH - len(_MARK) else max(0, start - WIDTH // 4)
    kept, column = [], 0
    for character in text:
        if first <= column < first + WIDTH - 2 * len(_MARK):
            kept.append(character)
        column += _cell(character)
    tail = _MARK if column > first + WIDTH - 2 * len(_MARK) else ""
    if not first:
        return "".join(kept) + tail, 0
    return _MARK + "".join(kept) + tail, first - len(_MARK)
