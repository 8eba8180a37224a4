"""Tokens read by their brackets: what stands outside all of them, what is around a token, where it ends."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise

from smemlint.fix.text.source import Source, Token

_STEP = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
STATEMENT = (";", "{", "}")
"""What ends a statement, or begins a block."""


def depths(tokens: Sequence[Token]) -> Iterator[int]:
    """How many brackets are open behind each token."""
    return accumulate(_STEP.get(t.text, 0) for t in tokens)


def split(tokens: Sequence[Token], *marks: str) -> list[Sequence[Token]]:
    """What stands between the marks that are outside all brackets."""
    at = [n for n, depth in enumerate(depths(tokens)) if depth == 0 and tokens[n].text in marks]
    return [tokens[a + 1 : b] for a, b in pairwise((-1, *at, len(tokens)))]


def outside(tokens: Sequence[Token], marks: Collection[str]) -> bool:
    """Whether one of the marks stands outside all brackets."""
    return any(depth == 0 and tokens[n].text in marks for n, depth in enumerate(depths(tokens)))


def inside(tokens: Sequence[Token]) -> Sequence[Token] | None:
    """What one pair of parentheses holds that is around all tokens; None without such a pair."""
    if len(tokens) < 2 or tokens[0].text != "(":
        return None
    closed = next((n for n, depth in enumerate(depths(tokens)) if depth == 0), None)
    return tokens[1:-1] if closed == len(tokens) - 1 else None


def bare(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens without parentheses around all of them."""
    while len(tokens) > 2 and (inner := inside(tokens)) is not None:
        tokens = inner
    return tokens


def opening_bracket(tokens: Sequence[Token]) -> int:
    """The bracket that the last token closes."""
    backwards = accumulate(-_STEP.get(t.text, 0) for t in reversed(tokens))
    return next((len(tokens) - 1 - n for n, depth in enumerate(backwards) if depth == 0), 0)


def end_of(tokens: Sequence[Token], first: int, last: int, *marks: str) -> int:
    """Where what begins at a token ends: at one of the marks outside its brackets, where a bracket around it
    closes, or at `last`."""
    depth = 0
    for n in range(first, last):
        if depth == 0 and tokens[n].text in marks:
            return n
        depth += _STEP.get(tokens[n].text, 0)
        if depth < 0:
            return n
    return last


def around(tokens: Sequence[Token], index: int, ends: Collection[str] = STATEMENT) -> Iterator[int]:
    """The brackets that are open around a token, the innermost first, up to one of the ends."""
    depth = 0
    for n in range(index - 1, -1, -1):
        if tokens[n].text in ends:
            return
        depth -= _STEP.get(tokens[n].text, 0)
        if depth < 0:
            depth = 0
            yield n


def parenthesis_around(tokens: Sequence[Token], index: int) -> int | None:
    """The innermost parenthesis that is open around a token of a statement."""
    return next((n for n in around(tokens, index) if tokens[n].text == "("), None)


def arguments(source: Source, bracket: int) -> tuple[list[tuple[int, int]], int]:
    """Token ranges of what stands between the commas of a bracket, and the index of its end."""
    end = source.partner(bracket)
    end = len(source.code) - 1 if end is None else end
    parts, first = [], bracket + 1
    for part in split(source.code[first:end], ","):
        parts.append((first, first + len(part)))
        first += len(part) + 1
    return parts, end


def argument_texts(source: Source, bracket: int) -> list[str]:
    """What stands between the commas of a bracket, as it is written."""
    parts = (source.code[first:last] for first, last in arguments(source, bracket)[0])
    return [source.text[part[0].offset : part[-1].end] for part in parts if part]


def position_in(parts: Sequence[tuple[int, int]], index: int) -> int:
    """Which of the arguments a token is part of."""
    return next((n for n, (first, last) in enumerate(parts) if first <= index < last), 0)
