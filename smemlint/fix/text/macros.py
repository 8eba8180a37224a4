"""Macros that are pointer expressions: `#define AT(p, r, c) ((p) + (r) * 16 + (c))`, `#define TILE (s + 64)`.

In: the tokens of a call. Out: the tokens that stand there once the preprocessor is through.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from smemlint.fix.text.brackets import inside, split
from smemlint.fix.text.source import Source, Token, tokenize
from smemlint.ir.memo import by_identity
from smemlint.patterns import pattern
from smemlint.records import record

_DEFINE = pattern(r"#[ \t]*define[ \t]+(?P<name>\w+)(?:\((?P<parameters>[\w, \t]*)\))?(?P<body>[^\n]*)")
_DEEP = 4
"""Macros within macros that are followed."""


@record(frozen=True, slots=True)
class Macro:
    """A macro of one line. parameters: None where it takes none."""

    name: str
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]


@by_identity
def macros(source: Source) -> dict[str, Macro]:
    """The macros that a file defines once and on one line, by name."""
    found: dict[str, Macro | None] = {}
    for token in source.tokens:
        match = _DEFINE.match(token.text) if token.kind == "directive" else None
        if match is None:
            continue
        name, parameters = match.group("name"), match.group("parameters")
        whole = name not in found and "\n" not in token.text.rstrip("\r\n")
        found[name] = _macro(name, parameters, token.offset + match.start("body"), match.group("body"), whole)
    return {name: macro for name, macro in found.items() if macro is not None}


def is_name_of(source: Source, offset: int) -> bool:
    """Whether a name in a directive is that of the macro which it defines."""
    return (
        re.fullmatch(r"#[ \t]*define[ \t]+", source.text[source.line_start(offset) : offset].lstrip())
        is not None
    )


def _macro(name: str, parameters: str | None, at: int, body: str, whole: bool) -> Macro | None:
    tokens = tuple(Token(t.kind, t.text, t.offset + at) for t in tokenize(body) if t.kind != "comment")
    if not whole or not tokens or any(t.text in ("#", "##") for t in tokens):
        return None
    given = None if parameters is None else tuple(p.strip() for p in parameters.split(",") if p.strip())
    return Macro(name, given, tokens)


def expanded(known: dict[str, Macro], tokens: Sequence[Token], deep: int = 0) -> Sequence[Token] | None:
    """What a call of a macro that is all of these tokens stands for; None where they are no such call."""
    macro = known.get(tokens[0].text) if tokens and tokens[0].kind == "name" and deep < _DEEP else None
    if macro is None:
        return None
    if macro.parameters is None:
        return macro.body if len(tokens) == 1 else None
    held = inside(tokens[1:])
    given = split(held, ",") if held else []
    if not all(given) or len(given) != len(macro.parameters):
        return None
    values = dict(zip(macro.parameters, given, strict=True))
    found: list[Token] = []
    for token in macro.body:
        found += values.get(token.text, (token,)) if token.kind == "name" else (token,)
    return _without_needless(found)


def _without_needless(tokens: list[Token]) -> list[Token]:
    """Without parentheses around a single name or number that are not those of a call."""
    found: list[Token] = []
    n = 0
    while n < len(tokens):
        alone = (
            tokens[n].text == "("
            and n + 2 < len(tokens)
            and tokens[n + 1].kind in ("name", "number")
            and tokens[n + 2].text == ")"
        )
        # `(float)x` is a cast, `f(x)` a call.
        cast = n + 3 < len(tokens) and (tokens[n + 3].kind in ("name", "number") or tokens[n + 3].text == "(")
        call = bool(found) and (found[-1].kind == "name" or found[-1].text in (")", "]", ">"))
        if alone and not cast and not call:
            found.append(tokens[n + 1])
            n += 3
        else:
            found.append(tokens[n])
            n += 1
    return found


def spelled(source: Source, tokens: Sequence[Token]) -> str:
    """The text of tokens: as it stands where they follow one another there, else with the usual spaces."""
    text = tokens[0].text if tokens else ""
    for before, after in pairwise(tokens):
        between = source.text[before.end : after.offset] if before.end <= after.offset else None
        if between is None or between.strip():
            close = before.text in ("(", "[", "!", "~") or after.text in (")", "]", ",", "[", ".", "->")
            call = after.text == "(" and before.kind == "name"
            between = "" if close or call else " "
        text += between + after.text
    return re.sub(r"[ \t]*[\r\n]\s*", " ", text)
