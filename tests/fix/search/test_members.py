"""The sites of an array where a run-time choice decides where one of them goes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from smemlint.evaluate.model import Ways
from smemlint.fix.search.batch import batches
from smemlint.fix.search.candidates import Padding, Shape
from smemlint.fix.search.members import Member, apart, member, movable
from smemlint.score.model import Conflict
from tests.fix.cases import access, array

TILE = array(64, 32)
SHAPE = Shape((64, 32), 4)


def two_ways(joined: int | None = None) -> Conflict:
    """A column that is read, or a row of the lower half: 32 wavefronts or one."""
    step = (joined or 4) // 4
    down = access(TILE, (32, 1), lambda x, y: (x, 0 * x), joined=joined)
    along = access(TILE, (32, 1), lambda x, y: (32 + 0 * x, x * step % 32), joined=joined)
    trace = replace(
        down.trace,
        offsets=np.concatenate([down.trace.offsets, along.trace.offsets]),
        weights=np.concatenate([down.trace.weights, along.trace.weights]),
        choice=Ways(2),
    )
    return replace(down, trace=trace)


def made(conflict: Conflict) -> Member:
    assert movable(conflict)
    found = member(conflict)
    assert found is not None
    return found


def test_the_dearest_way_counts() -> None:
    each = made(two_ways())
    assert (each.before, each.ideal) == (32, 1)


def test_a_layout_is_scored_by_its_dearest_way() -> None:
    (batch,) = batches([made(two_ways())], SHAPE)
    assert batch.cost(Padding(1, 1)) == [1]
    assert batch.cost(Padding(1, 2)) == [2]


def test_the_steps_of_a_way_that_is_taken_apart_stay_together() -> None:
    each = apart(made(two_ways(joined=8)))
    first, second = np.split(each.offsets, 2)
    assert each.steps == 2 and len(each.weights) == 4
    assert first[:, 1].tolist() == [128, 132] and second[:, 1].tolist() == [4104, 4108]
