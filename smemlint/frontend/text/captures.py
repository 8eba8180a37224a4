"""What stands between the brackets of a lambda, which clang's cursors show in part only."""

from __future__ import annotations

from smemlint.frontend.text.expansion import listed
from smemlint.patterns import pattern
from smemlint.records import record

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
    brackets = listed(text) if text.startswith("[") else None
    for item in filter(None, brackets[0]) if brackets is not None else ():
        new = _MADE.match(item)
        if new is not None:
            made.add(new[1])
        elif not item.startswith("&"):
            copied.add("".join(item.split()).removesuffix("..."))
    return Captures(frozenset(made), frozenset(copied))
