"""Macros of unknown headers that are given code: `DISPATCH_FLOAT_AND_HALF(type, 0, "norm", launch<T>(x);)`.

What such a macro does to its code is not known, but that it runs is: the launches in it are seen. Names that
it would declare for the code (`scalar_t`, `Is_causal`) stay unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from smemlint.frontend.text.usage import matching
from smemlint.patterns import pattern
from smemlint.source.tokens import skip_space

MAX_CODE = 20_000
"""Characters of one use that are looked at."""
_STEP = pattern(
    r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/|[()\[\]{},;]|<<<|>>>', re.DOTALL
)
_NEAR = 500
"""Of these, how many are read at a time."""
MAX_NAMES = 300
"""Characters of what a macro is given that makes a function's name of it."""
_GIVEN = pattern(r"\((?:\s*[A-Za-z_]\w*\s*,)*\s*\Z")
"""An open parenthesis with nothing but names behind it."""
_NAMES = pattern(r"\(\s*[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*\s*\)")
_TYPED = pattern(r"\b([A-Za-z_]\w*)[\s*&]+\Z")
_NO_TYPES = frozenset(("return", "else", "new", "delete", "throw", "goto", "case", "do"))
_BRACKET = pattern(r"[()\[\]{}]")
_CALLED = pattern(r"([A-Za-z_]\w*)\s*\Z")
_NAME = pattern(r"[A-Za-z_]\w*")
_CALL = pattern(r"\b([A-Z_][A-Z0-9_]{2,})\s*\(")
_IN_BRACKETS = pattern(r"\s*\[")
_MOST_USES = 50
"""Uses of one macro of which what stands behind is looked at."""
_ELSE = pattern(r"\s*;\s*else\b")
_VALUE = pattern(r"(?:\breturn|[^=<>!]=)\s*[A-Za-z_]\w*\s*\Z")
"""A use that gives a value."""
_LAMBDA = pattern(r"[\s(]*\[[^\[\]]*\]\s*(\([^()]*\))?")


def code_macro(text: str, at: int) -> str | None:
    """What to put behind `#define NAME` for a use whose arguments begin at `(`; None when they hold no code.

    The arguments before the code are dropped: the condition, the name in messages, what is to be declared.
    """
    if text[at : at + 1] != "(":
        return None
    leading, begins = 0, at + 1
    depth, code, launches = 0, None, False
    end = None
    for step in _STEP.finditer(text, at, at + MAX_CODE):
        token = step.group()
        if token in ("(", "[", "{"):
            if depth == 1 and code is None and (token in "[{" or _IN_BRACKETS.match(text, step.end())):
                code = leading
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                end = step.start()
                break
        elif depth == 1 and token == "," and code is None:
            leading, begins = leading + 1, step.end()
        elif depth == 1 and token in (";", "<<<") and code is None:
            code = leading
        if token in ("<<<", ";"):
            launches = True
    if end is None or code is None or not launches:
        return None
    if code == leading == 0 and not text[begins:end].strip():
        return None
    names = "".join(f"smemlint_{n}, " for n in range(leading))
    written = text[begins:end]
    found = _LAMBDA.match(written)
    parameters = found.group(1) if found is not None else None
    if parameters is not None and parameters[1:-1].strip():
        return None  # it is called with what the macro knows
    runs = "__VA_ARGS__;" if found is None else "(__VA_ARGS__)();"
    if found is not None and _VALUE.search(text, max(0, at - MAX_NAMES), at):
        return f"({names}...) (__VA_ARGS__)()"
    # Most stand without a `;` or with one; in front of `else` there has to be one statement.
    alone = not _else_behind(text, at)
    return f"({names}...) {{ {runs} }}" if alone else f"({names}...) do {{ {runs} }} while (0)"


def _else_behind(text: str, at: int) -> bool:
    """Whether a use of the macro, of which one's arguments begin at a place, stands in front of an `else`."""
    name = _CALLED.search(text[max(0, at - MAX_NAMES) : at])
    if name is None:
        return False
    for use in islice(re.finditer(rf"\b{name.group(1)}\s*\(", text), _MOST_USES):
        end = matching(text[use.end() - 1 : use.end() - 1 + MAX_CODE], 0)
        if end and _ELSE.match(text, use.end() - 1 + end):
            return True
    return False


def naming_macro(text: str, at: int) -> str | None:
    """The macro that gives a function its name, of which a place is an argument:
    `void FC_FUNC_(scale, SCALE)(float *x) {`."""
    given = _GIVEN.search(text[max(0, at - MAX_NAMES) : at])
    if given is None:
        return None
    begins = at - len(given.group())
    called = _CALLED.search(text[max(0, begins - 200) : begins])
    end = matching(text[begins : begins + MAX_NAMES], 0)
    if called is None or not end or _NAMES.fullmatch(text, begins, begins + end) is None:
        return None
    name = called.group(1)
    typed = _TYPED.search(text[max(0, begins - len(name) - 100) : begins - len(name)])
    if typed is None or typed.group(1) in _NO_TYPES:
        return None
    after = opening(text, begins + end)
    closed = matching(text[after : after + MAX_CODE], 0) if text[after : after + 1] == "(" else None
    return name if closed and text[opening(text, after + closed) :][:1] in ("{", ";") else None


def opening(text: str, at: int) -> int:
    """Where the arguments of a name that ends at `at` would begin."""
    return at + skip_space(text[at : at + 200], 0)


def enclosing_calls(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Names of the calls whose arguments hold a place, innermost first, and where these arguments begin."""
    depth = 0
    for position in _brackets_before(text, at):
        bracket = text[position]
        if bracket in ")]}":
            depth += 1
            continue
        if depth == 0 and bracket == "(":
            name = _CALLED.search(text[max(0, position - 200) : position])
            if name is not None:
                yield name.group(1), position
        depth = max(0, depth - 1)


def _brackets_before(text: str, at: int) -> Iterator[int]:
    """Where brackets stand before a place, the last one first: most of those who ask want the first few."""
    first = max(0, at - MAX_CODE + 1)
    while at > first:
        begin = max(first, at - _NEAR)
        yield from reversed([b.start() for b in _BRACKET.finditer(text, begin, at)])
        at = begin


def calls_inside(text: str, at: int) -> list[tuple[str, int]]:
    """The same of the calls in the arguments of the one that begins at a place: a complaint about what stands
    in a macro's arguments has the macro's place."""
    name = _NAME.match(text, at)
    begins = opening(text, name.end()) if name is not None else at
    if name is None or text[begins : begins + 1] != "(":
        return []
    end = matching(text[begins : begins + MAX_CODE], 0)
    inside = text[: begins + (end or 0)]
    return [(m.group(1), m.end() - 1) for m in _CALL.finditer(inside, begins)]
