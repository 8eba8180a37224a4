"""Extents as C expressions: printed with the right parentheses, in the author's spelling."""

from __future__ import annotations

import pytest

from smemlint.fix.text.expressions import parse, plus, times, value_of
from smemlint.fix.text.literals import integer


@pytest.mark.parametrize(
    ("text", "padded"),
    [
        ("32", "33"),
        ("TILE_DIM", "TILE_DIM + 1"),
        ("BM * BK", "BM * BK + 1"),
        ("A << 1", "(A << 1) + 1"),
        ("N ? 3 : 4", "(N ? 3 : 4) + 1"),
        ("A | B", "(A | B) + 1"),
        ("A - B", "A - B + 1"),
        ("X + 1", "X + 2"),
        ("16 + 1", "16 + 2"),
        ("X /* words */", "X /* words */ + 1"),
        ("X + 1 /* pad */", "X + 2 /* pad */"),
        (" N ", " N + 1 "),
        ("Traits<T>::N", "Traits<T>::N + 1"),
        ("ns::width(3)", "ns::width(3) + 1"),
        ("static_cast<int>(N)", "static_cast<int>(N) + 1"),
    ],
)
def test_an_extent_plus_one_keeps_spelling_and_precedence(text: str, padded: str) -> None:
    assert plus(text, 1) == padded


def test_taking_a_padding_back_drops_the_literal() -> None:
    assert plus("N + 1", -1) == "N"
    assert plus("17", -1) == "16"
    assert plus("N", -1) == "N - 1"


@pytest.mark.parametrize("text", ["f(", "", "a; b", "if (x)", "T<a, b>()"])
def test_what_is_no_expression_is_left_alone(text: str) -> None:
    assert plus(text, 1) is None


def test_a_factor_gets_parentheses_where_the_left_side_is_a_sum() -> None:
    assert times("A + 1", "P") == "(A + 1) * P"
    assert times("A * B", "P") == "A * B * P"


def test_literals_of_every_base_have_values() -> None:
    assert [integer(t) for t in ("0x10", "010", "1'000u", "0b11", "3L", "x")] == [16, 8, 1000, 3, 3, None]


def test_a_value_follows_names_to_their_texts() -> None:
    names: dict[str, int | str] = {"BM": 64, "BK": "BM / 8", "blockDim.x": 16}
    assert value_of("BM * BK + 1", names.get) == 513
    assert value_of("blockDim.x << 1", names.get) == 32
    assert value_of("(BM > 3) ? 1 : 2", names.get) == 1
    assert value_of("unknown + 1", names.get) is None
    assert value_of("1 / 0", names.get) is None


def test_a_name_defined_by_itself_has_no_value() -> None:
    assert value_of("a", {"a": "a"}.get) is None


def test_deep_nesting_is_no_error() -> None:
    assert parse("(" * 5000 + "1" + ")" * 5000) is None
