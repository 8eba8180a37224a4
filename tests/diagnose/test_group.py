"""One finding for each cause."""

from __future__ import annotations

from dataclasses import replace

from made import diagnostic, place
from smemlint.rules import Severity

from smemlint.diagnose.group import by_cost, groups, with_groups
from smemlint.diagnose.model import Cost, Demand, Measure
from smemlint.score.load import Load

WHOLE = Demand((Load(1000, 100, 100),))


def found(line: int, wavefronts: float = 64, **changes: object) -> object:
    at = replace(place("tile[y][x]"), line=line, end_line=line)
    return diagnostic(place=at, cost=Cost(Demand((Load(wavefronts, 2, 2),)), WHOLE), **changes)


def test_places_of_one_array_and_one_cause_are_one_finding_told_by_the_costliest() -> None:
    (group,) = groups(with_groups([found(4), found(8, 640), found(9)]))
    assert group.lead.place.line == 8 and [d.place.line for d in group.others] == [4, 9]
    assert group.cost is not None and group.cost.own.wavefronts == 64 + 640 + 64


def test_what_a_range_costs_is_its_upper_end_and_says_so() -> None:
    (known,) = groups(with_groups([found(4, measure=Measure(wavefronts=64, wavefronts_low=64))]))
    (open_,) = groups(with_groups([found(4, measure=Measure(wavefronts=64, wavefronts_low=2))]))
    assert known.cost_words is not None and known.cost_words.startswith("6% of the kernel's")
    assert open_.cost_words is not None and open_.cost_words.startswith("up to 6% of the kernel's")


def test_another_array_rule_kernel_or_severity_is_another_finding() -> None:
    some = [found(4), found(5, array="other"), found(6, code="SMEM102"), found(7, kernel="k")]
    some.append(found(8, severity=Severity.NOTE))
    named = with_groups(some)
    assert len(groups(named)) == 5 and len({d.group for d in named}) == 5


def test_the_name_of_a_group_outlives_lines_that_move() -> None:
    before, after = with_groups([found(4), found(9)]), with_groups([found(40), found(90)])
    assert [d.group for d in before] == [d.group for d in after]


def test_the_costliest_findings_come_first_and_those_without_a_cost_last() -> None:
    some = with_groups([diagnostic(array="", cost=None), found(5, array="a"), found(6, 640, array="b")])
    assert [g.lead.array for g in by_cost(groups(some))] == ["b", "a", ""]
