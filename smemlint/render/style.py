"""How text for people looks: its colours, its width, its order."""

from __future__ import annotations

import textwrap

from smemlint.records import record
from smemlint.rules import Severity

_CODES = {"red": "31", "yellow": "33", "blue": "34", "cyan": "36", "green": "32", "bold": "1", "dim": "2"}
SEVERITY_COLOR = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}

WIDTH = 100
"""Columns where there is no terminal that has its own."""
_NARROW = 24


@record(frozen=True, slots=True)
class Look:
    """color: ANSI colours. width: columns. sort: `cost` or `path`; top: how many findings, None for all.
    docs: address of the documentation, empty where it has none."""

    color: bool = False
    width: int = WIDTH
    sort: str = "path"
    top: int | None = None
    docs: str = ""


PLAIN = Look()


def wrapped(text: str, width: int, indent: int) -> list[str]:
    """The text in lines of at most `width` columns, broken between words; all but the first are indented.

    The first line is counted as if it began at column `indent`. A word longer than a line stays whole.
    """
    room = max(width - indent, _NARROW)
    lines = textwrap.wrap(
        text, room, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    ) or [""]
    return [lines[0], *(" " * indent + line for line in lines[1:])]


def paint(text: str, *styles: str, color: bool) -> str:
    """The text in these styles; unchanged without colour or without text."""
    if not color or not text:
        return text
    return f"\x1b[{';'.join(_CODES[s] for s in styles)}m{text}\x1b[0m"
