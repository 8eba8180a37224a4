"""Requests that collide and agree often, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from smemlint.banks import OPERATIONS
from smemlint.banks.request import MATRIX_OPERATIONS, WIDTHS

Lanes = list[int | None]


@st.composite
def requests(draw: st.DrawFn, ops: tuple[str, ...] = OPERATIONS) -> tuple[str, int, int, Lanes]:
    """An operation, its width and matrices, and 32 lanes that collide and agree often."""
    op = draw(st.sampled_from(ops))
    width = draw(st.sampled_from(WIDTHS[op]))
    matrices = draw(st.sampled_from((1, 2, 4))) if op in MATRIX_OPERATIONS else 1
    share = draw(st.sampled_from((0, 1, 2, 3, 4, 31)))  # lanes that share an address: i & ~share
    spread = draw(st.sampled_from((1, 8, 64, 512)))
    base = draw(st.lists(st.integers(0, spread), min_size=32, max_size=32))
    holes = draw(st.sets(st.integers(0, 31), max_size=draw(st.sampled_from((0, 1, 3, 32)))))
    lanes: Lanes = [None if lane in holes else base[lane & ~share] * width for lane in range(32)]
    return op, width, matrices, lanes
