"""Branches: the lanes that a condition sends there, and the state to go back to."""

from __future__ import annotations

import numpy as np

from smemlint.evaluate.machine.machine import Machine, Mask
from smemlint.evaluate.values.lanes import some
from smemlint.evaluate.values.number import Int, Symbol
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.value import Cells, Object, Value
from smemlint.records import record


@record(eq=False, slots=True)
class Branch:
    """Lanes that surely and possibly take a branch. together: either all of the latter take it or none."""

    must: Mask
    may: Mask
    together: bool = True


def decode(m: Machine, c: Int, *, stays: bool = False) -> Branch:
    """The lanes of the mask for which a 0/1 value is, or may be, 1.

    A condition that is unknown but the same for all lanes keeps them all: when the branch runs at all,
    it runs with the full mask. stays: who takes the branch comes back from it, so that of one that a single
    lane takes, whichever, the first that may be it stands for it.
    """
    if c.known and isinstance(c.const, int):
        return Branch(m.must, m.may) if c.const else Branch(m.threads.nobody, m.threads.nobody)
    if c.known:
        taken = c.const != 0
        return Branch(m.must & taken, m.may & taken)
    alone = _of_one_lane(c) if stays else None
    undecided = np.zeros(m.threads.size, dtype=bool)
    varying = np.zeros(m.threads.size, dtype=bool)
    for mono, coefficient in c.terms.items():
        hit = coefficient != 0
        undecided |= hit
        for s in mono:
            if s.varying and s is not alone:
                varying |= hit
                break
    if alone is not None:
        may = _first_lane(m.may & undecided)
        sure = m.threads.nobody if some(varying & may) else m.must & may
        return Branch(sure, may, together=not some(varying & may))
    may = m.may & (undecided | (c.const != 0))
    if not some(varying) and _together(c, may, undecided):
        return Branch(m.must & may, may)
    return Branch(m.must & may & ~undecided, may, together=False)


def without(branch: Branch, lanes: Mask) -> Branch:
    """A branch that some lanes do not take."""
    if not some(branch.may & lanes):
        return branch
    return Branch(branch.must & ~lanes, branch.may & ~lanes, branch.together)


def in_two(m: Machine, c: Int) -> tuple[Int, Int] | None:
    """A 0/1 value as two, what is 1 in lanes whatever is unknown and what is left to decide (`t > 22 ||
    flag`). None where it is not both."""
    if c.known or isinstance(c.const, int):
        return None
    undecided = np.zeros(m.threads.size, dtype=bool)
    for coefficient in c.terms.values():
        undecided |= coefficient != 0
    settled = ~undecided & (c.const != 0)
    if not some(settled & m.may) or not some(undecided & m.may):
        return None
    rest = {mono: np.where(settled, 0, coefficient) for mono, coefficient in c.terms.items()}
    return Int(settled.astype(np.int64), c.type), Int(np.where(settled, 0, c.const), c.type, dict(rest))


def _of_one_lane(c: Int) -> Symbol | None:
    """The unknown that is 1 in one lane alone, of a value that is 0 without it."""
    found = next((s for mono in c.terms for s in mono if s.alone), None)
    without = found is None or np.any(c.const) or any(found not in mono for mono in c.terms)
    return None if without else found


def _first_lane(lanes: Mask) -> Mask:
    """The first of some lanes."""
    one = np.zeros_like(lanes)
    one[np.argmax(lanes)] = True
    return one & lanes


def _together(c: Int, may: Mask, undecided: Mask) -> bool:
    """Whether lanes that may take a branch, as values alone decide that are the same in all, do so
    together."""
    if isinstance(c.const, int) and all(isinstance(x, int) for x in c.terms.values()):
        return True
    if some(may & ~undecided):
        return False  # these surely go, and the others may not
    parts = [np.broadcast_to(np.asarray(x), may.shape)[may] for x in (c.const, *c.terms.values())]
    return all(len(part) == 0 or bool((part == part[0]).all()) for part in parts)


def snapshot(m: Machine) -> Snapshot:
    """The state now."""
    s = Snapshot()
    frames = list(m.frames)
    for f in m.frames:
        parent = f.parent
        while parent is not None:
            frames.append(parent)
            parent = parent.parent
    pending: list[Object] = []
    for f in frames:
        pending += f.variables.values()
    pending += m.memory.globals.values()
    pending += [f.this.object for f in frames if f.this is not None]
    s.note(pending)
    return s


def unchanged(o: Object, cells: dict[int, Value]) -> bool:
    """Whether an object holds what it held when the copy was taken."""
    held = o.cells
    return type(held) is Cells and held.saved is cells


def changes_since(s: Snapshot) -> set[Object]:
    """The objects that hold something else than in a state, or are known differently."""
    havoc = s.havoc
    # unchanged(), written out: this is asked of every object at each branch.
    return {
        o
        for o, cells in s.cells.items()
        if getattr(o.cells, "saved", None) is not cells or o.havoc != havoc[o]
    }


def restore(m: Machine, s: Snapshot) -> None:
    """Go back to a state."""
    s.complete(m.memory.begun)
    for o, cells in s.cells.items():
        o.havoc = s.havoc[o]
        if not unchanged(o, cells):
            o.cells = Cells(cells)
