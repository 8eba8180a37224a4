"""The kernels in `fixtures/` say on the line what is to be found there, and the whole pipeline must agree:
every
expectation is found, and every warning is expected. Notes may be expected, but need not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from smemlint.rules import Severity
from smemlint.rules.words import ways_text

from smemlint.api import Job, View, analyse_file, collect
from smemlint.diagnose.directives import Expectation, directives

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = sorted((ROOT / "fixtures").glob("**/*.cu"))

Told = tuple[int, str, str]


def expected(text: str) -> tuple[set[Told], list[Expectation]]:
    """(what the comments expect, what they leave to be done); ways '' where a comment does not tell them."""
    found = [d for d in directives(text, expectations=True) if isinstance(d, Expectation)]
    wanted = {(d.line, d.code, d.ways or "") for d in found if d.kind == "expect"}
    return wanted, [d for d in found if d.kind == "todo"]


def told(path: Path) -> tuple[set[Told], set[Told]]:
    """(warnings and errors, notes)."""
    report = collect([analyse_file(Job(str(path)))], View(level=Severity.NOTE))
    assert not report.problems
    found: tuple[set[Told], set[Told]] = (set(), set())
    for d in report.diagnostics:
        ways = ways_text(d.worst_ways) if d.worst_ways is not None else ""
        found[d.severity is Severity.NOTE].add((d.place.line, d.code, ways))
    return found


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.stem)
def test_each_finding_stands_on_its_line(path: Path) -> None:
    wanted, todo = expected(path.read_text(encoding="utf-8"))
    found, notes = told(path)
    found |= notes & wanted
    open_lines = {(d.line, d.code) for d in todo}
    found = {f for f in found if f[:2] not in open_lines}
    loose = {(line, code) for line, code, ways in wanted if not ways}
    missing = sorted(w for w in wanted - found if not (w[:2] in loose and any(f[:2] == w[:2] for f in found)))
    unexpected = sorted(f for f in found - wanted if f[:2] not in loose)
    assert not missing and not unexpected, f"missing: {missing}; unexpected: {unexpected}"


def test_what_is_left_to_do_is_counted(record_property: Callable[[str, object], None]) -> None:
    todo = Counter(d.code for path in FIXTURES for d in expected(path.read_text(encoding="utf-8"))[1])
    record_property("todo", dict(todo))
    assert todo.total() <= 0, f"the number of known errors has grown: {dict(todo)}"
