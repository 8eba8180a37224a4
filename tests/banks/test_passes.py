"""Wavefront by wavefront: as many as the rule counts, and everybody is served."""

from __future__ import annotations

from bank_requests import Lanes, requests
from hypothesis import given
from hypothesis import strategies as st

from smemlint.banks import LANES, WORD, cas_loop, schedule, wavefronts
from smemlint.banks.request import lanes_of


@given(requests())
def test_there_are_as_many_passes_as_the_rule_counts(request: tuple[str, int, int, Lanes]) -> None:
    op, width, matrices, lanes = request
    passes = schedule(op, width, lanes, matrices=matrices)
    assert len(passes) == wavefronts(op, width, lanes, matrices=matrices).wavefronts


@given(requests())
def test_every_lane_gets_every_word_that_it_asks(request: tuple[str, int, int, Lanes]) -> None:
    op, width, matrices, lanes = request
    passes = schedule(op, width, lanes, matrices=matrices)
    served = [(s.word, lane) for each in passes if not each.write for s in each.served for lane in s.lanes]
    asked = {
        (word, lane)
        for lane, offset in enumerate(lanes[: lanes_of(op, matrices)])
        if offset is not None
        for word in range(offset // WORD, (offset + width - 1) // WORD + 1)
    }
    assert sorted(served) == sorted(asked)


@given(requests())
def test_a_bank_delivers_one_word_in_a_pass(request: tuple[str, int, int, Lanes]) -> None:
    op, width, matrices, lanes = request
    for each in schedule(op, width, lanes, matrices=matrices):
        banks = [served.bank for served in each.served]
        assert len(banks) == len(set(banks)) and all(s.bank == s.word % 32 for s in each.served)


@given(requests(ops=("cas",)), st.sampled_from((4, 8)))
def test_the_loop_of_an_atomic_has_its_loads_and_its_swaps(
    request: tuple[str, int, int, Lanes], width: int
) -> None:
    lanes = [None if offset is None else offset // request[1] * width for offset in request[3]]
    loop = cas_loop(lanes, width)
    assert len(schedule("cas loop load", width, lanes)) == loop.loads
    swaps = schedule("cas loop", width, lanes)
    assert len(swaps) == loop.swaps
    assert {s.round for s in swaps} == set(range(loop.rounds))


def test_lanes_that_agree_in_pairs_are_served_by_both_groups_together() -> None:
    passes = schedule("load", 8, [lane // 2 * 8 for lane in range(LANES)])
    assert [each.phase for each in passes] == [((0, 15), (16, 31))]
