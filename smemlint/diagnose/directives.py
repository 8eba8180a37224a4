"""Comments that speak to smemlint: found in the text, read with the grammar of `grammar/directives.lark`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal

from smemlint.patterns import pattern
from smemlint.records import record

if TYPE_CHECKING:
    from lark import Lark, Tree

MARK = "smemlint:"
_TOKENS = pattern(
    r"""//(?P<line>(?:[^\\\n]|\\\r?\n|\\.)*)"""
    r"""|/\*(?P<block>.*?)(?:\*/|\Z)"""
    r"""|R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)\""""
    r"""|"(?:[^"\\\n]|\\.)*"?"""
    r"""|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)*'?""",
    re.DOTALL,
)


@record(frozen=True, slots=True)
class Comment:
    """line and column (from 1, in characters) are those of its first character.

    alone: nothing else stands on its line.
    """

    text: str
    line: int
    column: int
    end_line: int
    alone: bool


@record(frozen=True, slots=True)
class Ignore:
    """`smemlint: ignore[...]`; `applies` is the line that it speaks about."""

    codes: tuple[str, ...]
    reason: str
    comment: Comment
    applies: int


@record(frozen=True, slots=True)
class Expectation:
    """`expect:` and `todo:` in test files. ways: None where none are written."""

    kind: Literal["expect", "todo"]
    code: str
    ways: str | None
    line: int


@record(frozen=True, slots=True)
class Malformed:
    """A `smemlint:` comment that the grammar does not know."""

    comment: Comment


Directive = Ignore | Expectation | Malformed


def comments(text: str) -> Iterator[Comment]:
    """The comments of a C++ text; string and character literals are skipped."""
    line, last = 1, 0
    for match in _TOKENS.finditer(text):
        body = match["line"] if match["line"] is not None else match["block"]
        if body is None:
            continue
        start, end = match.span()
        line += text.count("\n", last, start)
        last = start
        begin = text.rfind("\n", 0, start) + 1
        stop = text.find("\n", end)
        rest = text[end : stop if stop >= 0 else len(text)]
        alone = not text[begin:start].strip() and not rest.strip()
        yield Comment(body, line, start - begin + 1, line + text.count("\n", start, end), alone)


def directives(text: str, *, expectations: bool = False) -> Iterator[Directive]:
    """The directives of a text in order; `expect` and `todo` only when asked for."""
    if MARK not in text and not expectations:
        return
    found = list(comments(text))
    alone = {n for c in found if c.alone for n in range(c.line, c.end_line + 1)}
    for comment in found:
        body = comment.text.strip().lstrip("/*!").strip()
        if body.startswith(MARK):
            applies = comment.line
            if comment.alone:
                applies = comment.end_line + 1
                while applies in alone:
                    applies += 1
            yield _ignore(body, comment, applies)
        elif expectations and body.startswith(("expect:", "todo:")):
            yield from _expectations(body, comment)


def _ignore(body: str, comment: Comment, applies: int) -> Directive:
    tree = _parse(body)
    if tree is None:
        return Malformed(comment)
    codes = next(tree.find_data("codes"))
    reason = next((str(t) for t in tree.scan_values(lambda t: getattr(t, "type", "") == "REASON")), "")
    return Ignore(tuple(str(c) for c in codes.children), reason.strip(), comment, applies)


def _expectations(body: str, comment: Comment) -> Iterator[Directive]:
    tree = _parse(body)
    if tree is None:
        yield Malformed(comment)
        return
    kind: Literal["expect", "todo"] = "expect" if body.startswith("expect:") else "todo"
    for node in sorted(tree.find_data("expectation"), key=lambda t: t.meta.start_pos):
        code, ways = node.children
        yield Expectation(kind, str(code), str(ways).removesuffix("-way") if ways else None, comment.line)


def _parse(body: str) -> Tree[object] | None:
    from lark.exceptions import UnexpectedInput

    try:
        return _grammar().parse(body)  # type: ignore[return-value]
    except UnexpectedInput:
        return None


@cache
def _grammar() -> Lark:
    from importlib.resources import files

    from lark import Lark

    text = (files("smemlint.grammar") / "directives.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", maybe_placeholders=True, propagate_positions=True)
