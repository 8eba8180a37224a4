"""What the tests of this folder share."""

from __future__ import annotations

from typing import Any

import pytest

from smemlint.ir import Launch
from smemlint.running import instances


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """The launches that are evaluated from now on, in this process."""
    seen: list[Launch] = []
    real = instances.evaluate

    def evaluate(module: Any, kernel: Any, launch: Launch, *more: Any, **named: Any) -> Any:
        seen.append(launch)
        return real(module, kernel, launch, *more, **named)

    monkeypatch.setattr(instances, "evaluate", evaluate)
    return seen
