"""Loops of compare-and-swaps, many at once."""

from __future__ import annotations

import numpy as np

from smemlint.banks import cas_loop, cas_loop_cost, cas_loop_worst


def test_many_loops_at_once_cost_what_each_costs() -> None:
    random = np.random.default_rng(7)
    rows = [8 * random.integers(0, int(span), 32) for span in random.choice([1, 2, 8, 40, 300, 4000], 400)]
    rows = [np.where(random.random(32) < random.choice([0.3, 1.0]), row, -1) for row in rows]
    rows.append(np.full(32, -1))
    for width in (4, 8):
        lanes = [row * width // 8 if width == 4 else row for row in map(np.asarray, rows)]
        lanes = [np.where(row < 0, -1, row) for row in lanes]
        loads, best_loads = cas_loop_cost("cas loop load", width, np.array(lanes))
        swaps, best_swaps = cas_loop_cost("cas loop", width, np.array(lanes))
        for row, *found in zip(lanes, loads, swaps, best_loads, best_swaps, strict=True):
            one = cas_loop([None if x < 0 else int(x) for x in row], width)
            assert [one.loads, one.swaps, one.ideal_loads, one.ideal_swaps] == found


def test_lanes_on_one_word_take_a_round_each() -> None:
    same = np.zeros((1, 32), dtype=np.int64)
    for op, width, wavefronts in (("cas loop load", 4, 32), ("cas loop", 4, 64), ("cas loop load", 8, 32)):
        total, ideal = cas_loop_cost(op, width, same)
        assert (int(total[0]), int(ideal[0])) == (wavefronts, wavefronts)


def test_eight_bytes_are_swapped_by_half_warps() -> None:
    """Counted on an H100: 256 threads add to one double in 256 rounds."""
    total, ideal = cas_loop_cost("cas loop", 8, np.zeros((1, 32), dtype=np.int64))
    assert (int(total[0]), int(ideal[0])) == (16 * 4 + 16 * 2, 16 * 4 + 16 * 2)
    total, ideal = cas_loop_cost("cas loop", 8, 8 * np.arange(32)[None])
    assert (int(total[0]), int(ideal[0])) == (4, 4)
    total, ideal = cas_loop_cost("cas loop load", 8, 8 * np.arange(32)[None])
    assert (int(total[0]), int(ideal[0])) == (2, 2)


def test_no_loop_loads_more_than_the_worst() -> None:
    random = np.random.default_rng(8)
    for words in (1, 2, 5, 32):
        for width in (4, 8):
            rows = 128 * random.integers(0, words, (200, 32)) + width * random.integers(0, 3, (200, 32))
            total, ideal = cas_loop_cost("cas loop load", width, rows)
            most = int(cas_loop_worst(width, np.array([words]))[0])
            assert (total / ideal).max() <= most / 32
