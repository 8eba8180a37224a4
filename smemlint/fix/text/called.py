"""Uses of an array in a text with a name of its own: the body of a macro, a lambda that returns a reference.

In: a use in one. Out: where that name stands in code, which is where the access is made.

Only a text that does one thing whenever it is used counts: of two arms one may never run.
"""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.fix.text.macros import is_name_of
from smemlint.fix.text.source import Source, Token, Use, tokenize
from smemlint.patterns import pattern

_MACRO = pattern(r"#[ \t]*define[ \t]+(\w+)")
_CHOOSES = frozenset(("?", "&&", "||", ";", "{"))
_LAMBDA = pattern(r"(?:const )?auto (\w+) = \[.*\] (?:\w+ )*\(.*\) -> [^()]* &")


def calls_of(source: Source, use: Use, scope: tuple[int, int]) -> list[Use] | None:
    """Return the uses of the name that the text around a use has, in a scope of `source.code`.

    None where it has no name, or where the name stands in a macro too: what that is used for is not followed.
    """
    directive = next(
        (t for t in source.tokens if t.kind == "directive" and t.offset <= use.offset < t.end), None
    )
    if directive is not None:
        match = _MACRO.match(directive.text)
        body = tokenize(directive.text[match.end() :]) if match is not None else []
        plain = _CHOOSES.isdisjoint(t.text for t in body)
        name, own = (match.group(1), -1) if match is not None and plain else ("", -1)
    else:
        name, own = _lambda_around(source, use)
    if not name or any(not is_name_of(source, u.offset) for u in source.macro_uses(name)):
        return None
    return [u for u in source.uses(name, *scope, 1) if u.offset != own]


def _lambda_around(source: Source, use: Use) -> tuple[str, int]:
    """Name of the lambda whose body a use stands in, and where that is declared; '' where there is none."""
    code = source.code
    scope = source.scope_of(source.index_at(use.offset))
    if scope is None or not _is_one_return(code, scope[0]):
        return "", -1
    start, end = source.statement(scope[0])
    head = [t.text for t in code[start:end]]
    match = _LAMBDA.fullmatch(" ".join(head))
    return (match.group(1), code[start + head.index(match.group(1))].offset) if match else ("", -1)


def _is_one_return(code: Sequence[Token], brace: int) -> bool:
    """Whether a body is `{ return ...; }` that chooses nothing."""
    last = next((i for i in range(brace + 1, len(code)) if code[i].text in _CHOOSES), 0)
    return code[brace + 1].text == "return" and [t.text for t in code[last : last + 2]] == [";", "}"]
