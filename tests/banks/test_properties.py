"""What holds for every request."""

from __future__ import annotations

import numpy as np
import pytest
from bank_requests import Lanes, requests
from hypothesis import given, settings
from hypothesis import strategies as st

from smemlint.banks import (
    Bounds,
    Span,
    bounds,
    cost_of,
    ideal_of,
    wavefront_range,
    wavefronts,
)
from smemlint.banks.request import WIDTHS, group_of, passes_of

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def rows(lanes: Lanes) -> np.ndarray:
    return np.array([[-1 if offset is None else offset for offset in lanes]], dtype=np.int64)


def moved(lanes: Lanes, by: int) -> Lanes:
    return [None if offset is None else offset + by for offset in lanes]


@given(requests())
def test_the_fast_rule_is_the_plain_rule(request: tuple[str, int, int, Lanes]) -> None:
    op, width, matrices, lanes = request
    cost = wavefronts(op, width, lanes, matrices=matrices)
    fast = cost_of(op, width, rows(lanes), matrices)
    assert [int(each[0]) for each in fast] == [cost.wavefronts, cost.ideal]


@given(st.lists(requests(ops=("load",)), min_size=1, max_size=20), st.sampled_from(WIDTHS["load"]))
def test_many_requests_cost_what_each_costs_alone(
    found: list[tuple[str, int, int, Lanes]], width: int
) -> None:
    lanes = [moved([None if o is None else o * 16 for o in request[3]], 0) for request in found] * 2
    together = cost_of("load", width, np.concatenate([rows(each) for each in lanes]))
    alone = [wavefronts("load", width, each) for each in lanes]
    assert together[0].tolist() == [cost.wavefronts for cost in alone]
    assert together[1].tolist() == [cost.ideal for cost in alone]


@given(requests(), st.integers(0, 64))
def test_a_rotation_by_whole_words_keeps_the_cost(request: tuple[str, int, int, Lanes], words: int) -> None:
    op, width, matrices, lanes = request
    turned = moved(lanes, words * max(4, width))
    before = wavefronts(op, width, lanes, matrices=matrices)
    after = wavefronts(op, width, turned, matrices=matrices)
    assert (before.wavefronts, before.ideal) == (after.wavefronts, after.ideal)


@given(requests())
def test_ways_lie_between_1_and_32(request: tuple[str, int, int, Lanes]) -> None:
    op, width, matrices, lanes = request
    cost = wavefronts(op, width, lanes, matrices=matrices)
    assert cost.wavefronts == 0 or 1 <= cost.ways <= 32


@given(requests())
def test_the_banks_named_exist_and_are_touched(request: tuple[str, int, int, Lanes]) -> None:
    op, width, matrices, lanes = request
    cost = wavefronts(op, width, lanes, matrices=matrices)
    touched = {
        byte // 4 % 32 for offset in lanes if offset is not None for byte in range(offset, offset + width)
    }
    assert set(cost.banks) <= touched
    assert bool(cost.banks) == (cost.wavefronts > 0)


@given(requests(), st.randoms(use_true_random=False))
def test_lanes_of_one_group_may_change_places(request: tuple[str, int, int, Lanes], random: object) -> None:
    op, width, matrices, lanes = request
    if op == "load" and width > 4:
        return  # which lanes agree decides whether their groups merge
    size = group_of(op, width)
    shuffled: Lanes = []
    for start in range(0, 32, size):
        group = lanes[start : start + size]
        random.shuffle(group)  # type: ignore[attr-defined]
        shuffled += group
    before = wavefronts(op, width, lanes, matrices=matrices)
    after = wavefronts(op, width, shuffled, matrices=matrices)
    assert (before.wavefronts, before.ideal) == (after.wavefronts, after.ideal)


@given(requests(), st.sets(st.integers(0, 31)))
def test_fewer_lanes_never_cost_more_save_for_holes_in_sixteen_byte_loads(
    request: tuple[str, int, int, Lanes], off: set[int]
) -> None:
    op, width, matrices, lanes = request
    fewer: Lanes = [None if lane in off else offset for lane, offset in enumerate(lanes)]
    more = wavefronts(op, width, lanes, matrices=matrices).wavefronts
    less = wavefronts(op, width, fewer, matrices=matrices).wavefronts
    assert less <= more + (op == "load" and width == 16)


@given(requests(), st.sets(st.integers(0, 31)), st.sets(st.integers(0, 31)))
@settings(max_examples=400)
def test_whatever_lanes_turn_out_active_the_cost_is_within_its_range(
    request: tuple[str, int, int, Lanes], unsure: set[int], off: set[int]
) -> None:
    op, width, matrices, lanes = request
    maybe = np.array([[lane in unsure for lane in range(32)]])
    low, high, _ = wavefront_range(op, width, rows(lanes), maybe, matrices)
    actual = wavefronts(
        op, width, [None if i in off & unsure else o for i, o in enumerate(lanes)], matrices=matrices
    )
    assert actual.wavefronts == 0 or low[0] <= actual.wavefronts <= high[0]


