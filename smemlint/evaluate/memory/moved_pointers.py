"""Pointers into shared memory that a condition moves by a number (`if (c) p += 4;`), as they are merged."""

from __future__ import annotations

from smemlint.evaluate.analysis.arms.moved_pointers import Moves
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.machine.state import MovedPointer
from smemlint.evaluate.values.number import Int, form_of
from smemlint.evaluate.values.value import Pointer
from smemlint.ir import Scalar


def note_moved(m: Machine, new: Pointer, old: Pointer, chosen: Int, moves: Moves) -> None:
    """Remember that a condition moves a pointer by a number (see `chosen_pointers`). chosen: the offset of
    what is made of both."""
    if not isinstance(new.pointee, Scalar):
        return
    array, here, there = id(new.object), form_of(new.offset), form_of(old.offset)
    first = moves is Moves.FROM_FIRST or (moves is Moves.PERHAPS and there.const and not here.const)
    before, after = (here, there) if first else (there, here)
    earlier = m.journal.moved.get((array, there.terms))
    if here.terms != there.terms and earlier is not None and here.terms == earlier.before.terms:
        before, moves = earlier.before, Moves.PERHAPS  # one of three
    elif here.terms != there.terms or here.const == there.const:
        return
    form, sure = form_of(chosen), moves is not Moves.PERHAPS
    m.journal.moved[array, form.terms] = MovedPointer(before, after, form.const, new.pointee.size, sure)
