"""SARIF 2.1.0, with what GitHub code scanning reads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from smemlint import __version__
from smemlint.diagnose.model import Diagnostic, Problem, Report
from smemlint.fix.model import TextEdit
from smemlint.ir import Place
from smemlint.render.fingerprint import line_hashes
from smemlint.render.json import dumps, summary_data
from smemlint.render.style import PLAIN, Look
from smemlint.rules import ConflictRule, Rule, Severity, all_rules

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"


def render(report: Report, look: Look = PLAIN) -> str:
    root = repository_root(Path.cwd())
    texts = report.texts
    hashes = {path: line_hashes(text) for path, text in texts.items()}
    rules = all_rules()
    index = {rule.code: number for number, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "smemlint",
                "version": __version__,
                "semanticVersion": __version__,
                **({"informationUri": f"{look.docs}/"} if look.docs else {}),
                "rules": [_rule(rule, look.docs) for rule in rules],
            }
        },
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {ROOT: {"uri": root.as_uri().removesuffix("/") + "/"}},
        "invocations": [
            {
                "executionSuccessful": not report.problems,
                "toolExecutionNotifications": [_notification(p, root) for p in report.problems],
            }
        ],
        "results": [_result(d, index, texts, hashes, root) for d in report.diagnostics],
        "properties": {"summary": summary_data(report)}
        | ({"shard": report.shard} if report.shard is not None else {}),
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def repository_root(folder: Path) -> Path:
    """The nearest folder at or above that holds `.git`; the folder itself outside of a repository."""
    return next((f for f in (folder, *folder.parents) if (f / ".git").exists()), folder)


def _rule(rule: type[Rule], docs: str) -> dict[str, Any]:
    sections = rule.sections()
    why = next(iter(sections.values()), "")
    slow = issubclass(rule, ConflictRule)
    family = "performance" if slow else "analysis" if rule.code.startswith("SMEM9") else "correctness"
    page = rule.page or (
        f"{docs}/rules/{rule.code.lower()}/" if docs and rule.code.startswith("SMEM") else ""
    )
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary()},
        "fullDescription": {"text": " ".join(why.split()) or rule.summary()},
        "help": {"text": rule.text(), "markdown": rule.markdown()},
        **({"helpUri": page} if page else {}),
        "defaultConfiguration": {"level": rule.severity.value},
        "properties": {
            "tags": ["cuda", "shared-memory", family],
            "precision": "very-high" if rule.code.startswith("SMEM1") else "high",
            "problem.severity": {"note": "recommendation"}.get(rule.severity.value, rule.severity.value),
        },
    }


def _result(
    d: Diagnostic,
    index: Mapping[str, int],
    texts: Mapping[str, str],
    hashes: Mapping[str, list[str]],
    root: Path,
) -> dict[str, Any]:
    related: list[dict[str, Any]] = [
        {
            "id": number,
            "physicalLocation": _location(label.place, texts, root),
            "message": {"text": label.text},
        }
        for number, label in enumerate(d.also, 1)
    ]
    links = "".join(f" ([{_escaped(r['message']['text'])}]({r['id']}))" for r in related)
    advice = f" {d.fix.words}." if d.fix is not None else ""
    notes = "".join(f" {note}." for note in d.notes)
    message = f"{_plain(d.message)}{links}.{_plain(notes)}{_plain(advice)}"
    result: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": index[d.code],
        "level": d.severity.value,
        "message": {"text": message},
        "locations": [{"physicalLocation": _location(d.place, texts, root)}],
    }
    if related:
        result["relatedLocations"] = related
    lines = hashes.get(d.place.path, [])
    if d.place.line <= len(lines):
        result["partialFingerprints"] = {"primaryLocationLineHash": lines[d.place.line - 1]}
    if d.cost is not None:
        result["rank"] = round(100 * d.cost.excess_share, 1)
    if d.fix is not None and d.fix.edits:
        result["fixes"] = [_fix(d.fix.words, d.fix.edits, root)]
    result["properties"] = {
        key: value
        for key, value in {
            "group": d.group,
            "kernel": d.kernel,
            "array": d.array,
            "grade": d.grade,
            "ways": d.measure.ways,
            "waysLow": d.measure.ways_low,
            "worstWays": d.worst_ways,
            "wavefronts": d.measure.wavefronts,
            "ideal": d.measure.ideal,
            "configuration": d.configuration,
        }.items()
        if value not in (None, "")
    }
    return result


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _plain(text: str) -> str:
    """Text of the project without links: `[here](there)` would be one."""
    return _escaped(text) if "](" in text else text


def _location(place: Place, texts: Mapping[str, str], root: Path) -> dict[str, Any]:
    text = texts.get(place.path)
    return {
        "artifactLocation": _artifact(place.path, root),
        "region": {
            "startLine": place.line,
            "startColumn": _column(text, place.line, place.column),
            "endLine": place.end_line,
            "endColumn": _column(text, place.end_line, place.end_column),
        },
    }


def _artifact(path: str, root: Path) -> dict[str, str]:
    full = Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are
    try:
        return {"uri": quote(os.fsencode(full.relative_to(root).as_posix())), "uriBaseId": ROOT}
    except ValueError:
        return {"uri": full.as_uri()}


def _column(text: str | None, line: int, column: int) -> int:
    """A column in bytes as one in UTF-16 units, both from 1."""
    if text is None:
        return column
    lines = _lines(text)
    if line > len(lines):
        return column
    before = lines[line - 1].encode("utf-8", errors="replace")[: column - 1]
    return len(before.decode("utf-8", errors="replace").encode("utf-16-le")) // 2 + 1


@cache
def _lines(text: str) -> list[str]:
    return text.split("\n")


def _fix(words: str, edits: tuple[TextEdit, ...], root: Path) -> dict[str, Any]:
    changes = []
    for path in dict.fromkeys(e.path for e in edits):
        replacements = [
            {
                "deletedRegion": {"byteOffset": e.offset, "byteLength": e.end_offset - e.offset},
                "insertedContent": {"text": e.replacement},
            }
            for e in edits
            if e.path == path
        ]
        changes.append({"artifactLocation": _artifact(path, root), "replacements": replacements})
    return {"description": {"text": words}, "artifactChanges": changes}


def _notification(problem: Problem, root: Path) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": _artifact(problem.path, root)}
    if problem.line:
        location["region"] = {"startLine": problem.line, "startColumn": max(1, problem.column)}
    notification: dict[str, Any] = {"level": Severity.ERROR.value, "message": {"text": problem.message}}
    if problem.path:
        notification["locations"] = [{"physicalLocation": location}]
    return notification
