"""Each rule's examples through the whole pipeline: it finds the conflicting ones, nothing the clean ones."""

from __future__ import annotations

import pytest
from smemlint.rules import RULES, Kernel, Rule
from smemlint.rules.words import ways_text

from smemlint.testing import findings

CONFLICTING = [pytest.param(r, e, id=f"{r.code}-{i}") for r in RULES for i, e in enumerate(r.conflicting)]
CLEAN = [pytest.param(r, e, id=f"{r.code}-{i}") for r in RULES for i, e in enumerate(r.clean)]


@pytest.mark.parametrize(("rule", "example"), CONFLICTING)
def test_a_conflicting_example_is_found_by_its_rule(rule: type[Rule], example: Kernel) -> None:
    found = findings(example)
    mine = [d for d in found if d.code == rule.code]
    assert mine, f"{[(d.code, d.title) for d in found]}\n{example.source()}"
    if example.ways > 1:
        assert ways_text(max(d.worst_ways or 0 for d in found)) == ways_text(example.ways)


@pytest.mark.parametrize(("rule", "example"), CLEAN)
def test_a_clean_example_has_no_finding_of_its_rule(rule: type[Rule], example: Kernel) -> None:
    wrong = [d for d in findings(example) if d.code == rule.code or d.code.startswith("SMEM1")]
    assert not wrong, f"{[(d.code, d.title) for d in wrong]}\n{example.source()}"
