"""From traces to costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smemlint.banks import wavefronts
from smemlint.evaluate.model import DataTerm, Grade, KernelTrace, Parameter, Site, Trace, Unresolved, Visited
from smemlint.ir import Place
from smemlint.score import Conflict, score, score_all
from smemlint.score.site import lane_stride

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

LANES = np.arange(32)


def place(line: int = 1) -> Place:
    return Place("k.cu", line, 1, line, 9, 0, 8)


def trace(*rows: Any, op: str = "load", width: int = 4, line: int = 1, **changes: Any) -> Trace:
    """One request a row, run once each, all in one visit unless said otherwise."""
    offsets = np.array(rows, dtype=np.int64).reshape(-1, 32)
    values: dict[str, Any] = {
        "site": Site(place(line), op, width, "a", "s[i]", changes.pop("matrices", 1)),
        "offsets": offsets,
        "weights": np.ones(len(offsets), dtype=np.int64),
        "grade": Grade.EXACT,
        "visited": Visited(((0, len(offsets)),)),
    }
    return Trace(**{**values, **changes})


def sums(conflict: Conflict) -> tuple[int, int | None, int | None, int | None]:
    return conflict.executions, conflict.wavefronts_low, conflict.wavefronts, conflict.ideal


def test_a_column_is_a_32_way_conflict_and_shows_its_worst_request() -> None:
    found = score(trace(LANES * 128))
    assert sums(found) == (1, 32, 32, 1)
    assert (found.grade, found.ways, found.ways_low, found.lane_stride) == (Grade.EXACT, 32, 32, 128)
    assert found.worst is not None
    assert (found.worst.ways, found.worst.banks) == (32, (0,))
    assert found.worst.offsets[:2] == (0, 128)


def test_requests_count_as_often_as_they_run() -> None:
    found = score(trace(LANES * 4, LANES * 8, weights=np.array([10, 3])))
    assert sums(found) == (13, 16, 16, 13)


def test_a_warp_without_active_lanes_does_not_execute() -> None:
    found = score(trace(LANES * 4, LANES * 0 - 1))
    assert sums(found) == (1, 1, 1, 1)


def test_the_worst_request_is_the_one_with_the_most_ways() -> None:
    worst = score(trace(LANES * 4, LANES * 16, LANES * 8)).worst
    assert worst is not None
    assert (worst.wavefronts, worst.offsets[1]) == (4, 16)


def test_ways_by_visit_are_run_length_coded_in_program_order() -> None:
    rows = [LANES * step for step in (8, 16, 16, 4)]
    found = score(trace(*rows, visited=Visited(((0, 1), (1, 1), (2, 1), (3, 1)))))
    assert found.ways_by_visit == ((2.0, 1), (4.0, 2), (1.0, 1))


def test_a_visit_in_which_no_lane_is_active_is_left_out() -> None:
    found = score(trace(LANES * 4, LANES * 0 - 1, visited=Visited(((0, 1), (1, 1)))))
    assert found.ways_by_visit == ((1.0, 1),)


def test_a_site_without_requests_costs_nothing() -> None:
    found = score(trace(visited=Visited(())))
    assert sums(found) == (0, 0, 0, 0)
    assert (found.worst, found.ways, found.ways_by_visit) == (None, None, ())


def test_an_unresolved_site_has_no_numbers_and_keeps_its_reason() -> None:
    reason = Unresolved("unknown-function", "`f` is not defined")
    found = score(trace(grade=Grade.UNRESOLVED, reason=reason))
    assert (found.wavefronts, found.wavefronts_low, found.ideal, found.ways) == (None, None, None, None)
    assert (found.grade, found.reason) == (Grade.UNRESOLVED, reason)


def test_an_unresolved_site_without_a_reason_gets_one() -> None:
    assert score(trace(grade=Grade.UNRESOLVED)).reason is not None


def test_lanes_that_may_be_inactive_make_a_bound() -> None:
    maybe = (LANES >= 2).reshape(1, 32)
    found = score(trace(LANES * 128, maybe=maybe, grade=Grade.BOUND))
    assert (sums(found), found.grade) == ((1, 2, 32, 1), Grade.BOUND)


def test_lanes_that_may_be_inactive_cannot_spoil_what_is_free_of_conflict() -> None:
    maybe = np.ones((1, 32), dtype=np.bool_)
    found = score(trace(LANES * 4, maybe=maybe, grade=Grade.BOUND))
    assert (sums(found), found.grade) == ((1, 1, 1, 1), Grade.EXACT)


def test_a_wide_access_with_unsure_lanes_stays_a_bound() -> None:
    """One lane in each quarter of the warp needs four wavefronts, and one would do for its bytes."""
    maybe = np.ones((1, 32), dtype=np.bool_)
    found = score(trace(LANES * 16, width=16, op="store", maybe=maybe, grade=Grade.BOUND))
    assert (sums(found), found.grade) == ((1, 4, 16, 4), Grade.BOUND)


def test_given_bounds_are_taken_as_they_are() -> None:
    found = score(
        trace(LANES * 4, weights=np.array([5]), ends=(np.array([1]), np.array([3])), grade=Grade.BOUND)
    )
    assert (sums(found), found.grade, found.worst) == ((5, 5, 15, 5), Grade.BOUND, None)


def test_an_assumed_block_shape_makes_an_assumed_answer() -> None:
    assert score(trace(LANES * 4, grade=Grade.ASSUMED)).grade is Grade.ASSUMED
    assert score(trace(LANES * 4), assumed=True).grade is Grade.ASSUMED


@pytest.mark.parametrize("alignment", [4, 8, 12, 128])
def test_a_left_out_part_of_whole_words_changes_nothing(alignment: int) -> None:
    assert sums(score(trace(LANES * 8, alignment=alignment))) == (1, 2, 2, 1)


def test_bytes_at_an_unknown_place_within_their_word_are_bounded() -> None:
    column = LANES // 4 * 128 + LANES % 4  # four bytes of one word, or of two neighbouring ones
    found = score(trace(column, width=1, alignment=1))
    assert (found.wavefronts_low, found.wavefronts) == (8, 8)
    rows = LANES % 2 * 3 + LANES // 2 * 128  # bytes 0 and 3: one word or two, in one bank or two
    found = score(trace(rows, width=1, alignment=1))
    assert (found.wavefronts_low, found.wavefronts, found.grade) == (16, 16, Grade.EXACT)
    pair = np.where(LANES < 2, LANES * 126, -1)  # bytes 0 and 126: banks 0 and 31, or after a shift 0 and 0
    found = score(trace(pair, width=1, alignment=2))
    assert (found.wavefronts_low, found.wavefronts, found.grade) == (1, 2, Grade.BOUND)


def test_a_left_out_part_may_align_a_wide_access() -> None:
    found = score(trace(LANES * 16 + 4, width=16, alignment=4))
    assert sums(found) == (1, 4, 4, 4)


@pytest.mark.parametrize(("step", "start", "alignment"), [(16, 4, 0), (16, 4, 8), (20, 0, 4)])
def test_a_wide_access_that_no_left_out_part_aligns_is_named(step: int, start: int, alignment: int) -> None:
    found = score(trace(LANES * step + start, width=16, alignment=alignment))
    assert found.grade is Grade.UNRESOLVED
    assert found.reason is not None
    assert found.reason.code == "misaligned"


def test_a_width_that_no_instruction_has_is_named() -> None:
    found = score(trace(LANES * 12, width=12))
    assert found.reason is not None
    assert (found.grade, found.reason.code) == (Grade.UNRESOLVED, "unsupported-width")


def test_matrix_rows_are_scored_by_matrix() -> None:
    found = score(trace(LANES * 128, op="ldmatrix", width=16, matrices=4))
    assert sums(found) == (1, 32, 32, 4)


def test_a_joined_site_reports_the_access_that_runs() -> None:
    found = score(trace(LANES * 16, joined=16, group=1))
    assert (sums(found), found.joined) == ((1, 4, 4, 4), 16)
    assert sums(score(trace(LANES * 16))) == (1, 4, 4, 1)


def joined(*lines: int) -> tuple[Conflict, ...]:
    """The costs of sites that run as one 16-byte access, whose first carries the offsets."""
    first = trace(LANES * 16, joined=16, group=7, line=lines[0])
    rest = [trace(joined=16, group=7, line=line) for line in lines[1:]]
    return score_all(KernelTrace({}, (first, *rest)))


def test_sites_of_one_line_that_are_joined_count_once() -> None:
    assert [sums(each) for each in joined(3, 3, 3, 3)] == [(1, 4, 4, 4), *[(0, 0, 0, 0)] * 3]


def test_sites_of_other_lines_add_nothing_either() -> None:
    """nvcc gives an instruction one line: that of the first load, and of the last store."""
    assert [sums(each) for each in joined(3, 4, 4)] == [(1, 4, 4, 4), (0, 0, 0, 0), (0, 0, 0, 0)]


def test_a_store_that_runs_where_its_last_site_stands_counts_once_too() -> None:
    sites = (trace(joined=16, group=7), trace(LANES * 16, joined=16, group=7))
    assert [sums(each) for each in score_all(KernelTrace({}, sites))] == [(0, 0, 0, 0), (1, 4, 4, 4)]


def test_groups_do_not_mix_and_single_sites_stay_alone() -> None:
    traces = (
        trace(LANES * 8, joined=8, group=1),
        trace(LANES * 4),
        trace(LANES * 8, joined=8, group=2),
    )
    found = score_all(KernelTrace({}, traces))
    assert [each.executions for each in found] == [1, 1, 1]
    assert [each.trace for each in found] == list(traces)


@pytest.mark.parametrize(
    ("offsets", "stride"),
    [([0, 4, 8], 4), ([8, 4, 0], -4), ([0, None, 8, 16], 8), ([0, 4, 12], None), ([4], None), ([], None)],
)
def test_the_lane_stride_is_one_number_or_none(offsets: Sequence[int | None], stride: int | None) -> None:
    assert lane_stride(offsets) == stride


def strided(
    coefficient: Any, base: Any = 0, *, width: int = 4, op: str = "load", multiple_of: int = 1, **changes: Any
) -> Conflict:
    parameter = Parameter("n", np.array(coefficient, dtype=np.int64).reshape(1, 32), multiple_of)
    return score(
        trace(LANES * 0 + base, op=op, width=width, parameter=parameter, grade=Grade.PARAMETRIC, **changes)
    )


def clean(found: Conflict) -> str | None:
    return found.stride.clean if found.stride else None


def test_a_word_stride_is_free_of_conflict_when_odd() -> None:
    found = strided(LANES * 4)
    assert found.stride is not None
    assert (found.stride.modulus, found.stride.ways[0], found.stride.ways[4]) == (32, 32, 4)
    assert (sums(found), found.grade, clean(found)) == ((1, 1, 32, 1), Grade.PARAMETRIC, "`n` is odd")


def test_a_stride_that_is_known_to_be_a_multiple_is_tried_at_those_only() -> None:
    found = strided(LANES * 4, multiple_of=8)
    assert found.stride is not None
    assert (found.wavefronts_low, found.wavefronts, clean(found)) == (8, 32, "")
    assert [r for r, ways in enumerate(found.stride.ways) if ways] == [0, 8, 16, 24]


def test_rows_of_four_words_are_free_when_their_pitch_is_4_modulo_8() -> None:
    found = strided(LANES // 4 * 4, LANES % 4 * 4, multiple_of=4)
    assert clean(found) == "`n` % 8 == 4"


def test_rows_of_sixteen_words_are_free_at_half_a_cycle() -> None:
    assert clean(strided(LANES // 16 * 4, LANES % 16 * 4)) == "`n` % 32 == 16"


def test_a_sixteen_byte_access_excludes_strides_that_would_fault() -> None:
    found = strided(LANES * 4, width=16, op="store")
    assert found.stride is not None
    assert all(ways == 0 for r, ways in enumerate(found.stride.ways) if r % 4)
    assert clean(found) == "`n` % 8 == 4"


def test_a_stride_of_whole_bank_cycles_never_gets_clean() -> None:
    found = strided(LANES * 128)
    assert (sums(found), clean(found), found.grade) == ((1, 32, 32, 1), "", Grade.EXACT)


def test_a_stride_that_never_conflicts_is_exact() -> None:
    found = strided(np.where(LANES < 16, 0, 128), LANES * 4)
    assert (sums(found), found.grade, clean(found)) == ((1, 1, 1, 1), Grade.EXACT, "`n` has any value")


def test_half_precision_strides_are_told_by_their_residues() -> None:
    text = clean(strided(LANES * 2, width=2))
    assert text is not None
    assert text.startswith("`n` % 64 is one of 2, 6, 10")
    assert text.endswith("(17 of 64 residues)")


def test_a_stride_that_is_an_expression_is_put_in_parentheses() -> None:
    parameter = Parameter("n / 2", (LANES * 4).reshape(1, 32), 1)
    found = score(trace(LANES * 0, parameter=parameter, grade=Grade.PARAMETRIC))
    assert clean(found) == "`(n / 2)` is odd"


def test_the_worst_request_of_a_stride_shows_addresses_that_cost_as_much() -> None:
    worst = strided(LANES * 4).worst
    assert worst is not None
    assert wavefronts("load", 4, worst.offsets).wavefronts == worst.wavefronts == 32


@given(st.integers(1, 600), st.sampled_from((1, 2, 4, 8)), st.sampled_from((1, 2, 4, 8, 16, 32)))
def test_whatever_the_stride_is_its_cost_lies_between_the_ends(value: int, width: int, row: int) -> None:
    found = strided(LANES // row * width, LANES % row * width, width=width)
    actual = [int(o) for o in LANES // row * width * value + LANES % row * width]
    cost = wavefronts("load", width, actual)
    assert found.wavefronts is not None
    assert found.wavefronts_low is not None
    assert found.stride is not None
    assert found.wavefronts_low <= cost.wavefronts <= found.wavefronts
    assert cost.ways <= found.stride.ways[value % found.stride.modulus]
    if value >= 64:
        assert cost.ways == found.stride.ways[value % found.stride.modulus]


def dependent(
    coefficient: Any, base: Any, low: int | None, high: int | None, *, multiple: int = 1, **changes: Any
) -> Conflict:
    term = DataTerm(np.array(LANES * 0 + coefficient).reshape(1, 32), low, high, multiple, None)
    return score(trace(LANES * 0 + base, data=(term,), grade=Grade.BOUND, **changes))


def test_a_histogram_of_words_is_bounded_by_its_lanes() -> None:
    found = dependent(4, 0, 0, 255, op="atomic", footprint=1024)
    assert (sums(found), found.grade) == ((1, 1, 32, 1), Grade.BOUND)
    assert found.worst is None


def test_a_look_up_in_32_words_cannot_conflict() -> None:
    found = dependent(4, 0, None, None, footprint=128)
    assert (sums(found), found.grade) == ((1, 1, 1, 1), Grade.EXACT)


def test_a_byte_look_up_in_256_bytes_is_at_most_2_way() -> None:
    assert sums(dependent(1, 0, 0, 255, width=1, footprint=256)) == (1, 1, 2, 1)


def test_a_column_for_each_lane_is_free_whatever_the_data() -> None:
    assert sums(dependent(128, LANES * 4, None, None, op="atomic")) == (1, 1, 1, 1)


def test_byte_counters_with_a_row_for_each_bin_are_at_most_4_way() -> None:
    assert sums(dependent(64, LANES, 0, None, width=1)) == (1, 1, 4, 1)


def test_a_reason_of_the_evaluator_travels_with_a_bound() -> None:
    reason = Unresolved("data-dependent", "loaded from memory")
    assert dependent(4, 0, None, None, reason=reason).reason == reason


@given(st.data())
def test_whatever_the_data_are_the_cost_lies_between_the_ends(data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(("load", "store", "atomic", "cas")))
    width = data.draw(st.sampled_from((4, 8, 16) if op != "load" else (1, 2, 4, 8, 16)))
    scale = data.draw(st.sampled_from((1, 2, 16, 32, 64)))
    low, high = 0, data.draw(st.sampled_from((1, 7, 31, 255)))
    base = np.array(data.draw(st.lists(st.integers(-1, 70), min_size=32, max_size=32))) * width
    base = np.where(base < 0, -1, base)
    coefficient = (
        np.array(data.draw(st.lists(st.sampled_from((0, 1, 2)), min_size=32, max_size=32))) * scale * width
    )
    told_low, told_high = (low, high) if data.draw(st.booleans()) else (None, None)
    found = dependent(coefficient, base, told_low, told_high, op=op, width=width)
    values = np.array(data.draw(st.lists(st.integers(low, high), min_size=32, max_size=32)))
    offsets = [None if b < 0 else int(b + c * v) for b, c, v in zip(base, coefficient, values, strict=True)]
    cost = wavefronts(op, width, offsets)
    if cost.wavefronts:
        assert found.wavefronts is not None
        assert found.ways is not None
        assert found.ways_low is not None
        assert cost.wavefronts <= found.wavefronts
        assert found.ways_low <= cost.ways


def test_scoring_leaves_the_trace_alone() -> None:
    before = trace(LANES * 128, op="ldmatrix", width=16)
    copy = replace(before, offsets=before.offsets.copy())
    score(before)
    assert np.array_equal(before.offsets, copy.offsets)


def test_what_the_compiler_joins_may_start_between_multiples_of_its_width_in_the_array() -> None:
    """An array of doubles at byte 8: its elements 1 and 2 are one 16-byte load."""
    pair = trace([8] * 32, width=8, joined=16)
    assert (score(pair).grade, score(pair).ways) == (Grade.EXACT, 1.0)
    assert score(replace(pair, joined=None, site=replace(pair.site, width=16))).grade is Grade.UNRESOLVED


@pytest.mark.parametrize(("width", "rounds"), [(4, 32), (8, 24)])
def test_a_loop_of_compare_and_swaps_at_unknown_addresses_may_run_for_every_lane(
    width: int, rounds: int
) -> None:
    """One lane wins a round at least; a half warp waits for no later one."""
    term = DataTerm(np.full((1, 32), width), None, None, 1, None)
    found = score(trace(np.zeros(32, dtype=np.int64), op="cas loop", width=width, data=(term,)))
    assert found.ideal and found.wavefronts_low == found.ideal
    assert found.wavefronts == rounds * found.ideal


def test_what_may_be_joined_or_not_is_a_range_over_both() -> None:
    assert sums(score(trace(LANES * 16, joined=16))) == (1, 4, 4, 4)
    unsure = score(trace(LANES * 16, joined=16, grade=Grade.BOUND, maybe=np.zeros((1, 32), dtype=np.bool_)))
    assert sums(unsure) == (1, 4, 16, 4)


@pytest.mark.parametrize("apart", [0, 4096])
def test_a_number_that_moves_half_of_the_lanes_may_take_them_to_the_others(apart: int) -> None:
    """They are in one bank for any multiple of 32: on one word or on two. A size is not taken to be that."""
    moved = np.where(LANES < 16, 0, 4).reshape(1, 32)
    base = np.where(LANES < 16, apart, 0)
    ends = []
    for data in (True, False):
        parameter = Parameter("x", moved, 32, data)
        found = score(trace(base, parameter=parameter, grade=Grade.PARAMETRIC))
        ends.append((found.ways_low, found.ways))
    assert ends == [(1.0, 2.0), (2.0, 2.0)]
