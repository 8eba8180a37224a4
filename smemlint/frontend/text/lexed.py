"""C++ text to tokens, for what is read from text alone."""

from __future__ import annotations

import re

from smemlint.patterns import pattern
from smemlint.source.tokens import literals

_TOKEN = pattern(
    r"""(?P<skip>\s+|\\\r?\n)
    |(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<op><<=|>>=|\.\.\.|->\*|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|.)""",
    re.VERBOSE | re.DOTALL,
)


def lex(text: str) -> list[str]:
    """Tokens without white space and comments. `>>` comes as two tokens."""
    tokens, last = [], 0
    for literal in literals(text):
        tokens += _tokens_between(text, last, literal.start)
        if not literal.is_comment:
            tokens.append(text[literal.start : literal.end])
        last = literal.end
    return tokens + _tokens_between(text, last, len(text))


def _tokens_between(text: str, start: int, end: int) -> list[str]:
    return [m.group() for m in _TOKEN.finditer(text, start, end) if m.lastgroup != "skip"]
