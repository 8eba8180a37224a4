"""Bit-fields, and members that are less aligned than their type: how they are read, written and moved."""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.local_memory import known_offset, whole_at, write_cell
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.number import Int, in_words
from smemlint.evaluate.values.pieces import bits_of
from smemlint.evaluate.values.value import Other, Pointer, Value
from smemlint.ir import Part, Scalar
from smemlint.ir.types import INT, UCHAR, UINT, ULONG, USHORT

_UNITS = {1: UCHAR, 2: USHORT, 4: UINT, 8: ULONG}


def truncated(m: Machine, v: Value, t: Part) -> Value:
    """v as a bit-field holds it."""
    if not isinstance(v, Int) or not t.bits:
        return v
    return _field(m, v, 0, t)


def read_part(m: Machine, p: Pointer, t: Part) -> Value:
    """The value of a bit-field in a local object."""
    unit = _unit(t)
    at = known_offset(m, p)
    if at is None:
        uniform = p.object.uniform and p.offset.uniform
        reason = Unresolved("untracked-local", f"a bit-field of `{p.object.name}` is not followed")
        return m.unknown(_promoted(t), p.object.name, uniform=uniform, reason=reason)
    return _field(m, _whole(m, p, at, unit), t.start, t)


def write_part(m: Machine, p: Pointer, v: Value, t: Part) -> None:
    """Set a bit-field of a local object; the bits beside it stay."""
    unit = _unit(t)
    at = known_offset(m, p)
    if at is None:
        for known in list(p.object.cells):
            p.object.cells[known] = Other(None, False)
        p.object.havoc = True
        return
    whole = _whole(m, p, at, unit)
    if not isinstance(v, Int):
        v = m.unknown(unit, p.object.name, uniform=isinstance(v, Other) and v.uniform)
        assert isinstance(v, Int)
    end = t.start + t.bits
    new = _shifted(m, _low(m, ar.convert(v, unit, m.unknowns), t.bits), "<<", t.start)
    if t.start:
        new = ar.binary("+", new, _low(m, whole, t.start), m.unknowns)
    if end < 8 * unit.size:
        new = ar.binary("+", new, _shifted(m, _shifted(m, whole, ">>", end), "<<", end), m.unknowns)
    write_cell(m, p.object, at, ar.convert(new, unit, m.unknowns), unit)


def moves(t: Part, store: bool) -> Iterator[tuple[str, int, int]]:
    """The accesses of shared memory that a read or write takes: op, byte offset, width.

    What is not aligned goes in smaller parts. A bit-field is stored with its neighbours, which are read
    before, unless it is a whole byte, half or word. Of an unsigned one nothing below it is read where it
    begins in the middle of its unit, or a byte before the end.
    """
    bits = t.bits or 8 * t.of.size
    first, last = t.start, t.start + bits
    unit = t.of.size
    op = "store" if store else "load"
    if t.align < unit or last > 8 * unit:
        for at in range(first // 8 // t.align * t.align, -(-last // 8), t.align):
            if store and (8 * at < first or 8 * (at + t.align) > last):
                yield "load", at, t.align
            yield op, at, t.align
    elif not store and last == 8 * unit and first and t.of.kind == "int" and unit < 8:
        yield op, 0, unit  # its sign comes with the shift
    elif bits in (8, 16, 32, 64) and first % bits == 0:
        yield op, first // 8, bits // 8
    elif not store and 8 * unit - first in (8, 16, 32) and first and t.of.kind != "int":
        yield op, first // 8, unit - first // 8  # nothing but a shift, and what is above it
    elif not store:
        half = unit == 8 and first // 32 == (last - 1) // 32
        yield (op, first // 32 * 4, 4) if half else (op, 0, unit)
    else:
        if unit == 8 and (first == 0 and last >= 32):
            yield "load", 4, 4
        elif unit == 8 and last == 64 and first <= 32:
            yield "load", 0, 4
        else:
            yield "load", 0, unit
        yield op, 0, unit


def _unit(t: Part) -> Scalar:
    return _UNITS[8 if t.start + t.bits > 8 * t.of.size else t.of.size]


def _whole(m: Machine, p: Pointer, at: int, unit: Scalar) -> Int:
    """All bits of the unit, as an unsigned number."""
    v = whole_at(p.object, at, unit, m.unknowns)
    if isinstance(v, Other) and (held := bits_of(v)) is not None:
        v = held
    if isinstance(v, Int):
        return ar.convert(v, unit, m.unknowns)
    reason = Unresolved("untracked-local", f"a bit-field of `{p.object.name}` is not followed")
    uniform = p.object.uniform if v is None else isinstance(v, Other) and v.uniform
    most = (1 << 8 * unit.size) - 1
    return m.unknowns.value(
        unit, p.object.name, varying=not uniform and not m.host, low=0, high=most, reason=reason
    )


def _low(m: Machine, v: Int, bits: int) -> Int:
    """The lowest bits of an unsigned number."""
    return ar.binary("&", v, Int(in_words((1 << bits) - 1), v.type), m.unknowns)


def _shifted(m: Machine, v: Int, op: str, by: int) -> Int:
    """A unit, shifted: narrow ones stay unsigned."""
    wide = v.typed(UINT) if v.type.size < 4 else v
    return ar.binary(op, wide, Int(by), m.unknowns) if by else wide


def _promoted(t: Part) -> Scalar:
    return t.of if t.of.size > 4 or t.bits >= 32 else INT


def _field(m: Machine, whole: Int, start: int, t: Part) -> Int:
    """Bits of a number, with the sign of the bit-field's type."""
    ones = (1 << t.bits) - 1
    v = ar.convert(whole, _UNITS[8] if whole.type.size > 4 else UINT, m.unknowns)
    if start:
        v = ar.binary(">>", v, Int(start), m.unknowns)
    v = ar.convert(ar.binary("&", v, Int(in_words(ones), v.type), m.unknowns), _promoted(t), m.unknowns)
    if t.of.kind != "int":
        return v
    sign = Int(in_words(1 << (t.bits - 1)), v.type)
    return ar.binary("-", ar.binary("^", v, sign, m.unknowns), sign, m.unknowns)
