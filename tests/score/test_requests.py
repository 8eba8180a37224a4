"""What requests cost is worked out once, however often a search for layouts asks."""

import numpy as np
import pytest

from smemlint.score import requests
from smemlint.score.requests import Access, costs

ROW = np.arange(32, dtype=np.int64)[None, :]


def test_the_same_requests_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Access] = []
    real = requests._costs

    def counted(access: Access, *lanes: object) -> requests.Costs:
        asked.append(access)
        return real(access, *lanes)  # type: ignore[arg-type]

    monkeypatch.setattr(requests, "_costs", counted)
    monkeypatch.setattr(requests, "_KEPT", requests._Kept())
    word = Access("load", 4)
    for _ in range(2):
        assert costs(word, ROW * 8, None).high.tolist() == [2]
        assert costs(word, ROW * 4, None).high.tolist() == [1]
    assert costs(word, ROW * 8, ROW >= 0).low.tolist() == [1]
    assert costs(Access("store", 4), ROW * 8, None).high.tolist() == [2]
    assert len(asked) == 4


def test_what_is_remembered_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        costs(Access("load", 4), ROW * 8, None).high[0] = 1


def test_only_so_many_requests_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = requests._Kept()
    monkeypatch.setattr(kept, "MOST_ROWS", 8)
    for stride in range(100):
        assert kept.of(Access("load", 4), ROW * 4 * stride, None).ideal.tolist() == [1]
        assert kept.rows <= 9
