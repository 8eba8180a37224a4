"""The clock of the speed report."""

from __future__ import annotations

import time
from importlib import import_module
from types import ModuleType

import pytest


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_time_of_a_callee_is_not_its_callers(speed: ModuleType) -> None:
    clock = speed.Clock()
    inner = clock.wrap("inner", lambda: spin(0.05))
    outer = clock.wrap("outer", lambda: (spin(0.01), inner()))
    outer()
    assert clock.spent["inner"] >= 0.05
    assert clock.spent["outer"] < clock.spent["inner"]


def test_every_stage_that_is_timed_exists(speed: ModuleType) -> None:
    for stage, module, function in speed.STAGES:
        assert callable(getattr(import_module(module), function)), stage


def test_the_report_names_every_stage(
    speed: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _, module, function in speed.STAGES:
        monkeypatch.setattr(f"{module}.{function}", getattr(import_module(module), function))
    monkeypatch.setattr(speed, "start_up", lambda repeat: {"Python and numpy": 0.1, "clean": 0.3})
    assert speed.main([str(speed.ROOT / "fixtures" / "transpose.cu"), "--repeat", "1"]) == 0
    out = capsys.readouterr().out
    assert all(stage in out for stage in ("parse", "lower", "evaluate", "score", "render"))
    assert "clean                         300 ms  3.00" in out
