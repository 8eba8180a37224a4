"""Source text without its comments and literals: what remains is code, at the same offsets."""

from __future__ import annotations

from smemlint.patterns import pattern
from smemlint.source.per_text import per_text
from smemlint.source.tokens import literals

_INK = pattern(r"[^\n]")
_INK_BYTES = pattern(rb"[^\n]")


def blanked(data: bytes) -> bytes:
    """Return as many spaces, on as many lines."""
    return _INK_BYTES.sub(b" ", data)


@per_text
def blank_literals(data: bytes) -> bytes:
    """Return the same number of bytes, with comments, strings and characters turned into spaces. Several
    readers ask for the same file."""
    return _blank(data.decode("latin-1"), comments_only=False).encode("latin-1")


@per_text
def blank_comments(text: str) -> str:
    """Return a text of the same length, with its comments turned into spaces. Included files are asked for
    again with each file that includes them."""
    return _blank(text, comments_only=True)


def _blank(text: str, *, comments_only: bool) -> str:
    parts, last = [], 0
    for token in literals(text):
        if token.is_comment or not comments_only:
            parts += [text[last : token.start], _INK.sub(" ", text[token.start : token.end])]
            last = token.end
    return "".join((*parts, text[last:]))
