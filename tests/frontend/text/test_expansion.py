"""Macros expanded as text."""

from __future__ import annotations

from smemlint.frontend.text.expansion import Macro, expanded

MACROS = {
    m.name: m
    for m in (
        Macro("WIDTH", None, "16"),
        Macro("STR_", ("x",), "#x"),
        Macro("STR", ("x",), "STR_(x)"),
        Macro("CAT", ("a", "b"), "a ## b"),
        Macro("SECOND", ("a", "b"), "b"),
    )
}


def test_a_parameter_behind_a_hash_becomes_a_string_as_it_is_written() -> None:
    assert expanded("STR_(WIDTH) STR(WIDTH)", MACROS) == '"WIDTH" "16"'


def test_what_is_joined_is_not_replaced_before() -> None:
    assert expanded("CAT(WIDTH, 1)", MACROS) == "WIDTH1"


def test_no_macro_is_replaced_in_a_literal_and_no_argument_ends_there() -> None:
    assert expanded('SECOND("a, (WIDTH", "WIDTH")', MACROS) == '"WIDTH"'
