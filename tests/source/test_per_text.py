"""Answers are kept for texts that were asked of before, as far as they are not too many."""

from __future__ import annotations

from smemlint.source import per_text


def test_a_text_is_asked_of_once_and_the_longest_unused_goes_first() -> None:
    asked: list[str] = []

    @per_text.per_text
    def length(text: str) -> int:
        asked.append(text[:1])
        return len(text)

    third = per_text.MOST // 3
    a, b, c, d = (letter * third for letter in "abcd")
    assert [length(a), length(b), length(a), length(c)] == [third] * 4
    assert asked == ["a", "b", "c"]
    length(d)  # b is the longest unused
    assert [length(a), length(c), length(d)] == [third] * 3 and asked == ["a", "b", "c", "d"]
    length(b)
    assert asked == ["a", "b", "c", "d", "b"]


def test_a_text_that_is_larger_than_all_that_is_kept_gets_its_answer() -> None:
    large = b"x" * (per_text.MOST + 1)
    of = per_text.per_text(len)
    assert of(large) == of(large) == len(large)
