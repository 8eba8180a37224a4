"""Branches: the lanes that a condition sends there, and the state to go back to."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from smemlint.evaluate.cells import merge
from smemlint.evaluate.machine import Machine, Mask
from smemlint.evaluate.memory import Cells, Object
from smemlint.evaluate.pieces import even
from smemlint.evaluate.values import Int, Value, same
from smemlint.records import record


@record(frozen=True, slots=True)
class Branch:
    """Lanes that surely and possibly take a branch."""

    must: Mask
    may: Mask


@record(slots=True)
class Snapshot:
    """The cells of every followed object."""

    cells: dict[Object, dict[int, Value]] = field(default_factory=dict)
    havoc: dict[Object, bool] = field(default_factory=dict)


def decode(m: Machine, c: Int) -> Branch:
    """The lanes of the mask for which a 0/1 value is, or may be, 1.

    A condition that is unknown but the same for all lanes keeps them all: when the branch runs at all,
    it runs with the full mask.
    """
    if c.known and isinstance(c.const, int):
        return Branch(m.must, m.may) if c.const else Branch(m.nobody, m.nobody)
    if c.known:
        taken = c.const != 0
        return Branch(m.must & taken, m.may & taken)
    undecided = np.zeros(m.size, dtype=bool)
    varying = np.zeros(m.size, dtype=bool)
    for mono, coefficient in c.terms.items():
        hit = coefficient != 0
        undecided |= hit
        if any(s.varying for s in mono):
            varying |= hit
    may = m.may & (undecided | (c.const != 0))
    return Branch(m.must & may & ~varying, may)


def snapshot(m: Machine) -> Snapshot:
    """The state now."""
    s = Snapshot()
    cells, havoc = s.cells, s.havoc
    frames = list(m.frames)
    for f in m.frames:
        parent = f.parent
        while parent is not None:
            frames.append(parent)
            parent = parent.parent
    pending = [o for f in frames for o in f.variables.values()]
    pending += [o for o in m.globals.values() if o.storage == "local"]
    pending += [f.this.object for f in frames if f.this is not None]
    while pending:
        o = pending.pop()
        if o.storage != "local" or o in cells:
            continue
        held = o.cells
        if not isinstance(held, Cells):
            held = o.cells = Cells(held)
        cells[o] = held.saved or held.copied()
        havoc[o] = o.havoc
        pending += held.leads
    return s


def _unchanged(o: Object, cells: dict[int, Value]) -> bool:
    """Whether an object holds what it held when the copy was taken."""
    return isinstance(o.cells, Cells) and o.cells.saved is cells


def restore(s: Snapshot) -> None:
    """Go back to a state."""
    for o, cells in s.cells.items():
        o.havoc = s.havoc[o]
        if not _unchanged(o, cells):
            o.cells = Cells(cells)


def merge_into(m: Machine, c: Int, then: Snapshot) -> None:
    """The present state is the one of `else`; make it `c ? then : else`."""
    for o, cells in then.cells.items():
        if o.storage != "local":
            continue
        o.havoc = o.havoc or then.havoc[o]
        if _unchanged(o, cells):
            continue
        both = even(cells, o.cells, m.unknowns)
        if both is not None:
            cells, o.cells = both[0], Cells(both[1])
        for at, v in cells.items():
            old = o.cells.get(at)
            if old is None:
                o.cells[at] = v
            elif v is not old and not same(v, old):
                o.cells[at] = merge(m, c, v, old)
