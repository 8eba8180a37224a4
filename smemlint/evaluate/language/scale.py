"""What was decided by scale, in words: a block in the middle of the grid, a large size."""

from __future__ import annotations

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Assumption
from smemlint.evaluate.values.comparison import INTERIOR
from smemlint.ir import Binary, Call
from smemlint.ir.show import show


def decided_by_scale(m: Machine, e: Binary | Call, kind: str) -> None:
    """Note that a comparison, or a choice of the smaller or larger, was decided so."""
    if id(e) not in m.journal.assumptions:
        by = "as a block in the middle of the grid finds it" if kind == INTERIOR else "as for a large size"
        m.journal.assumptions[id(e)] = Assumption(kind, f"`{show(e)}` is decided {by}", e.place)
