"""The layout that is found is the cheapest that frees the array, and never harms an access."""

from __future__ import annotations

import pytest

from smemlint.banks import architecture
from smemlint.evaluate.model import SharedArray
from smemlint.fix.search.candidates import Padding, Shape, Skew, Swizzle
from smemlint.fix.search.layouts import Option, options
from smemlint.fix.search.members import Instance, member
from smemlint.score.model import Conflict
from tests.fix.cases import access, array, kernel

SM90 = architecture("sm_90")


def found(block: tuple[int, int], of: SharedArray, *conflicts: Conflict, pitch: int = 0) -> list[Option]:
    members = tuple(m for c in conflicts if (m := member(c)) is not None)
    assert len(members) == len(conflicts)
    instance = Instance(kernel(block, [of], list(conflicts)), of, members)
    dims = tuple(d or 0 for d in of.dims)
    shape = Shape((dims[0] // pitch, pitch), of.element, flat=True) if pitch else Shape(dims, of.element)
    return options([instance], [shape], SM90)


def transposed(size: int, element: int, block: tuple[int, int]) -> list[Option]:
    t = array(size, size, element=element)
    row = access(t, block, lambda x, y: (y, x), "store")
    column = access(t, block, lambda x, y: (x, y))
    return found(block, t, row, column)


def test_a_float_column_of_32_is_freed_by_one_word() -> None:
    best = transposed(32, 4, (32, 8))[0]
    assert best.layout == Padding(1, 1)
    assert best.after == ((8, 8),)
    assert best.bytes_added == 128


def test_a_16_by_16_tile_under_a_16_by_16_block_is_padded_by_two() -> None:
    """The rows of two threads rows overlap in two banks, which costs less than the integer work of a xor."""
    best, *rest = transposed(16, 4, (16, 16))
    assert best.layout == Padding(1, 2)
    assert best.after == ((16, 8),)
    swizzle = next(o for o in rest if o.layout == Swizzle(3, 1, 1))
    assert swizzle.after == ((8, 8),) and swizzle.cost > best.cost


def test_a_16_by_17_tile_gets_one_word_more() -> None:
    t = array(16, 17)
    row = access(t, (16, 16), lambda x, y: (y, x), "store")
    column = access(t, (16, 16), lambda x, y: (x, y))
    best = found((16, 16), t, row, column)[0]
    assert best.layout == Padding(1, 1)
    assert best.after == ((16, 8),)


@pytest.mark.parametrize(("element", "free"), [(1, 32), (2, 32), (8, 64), (16, 128)])
def test_columns_of_every_element_size_get_a_pad_that_frees_them(element: int, free: int) -> None:
    best = transposed(32, element, (32, 32))[0]
    assert isinstance(best.layout, Padding)
    assert best.after == (((free if element > 4 else 32), free),)


def test_an_array_read_by_16_byte_loads_never_gets_an_odd_pitch() -> None:
    t = array(32, 32)
    store = access(t, (32, 8), lambda x, y: (x, y * 4), "store")
    load = access(t, (8, 4), lambda x, y: (x, y * 4), "load", width=16)
    for option in found((32, 8), t, store, load):
        pitch = option.layout.shape(Shape((32, 32), 4)).dims[-1]
        assert pitch % 4 == 0, option


def test_loads_that_the_compiler_joins_forbid_an_odd_pitch_too() -> None:
    t = array(32, 32)
    load = access(t, (32, 1), lambda x, y: (x, y * 4), "load", joined=16)
    best = found((32, 1), t, load)[0]
    assert best.layout == Padding(1, 4)


def test_the_textbook_gemm_needs_nothing() -> None:
    t = array(32, 32)
    row = access(t, (32, 8), lambda x, y: (y, x), "store")
    broadcast = access(t, (32, 8), lambda x, y: (y, x * 0))
    assert found((32, 8), t, row, broadcast) == []


def test_a_flat_tile_is_padded_by_its_pitch() -> None:
    t = array(1024)
    row = access(t, (32, 8), lambda x, y: (y * 32 + x,), "store")
    column = access(t, (32, 8), lambda x, y: (x * 32 + y,))
    assert found((32, 8), t, row, column, pitch=32)[0].layout == Padding(1, 1)


def test_a_power_of_two_stride_is_freed_by_a_linear_swizzle() -> None:
    t = array(1024)
    best = found((256, 1), t, access(t, (256, 1), lambda x, y: (4 * x,)))[0]
    assert isinstance(best.layout, Swizzle) and best.layout.linear
    assert best.after == ((8,),)


def test_an_access_may_get_worse_where_the_sum_gets_better() -> None:
    t = array(32, 32)
    sites = [
        access(t, (32, 8), lambda x, y: (y, x), "store"),
        access(t, (32, 8), lambda x, y: (x, y)),
        access(t, (32, 8), lambda x, y: (x, x)),
    ]
    before = [c.wavefronts or 0 for c in sites]
    assert before == [8, 256, 8]
    best = found((32, 8), t, *sites)[0]
    assert any(new > old for new, old in zip(best.after[0], before, strict=True))
    assert all(o.total < sum(before) for o in found((32, 8), t, *sites))


def test_lanes_that_step_within_a_row_get_gaps_in_it() -> None:
    """The tile of a register-blocked matrix product: 16 threads read 8 neighbours each, by 16 bytes."""
    t = array(8, 128)
    load = access(t, (16, 16), lambda x, y: (0 * x, x * 8), width=16)
    skewed = next(o for o in found((16, 16), t, load) if isinstance(o.layout, Skew))
    assert skewed.layout == Skew(5, 4) and sum(skewed.after[0]) == load.ideal
    joined = access(t, (16, 16), lambda x, y: (0 * x, x * 8), width=4, joined=16)
    assert not any(isinstance(o.layout, Skew) for o in found((16, 16), t, joined))


def test_a_swizzle_of_joined_neighbours_keeps_them_together() -> None:
    t = array(8, 128)
    joined = access(t, (16, 16), lambda x, y: (0 * x, x * 8), width=4, joined=16)
    swizzles = [o for o in found((16, 16), t, joined) if isinstance(o.layout, Swizzle)]
    assert swizzles and sum(swizzles[0].after[0]) == joined.ideal
    assert all(o.layout.kept == 4 and o.layout.base >= 2 for o in swizzles if isinstance(o.layout, Swizzle))


def test_lanes_on_one_word_cannot_be_helped() -> None:
    t = array(32)
    assert found((32, 1), t, access(t, (32, 1), lambda x, y: (x * 0,), "atomic")) == []


def test_a_block_that_would_no_longer_fit_is_not_padded() -> None:
    t = array(96, 128)
    column = access(t, (32, 1), lambda x, y: (x, y))
    assert all(o.bytes_added == 0 for o in found((32, 1), t, column))


def test_a_padding_that_only_harms_is_taken_back() -> None:
    t = array(16, 17)
    row = access(t, (16, 16), lambda x, y: (y, x), "store")
    best = found((16, 16), t, row)[0]
    assert best.layout == Padding(1, -1)
    assert best.after == ((8,),) and best.bytes_added == -64


def test_a_column_that_an_access_reaches_is_no_padding() -> None:
    t = array(16, 17)
    row = access(t, (16, 16), lambda x, y: (y, x + 1), "store")
    assert all(o.bytes_added >= 0 for o in found((16, 16), t, row))
