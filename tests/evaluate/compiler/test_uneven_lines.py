"""Loops that each lane runs another number of times: who runs which line."""

from __future__ import annotations

import numpy as np

from smemlint.evaluate.compiler.unroll import run_time_copies, uneven_lines


def lines(trips: list[int], *, rest_first: bool = False) -> list[tuple[list[int], int]]:
    """Which lanes run a line, and its iterations, with four copies early and four of these late."""
    found = uneven_lines(np.array(trips), 4, 4, rest_first=rest_first)
    return [(np.flatnonzero(mask).tolist(), size) for mask, size in found]


def test_what_is_left_over_runs_after_the_lines_that_lanes_share() -> None:
    assert lines([3, 5, 23]) == [([2], 16), ([1, 2], 4), ([0, 1, 2], 1), ([0, 2], 1), ([0, 2], 1)]


def test_what_is_left_over_runs_first_where_no_number_begins_as_a_constant() -> None:
    assert lines([1, 8], rest_first=True) == [([0], 1), ([1], 8)]


def test_every_lane_runs_all_of_its_iterations() -> None:
    trips = np.arange(100)
    for copies, again in ((4, 4), (2, 4), (1, 4), (4, 1)):
        found = uneven_lines(trips, copies, again, rest_first=False)
        assert (sum(mask * size for mask, size in found) == trips).all()


def test_a_pragma_says_how_many_copies_there_are() -> None:
    assert run_time_copies(1, 1) == (4, 4)
    assert run_time_copies(1, 1, pragma=2) == (2, 1)
    assert run_time_copies(1, 1, pragma=0) == (4, 1)
