"""Comments that speak to smemlint."""

from __future__ import annotations

from smemlint.diagnose.directives import Expectation, Ignore, Malformed, directives


def ignores(text: str) -> list[tuple[tuple[str, ...], int]]:
    return [(d.codes, d.applies) for d in directives(text) if isinstance(d, Ignore)]


def test_a_comment_behind_code_speaks_about_its_own_line() -> None:
    assert ignores("a;\nb; // smemlint: ignore[SMEM101] read once\n") == [(("SMEM101",), 2)]


def test_a_comment_alone_speaks_about_the_next_line_of_code() -> None:
    assert ignores("// smemlint: ignore[SMEM101]\n// and why\na;\n") == [(("SMEM101",), 3)]
    assert ignores("/* smemlint: ignore[column-access] */\na;\n") == [(("column-access",), 2)]


def test_several_codes_and_names_fit_in_one_comment() -> None:
    assert ignores("a; // smemlint: ignore[SMEM101, column-access]") == [(("SMEM101", "column-access"), 1)]


def test_the_reason_is_free_text() -> None:
    (found,) = directives("a; // smemlint: ignore[SMEM101] why not [x], 3 times")
    assert isinstance(found, Ignore) and found.reason == "why not [x], 3 times"


def test_strings_and_characters_are_no_comments() -> None:
    text = 'p("// smemlint: ignore[A1]"); q(\'"\'); r(R"x(// smemlint: ignore[B1])x"); '
    text += "n = 1'000; // smemlint: ignore[C1]"
    assert ignores(text) == [(("C1",), 1)]


def test_a_comment_may_go_on_behind_a_backslash() -> None:
    assert ignores("// one \\\n two\na; // smemlint: ignore[A1]") == [(("A1",), 3)]


def test_what_the_grammar_does_not_know_is_malformed() -> None:
    for body in ("ignore", "ignore[]", "ignored[A1]", "ignore A1", "assume n == 3", ""):
        (found,) = directives(f"a; // smemlint: {body}")
        assert isinstance(found, Malformed), body


def test_expectations_are_read_only_when_asked_for() -> None:
    text = "a; // expect: SMEM101 32-way, SMEM201\nb; // todo: SMEM102 3.9-way (one day)\n"
    assert list(directives(text)) == []
    found = [
        (d.kind, d.code, d.ways, d.line)
        for d in directives(text, expectations=True)
        if isinstance(d, Expectation)
    ]
    assert found == [
        ("expect", "SMEM101", "32", 1),
        ("expect", "SMEM201", None, 1),
        ("todo", "SMEM102", "3.9", 2),
    ]


def test_an_unfinished_comment_or_string_ends_with_the_text() -> None:
    assert list(directives("smemlint: /* never closed")) == []
    assert list(directives('smemlint: "never closed\n// x')) == []
