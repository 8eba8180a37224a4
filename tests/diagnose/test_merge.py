"""One finding per place and cause, and how certain it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import TRANSPOSE, analysis, conflict, place, unresolved
from smemlint.rules import Severity

from smemlint.diagnose.merge import diagnose, merge_kernels, visits_text
from smemlint.diagnose.model import Diagnostic, FileReport
from smemlint.diagnose.observe import observe
from smemlint.diagnose.threshold import matters
from smemlint.evaluate.model import Grade
from smemlint.score.model import Conflict, KernelAnalysis, Stride

COLUMN = [128 * lane for lane in range(32)]


def column(**changes: object) -> Conflict:
    return conflict(COLUMN, 32, **changes)  # type: ignore[arg-type]


def clean() -> Conflict:
    return conflict([4 * lane for lane in range(32)], 1)


def findings(*analyses: KernelAnalysis, min_ways: float = 2.0) -> list[Diagnostic]:
    kernels = tuple(observe(a, min_ways=min_ways, shown=str, text=TRANSPOSE) for a in analyses)
    reports = [FileReport("src/transpose.cu", kernels)]
    return diagnose(merge_kernels(reports), reports)


def test_a_proved_conflict_is_a_warning_with_its_launch() -> None:
    (found,) = findings(analysis(column()))
    assert (found.code, found.severity, found.title) == ("SMEM101", Severity.WARNING, "32-way bank conflict")
    assert found.here == "lanes 0..31 meet in bank 0; 32 wavefronts, 1 would do"
    assert "launch: block (32, 8) from transpose.cu:108" in found.notes
    assert [label.text for label in found.also] == ["row pitch 128 B: every row starts in the same bank"]


def test_a_clean_access_is_silent() -> None:
    assert findings(analysis(clean())) == []


def test_an_upper_bound_alone_is_a_note() -> None:
    (found,) = findings(analysis(column(grade=Grade.BOUND, low=1)))
    assert (found.severity, found.title) == (Severity.NOTE, "up to 32-way bank conflict")


def test_a_bound_whose_low_end_conflicts_is_a_warning() -> None:
    (found,) = findings(analysis(column(grade=Grade.BOUND, low=8)))
    assert (found.severity, found.title) == (Severity.WARNING, "8- to 32-way bank conflict")


def test_a_parametric_answer_is_a_note_with_its_condition() -> None:
    stride = Stride("n", 32, tuple(32.0 if r == 0 else 1.0 for r in range(32)), "n is odd")
    (found,) = findings(analysis(column(grade=Grade.PARAMETRIC, low=1, stride=stride)))
    assert (found.code, found.severity) == ("SMEM107", Severity.NOTE)
    assert "32-way when n % 32 == 0" in found.here and "clean: when n is odd" in found.notes


def test_an_assumed_shape_warns_only_when_every_shape_conflicts() -> None:
    shapes = [(32, 8, 1), (256, 1, 1)]
    both = [analysis(column(), block=b, assumed=True, origin="") for b in shapes]
    found = [f for f in findings(*both) if f.code == "SMEM101"]
    assert [f.severity for f in found] == [Severity.WARNING]
    assert any("every shape tried conflicts: (32, 8), (256)" in n for n in found[0].notes)
    one = [analysis(c, block=b, assumed=True) for c, b in zip((column(), clean()), shapes, strict=True)]
    assert [f.severity for f in findings(*one) if f.code == "SMEM101"] == [Severity.NOTE]


def test_an_assumed_shape_is_itself_a_note() -> None:
    (found,) = [f for f in findings(analysis(clean(), assumed=True)) if f.code == "SMEM902"]
    assert "--block transpose=X,Y,Z" in found.here


def test_launches_of_which_nothing_is_told_are_one_note() -> None:
    def beside(n: str, *where: str) -> KernelAnalysis:
        known = analysis(clean(), template={"N": n})
        return replace(known, launch=replace(known.launch, beside=where))

    (found,) = findings(beside("64", "a.cu:3"), beside("128", "a.cu:3", "b.cu:9"))
    assert (found.code, found.severity) == ("SMEM902", Severity.NOTE)
    assert found.here == "what is started in a.cu:3, b.cu:9 is not analysed"


def test_a_launch_that_is_known_somewhere_replaces_assumed_ones() -> None:
    assumed = analysis(column(), block=(256, 1, 1), assumed=True)
    (found,) = findings(assumed, analysis(column()))
    assert "launch: block (32, 8) from transpose.cu:108" in found.notes


def test_an_instance_whose_block_no_launch_tells_is_kept_beside_known_instances() -> None:
    known = analysis(clean(), template={"N": "64"})
    open_ = analysis(column(), assumed=True, template={"N": "128"}, origin="candidate")
    assert {f.code for f in findings(known, open_)} == {"SMEM101", "SMEM902"}
    guessed = analysis(column(), assumed=True, guessed=True, template={"N": "128"}, origin="candidate")
    assert findings(known, guessed) == []


def test_a_launch_that_leaves_its_block_open_is_kept_beside_a_known_one_elsewhere() -> None:
    known = analysis(column(), origin="transpose.cu:108")
    elsewhere = analysis(clean(), block=(16, 8, 1), assumed=True, origin="candidate", line=50)
    (conflict, note) = sorted(findings(known, elsewhere), key=lambda f: f.code)
    assert (conflict.severity, conflict.code, note.code) == (Severity.WARNING, "SMEM101", "SMEM902")
    assert "launch: block (32, 8) from transpose.cu:108" in conflict.notes
    assert note.here.startswith("tried (16, 8): transpose.cu:50 leaves it open; give it with --block ")
    same_place = analysis(clean(), block=(16, 8, 1), assumed=True, origin="candidate", line=108)
    same_shape = analysis(clean(), assumed=True, origin="candidate", line=50)
    assert findings(known, same_place) == findings(known, same_shape) == findings(known)


def test_an_instance_that_no_launch_tells_is_kept_beside_known_ones_of_other_places() -> None:
    filled = analysis(column(), assumed=True, filled=True, template={"T": "float"}, origin="transpose.cu:50")
    known = analysis(clean(), template={"T": "double"})
    (note, conflict) = sorted(findings(filled, known), key=lambda f: f.code, reverse=True)
    assert (note.title, note.here) == (
        "an instance of `transpose` is assumed",
        "tried T = float: no launch tells all arguments",
    )
    assert (conflict.code, conflict.severity) == ("SMEM101", Severity.NOTE)
    same = analysis(clean(), template={"T": "double"}, origin="transpose.cu:50")
    assert findings(filled, same) == []


def test_what_only_an_assumed_launch_reaches_is_kept_as_not_reached() -> None:
    elsewhere = column(at=place("tile[y][x]"))
    assumed = analysis(column(), elsewhere, block=(256, 1, 1), assumed=True)
    records = [observe(a, min_ways=2.0, shown=str, text=TRANSPOSE) for a in (assumed, analysis(column()))]
    (kernel,) = merge_kernels([FileReport("src/transpose.cu", tuple(records))])
    assert [(a.expression[:4], a.place.line, a.reached, a.grade, a.ways) for a in kernel.accesses] == [
        ("tile", 8, False, "unresolved", None),
        ("tile", 10, True, "exact", 32.0),
    ]
    assert kernel.accesses[0].reason == (
        "not-reached",
        "no known launch of `transpose` reaches this line",
    )


def test_instances_are_one_finding_that_names_the_types() -> None:
    double = analysis(conflict(COLUMN, 16), template={"T": "double"})
    single = analysis(column(), template={"T": "float"})
    (found,) = findings(double, single)
    assert found.title == "32-way bank conflict"
    assert "instances: 2 of 2 conflict; worst T = float (32-way)" in found.notes


def test_read_and_write_of_one_expression_are_one_finding() -> None:
    assert len(findings(analysis(column(), column(op="store")))) == 1


def test_a_second_configuration_adds_only_what_the_first_has_not() -> None:
    second = replace(analysis(column()), configuration="__CUDA_ARCH__=900")
    (found,) = findings(second, analysis(column()))
    assert found.configuration == ""


def test_a_reduction_is_told_by_its_worst_step_and_by_all_of_them() -> None:
    visits = ((2.0, 1), (4.0, 1), (8.0, 3), (4.0, 1), (2.0, 1), (1.0, 1))
    one = conflict([8 * lane for lane in range(32)], 47, 12, ways_by_visit=visits)
    (found,) = findings(analysis(one))
    assert found.title == "8-way bank conflict"
    assert "per iteration: 2, 4, 8, 8, 8, 4, 2, 1 ways; 3.9 over all" in found.notes


def test_many_visits_are_cut() -> None:
    assert visits_text(tuple((ways, 1) for ways in (1.0, 2.0) * 9)) == ", ".join(["1", "2"] * 6) + ", ..."


def test_equal_visits_in_a_row_are_counted() -> None:
    assert visits_text(((2.0, 1000), (1.0, 1))) == "2 (1,000 times), 1"
    assert visits_text(((1.93, 9), (1.89, 16), (1.4, 2))) == "1.9 (25 times), 1.4, 1.4"
    assert visits_text(((1.93, 9), (1.89, 16))) == ""
    assert visits_text(((2.0, 1000),)) == ""


@pytest.mark.parametrize(
    ("worst", "overall", "expected"),
    [
        (2, 2, True),
        (1.96, 1.96, True),
        (1.5, 1.5, False),
        (8, 1.1, False),
        (2, 1.3, True),
        (None, None, False),
    ],
)
def test_a_conflict_matters_by_its_worst_visit_unless_it_costs_nothing_over_all(
    worst: float | None, overall: float | None, expected: bool
) -> None:
    assert matters(worst, overall, 2.0) is expected


def test_the_threshold_is_the_users() -> None:
    assert findings(analysis(conflict(COLUMN[:4], 4)), min_ways=8) == []
    assert len(findings(analysis(conflict(COLUMN[:4], 4)), min_ways=4)) == 1


def test_an_unresolved_access_is_a_note_with_its_reason() -> None:
    (found,) = findings(analysis(unresolved()))
    assert (found.code, found.severity) == ("SMEM901", Severity.NOTE)
    assert found.here == "the index is read from memory"
    assert "reason: data-dependent-index" in found.notes


def test_what_is_joined_is_read_or_written_with_its_neighbours() -> None:
    site = column().site
    for op, done in (("load", "read"), ("store", "written")):
        (found,) = findings(analysis(column(joined=16, site=replace(site, op=op))))
        assert f"joined: {done} with its neighbours as one 16-byte access" in found.notes
