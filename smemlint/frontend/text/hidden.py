"""What clang does not show and the text does: captures of lambdas, fold expressions, `#pragma pack`."""

from __future__ import annotations

import re

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


_OPERATOR = r"(?:<<=?|>>=?|[<>=!]=|&&|\|\||->\*|\.\*|[-+*/%^&|]=?|[<>=,])"
_BEFORE = pattern(rf"({_OPERATOR})\s*$")
_AFTER = pattern(rf"\s*({_OPERATOR})")


def fold_of(text: str) -> tuple[str, bool] | None:
    """The operator of `(pattern op ...)`, and whether the dots come first; None where it is none."""
    at = text.find("...")
    if at < 0 or not text.startswith("(") or not text.rstrip().endswith(")"):
        return None
    depth = 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and i < len(text.rstrip()) - 1:
            return None
        if text.startswith("...", i) and depth == 1:
            before, after = _BEFORE.search(text[1:i]), _AFTER.match(text[i + 3 :])
            if before is None and after is None:
                return None
            found = before or after
            assert found is not None
            return found[1], before is None
    return None


_PRAGMA = pattern(rb"^[ \t]*(?:#[ \t]*pragma[ \t]+|_Pragma\(\")pack[ \t]*\(([^)\n]*)\)", re.MULTILINE)


def packing(text: bytes, offset: int) -> int:
    """The number of bytes that limits alignment at an offset, 0: none does."""
    if b"pack" not in text:
        return 0
    now, kept = 0, list[int]()
    for found in _PRAGMA.finditer(text, 0, offset):
        words = [word.strip() for word in found[1].decode("ascii", "replace").split(",")]
        if words[0] == "push":
            kept.append(now)
        elif words[0] == "pop":
            now = kept.pop() if kept else 0
        number = next((int(word) for word in words if word.isdigit()), None)
        if number is not None:
            now = number
        elif words == [""]:
            now = 0
    return now
