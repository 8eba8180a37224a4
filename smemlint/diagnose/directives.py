"""Comments that speak to smemlint: found in the text, read with the grammar of `grammar/directives.lark`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from smemlint.records import record
from smemlint.source.tokens import literals

if TYPE_CHECKING:
    from lark import Lark, Tree

MARK = "smemlint:"
Form = Literal["ignore", "ignore-file", "ignore-begin"]


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
    start: int
    end: int
    """Offsets in the text, in characters."""


@record(frozen=True, slots=True)
class Ignore:
    """`smemlint: ignore[...]`; `applies` is the line that it speaks about, `last` the last one of several."""

    codes: tuple[str, ...]
    reason: str
    comment: Comment
    applies: int
    last: int = 0
    form: Form = "ignore"

    @property
    def lines(self) -> str:
        """`line 7`, `lines 7 to 20`, `this file`"""
        if self.form == "ignore-file":
            return "this file"
        return f"lines {self.applies} to {self.last}" if self.last > self.applies else f"line {self.applies}"


@record(frozen=True, slots=True)
class End:
    """`smemlint: ignore-end`: the end of what `ignore-begin` began last."""

    comment: Comment


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


Directive = Ignore | Expectation | Malformed | End


def comments(text: str) -> Iterator[Comment]:
    """Yield the comments of a C++ text in order; string and character literals are skipped."""
    line, begin, last = 1, 0, 0
    found = [token for token in literals(text) if token.is_comment]
    for number, (kind, start, end) in enumerate(found):
        line += text.count("\n", last, start)
        begin = max(begin, text.rfind("\n", last, start) + 1)
        last = start
        # A neighbour on the line ends the look for other text: many comments on one line cost no more.
        before = max(begin, found[number - 1].start) if number else begin
        after = found[number + 1].end if number + 1 < len(found) else len(text)
        stop = text.find("\n", end, after)
        alone = text[before:start].isspace() or before == start
        rest = text[end : stop if stop >= 0 else after]
        alone = alone and (not rest or rest.isspace())
        body = text[start + 2 : end - 2 if kind == "block" and text.endswith("*/", start + 2, end) else end]
        lines = text.count("\n", start, end)
        yield Comment(body, line, start - begin + 1, line + lines, alone, start, end)


def directives(text: str, *, expectations: bool = False) -> Iterator[Directive]:
    """The directives of a text in order; `expect` and `todo` only when asked for."""
    if MARK not in text and not expectations:
        return
    yield from _paired(list(_directives(text, expectations)))


def _paired(found: Sequence[Directive]) -> Iterator[Directive]:
    """Give each `ignore-begin` its last line; an end or a beginning without the other is malformed."""
    open_: list[int] = []
    result: list[Directive] = list(found)
    for number, directive in enumerate(found):
        if isinstance(directive, Ignore) and directive.form == "ignore-begin":
            open_.append(number)
        elif isinstance(directive, End):
            begin = result[open_.pop()] if open_ else None
            if isinstance(begin, Ignore):
                result[result.index(begin)] = replace(begin, last=directive.comment.line)
            else:
                result[number] = Malformed(directive.comment)
    for number in open_:
        directive = result[number]
        assert isinstance(directive, Ignore)
        result[number] = Malformed(directive.comment)
    yield from (d for d in result if not isinstance(d, End))


def _directives(text: str, expectations: bool) -> Iterator[Directive]:
    found = list(comments(text))
    behind = _lines_behind(found)
    for comment in found:
        body = comment.text.strip().lstrip("/*!").strip()
        if body.startswith(MARK):
            applies = behind[comment.end_line] if comment.alone else comment.line
            yield _ignore(body, comment, applies)
        elif expectations and body.startswith(("expect:", "todo:")):
            yield from _expectations(body, comment)


def _lines_behind(found: Sequence[Comment]) -> dict[int, int]:
    """Return for each last line of a comment that stands alone the first line behind it that holds more."""
    alone = {n for c in found if c.alone for n in range(c.line, c.end_line + 1)}
    behind: dict[int, int] = {}
    for line in sorted(alone, reverse=True):
        behind[line] = behind.get(line + 1, line + 1)
    return behind


def _ignore(body: str, comment: Comment, applies: int) -> Directive:
    tree = _parse(body)
    if tree is None:
        return Malformed(comment)
    if tree.children[0].data == "end":  # type: ignore[union-attr]
        return End(comment)
    form = str(next(tree.scan_values(lambda t: getattr(t, "type", "") == "FORM")))
    codes = next(tree.find_data("codes"))
    reason = next((str(t) for t in tree.scan_values(lambda t: getattr(t, "type", "") == "REASON")), "")
    names = tuple(str(c) for c in codes.children)
    if form == "ignore-file":
        return Ignore(names, reason.strip(), comment, 1, 0, "ignore-file")
    if form == "ignore-begin":
        return Ignore(names, reason.strip(), comment, comment.line, 0, "ignore-begin")
    return Ignore(names, reason.strip(), comment, applies, applies)


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
