"""What tokens hold, by their brackets."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from smemlint.fix.text import brackets
from smemlint.fix.text.source import Source, Token


def code(text: str) -> list[Token]:
    return Source("t.cu", text.encode()).code


def expression(text: str) -> list[Token]:
    return code(text)[:-2]


def written(parts: Sequence[Sequence[Token]]) -> list[str]:
    return ["".join(t.text for t in part) for part in parts]


@pytest.mark.parametrize(
    ("text", "parts"),
    [("a + (b + c)", ["a", "(b+c)"]), ("f(x, y), {1, 2}", ["f(x,y),{1,2}"]), ("+ a", ["", "a"])],
)
def test_marks_inside_of_brackets_part_nothing(text: str, parts: list[str]) -> None:
    assert written(brackets.split(expression(text), "+")) == parts
    assert brackets.outside(expression(text), ("+",)) == (len(parts) > 1)


def test_only_parentheses_around_everything_are_left_out() -> None:
    assert written([brackets.bare(expression("((a + b))"))]) == ["a+b"]
    assert written([brackets.bare(expression("(a) + (b)"))]) == ["(a)+(b)"]
    assert brackets.inside(expression("(a)[0]")) is None
    assert brackets.inside(expression("()")) == []


def test_an_initialiser_ends_at_its_mark_or_where_the_call_around_it_does() -> None:
    for text, end in (("x = f(a, b), c;", ","), ("g(x = a[1, 2]) + 1;", ")")):
        tokens = code(text)
        first = [t.text for t in tokens].index("=") + 1
        last = brackets.end_of(tokens, first, len(tokens), ",", ";")
        assert tokens[last].text == end


def test_brackets_around_a_token_are_told_from_the_inside_as_far_as_its_statement_goes() -> None:
    tokens = code("{ h(0); f(g(1), t[(i)]); }")
    i = [t.text for t in tokens].index("i")
    opened = list(brackets.around(tokens, i))
    assert [tokens[n - 1].text for n in opened] == ["[", "t", "f"]
    assert brackets.parenthesis_around(tokens, i) == opened[0]
    assert tokens[brackets.opening_bracket(tokens[: i + 3]) - 1].text == "t"


def test_arguments_are_found_with_their_positions() -> None:
    source = Source("t.cu", b"f(a, g(b, c), );")
    parts, end = brackets.arguments(source, 1)
    assert source.code[end].text == ")" and len(parts) == 3
    assert brackets.argument_texts(source, 1) == ["a", "g(b, c)"]
    assert [brackets.position_in(parts, n) for n in (2, 6, 8)] == [0, 1, 1]
