"""Findings that are accepted, new ones, worse ones and those that are gone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made import diagnostic, place

from smemlint.diagnose.baseline import Baseline, BaselineError, compared, read, written
from smemlint.diagnose.model import Diagnostic, Measure

PATH = "src/transpose.cu"


def found(line: int = 10, ways: float = 32.0, expression: str = "tile[x][y]") -> Diagnostic:
    at = replace(place("tile[threadIdx.x][threadIdx.y]"), line=line)
    return diagnostic(place=at, measure=Measure(ways, ways, ways, None, None, None), expression=expression)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / PATH).write_text("")
    return tmp_path


def baseline(folder: Path, *accepted: Diagnostic) -> Baseline:
    path = folder / "base.json"
    path.write_text(written(accepted, path), encoding="utf-8")
    return read(path)


def test_what_is_accepted_is_left_out_wherever_its_line_has_moved(folder: Path) -> None:
    known = baseline(folder, found(10), found(12, expression="tile[y][x]"))
    assert compared([found(40), found(50, expression="tile[y][x]")], known, [PATH]) == (
        [],
        [found(40), found(50, expression="tile[y][x]")],
        [],
    )


def test_a_second_finding_of_the_same_words_is_new(folder: Path) -> None:
    new, accepted, stale = compared([found(10), found(11)], baseline(folder, found(10)), [PATH])
    assert ([d.place.line for d in new], [d.place.line for d in accepted], stale) == ([11], [10], [])


def test_a_conflict_that_became_worse_is_new_and_one_that_became_better_is_not(folder: Path) -> None:
    known = baseline(folder, found(ways=8.0))
    assert [d.worst_ways for d in compared([found(ways=16.0)], known, [PATH])[0]] == [16.0]
    assert compared([found(ways=4.0)], known, [PATH]) == ([], [found(ways=4.0)], [])


def test_an_entry_that_nothing_matches_is_stale_where_its_file_was_checked_or_is_gone(folder: Path) -> None:
    known = baseline(folder, found())
    assert [e.what for e in compared([], known, [PATH])[2]] == ["tile[x][y]"]
    assert compared([], known, ["src/other.cu"])[2] == []
    (folder / PATH).unlink()
    assert len(compared([], known, ["src/other.cu"])[2]) == 1


def test_paths_are_those_from_the_folder_of_the_baseline(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = baseline(folder, found())
    assert [e.path for e in known.entries] == [PATH]
    monkeypatch.chdir(folder / "src")
    here = replace(found(), place=replace(found().place, path="transpose.cu"))
    assert compared([here], known, ["transpose.cu"]) == ([], [here], [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "{}",
        '{"version": 2, "findings": []}',
        '{"version": 1, "findings": [{}]}',
        "[" * 99_999,
    ],
)
def test_a_file_that_is_no_baseline_is_named(folder: Path, text: str) -> None:
    (folder / "base.json").write_text(text)
    with pytest.raises(BaselineError, match=r"base\.json: "):
        read(folder / "base.json")


def test_the_file_has_no_line_numbers_and_a_stable_order(folder: Path) -> None:
    rows = json.loads(written([found(30), found(10, 4.0), found(20)], folder / "b.json"))["findings"]
    assert [(r["ways"], r["count"]) for r in rows] == [(4.0, 1), (32.0, 2)]
    assert set(rows[0]) == {"path", "code", "kernel", "array", "what", "ways", "count"}
