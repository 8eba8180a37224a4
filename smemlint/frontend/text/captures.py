"""What stands between the brackets of a lambda, which clang's cursors show in part only."""

from __future__ import annotations

from smemlint.patterns import pattern
from smemlint.records import record

_OPEN, _CLOSE = "([{", ")]}"
_MADE = pattern(r"&?\s*(?:\.\.\.)?\s*(\w+)\s*(?:=(?!=)|\{|\()")


@record(frozen=True, slots=True)
class Captures:
    """made: names that are given a value there. copied: what is captured by value (`=`: everything)."""

    made: frozenset[str]
    copied: frozenset[str]


def captures_of(text: str) -> Captures:
    """The captures of a lambda, from its text."""
    made: set[str] = set()
    copied: set[str] = set()
    for item in _items(text):
        new = _MADE.match(item)
        if new is not None:
            made.add(new[1])
        elif not item.startswith("&"):
            copied.add("".join(item.split()).removesuffix("..."))
    return Captures(frozenset(made), frozenset(copied))


def _items(text: str) -> list[str]:
    """The parts between the first brackets, cut at commas outside of further ones."""
    if not text.startswith("["):
        return []
    depth = 0
    items = [""]
    for char in text:
        depth += (char in _OPEN) - (char in _CLOSE)
        if depth == 0:
            break
        if char == "," and depth == 1:
            items.append("")
        elif depth > 1 or char != "[":
            items[-1] += char
    return [stripped for item in items if (stripped := item.strip())]
