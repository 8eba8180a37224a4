"""How a loop is cut into straight lines."""

from __future__ import annotations

import pytest

from smemlint.evaluate.compiler.unroll import Lines, straight_lines


def test_small_constant_loops_disappear() -> None:
    assert straight_lines(16, accesses=2, operations=2) == Lines((16,), 0)
    assert straight_lines(8, accesses=9, operations=16) == Lines((8,), 0)
    assert straight_lines(0, accesses=1, operations=1) == Lines((), 0)


def test_an_eight_by_eight_register_tile_is_not_straight_lines() -> None:
    assert straight_lines(8, accesses=16, operations=128) == Lines((1,) * 8, 1)


def test_middling_bodies_are_copied_four_times() -> None:
    assert straight_lines(8, accesses=21, operations=40) == Lines((4, 4), 4)
    assert straight_lines(8, accesses=12, operations=64) == Lines((4, 4), 4)


def test_five_copies_lose_the_alignment() -> None:
    assert straight_lines(16, accesses=17, operations=32) == Lines((5, 5, 5, 1), 1)


def test_a_loop_with_branches_is_not_copied_late() -> None:
    assert straight_lines(31, accesses=4, operations=2) == Lines((31,), 0)
    assert straight_lines(31, accesses=4, operations=2, guards=1) == Lines((1,) * 31, 1)
    assert straight_lines(9, accesses=4, operations=2, guards=1) == Lines((9,), 0)


def test_pragmas_are_obeyed() -> None:
    assert straight_lines(8, accesses=16, operations=128, pragma=0) == Lines((8,), 0)
    assert straight_lines(64, accesses=1, operations=1, pragma=1) == Lines((1,) * 64, 1)
    assert straight_lines(10, accesses=1, operations=1, pragma=8, known=False) == Lines((8, 1, 1), 8)
    assert straight_lines(10, accesses=1, operations=1, pragma=0, known=False) == Lines((4, 4, 1, 1), 4)


def test_unknown_trip_counts_go_by_sixteen_eight_four_and_one() -> None:
    assert straight_lines(31, accesses=1, operations=1, known=False) == Lines((16, 8, 4, 1, 1, 1), 4)
    assert straight_lines(9, accesses=9, operations=16, known=False) == Lines((8, 1), 2)
    assert straight_lines(3, accesses=33, operations=64, known=False) == Lines((1, 1, 1), 1)


@pytest.mark.parametrize("trip", range(0, 130, 7))
@pytest.mark.parametrize("known", [False, True])
def test_the_lines_add_up_to_the_trip_count(trip: int, known: bool) -> None:
    for accesses in (1, 4, 9, 17, 40):
        for pragma in (None, 0, 1, 3, 4):
            lines = straight_lines(trip, accesses, 2 * accesses, pragma=pragma, known=known).lines
            assert sum(lines) == trip
            assert all(line > 0 for line in lines)


def test_the_number_of_copies_in_short() -> None:
    assert straight_lines(16, accesses=2, operations=2) == Lines((16,), 0)
    assert straight_lines(8, accesses=16, operations=128).step == 1
    assert straight_lines(8, accesses=21, operations=40).step == 4
    assert straight_lines(None, accesses=3, operations=4).step == 4
    assert straight_lines(None, accesses=33, operations=64).step == 1
