"""What a variable holds where a condition, or the mask, chooses between two values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from smemlint.evaluate.analysis.arms.pointer_selects import Moves
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.machine.state import MovedPointer
from smemlint.evaluate.memory.several import either, lost_among
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.arithmetic import convert
from smemlint.evaluate.values.comparison import select, too_long
from smemlint.evaluate.values.host_limits import is_told, limited, one_told, told_or
from smemlint.evaluate.values.lanes import count
from smemlint.evaluate.values.number import Int, form_of
from smemlint.evaluate.values.value import (
    Closure,
    FunctionValue,
    Method,
    Object,
    Other,
    Pointer,
    RecordValue,
    Value,
    same,
)
from smemlint.ir import PointerTo, Scalar


def masked(m: Machine, new: Value, old: Value) -> Value:
    """`new` in the lanes of the mask, `old` elsewhere."""
    if m.may is m.threads.present or count(m.may) == count(m.threads.present):
        return new
    m.context.stale = True
    merged = merge(m, Int(m.may.astype(np.int64)), new, old)
    if isinstance(merged, Pointer) and isinstance(new, Pointer) and isinstance(old, Pointer):
        _give(m, merged.offset, new.offset, old.offset)
    else:
        _give(m, merged, new, old)
    return merged


def _give(m: Machine, merged: Value, new: Value, old: Value) -> None:
    """Remember in a merged number what the lanes of the mask took, for a use by just these lanes."""
    if isinstance(merged, Int) and merged is not new and isinstance(new, Int) and isinstance(old, Int):
        merged.given = m.may, new, form_of(old)


def merge(m: Machine, c: Int, new: Value, old: Value) -> Value:
    """c ? new : old for a 0/1 value c of any kind."""
    if same(new, old):
        return _of_both(new, old)
    if m.host and not c.known and isinstance(new, Int) and isinstance(old, Int):
        between = limited(c, new, old, m.unknowns)
        if between is not None:
            return between
    if m.host and isinstance(new, Int) != isinstance(old, Int):
        function = old if isinstance(new, Int) else new
        if isinstance(function, FunctionValue | Closure | Method):  # the other one is `nullptr`
            return function
    pointers = isinstance(new, Pointer) or isinstance(old, Pointer)
    if m.context.defaults and not (c.known or pointers) and _is_told(m, new) != _is_told(m, old):
        # `int n = 1024; if (argc > 1) n = atoi(argv[1]);`: what the program does when told nothing
        known, other = (new, old) if _is_told(m, new) else (old, new)
        if _is_no_answer(known):
            return other
        return _or_another(m, c, known, other)
    if isinstance(new, Int) and isinstance(old, Int):
        new, old = _of_one_type(m, new, old)
        if too_long(c, new, old) or (m.host and _is_open(m, c, new, old)):
            return one_told(c, new, old, m.unknowns)
        return select(c, new, old)
    if isinstance(new, Pointer) and isinstance(old, Pointer):
        if new.object is old.object:
            offset = merge(m, c, new.offset, old.offset)
            assert isinstance(offset, Int)
            if m.context.moves is not None and new.object.storage == "shared":
                note_moved(m, new, old, offset, m.context.moves)
            return Pointer(new.object, offset, new.pointee, new.integer)
        return either(m, c, new, old)
    if isinstance(new, Pointer) and known_number(old):  # a null pointer leads nowhere
        return either(m, c, new, _null_like(new))
    if isinstance(old, Pointer) and known_number(new):
        return either(m, c, _null_like(old), old)
    if isinstance(new, RecordValue) and isinstance(old, RecordValue):
        keys = new.cells.keys() & old.cells.keys()
        return RecordValue(new.type, {k: merge(m, c, new.cells[k], old.cells[k]) for k in keys})
    if isinstance(new, FunctionValue | Closure | Method):
        return _either_function(new, old) if m.host else _one_called(new, old)
    if m.host and isinstance(old, FunctionValue | Closure | Method):
        return old
    if m.host and isinstance(new, Pointer) != isinstance(old, Pointer):
        return _or_somewhere(m, c, new, old)
    if isinstance(new, Pointer) or isinstance(old, Pointer):
        return lost_among((v.object for v in (new, old) if isinstance(v, Pointer)), "or somewhere else")
    uniform = isinstance(new, Other) and isinstance(old, Other) and new.uniform and old.uniform and c.uniform
    leads = next((v.leads for v in (new, old) if isinstance(v, Other) and v.leads is not None), None)
    return Other(getattr(new, "type", None), uniform, leads=leads)


def _of_both(new: Value, old: Value) -> Value:
    """One value that two ways lead to, each of which may prove another thing of it."""
    if not isinstance(new, Int) or not isinstance(old, Int) or new.form == old.form:
        return new
    return Int(new.const, new.type, new.terms)


def _or_somewhere(m: Machine, c: Int, new: Value, old: Value) -> Value:
    """A pointer of host code that may lead where nobody knows."""
    known = new if isinstance(new, Pointer) else old
    assert isinstance(known, Pointer)
    p = m.unknown(PointerTo(known.pointee), "memory", uniform=True)
    if not isinstance(p, Pointer):
        return p
    return either(m, c, known, p) if known is new else either(m, c, p, known)


def _null_like(p: Pointer) -> Pointer:
    return Pointer(Object("null", "null", p.pointee, "global"), Int(0), p.pointee)


def _is_told(m: Machine, v: Value) -> bool:
    return isinstance(v, Int) and is_told(v, m.unknowns.recipes)


def _or_another(m: Machine, c: Int, known: Value, other: Value) -> Value:
    """A default, of which branches on other ways may say that it is another number: `if (n == 512)`."""
    if not isinstance(known, Int) or not known.known or not isinstance(other, Int | Other):
        return known
    if isinstance(other, Other):  # what a library function gives
        other = m.unknowns.value(known.type, "what is told", rank=3)
    return told_or(c, known, other, m.unknowns)


def _is_open(m: Machine, c: Int, new: Int, old: Int) -> bool:
    """Whether neither number of a choice is told: what is chosen may be told later, as one (`case 256:`)."""
    return not (c.known or new.varying or old.varying or _is_told(m, new) or _is_told(m, old))


def _is_no_answer(v: Value) -> bool:
    """Whether a number says that there is none: `int width = -1;` until a file was read."""
    return isinstance(v, Int) and v.known and isinstance(v.const, int) and v.const < 0


def _of_one_type(m: Machine, a: Int, b: Int) -> tuple[Int, Int]:
    """The same bytes as numbers of one type where they are equally many: what is chosen of `short` and
    `unsigned short` is no `int`."""
    if a.type == b.type or a.type.size != b.type.size:
        return a, b
    if a.type.kind == "bool":
        return a.typed(b.type), b
    return a, convert(b, a.type, m.unknowns)


def _either_function(new: FunctionValue | Closure | Method, old: Value) -> Value:
    """One of two functions, which one is not known: the second beside the first. What is none is null."""
    if isinstance(new, Method) or isinstance(old, Method):
        return Other() if isinstance(old, FunctionValue | Closure | Method) else new
    if not isinstance(old, FunctionValue | Closure):
        return new
    return one_of_functions([new, *new.others, old, *old.others])


def _one_called(new: FunctionValue | Closure | Method, old: Value) -> Value:
    """Of two functions that lanes choose from, or an unknown condition, neither is known to be meant."""
    if not isinstance(new, FunctionValue) or not isinstance(old, FunctionValue) or same(new, old):
        return new
    reason = Unresolved("unknown-function", f"`{old.name}` or `{new.name}` is called, as a condition decides")
    return Other(None, False, reason)


def one_of_functions(functions: Sequence[FunctionValue | Closure]) -> FunctionValue | Closure:
    """One of several functions, which one is not known."""
    alone = [replace(f, others=()) if f.others else f for f in functions]
    unlike: list[FunctionValue | Closure] = []
    for f in alone:
        if not any(same(f, g) for g in unlike):
            unlike.append(f)
    return replace(unlike[0], others=tuple(unlike[1:]))


def known_number(v: Value) -> bool:
    """Whether a value is a known integer, the same in all lanes."""
    return isinstance(v, Int) and v.known and isinstance(v.const, int)


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
