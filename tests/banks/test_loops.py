"""Loops of compare-and-swaps, many at once."""

from __future__ import annotations

import numpy as np

from smemlint.banks import cas_loop, cas_loop_cost, cas_loop_worst


def test_many_loops_at_once_cost_what_each_costs() -> None:
    random = np.random.default_rng(7)
    rows = [4 * random.integers(0, int(span), 32) for span in random.choice([1, 2, 8, 40, 300, 4000], 400)]
    rows = [np.where(random.random(32) < random.choice([0.3, 1.0]), row, -1) for row in rows]
    rows.append(np.full(32, -1))
    total, ideal = cas_loop_cost(np.array(rows))
    for row, wavefronts, best in zip(rows, total, ideal, strict=True):
        one = cas_loop([None if x < 0 else int(x) for x in row])
        assert (one.wavefronts, one.ideal) == (wavefronts, best)


def test_lanes_on_one_word_take_a_round_each() -> None:
    total, ideal = cas_loop_cost(np.zeros((1, 32), dtype=np.int64))
    assert (int(total[0]), int(ideal[0])) == (96, 96)


def test_no_loop_loads_more_than_the_worst() -> None:
    random = np.random.default_rng(8)
    for words in (1, 2, 5, 32):
        rows = 128 * random.integers(0, words, (200, 32)) + 4 * random.integers(0, 3, (200, 32))
        total, ideal = cas_loop_cost(rows)
        most = int(cas_loop_worst(np.array([words]))[0]) + 64
        assert (total / ideal).max() <= most / 96
