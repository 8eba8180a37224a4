"""Each reason that a test of this room meets is held against the text, the traces and all layouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from held_reasons.case import UNCHECKED, Case
from held_reasons.claims import verdicts

from smemlint.running import pipeline


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "other_work: the test changes what work counts for")


@pytest.fixture(autouse=True)
def reasons_are_true(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """What is said of every array without an edit in a file that the test examines is so."""
    seen: list[Any] = []
    examine = pipeline._examined

    def noting(*arguments: Any) -> Any:
        found = examine(*arguments)
        seen.append(found)
        return found

    monkeypatch.setattr(pipeline, "_examined", noting)
    yield
    monkeypatch.undo()
    if request.node.get_closest_marker("other_work"):
        return
    cases = [
        Case(fix, found)
        for found in seen
        for fix in getattr(found, "suggestions", {}).values()
        if fix.refused is not None
    ]
    for case in cases:
        wrong = [(said, why) for said, why in verdicts(case) if why and not why.startswith(UNCHECKED)]
        assert not wrong, f"{case.name} in {case.path}: {wrong}"
