"""An object is asked about once while it is remembered, and equal ones are not taken for each other."""

from __future__ import annotations

import pytest

from smemlint.ir import memo


def test_each_object_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "MOST", 2)
    asked: list[list[int]] = []

    @memo.by_identity
    def length(node: list[int]) -> int:
        asked.append(node)
        return len(node)

    one, twin, other = [1], [1], [1, 2]
    assert [length(n) for n in (one, twin, one, twin)] == [1, 1, 1, 1]
    assert len(asked) == 2
    assert (length(other), length(twin), length(one)) == (2, 1, 1)
    assert asked[2:] == [other, one]
