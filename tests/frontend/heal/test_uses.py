"""What the text around an unknown name says of it."""

from __future__ import annotations

import pytest

from smemlint.frontend.heal.uses import Problem, Uses


@pytest.mark.parametrize(
    ("text", "gone_through"),
    [
        ("for (auto x : unknown) f(x);", True),
        ("for (auto x : lib::unknown(3)) f(x);", True),
        ("for (auto x : first(of(unknown))) f(x);", True),
        ("auto some = unknown(3); for (auto x : some) f(x);", True),
        ("for (auto x : all) unknown(x);", False),
        ("for (auto x : all) f(x, unknown);", False),
        ("for (auto x : all) f(g(unknown));", False),
        ("for (auto x : all) { f(g(x, unknown)); }", False),
        ("auto some = unknown(3); for (auto x : all) f(some);", False),
    ],
)
def test_what_a_loop_goes_through_stands_in_its_own_brackets(text: str, gone_through: bool) -> None:
    problem = Problem("", "k.cu", text.index("unknown"), 1, 1)
    assert Uses(lambda _path: text.encode()).is_gone_through(problem) is gone_through
