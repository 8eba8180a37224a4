"""What a reason says is true: the layout it names is the best of those tried, its access really is worse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smemlint.banks import architecture, cost_of
from smemlint.fix.reasons import nothing_found
from smemlint.fix.search.candidates import Padding, Shape, addresses
from smemlint.fix.search.choices import Choice, Choices
from smemlint.fix.search.layouts import _candidates, search
from smemlint.fix.search.members import Instance, Piece, member
from tests.fix.cases import access, array, kernel

SM90 = architecture("sm_90")
TILE = array(32, 32)
SHAPE = Shape((32, 32), 4)


def scattered(seed: int) -> Instance:
    """A row, and lanes on places of their own: what no layout of rows and columns mends."""
    random = np.random.default_rng(seed)
    rows, columns = random.integers(0, 32, 256), random.integers(0, 32, 256)
    conflicts = [
        access(TILE, (32, 8), lambda x, y: (y, x), "store", line=3),
        access(TILE, (32, 8), lambda x, y: (rows[y * 32 + x], columns[y * 32 + x]), line=5),
    ]
    members = tuple(m for c in conflicts if (m := member(c)) is not None)
    return Instance(kernel((32, 8), [TILE], conflicts), TILE, members)


def costs(instance: Instance, layout: object) -> list[int]:
    """Wavefronts of each access by the rule of banks alone."""
    result = []
    for each in instance.members:
        moved = layout.apply(addresses(each.offsets, 0, SHAPE), SHAPE)  # type: ignore[attr-defined]
        result.append(int(cost_of(each.conflict.site.op, each.width, moved)[0].sum()))
    return result


@pytest.mark.parametrize("seed", range(4))
def test_the_layout_that_is_named_is_the_best_of_all(seed: int) -> None:
    instance = scattered(seed)
    found = search([instance], [SHAPE], SM90)
    totals = [sum(costs(instance, layout)) for layout in _candidates([instance], [SHAPE])]
    named = [o.total for o in (*found.options, found.nearest) if o is not None]
    assert min(named) == min(totals)


@pytest.mark.parametrize("seed", range(4))
def test_the_accesses_that_are_named_get_worse_by_what_is_said(seed: int) -> None:
    instance = scattered(seed)
    found = search([instance], [SHAPE], SM90)
    nearest = found.nearest or found.options[0]
    text = nothing_found(Choices((), None, Choice(nearest, (SHAPE,), None), found.tried), [instance], {}).text
    assert f"the best of {found.tried} other layouts" in text
    for each, after in zip(instance.members, costs(instance, nearest.layout), strict=True):
        said = f"line {each.conflict.site.place.line} from {each.before} to {after}"
        assert (said in text) == (after > each.before)


def test_a_layout_that_a_block_has_no_room_for_is_named_with_its_numbers() -> None:
    tile, rest = array(32, 64), array(10, 1024, name="rest", offset=2)
    conflicts = [access(tile, (32, 8), lambda x, y: (x, y), "store", width=4, joined=None)]
    analysis = kernel((32, 8), [tile, rest], conflicts)
    one = Instance(analysis, tile, tuple(m for c in conflicts if (m := member(c)) is not None))
    shape = Shape((32, 64), 4)
    small = search([one], [shape], replace(SM90, shared_static=tile.bytes + rest.bytes))
    roomy = search([one], [shape], replace(SM90, shared_static=tile.bytes + rest.bytes + 128))
    assert (small.unfit is not None and roomy.unfit is None) or roomy.options
    best = small.unfit
    assert best is not None and isinstance(best.layout, Padding)
    assert best.total == int(
        cost_of("store", 4, best.layout.apply(addresses(one.members[0].offsets, 0, shape), shape))[0].sum()
    )
    text = nothing_found(Choices((), unfit=Choice(best, (shape,), None)), [one], {}).text
    assert text.startswith(f"`t[32][65]` would make {one.members[0].before} wavefronts {best.total}; ")
    assert text.endswith(
        f"{best.bytes_added} B more than the {tile.bytes + rest.bytes} B that a block has already"
    )


def test_where_the_launch_does_not_tell_the_bytes_nothing_is_said_of_room() -> None:
    pool = replace(array(32, 64), dynamic=True)
    conflicts = [access(pool, (32, 8), lambda x, y: (x, y), "store")]
    analysis = kernel((32, 8), [pool], conflicts)
    open_ = replace(analysis, launch=replace(analysis.launch, dynamic=None))
    members = tuple(m for c in conflicts if (m := member(c)) is not None)
    piece = Piece(pool, 0, pool.bytes or 0, (), None, (), (), "")
    shape = Shape((32, 64), 4)
    tiny = replace(SM90, shared_static=64, shared_block=64)
    known = replace(analysis, launch=replace(analysis.launch, dynamic=pool.bytes))
    assert search([Instance(known, pool, members, piece)], [shape], tiny).unfit is not None
    assert search([Instance(open_, pool, members, piece)], [shape], tiny).unfit is None
