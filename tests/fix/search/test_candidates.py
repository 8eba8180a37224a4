"""Candidate layouts move addresses, and nothing but addresses: each is a one-to-one map inside the array."""

from __future__ import annotations

import numpy as np
import pytest

from smemlint.fix.search.candidates import (
    Exchange,
    Layout,
    Padding,
    Shape,
    Swizzle,
    Trimmed,
    addresses,
    paddings,
    skews,
    swizzles,
    unpadding,
)


def everything(shape: Shape) -> np.ndarray:
    """Every element of an array as requests of 32 lanes."""
    count = shape.bytes // shape.element
    offsets = np.arange(count, dtype=np.int64) * shape.element
    return np.concatenate([offsets, np.full(-count % 32, -1, dtype=np.int64)]).reshape(-1, 32)


def moved(layout: Layout, shape: Shape) -> np.ndarray:
    at = addresses(everything(shape), 0, shape)
    assert at is not None
    result = layout.apply(at, shape)
    assert result is not None
    return result[result >= 0]


@pytest.mark.parametrize(
    "shape", [Shape((16, 16), 4), Shape((3, 8, 32), 2), Shape((64, 8), 16), Shape((512,), 4)]
)
def test_every_layout_is_one_to_one_and_inside_the_array(shape: Shape) -> None:
    layouts: list[Layout] = [*paddings(shape, shape.element), *swizzles(shape, shape.element)]
    layouts += skews(shape, shape.element)
    if len(shape.dims) > 1:
        layouts.append(Exchange(len(shape.dims) - 2))
    assert layouts
    for layout in layouts:
        new = moved(layout, shape)
        assert len(set(new.tolist())) == shape.bytes // shape.element, layout
        assert new.min() >= 0 and new.max() + shape.element <= layout.shape(shape).bytes, layout


def test_a_swizzle_is_its_own_inverse() -> None:
    shape = Shape((32, 32), 4)
    for swizzle in swizzles(shape, 4):
        at = addresses(everything(shape), 0, shape)
        assert at is not None
        once = swizzle.apply(at, shape)
        assert once is not None
        again = addresses(once, 0, shape)
        assert again is not None
        assert np.array_equal(swizzle.apply(again, shape), everything(shape))


def test_a_swizzle_keeps_wide_accesses_together() -> None:
    shape = Shape((8, 32), 4)
    for swizzle in swizzles(shape, 16):
        new = moved(swizzle, shape).reshape(-1, 4)
        assert (new[:, 0] % 16 == 0).all() and (np.diff(new, axis=1) == 4).all(), swizzle


def test_padding_keeps_the_pitch_a_multiple_of_the_widest_access() -> None:
    pitches = [(32 + p.extra) * 4 for p in paddings(Shape((32, 32), 4), 16)]
    assert pitches[:2] == [144, 160] and all(p % 16 == 0 for p in pitches)


def test_padding_moves_row_r_by_r_times_the_padding() -> None:
    shape = Shape((4, 8), 4)
    assert moved(Padding(1, 1), shape).tolist() == [4 * (9 * r + c) for r in range(4) for c in range(8)]


def test_exchanging_dimensions_transposes() -> None:
    shape = Shape((4, 8), 4)
    assert moved(Exchange(0), shape).tolist() == [4 * (4 * c + r) for r in range(4) for c in range(8)]


def test_an_unknown_part_must_leave_the_indices_alone() -> None:
    shape = Shape((32, 32), 4)
    offsets = everything(shape)[:1]
    at = addresses(offsets, 128, shape)
    assert at is not None
    assert Padding(1, 1).apply(at, shape) is not None
    assert Swizzle(5, 0, 0).apply(at, shape) is None
    whole = addresses(offsets, 4096, shape)
    assert whole is not None
    assert Swizzle(5, 0, 0).apply(whole, shape) is not None


def test_inactive_lanes_stay_inactive() -> None:
    shape = Shape((4, 4), 4)
    offsets = np.full((1, 32), -1, dtype=np.int64)
    offsets[0, 3] = 20
    at = addresses(offsets, 0, shape)
    assert at is not None
    for layout in (Padding(1, 1), Exchange(0), Swizzle(2, 0, 0)):
        result = layout.apply(at, shape)
        assert result is not None
        assert (result[0] >= 0).tolist() == (offsets[0] >= 0).tolist()


def test_an_array_without_columns_has_no_padding_to_take_away() -> None:
    assert unpadding(Shape((8, 0), 4)) is None


@pytest.mark.parametrize(
    ("columns", "reached", "less"), [(33, 32, 1), (40, 32, 8), (8, 1, None), (32, 28, None), (9, 2, None)]
)
def test_a_padding_is_narrower_than_its_row_and_no_power_of_two(
    columns: int, reached: int, less: int | None
) -> None:
    found = unpadding(Shape((8, columns), 4), reached)
    assert found == (None if less is None else Padding(1, -less))


@pytest.mark.parametrize(
    "layout", [Padding(2, 4), Padding(2, -4), Trimmed(Padding(2, -4), Swizzle(2, 3, 6, True))]
)
def test_a_stage_that_is_not_known_moves_as_the_layout_moves_it(layout: Layout) -> None:
    """Rows of stage 0 with a stage left out, against the same rows of stages 0 to 3 as they are."""
    shape = Shape((4, 16, 132), 4)
    stage = 16 * 132 * 4
    inside = (np.arange(32, dtype=np.int64) * 3 * 132 * 4 % stage + 5 * 4).reshape(1, 32)
    at = addresses(inside, stage, shape)
    left_out = layout.alignment(at, shape)
    first = layout.apply(at, shape)
    assert first is not None and left_out == 16 * (132 + (4 if layout == Padding(2, 4) else -4)) * 4
    for number in range(4):
        known = layout.apply(addresses(inside + number * stage, 0, shape), shape)
        assert known is not None and np.array_equal(known, first + number * left_out)


def test_a_part_of_a_row_that_is_not_known_keeps_a_padding_where_it_is() -> None:
    shape = Shape((16, 132), 4)
    at = addresses(np.arange(32, dtype=np.int64).reshape(1, 32) * 4, 64, shape)
    assert Padding(1, -4).apply(at, shape) is None
