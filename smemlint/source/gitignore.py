"""The patterns of a `.gitignore`, matched as git matches them, in time linear in pattern and name.

A regular expression for `*a*a*a*b` takes the fourth power of the name's length; here a star that turned out
too short is made one longer, and stars before it are never looked at again.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import TypeVar

from smemlint.records import record

Item = TypeVar("Item")
One = TypeVar("One")

_CLASSES: dict[str, Callable[[str], bool]] = {
    "alpha": str.isalpha,
    "digit": str.isdigit,
    "alnum": str.isalnum,
    "upper": str.isupper,
    "lower": str.islower,
    "space": str.isspace,
    "blank": " \t".__contains__,
    "punct": string.punctuation.__contains__,
    "xdigit": string.hexdigits.__contains__,
    "cntrl": lambda c: ord(c) < 32 or ord(c) == 127,
    "print": str.isprintable,
    "graph": lambda c: c.isprintable() and c != " ",
}


class _BadPatternError(Exception):
    """A pattern that git takes for one that matches nothing."""


@record(frozen=True, slots=True)
class Characters:
    """`[a-z_]`: one character out of some, or out of all others."""

    negated: bool
    ranges: tuple[tuple[str, str], ...]
    classes: tuple[str, ...]

    def has(self, character: str) -> bool:
        found = any(low <= character <= high for low, high in self.ranges) or any(
            _CLASSES[name](character) for name in self.classes
        )
        return found != self.negated


Character = str | Characters | None
"""What one character of a name must be; None for any."""
Glob = tuple["Character | _Star", ...]


class _Star:
    """Any number of characters, or of folders."""


_STAR = _Star()


@record(frozen=True, slots=True)
class Pattern:
    """One line. parts: a glob for each folder and name; floating: it holds for names at any depth."""

    negated: bool
    folders_only: bool
    floating: bool
    parts: tuple[Glob | _Star, ...]

    def matches(self, names: Sequence[str], is_folder: bool) -> bool:
        """Tell whether it names this very path; names: its parts, from the folder of the `.gitignore` on."""
        if self.folders_only and not is_folder:
            return False
        return _wild(self.parts, names[-1:] if self.floating else names, _fits)


def patterns(text: str) -> tuple[Pattern, ...]:
    """Read a `.gitignore`; comments, blank lines and patterns that git cannot read are left out."""
    found = (_pattern(line) for line in text.removeprefix("\ufeff").split("\n"))
    return tuple(p for p in found if p is not None)


def verdict(found: Sequence[Pattern], names: Sequence[str], is_folder: bool) -> bool | None:
    """Tell what the last pattern that names a path says: left out, kept, or None when none names it.

    A folder above is not looked at: whoever walks asks for it first and stays out.
    """
    for pattern in reversed(found):
        if pattern.matches(names, is_folder):
            return not pattern.negated
    return None


def _pattern(line: str) -> Pattern | None:
    line = line.removesuffix("\r")
    if line.startswith("#"):
        return None
    line = _without_trailing_spaces(line)
    negated = line.startswith("!")
    line = line[negated:]
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    floating = "/" not in line
    try:
        parts = _globs(line.removeprefix("/"), any_depth=not floating)
    except _BadPatternError:
        return None
    if not any(parts):
        return None
    if not floating and parts[-1] is _STAR:
        parts.append((_STAR,))  # something inside
    return Pattern(negated, folders_only, floating, tuple(parts))


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    escapes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if escapes % 2 and len(bare) < len(line) else bare


def _globs(text: str, *, any_depth: bool) -> list[Glob | _Star]:
    """Read the globs between slashes; `**` alone is a star if any_depth. Raises _BadPatternError."""
    parts: list[Glob | _Star] = []
    result: list[Character | _Star] = []
    at = stars = 0
    while at <= len(text):
        character = text[at : at + 1]
        at += 1
        if character in ("/", ""):
            alone = any_depth and stars > 1 and len(result) == 1
            parts.append(_STAR if alone and result[0] is _STAR else tuple(result))
            result, stars = [], 0
        elif character == "*":
            stars += 1
            if not (result and result[-1] is _STAR):
                result.append(_STAR)
        elif character == "?":
            result.append(None)
        elif character == "[":
            characters, at = _characters(text, at)
            result.append(characters)
        elif character == "\\" and text.startswith("/", at):
            continue
        elif character == "\\":
            literal, at = _escaped(text, at - 1)
            result.append(literal)
        else:
            result.append(character)
    return parts


def _characters(text: str, at: int) -> tuple[Characters, int]:
    """Read what stands behind `[`; return it and the offset behind `]`. Raises _BadPatternError."""
    negated = text[at : at + 1] in ("!", "^")
    at += negated
    ranges: list[tuple[str, str]] = []
    classes: list[str] = []
    first = at
    while True:
        if at >= len(text):
            raise _BadPatternError
        if text[at] == "]" and at > first:
            return Characters(negated, tuple(ranges), tuple(classes)), at + 1
        if text.startswith("[:", at):
            end = text.find(":]", at)
            if end < 0 or text[at + 2 : end] not in _CLASSES:
                raise _BadPatternError
            classes.append(text[at + 2 : end])
            at = end + 2
            continue
        low, at = _escaped(text, at)
        high = low
        if text.startswith("-", at) and text[at + 1 : at + 2] not in ("]", ""):
            high, at = _escaped(text, at + 1)
        ranges.append((low, high))


def _escaped(text: str, at: int) -> tuple[str, int]:
    if text[at] == "\\":
        at += 1
        if at >= len(text):
            raise _BadPatternError
    return text[at], at + 1


def _fits(glob: Glob | _Star, name: str) -> bool:
    assert not isinstance(glob, _Star)
    return _wild(glob, name, _is_one)


def _is_one(wanted: Character | _Star, character: str) -> bool:
    if isinstance(wanted, Characters):
        return wanted.has(character)
    return wanted is None or wanted == character


def _wild(wanted: Sequence[One], items: Sequence[Item], fits: Callable[[One, Item], bool]) -> bool:
    """Tell whether a sequence with stars fits all items."""
    i = j = 0
    star, behind = -1, 0
    while j < len(items):
        if i < len(wanted) and wanted[i] is _STAR:
            star, behind = i, j
            i += 1
        elif i < len(wanted) and fits(wanted[i], items[j]):
            i += 1
            j += 1
        elif star >= 0:
            behind += 1
            i, j = star + 1, behind
        else:
            return False
    return all(w is _STAR for w in wanted[i:])
