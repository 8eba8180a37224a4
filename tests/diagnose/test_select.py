"""Which findings are shown."""

from __future__ import annotations

from made import diagnostic
from smemlint.rules import RULES, Severity

from smemlint.diagnose.select import selected_rules, visible

FOUND = [
    diagnostic(),
    diagnostic(code="SMEM107", name="run-time-stride", severity=Severity.NOTE),
    diagnostic(code="SMEM901", name="unresolved-access", severity=Severity.NOTE),
    diagnostic(code="SMEM201", name="unused-shared-array"),
]


def shown(
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    level: Severity = Severity.WARNING,
    unresolved: bool = False,
) -> list[str]:
    found, _ = visible(FOUND, select=select, ignore=ignore, level=level, show_unresolved=unresolved)
    return [d.code for d in found]


def test_notes_are_counted_and_not_shown() -> None:
    found, hidden = visible(FOUND, select=(), ignore=(), level=Severity.WARNING, show_unresolved=False)
    assert [d.code for d in found] == ["SMEM101", "SMEM201"] and hidden == 2


def test_the_level_lowers_the_bar_for_all() -> None:
    assert shown(level=Severity.NOTE) == [d.code for d in FOUND]


def test_unresolved_accesses_are_shown_on_demand() -> None:
    assert shown(unresolved=True) == ["SMEM101", "SMEM901", "SMEM201"]
    assert shown(select=("SMEM1",), unresolved=True) == ["SMEM101", "SMEM901"]


def test_rules_are_chosen_by_code_start_of_code_or_name() -> None:
    assert shown(select=("SMEM2",)) == ["SMEM201"]
    assert shown(select=("column-access",)) == ["SMEM101"]
    assert shown(ignore=("SMEM101", "unused-shared-array")) == []
    assert shown(select=("SMEM901",)) == ["SMEM901"]


def test_a_family_in_select_does_not_bring_its_possible_conflicts() -> None:
    assert shown(select=("SMEM1",)) == ["SMEM101"]


def test_all_means_all() -> None:
    assert selected_rules(("ALL",), ()) == {r.code for r in RULES}
    assert shown(select=("ALL",)) == ["SMEM101", "SMEM201"]
