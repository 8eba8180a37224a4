"""The rules as documentation, and their causes told from hand-made costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from made import analysis, array, conflict
from smemlint.rules import CONFLICT_RULES, RULES, ConflictRule, Rule, Severity, find_rule, matches
from smemlint.rules.base import OTHER_HEADINGS, SLOW_HEADINGS

from smemlint.diagnose.observe import explain
from smemlint.evaluate.model import Grade
from smemlint.render.rules_page import page
from smemlint.score.model import Conflict, KernelAnalysis, Stride

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.code)
def test_a_rule_documents_itself_under_fixed_headings(rule: type[Rule]) -> None:
    assert rule.summary().endswith(".")
    expected = SLOW_HEADINGS if issubclass(rule, ConflictRule) else OTHER_HEADINGS
    assert tuple(rule.sections()) == expected
    assert all(rule.sections().values())
    assert rule.name == rule.name.lower() and " " not in rule.name


@pytest.mark.parametrize("rule", CONFLICT_RULES, ids=lambda r: r.code)
def test_a_conflict_rule_has_examples_of_both_kinds(rule: ConflictRule) -> None:
    assert rule.conflicting and rule.clean
    assert all(e.ways >= 2 for e in rule.conflicting) and all(e.ways == 1 for e in rule.clean)


def test_codes_and_names_are_unique_and_in_order() -> None:
    codes = [r.code for r in RULES]
    assert codes == sorted(set(codes)) and len({r.name for r in RULES}) == len(RULES)


def test_a_rule_is_found_by_code_or_name_in_any_case() -> None:
    assert find_rule("smem101") is find_rule("Column-Access") is RULES[0]
    assert find_rule("SMEM1") is None
    assert matches(RULES[0], "SMEM1") and matches(RULES[0], "ALL") and not matches(RULES[0], "S")


def test_the_page_of_rules_is_up_to_date() -> None:
    assert (DOCS / "rules.md").read_text(encoding="utf-8") == page(), "run `just docs`"


def test_listing_the_rules_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; from smemlint.cli import main; main(['rules']); main(['explain', 'SMEM101']);"
        "heavy = ('numpy', 'clang', 'lark', 'rich', 'pycparser');"
        "print([m for m in heavy if m in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path)
    assert done.stderr.strip() == "[]"


def cause(one: Conflict, kernel: KernelAnalysis | None = None) -> str:
    explained = explain(one, kernel or analysis(one))
    assert explained is not None
    return explained[0]


def test_rows_of_128_bytes_are_a_column_access() -> None:
    assert cause(conflict([128 * i for i in range(32)], 32)) == "SMEM101"


def test_a_flat_tile_is_a_column_access_by_its_step() -> None:
    one = conflict([128 * i for i in range(32)], 32)
    assert cause(one, analysis(one, arrays=[array((1024,))])) == "SMEM101"


def test_a_narrow_square_tile_read_by_columns_is_a_column_access() -> None:
    one = conflict([64 * (i % 16) + 4 * (i // 16) for i in range(32)], 8)
    assert cause(one, analysis(one, arrays=[array((16, 16))], block=(16, 16, 1))) == "SMEM101"


def test_an_even_step_in_one_dimension_is_a_power_of_two_stride() -> None:
    one = conflict([8 * i for i in range(32)], 2)
    assert cause(one, analysis(one, arrays=[array((64,))])) == "SMEM102"


def test_sixteen_wide_rows_of_pitch_seventeen_are_narrow_block_rows() -> None:
    one = conflict([68 * (i // 16) + 4 * (i % 16) for i in range(32)], 2)
    assert cause(one, analysis(one, arrays=[array((16, 17))], block=(16, 16, 1))) == "SMEM103"


def test_one_member_of_each_struct_is_a_struct_stride() -> None:
    one = conflict([16 * i + 12 for i in range(32)], 4)
    assert cause(one, analysis(one, arrays=[array((32,), 16, type="Body")])) == "SMEM104"


def test_a_wide_access_with_gaps_is_a_phase_conflict() -> None:
    one = conflict([32 * i for i in range(32)], 8, 4, op="store", width=16)
    assert cause(one, analysis(one, arrays=[array((64,), 16)])) == "SMEM105"


def test_groups_of_a_wide_access_that_could_share_a_pass_are_a_note() -> None:
    few = [8 * i if i % 4 == 0 else None for i in range(32)]
    explained = explain(one := conflict(few, 2, op="store", width=8), analysis(one, arrays=[array((32,), 8)]))
    assert explained is not None and explained[1].severity is Severity.NOTE
    assert explained[1].here.startswith("lanes 0, 4 .. 28 do not conflict, and lie in groups of lanes")


def test_atomics_on_one_word_are_serialised() -> None:
    one = conflict([0] * 32, 32, op="atomic")
    explained = explain(one, analysis(one))
    assert explained is not None and explained[0] == "SMEM106"
    assert explained[1].here == "lanes 0..31 meet on one word of bank 0; 32 wavefronts, 1 would do"


def test_atomics_on_different_words_of_a_bank_are_a_stride() -> None:
    one = conflict([8 * i for i in range(32)], 2, op="atomic")
    assert cause(one, analysis(one, arrays=[array((64,))])) == "SMEM102"


def test_a_run_time_stride_comes_first() -> None:
    stride = Stride("n", 32, tuple([32.0] + [1.0] * 31), "n is odd")
    assert (
        cause(conflict([128 * i for i in range(32)], 32, stride=stride, grade=Grade.PARAMETRIC)) == "SMEM107"
    )


def test_an_exclusive_or_that_leaves_a_conflict_is_ineffective() -> None:
    expression = "tile[threadIdx.x][threadIdx.y ^ (threadIdx.x & 3)]"
    assert cause(conflict([128 * i for i in range(32)], 32, expression=expression)) == "SMEM108"
    butterfly = "tile[threadIdx.x ^ 1][0]"
    assert cause(conflict([128 * i for i in range(32)], 32, expression=butterfly)) == "SMEM101"


def test_anything_else_is_a_bank_conflict() -> None:
    one = conflict([0, 128, 4, 260, 8], 3)
    assert cause(one, analysis(one, arrays=[array((1024,))])) == "SMEM199"


def test_no_bank_is_named_when_a_part_of_the_address_is_unknown() -> None:
    one = conflict([128 * i for i in range(32)], 32, alignment=4)
    explained = explain(one, analysis(one))
    assert explained is not None and "meet in one bank;" in explained[1].here


def test_severities_order_themselves() -> None:
    assert sorted(Severity, key=lambda s: s.rank) == [Severity.NOTE, Severity.WARNING, Severity.ERROR]
