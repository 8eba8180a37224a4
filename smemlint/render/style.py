"""ANSI colours, or none."""

from __future__ import annotations

from smemlint.rules import Severity

_CODES = {"red": "31", "yellow": "33", "blue": "34", "cyan": "36", "green": "32", "bold": "1", "dim": "2"}
SEVERITY_COLOR = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def paint(text: str, *styles: str, color: bool) -> str:
    """The text in these styles; unchanged without colour or without text."""
    if not color or not text:
        return text
    return f"\x1b[{';'.join(_CODES[s] for s in styles)}m{text}\x1b[0m"
