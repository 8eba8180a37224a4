"""Macros expanded as text: what the parameters of a macro stand for where a cursor stands in its body.

clang tells where a macro is used from outside all macros, and where in a definition a token is spelled, but
not which use of the macro that was when one macro uses another.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import field

from smemlint.patterns import pattern
from smemlint.records import record

_PART = pattern(
    r"""(?:u8|[uUL])?(?:R"(?P<raw>[^()\s\\]{0,16})\(.*?\)(?P=raw)"|"(?:[^"\\\n]|\\.)*")|'(?:[^'\\]|\\.)'
    |(?P<text>(?<!\#)\#\s*(?P<named>[A-Za-z_]\w*))|(?P<word>[A-Za-z_]\w*)""",
    re.VERBOSE | re.DOTALL,
)
"""A literal, in which no macro is replaced, `#x`, which makes one, or a word."""
DEFINE = pattern(
    r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(\(([^)]*)\))?((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE
)
"""A definition of a macro: its name, what stands in round brackets, the parameters, the body."""
_MARK = pattern(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)'|[()\[\]{}<,]|(?<!-)>""")
ANGLES = "([{<", ")]}>"
"""The brackets of types."""
_DEPTH = 8
LONGEST = 400_000
"""Characters that a text is expanded to."""
_MOST = 400
"""Uses that are followed below one outermost use."""


@record(frozen=True, slots=True)
class Macro:
    """A `#define` as text; parameters None for an object-like one."""

    name: str
    parameters: tuple[str, ...] | None
    body: str


@record(slots=True)
class Uses:
    """Every use of a function-like macro below an outermost one, in the order of the text: what its
    parameters are given. places: raw locations at which a token of a definition, by offset, was met."""

    given: dict[str, list[Mapping[str, str]]] = field(default_factory=dict)
    places: dict[tuple[str, int], list[int]] = field(default_factory=dict)

    def arguments(self, name: str, token: tuple[str, int], raw: int) -> Mapping[str, str] | None:
        """Of the use of `name` that a token stands in: the nth place of a token belongs to the nth use."""
        uses = self.given.get(name, [])
        met = self.places.setdefault(token, [])
        if raw not in met:
            met.append(raw)
        at = met.index(raw)
        return uses[at] if at < len(uses) else None


def macro_of(name: str, call: str, parameters: str, body: str) -> Macro:
    """The macro that a definition makes."""
    names = tuple(p.strip() for p in parameters.split(",")) if call else None
    return Macro(name, names, body.replace("\\\r\n", " ").replace("\\\n", " ").strip())


def uses_below(text: str, macros: Mapping[str, Macro]) -> Uses:
    """What the text of an outermost use (`LAUNCH(128, float)`) expands to, as far as macros use macros."""
    found = Uses()
    _expand(text, macros, found, 0)
    return found


def put_in(body: str, given: Mapping[str, str], replaced: Mapping[str, str] | None = None) -> str:
    """The body with its parameters replaced, `#x` made a string, `##` joined. replaced: the same with macros
    replaced, for parameters that stand beside neither."""

    def filled(part: re.Match[str]) -> str:
        if part["text"] and part["named"] in given:
            written = " ".join(given[part["named"]].split())
            return '"' + written.replace("\\", "\\\\").replace('"', '\\"') + '"'
        beside = body[: part.start()].rstrip()[-2:], body[part.end() :].lstrip()[:2]
        found = given if replaced is None or "##" in beside else replaced
        return found.get(part.group(), part.group())

    return re.sub(r"\s*##\s*", "", _PART.sub(filled, body))


def _word(text: str, at: int) -> re.Match[str] | None:
    """The next word from an offset on that stands in no literal."""
    return next((part for part in _PART.finditer(text, at) if part["word"]), None)


def expanded(text: str, macros: Mapping[str, Macro]) -> str:
    """What a text becomes where macros use macros, as deep and as long as that is bearable."""
    return _text_of(text, macros, [LONGEST], 0)


def _text_of(text: str, macros: Mapping[str, Macro], left: list[int], depth: int) -> str:
    parts: list[str] = []
    at = 0
    while depth < _DEPTH and left[0] > 0 and (word := _word(text, at)) is not None:
        parts.append(text[at : word.start()])
        at = word.end()
        macro = macros.get(word.group())
        call = _arguments(text, at) if macro is not None and macro.parameters is not None else None
        if macro is None or (macro.parameters is not None and call is None) or macro.body == text:
            parts.append(word.group())
            continue
        body = macro.body
        if call is not None and macro.parameters is not None:
            given, at = given_to(macro.parameters, call[0]), call[1]
            body = put_in(body, given, {n: _text_of(v, macros, left, depth + 1) for n, v in given.items()})
        left[0] -= len(body)
        parts.append(_text_of(body, macros, left, depth + 1))
    return "".join((*parts, text[at:]))


def uses_of(names: Container[str], code: str, macros: Mapping[str, Macro]) -> Iterator[str]:
    """The uses in some code of macros that are of these names, or are given one: `FOR_EACH_TYPE(DECLARE)`."""
    at = 0
    while (word := _word(code, at)) is not None:
        at = word.end()
        macro = macros.get(word.group())
        if macro is None:
            continue
        call = _arguments(code, at) if macro.parameters is not None else None
        given = re.findall(r"[A-Za-z_]\w*", " ".join(call[0])) if call is not None else ()
        if word.group() in names or any(name in names for name in given):
            at = call[1] if call is not None else at
            yield code[word.start() : at]


def _expand(text: str, macros: Mapping[str, Macro], found: Uses, depth: int) -> None:
    at = 0
    while depth < _DEPTH and (word := _word(text, at)) is not None:
        at = word.end()
        macro = macros.get(word.group())
        if macro is None or sum(map(len, found.given.values())) > _MOST:
            continue
        if macro.parameters is None:
            if macro.body != text:
                _expand(macro.body, macros, found, depth + 1)
            continue
        call = _arguments(text, at)
        if call is None:
            continue
        arguments, at = call
        given = given_to(macro.parameters, arguments)
        found.given.setdefault(macro.name, []).append(given)
        _expand(put_in(macro.body, given), macros, found, depth + 1)


def given_to(parameters: Sequence[str], arguments: Sequence[str]) -> dict[str, str]:
    """What each parameter of a macro stands for in a use."""
    given: dict[str, str] = {}
    for i, name in enumerate(parameters):
        if name.endswith("..."):
            given[name[:-3].strip() or "__VA_ARGS__"] = ", ".join(arguments[i:])
        elif i < len(arguments):
            given[name] = arguments[i]
    return given


def _arguments(text: str, at: int) -> tuple[list[str], int] | None:
    """The arguments of `(a, b)` that begins at an offset, and where it ends."""
    while at < len(text) and text[at] in " \t\r\n\\":
        at += 1
    return listed(text, at) if text[at : at + 1] == "(" else None


def listed(
    text: str, at: int = 0, brackets: tuple[str, str] = ("([{", ")]}")
) -> tuple[list[str], int] | None:
    """What stands in the brackets that open at an offset, cut at commas outside of further ones, and where
    they end. In brackets of a template's argument `<` and `>` compare."""
    parts: list[str] = []
    opened, begin = "", at + 1
    for mark in _MARK.finditer(text, at):
        sign = mark.group()
        if sign in "<>" and any(inner in opened for inner in ("<(", "<[", "<{")):
            continue
        if sign in brackets[0]:
            opened += sign
        elif sign in brackets[1]:
            opened = (opened if sign == ">" else opened.rstrip("<"))[:-1]
        if not opened or (len(opened) == 1 and sign == ","):
            parts.append(text[begin : mark.start()].strip())
            begin = mark.end()
        if not opened:
            return parts, mark.end()
    return None
