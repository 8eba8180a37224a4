"""The rank argument agrees with counting words on banks."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smemlint.fix.search.candidates import Shape, addresses, swizzles
from smemlint.fix.search.linear import WORD, classes, rank, wavefronts

LANES = np.arange(32, dtype=np.int64)


def counted(words: np.ndarray) -> int:
    return max(Counter(w % 32 for w in set(words.tolist())).values())


def cost(words: np.ndarray) -> int | None:
    found = classes(words.reshape(1, 32) * WORD, np.ones(1, dtype=np.int64))
    return None if found is None else sum(wavefronts(c.parts) * c.weight for c in found)


def test_a_column_of_a_square_tile_is_32_way_and_its_swizzle_is_free() -> None:
    assert cost(LANES * 32) == 32
    assert cost(LANES * 32 + (LANES ^ 5)) == 1


def test_a_broadcast_is_one_wavefront() -> None:
    assert cost(np.full(32, 7, dtype=np.int64)) == 1


def test_a_stride_of_three_and_a_partial_warp_are_not_bit_linear() -> None:
    assert cost(LANES * 3) is None
    assert cost(np.where(LANES < 16, LANES, -1)) is None


def test_requests_that_differ_by_a_xor_are_one_class() -> None:
    offsets = np.stack([(LANES * 32 + k) * WORD for k in range(32)])
    found = classes(offsets, np.full(32, 3, dtype=np.int64))
    assert found is not None and len(found) == 1
    assert found[0].weight == 96


def test_rank_counts_independent_vectors() -> None:
    assert rank((1, 2, 3)) == 2
    assert rank((0, 0)) == 0
    assert rank((8, 4, 2, 1, 16)) == 5


@given(st.lists(st.integers(0, 4095), min_size=5, max_size=5), st.integers(0, 4095))
def test_rank_equals_counting_for_every_bit_linear_request(parts: list[int], start: int) -> None:
    words = np.full(32, start, dtype=np.int64)
    for bit, part in enumerate(parts):
        words ^= np.where(LANES >> bit & 1, part, 0)
    assert cost(words) == counted(words)


@given(st.lists(st.integers(0, 1023), min_size=5, max_size=5), st.integers(0, 1023), st.data())
def test_a_swizzle_of_the_parts_is_the_swizzle_of_the_lanes(
    parts: list[int], start: int, data: st.DataObject
) -> None:
    words = np.full(32, start, dtype=np.int64)
    for bit, part in enumerate(parts):
        words ^= np.where(LANES >> bit & 1, part, 0)
    shape = Shape((32, 32), WORD)
    swizzle = data.draw(st.sampled_from(list(swizzles(shape, WORD))))
    at = addresses(words.reshape(1, 32) * WORD, 0, shape)
    of_parts = addresses(np.array([parts], dtype=np.int64) * WORD, 0, shape)
    assert at is not None and of_parts is not None
    lanes, moved = swizzle.apply(at, shape), swizzle.apply(of_parts, shape)
    assert lanes is not None and moved is not None
    assert wavefronts((moved[0] // WORD).tolist()) == counted(lanes[0] // WORD)
