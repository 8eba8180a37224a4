"""GitLab's code quality report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made import diagnostic, report
from smemlint.rules import Severity

from smemlint.diagnose.model import Cost, Demand, Diagnostic
from smemlint.render import render
from smemlint.score.load import Load


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")


def cost(wasted: float) -> Cost:
    return Cost(Demand((Load(wasted + 1, 1, 1),)), Demand((Load(100, 10, 10),)))


def entries(*found: Diagnostic) -> list[dict[str, object]]:
    data: list[dict[str, object]] = json.loads(render("gitlab", report(found)))
    return data


def test_an_entry_has_what_gitlab_asks_for_with_the_path_from_the_root() -> None:
    (entry,) = entries(diagnostic(cost=cost(50)))
    assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert entry["location"] == {"path": "sub/src/transpose.cu", "lines": {"begin": 10, "end": 10}}
    assert (entry["check_name"], entry["severity"]) == ("SMEM101", "major")
    assert entry["description"] == (
        "column-access: 32-way bank conflict: lanes 0..31 meet in bank 0; 32 wavefronts, 1 would do"
    )


def test_the_severity_follows_what_is_wasted() -> None:
    found = [diagnostic(cost=cost(n)) for n in (50, 10, 1)]
    found += [diagnostic(severity=s) for s in (Severity.ERROR, Severity.NOTE)]
    assert [e["severity"] for e in entries(*found)] == ["major", "minor", "info", "critical", "info"]


def test_fingerprints_differ_and_do_not_follow_lines() -> None:
    one, moved = diagnostic(), replace(diagnostic(), place=replace(diagnostic().place, line=99, end_line=99))
    assert len({e["fingerprint"] for e in entries(one, moved)}) == 2
    assert entries(one)[0]["fingerprint"] == entries(moved)[0]["fingerprint"]