@given(requests())
def test_a_range_without_unsure_lanes_is_the_cost(request: tuple[str, int, int, Lanes]) -> None:
    op, width, matrices, lanes = request
    low, high, ideal = wavefront_range(op, width, rows(lanes), np.zeros((1, 32), dtype=np.bool_), matrices)
    cost = wavefronts(op, width, lanes, matrices=matrices)
    assert (high[0], ideal[0]) == (cost.wavefronts, cost.ideal)
    assert low[0] == cost.wavefronts or (op == "load" and width == 16 and low[0] < cost.wavefronts)


@given(requests(), st.data())
@settings(max_examples=300)
def test_wherever_the_lanes_turn_out_to_be_the_cost_is_within_its_bounds(
    request: tuple[str, int, int, Lanes], data: st.DataObject
) -> None:
    op, width, matrices, lanes = request
    steps = data.draw(st.lists(st.sampled_from((1, 2, 8, 32)), min_size=32, max_size=32))
    counts = data.draw(st.lists(st.sampled_from((1, 1, 2, 5, 200)), min_size=32, max_size=32))
    spans = [
        None if o is None else Span(o, o + width * steps[i] * (counts[i] - 1), width * steps[i])
        for i, o in enumerate(lanes)
    ]
    unsure = data.draw(st.sets(st.integers(0, 31), max_size=3))
    told = bounds(op, width, spans, maybe=unsure, matrices=matrices)
    picks = data.draw(st.lists(st.integers(0, 199), min_size=32, max_size=32))
    actual: Lanes = [
        None if span is None or (i in unsure and picks[i] % 2) else span.offsets()[picks[i] % span.count]
        for i, span in enumerate(spans)
    ]
    cost = wavefronts(op, width, actual, matrices=matrices)
    assert cost.wavefronts == 0 or told.low <= cost.wavefronts <= told.high


def test_a_request_of_no_certain_lane_costs_at_least_one_pass_when_it_runs() -> None:
    lanes = np.arange(32).reshape(1, 32) * 128
    low, high, ideal = wavefront_range("load", 4, lanes, np.ones((1, 32), dtype=np.bool_))
    assert (low[0], high[0], ideal[0]) == (1, 32, 1)


def test_an_index_anywhere_in_128_bytes_cannot_conflict() -> None:
    assert bounds("load", 4, [Span(0, 124, 4)] * 32) == Bounds(1, 1, 1)


def test_a_byte_anywhere_in_256_bytes_is_at_most_2_way() -> None:
    assert bounds("load", 1, [Span(0, 255)] * 32) == Bounds(1, 2, 1)


def test_an_atomic_anywhere_may_take_32_turns() -> None:
    assert bounds("atomic", 4, [Span(0, 1020, 4)] * 32) == Bounds(1, 32, 1)


def test_private_columns_of_a_histogram_are_free_whatever_the_data() -> None:
    assert bounds("atomic", 4, [Span(lane * 4, lane * 4 + 255 * 128, 128) for lane in range(32)]).high == 1


def test_atomics_that_share_four_banks_take_at_least_eight_turns() -> None:
    told = bounds("atomic", 4, [Span(lane % 4 * 4, lane % 4 * 4 + 128 * 9, 128) for lane in range(32)])
    assert (told.low, told.high) == (8, 8)


@pytest.mark.parametrize(
    ("spans", "text"),
    [
        ([Span(0, 4)] * 31, "got 31 spans"),
        ([Span(2, 2)] * 32, "no multiple of the width 4"),
        ([Span(0, 8, 2)] * 32, "no multiple of the width 4"),
    ],
)
def test_spans_that_no_lane_can_have_are_refused(spans: list[Span | None], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        bounds("load", 4, spans)


def test_an_empty_span_is_refused() -> None:
    with pytest.raises(ValueError, match="no byte offsets"):
        Span(8, 4)


def test_offsets_of_a_wrong_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        cost_of("load", 4, np.zeros((2, 16), dtype=np.int64))


def test_a_misaligned_lane_among_many_requests_is_named() -> None:
    lanes = np.zeros((3, 32), dtype=np.int64)
    lanes[2, 5] = 4
    with pytest.raises(ValueError, match="request 2, lane 5: offset 4 is no multiple of the width 16"):
        cost_of("load", 16, lanes)


def test_no_requests_cost_nothing() -> None:
    found = cost_of("load", 4, np.zeros((0, 32), dtype=np.int64))
    assert [each.shape for each in found] == [(0,), (0,)]


def test_the_ideal_of_a_number_of_lanes_is_the_128_byte_rows_they_fill() -> None:
    active = np.array([0, 1, 8, 9, 32])
    assert ideal_of("store", 16, active).tolist() == [0, 1, 1, 2, 4]
    assert ideal_of("cas", 4, active).tolist() == [0, 2, 2, 2, 2]
    assert ideal_of("ldmatrix", 16, active, 4).tolist() == [0, 4, 4, 4, 4]
    assert passes_of("load") == 1


def test_a_hundred_thousand_requests_take_less_than_a_few_seconds() -> None:
    from time import perf_counter

    lanes = np.random.default_rng(0).integers(0, 4096, size=(100_000, 32)) * 16
    start = perf_counter()
    cost_of("load", 16, lanes)
    assert perf_counter() - start < 10
