"""What addresses that differ by one number have in common."""

from __future__ import annotations

import numpy as np

from smemlint.evaluate.compiler.joining.address_patterns import Forms, lead, pattern_of

THREADS = np.arange(64, dtype=np.int64)
ALL = np.ones(64, dtype=np.bool_)
ODD = THREADS % 2 == 1


def test_addresses_that_differ_by_one_number_have_one_pattern() -> None:
    forms = Forms(64)
    assert forms.pattern(4 * THREADS, ODD) is forms.pattern(4 * THREADS + 100, ODD.copy())
    assert forms.pattern(4 * THREADS, ODD) is not forms.pattern(4 * THREADS, ALL)
    assert forms.pattern(4 * THREADS, ALL) is not forms.pattern(8 * THREADS, ALL)


def test_a_number_for_the_whole_block_is_not_a_vector_whose_lanes_agree() -> None:
    forms = Forms(64)
    number, vector = forms.pattern(12, ODD), forms.pattern(np.full(64, 12), ODD)
    assert number is not vector and number.digest == vector.digest
    assert (number.form.vector, vector.form.vector) == (False, True)


def test_a_pattern_gives_the_address_of_each_active_lane() -> None:
    forms = Forms(64)
    lanes = 200 - 12 * THREADS
    pattern = forms.pattern(lanes, ODD)
    assert lead(lanes, pattern) == 188
    assert pattern.at(188).tolist() == np.where(ODD, lanes, -1).tolist()
    assert (pattern.first, pattern.low, pattern.divides) == (1, -12 * 62, 24)


def test_the_digest_tells_apart_masks_and_distances_but_not_numbers() -> None:
    first, _ = pattern_of(np.where(ODD, 4 * THREADS, -1))
    moved, at = pattern_of(np.where(ODD, 4 * THREADS + 32, -1))
    assert first.digest == moved.digest and at == 36
    assert moved.at(at).tolist() == np.where(ODD, 4 * THREADS + 32, -1).tolist()
    assert first.digest != pattern_of(4 * THREADS)[0].digest
    assert first.digest != pattern_of(np.where(ODD, 8 * THREADS, -1))[0].digest
