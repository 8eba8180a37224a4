"""Comments, strings and characters of C++ text: the one place that knows where each begins and ends.

Every scanner of text asks here, so that all of them agree. One pass, linear in the text whatever it holds:
what is never closed ends with the text, or a string with its line, as compilers take it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from smemlint.patterns import pattern

Kind = Literal["line", "block", "string", "raw", "character"]

_OPENING = pattern(r"""//|/\*|(?<![A-Za-z0-9_])(?:u8|[uUL])?(?:R"([^()\\\s]{0,16})\(|["'])|\"""")
_LINE_COMMENT = pattern(r"(?:[^\n\\]|\\\r?\n|\\)*")
_STRING = pattern(r'(?:[^"\\\n]|\\\r?\n|\\.|\\)*"?')
_SPACE = pattern(r"(?:\s|\\\r?\n)*")
_CHARACTER = pattern(r"(?:[^'\\\n]|\\.){1,16}'")


class Token(NamedTuple):
    """A comment or literal. start and end: offsets in the text, with its quotes or marks."""

    kind: Kind
    start: int
    end: int

    @property
    def is_comment(self) -> bool:
        return self.kind in ("line", "block")


def literals(text: str, at: int = 0) -> Iterator[Token]:
    """Yield the comments, strings (with their prefix) and characters of a text in order, from an offset on.

    For offsets in bytes, give the bytes decoded as Latin-1. A digit separator (`1'000`) is no character.
    """
    search = _OPENING.search
    while opening := search(text, at):
        start, at = opening.span()
        last = text[at - 1]
        kind: Kind
        if last == "/":
            kind, end = "line", _end(_LINE_COMMENT, text, at)
        elif last == "*":
            kind, end = "block", _behind(text, "*/", at)
        elif last == '"':
            kind, end = "string", _end(_STRING, text, at)
        elif last == "'":
            kind, end = "character", _end(_CHARACTER, text, at)
            if end == at:  # an apostrophe
                continue
        else:
            kind, end = "raw", _behind(text, f'){opening[1]}"', at)
        yield Token(kind, start, end)
        at = end


def skip_space(text: str, at: int) -> int:
    """Return the offset of the first character at or behind `at` that is neither space nor comment."""
    while True:
        at = _end(_SPACE, text, at)
        if not text.startswith(("//", "/*"), at):
            return at
        at = next(literals(text, at)).end


def _end(rest: re.Pattern[str], text: str, at: int) -> int:
    found = rest.match(text, at)
    return found.end() if found else at


def _behind(text: str, closing: str, at: int) -> int:
    found = text.find(closing, at)
    return len(text) if found < 0 else found + len(closing)
