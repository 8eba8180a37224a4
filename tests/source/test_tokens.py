"""Comments, strings and characters in text."""

from __future__ import annotations

from smemlint.source.blank import blank_comments, blank_literals
from smemlint.source.tokens import literals, skip_space


def found(text: str) -> list[tuple[str, str]]:
    return [(t.kind, text[t.start : t.end]) for t in literals(text)]


def test_each_kind_begins_and_ends_where_a_compiler_says() -> None:
    text = 'a /* b */ "c\\"/*" u8R"x()")x" L\'"\' // d \\\n e\nf'
    assert found(text) == [
        ("block", "/* b */"),
        ("string", '"c\\"/*"'),
        ("raw", 'u8R"x()")x"'),
        ("character", "L'\"'"),
        ("line", "// d \\\n e"),
    ]


def test_a_digit_separator_and_an_apostrophe_are_no_characters() -> None:
    assert found("int n = 1'000'000, m = 0xF'F;") == []
    assert found("// don't\nit's") == [("line", "// don't")]


def test_a_name_that_ends_in_r_makes_no_raw_string() -> None:
    assert found('FOR"(" x)') == [("string", '"("')]
    assert found('R"(" x)"') == [("raw", 'R"(" x)"')]


def test_what_is_never_closed_ends_with_the_text_or_with_its_line() -> None:
    assert found('"a\nb /* c') == [("string", '"a'), ("block", "/* c")]
    assert found('R"x(a)" // b') == [("raw", 'R"x(a)" // b')]
    assert found("// a \\") == [("line", "// a \\")]
    assert found("x = '\\") == []


def test_blank_text_keeps_its_length_and_its_lines() -> None:
    data = 'int é; /* a\nb */ s = "x;y"; // z\n'.encode()
    blank = blank_literals(data)
    assert len(blank) == len(data) and blank.count(b"\n") == data.count(b"\n")
    assert blank.decode().split() == ["int", "é;", "s", "=", ";"]
    assert blank_comments('"/*" /* a */ 1').split() == ['"/*"', "1"]


def test_space_goes_on_through_comments() -> None:
    text = "a  /* b */ \\\n // c\n d"
    assert text[skip_space(text, 1) :] == "d"
    assert skip_space("a", 1) == 1
