"""Source text without its comments and literals: what remains is code, at the same offsets."""

from __future__ import annotations

import re

from smemlint.patterns import pattern

_LITERALS = pattern(
    rb"""
    //(?:[^\n\\]|\\.)*                              # line comment, maybe continued
    | /\*.*?(?:\*/|\Z)                              # block comment, maybe never closed
    | (?:\bu8|\b[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"   # raw string
    | "(?:[^"\\\n]|\\.)*["\n]?                      # string
    | (?<![0-9a-fA-F])'(?:[^'\\\n]|\\.){1,8}'       # character, but no digit separator
    """,
    re.DOTALL | re.VERBOSE,
)
_INK = pattern(rb"[^\n]+")


def blank_literals(data: bytes, keep_strings: bool = False) -> bytes:
    """The same number of bytes, with comments, strings and characters turned into spaces.

    keep_strings: only comments go (include paths are strings).
    """

    def blank(match: re.Match[bytes]) -> bytes:
        found = match.group()
        if keep_strings and not found.startswith((b"//", b"/*")):
            return found
        return _INK.sub(lambda ink: b" " * len(ink.group()), found)

    return _LITERALS.sub(blank, data)
