"""One request, told in words."""

from __future__ import annotations

import subprocess
import sys

import pytest

from smemlint import wavefronts
from smemlint.banks import OPERATIONS, Cost, cas_loop

LANES = range(32)


def ways(op: str, width: int, step: int) -> float:
    return wavefronts(op, width, [lane * step for lane in LANES]).ways


def test_neighbouring_words_are_free_of_conflict() -> None:
    assert wavefronts("load", 4, [lane * 4 for lane in LANES]) == Cost(1, 1, tuple(range(32)))


def test_a_column_of_a_32_wide_float_tile_is_a_32_way_conflict_in_one_bank() -> None:
    cost = wavefronts("load", 4, [lane * 128 for lane in LANES])
    assert (cost.wavefronts, cost.ideal, cost.ways, cost.banks) == (32, 1, 32.0, (0,))


def test_padding_the_row_by_one_word_frees_the_column() -> None:
    assert ways("load", 4, 132) == 1


@pytest.mark.parametrize(("words", "expected"), [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (31, 1)])
def test_a_stride_in_words_conflicts_by_what_it_shares_with_32(words: int, expected: int) -> None:
    assert ways("store", 4, 4 * words) == expected


def test_lanes_on_one_word_are_a_broadcast() -> None:
    assert wavefronts("load", 4, [0] * 32).wavefronts == 1


def test_bytes_of_one_word_are_a_broadcast_too() -> None:
    assert ways("load", 1, 1) == ways("load", 2, 2) == 1


def test_a_column_of_doubles_with_a_padded_row_is_free_of_conflict() -> None:
    assert ways("load", 8, 33 * 8) == 1


def test_a_16_wide_tile_padded_to_17_keeps_a_2_way_conflict() -> None:
    column = [(lane % 16) * 17 * 4 + lane // 16 * 4 for lane in LANES]
    assert wavefronts("load", 4, column).ways == 2


def test_sixteen_byte_accesses_in_a_row_are_at_their_ideal() -> None:
    cost = wavefronts("store", 16, [lane * 16 for lane in LANES])
    assert (cost.wavefronts, cost.ideal) == (4, 4)


def test_a_wide_broadcast_load_takes_one_pass_for_each_half_warp() -> None:
    assert wavefronts("load", 16, [0] * 32).wavefronts == 2
    assert wavefronts("load", 8, [0] * 32).wavefronts == 1
    assert wavefronts("store", 16, [0] * 32).wavefronts == 4


def test_a_hole_in_the_first_half_keeps_it_apart_unless_lane_31_is_inactive() -> None:
    pairs: list[int | None] = [lane // 2 * 16 for lane in LANES]
    assert wavefronts("load", 16, pairs).wavefronts == 2
    assert wavefronts("load", 16, [None, *pairs[1:]]).wavefronts == 3
    assert wavefronts("load", 16, [None, *pairs[1:31], None]).wavefronts == 2


def test_atomics_on_one_word_take_turns_and_an_increment_does_not() -> None:
    same = [0] * 32
    assert wavefronts("atomic", 4, same).wavefronts == 32
    assert wavefronts("increment", 4, same).wavefronts == 1


def test_compare_and_swap_takes_two_passes_and_its_ideal_knows() -> None:
    cost = wavefronts("cas", 4, [lane * 4 for lane in LANES])
    assert (cost.wavefronts, cost.ideal, cost.ways) == (2, 2, 1.0)


def test_a_float_atomic_on_one_word_runs_32_rounds() -> None:
    loop = cas_loop([0] * 32)
    assert (loop.rounds, loop.loads, loop.swaps, loop.wavefronts) == (32, 32, 64, 96)


def test_matrix_rows_16_bytes_apart_are_free_and_128_apart_are_8_way() -> None:
    rows = [lane * 16 for lane in LANES]
    assert wavefronts("ldmatrix", 16, rows, matrices=4).ways == 1
    assert wavefronts("ldmatrix", 16, [row * 8 for row in rows], matrices=4).ways == 8


def test_lanes_beyond_the_rows_of_a_matrix_do_not_count() -> None:
    rows = [lane * 16 if lane < 8 else 0 for lane in LANES]
    assert wavefronts("ldmatrix", 16, rows, matrices=1) == wavefronts("stmatrix", 16, rows[:8] + [None] * 24)


def test_a_warp_without_active_lanes_costs_nothing() -> None:
    cost = wavefronts("load", 4, [None] * 32)
    assert (cost.wavefronts, cost.ideal, cost.ways, cost.banks) == (0, 0, 0.0, ())


@pytest.mark.parametrize(
    ("op", "width", "offsets", "matrices", "text"),
    [
        ("read", 4, [0] * 32, 1, "unknown operation 'read'; one of: " + ", ".join(OPERATIONS)),
        ("load", 12, [0] * 32, 1, "load of 12 bytes a lane does not exist; widths: 1, 2, 4, 8, 16"),
        ("cp.async", 2, [0] * 32, 1, "cp.async of 2 bytes"),
        ("ldmatrix", 4, [0] * 32, 1, "ldmatrix of 4 bytes"),
        ("ldmatrix", 16, [0] * 32, 3, "1, 2 or 4 matrices, not 3"),
        ("load", 4, [0] * 32, 2, "matrices belongs to ldmatrix and stmatrix"),
        ("load", 4, [0] * 31, 1, "a warp has 32 lanes, got 31 offsets"),
        ("load", 4, [0] * 31 + [-4], 1, "lane 31: offset -4 is negative"),
        ("load", 8, [0] * 31 + [4], 1, "lane 31: offset 4 is no multiple of the width 8"),
    ],
)
def test_what_the_hardware_cannot_do_is_refused_in_words(
    op: str, width: int, offsets: list[int], matrices: int, text: str
) -> None:
    with pytest.raises(ValueError, match=text.replace("(", r"\(")):
        wavefronts(op, width, offsets, matrices=matrices)


def test_importing_smemlint_or_scoring_one_request_does_not_load_numpy() -> None:
    code = (
        "import sys, smemlint; assert 'smemlint.banks' not in sys.modules; "
        "smemlint.wavefronts('load', 4, [0] * 32); assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_an_unknown_name_is_no_attribute() -> None:
    import smemlint

    with pytest.raises(AttributeError, match="nothing"):
        _ = smemlint.nothing
