"""SARIF: the shape that the standard allows, and what GitHub code scanning needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from made import TRANSPOSE, array, diagnostic, place, report
from smemlint.rules import RULES, Severity

from smemlint.diagnose.model import Problem, Report
from smemlint.fix.model import Suggestion, TextEdit
from smemlint.render import render
from smemlint.render.style import Look

SUBSET = json.loads(Path(__file__).with_name("sarif_subset.json").read_text(encoding="utf-8"))


def run_of(made: Report) -> dict[str, Any]:
    log = json.loads(render("sarif", made))
    jsonschema.Draft7Validator(SUBSET).validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


def test_an_empty_report_is_valid() -> None:
    run = run_of(report())
    assert run["results"] == []
    assert run["invocations"][0] == {"executionSuccessful": True, "toolExecutionNotifications": []}


def test_every_rule_brings_its_documentation() -> None:
    rules = run_of(report())["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == [r.code for r in RULES]
    assert all("## Use instead" in r["help"]["markdown"] for r in rules)


def test_a_result_points_at_its_rule_its_place_and_the_declaration() -> None:
    run = run_of(report([diagnostic()]))
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "SMEM101"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"].endswith("src/transpose.cu")
    assert location["region"] == {"startLine": 10, "startColumn": 25, "endLine": 10, "endColumn": 55}
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 5
    assert "(1)" in result["message"]["text"]


def test_the_fingerprint_is_that_of_the_line_not_of_its_number() -> None:
    moved = "// one more line\n" + TRANSPOSE
    first = run_of(report([diagnostic()]))["results"][0]["partialFingerprints"]
    later = diagnostic(place=place("tile[threadIdx.x][threadIdx.y]", moved), also=())
    second = run_of(report([later], text=moved))["results"][0]["partialFingerprints"]
    assert first == second


def test_columns_count_utf16_units() -> None:
    text = "/* \N{SNOWMAN} \N{GRINNING FACE} */ s[i] = 0;\n"
    one = diagnostic(place=place("s[i]", text), also=())
    region = run_of(report([one], text=text))["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert (region["startColumn"], region["endColumn"]) == (12, 16)


def test_uris_are_relative_to_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub dir").mkdir()
    monkeypatch.chdir(tmp_path / "sub dir")
    run = run_of(report([diagnostic()]))
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "sub%20dir/src/transpose.cu"
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == tmp_path.as_uri() + "/"


def test_failed_files_are_notifications() -> None:
    run = run_of(report(problems=[Problem("a b.cu", "unbalanced braces", 3, 4)]))
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "unbalanced braces"
    assert notification["locations"][0]["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 4}


def test_an_edit_becomes_a_fix() -> None:
    edits = (TextEdit("src/transpose.cu", 170, 175, "33"), TextEdit("src/tile.cuh", 1, 1, "+"))
    fix = Suggestion("padding", array(), "pad the row", edits, None, True, ())
    changes = run_of(report([diagnostic(fix=fix)]))["results"][0]["fixes"][0]["artifactChanges"]
    assert [len(c["replacements"]) for c in changes] == [1, 1]
    assert changes[0]["replacements"][0]["deletedRegion"] == {"byteOffset": 170, "byteLength": 5}


def test_severities_become_levels() -> None:
    every = [diagnostic(severity=s) for s in Severity]
    assert [r["level"] for r in run_of(report(every))["results"]] == ["note", "warning", "error"]


def test_each_rule_links_to_its_page_where_the_site_is_known() -> None:
    def rules(docs: str) -> dict[str, Any]:
        driver = json.loads(render("sarif", report(), Look(docs=docs)))["runs"][0]["tool"]["driver"]
        assert ("informationUri" in driver) == bool(docs)
        return {rule["id"]: rule.get("helpUri") for rule in driver["rules"]}

    assert rules("https://example.org/smemlint")["SMEM101"] == "https://example.org/smemlint/rules/smem101/"
    assert set(rules("").values()) == {None}
