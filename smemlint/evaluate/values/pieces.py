"""Memory is bytes: values that are read or written in parts, and the bits of a float.

What an object holds lies in cells that do not overlap. A read of other bytes than those of one cell is put
together here, and a write over part of a cell cuts it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from itertools import pairwise

from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.number import Int, add
from smemlint.evaluate.values.unknowns import Unknowns
from smemlint.evaluate.values.value import Other, Pointer, Value, is_uniform
from smemlint.evaluate.values.widths import wrap_lanes
from smemlint.ir import Scalar
from smemlint.ir.types import UCHAR, UINT, ULONG, USHORT

WIDEST = 8
"""Bytes of the widest cell."""
UNSIGNED = {1: UCHAR, 2: USHORT, 4: UINT, 8: ULONG}

Cell = tuple[int, int, Value]
"""First byte, bytes, value."""


def width_of(v: Value) -> int:
    """Bytes of a value in memory; 0: it is not known to have any, and is read as a whole."""
    if isinstance(v, Int):
        return v.type.size
    if isinstance(v, Pointer):
        return v.integer.size if v.integer is not None else 8
    return v.type.size if isinstance(v, Other) and isinstance(v.type, Scalar) else 0


def bits_of(v: Value) -> Int | None:
    """The bytes of a value as an integer of its width; None where they are not followed."""
    if isinstance(v, Int):
        return v if v.known or v.type.size in UNSIGNED else None
    if not isinstance(v, Other):
        return None
    if v.bits is not None or not isinstance(v.value, float) or not isinstance(v.type, Scalar):
        return v.bits
    packed = _packed(v.value, v.type)
    return None if packed is None else Int(packed, UNSIGNED[v.type.size])


def _packed(value: float, t: Scalar) -> int | None:
    code = "e" if t.name == "__half" else {4: "f", 8: "d"}.get(t.size)
    if code is None:
        return None
    try:
        return int.from_bytes(struct.pack(f"<{code}", value), "little")
    except OverflowError:
        return None


def overlapping(cells: Mapping[int, Value], at: int, n: int) -> list[Cell]:
    """The cells that hold any of n bytes, in order."""
    found: list[Cell] = []
    for k in range(at - WIDEST + 1, at + n):
        v = cells.get(k)
        if v is not None:
            width = max(width_of(v), 1)
            if k + width > at:
                found.append((k, width, v))
    return found


def composed(cells: Mapping[int, Value], at: int, t: Scalar, unknowns: Unknowns) -> Value | None:
    """The value of type t at a byte, out of the parts of cells that lie there.

    None: nothing does. Other: something of it is not known.
    """
    parts = overlapping(cells, at, t.size)
    if not parts:
        return None
    uniform = all(is_uniform(v) for _, _, v in parts)
    covered = sum(min(k + w, at + t.size) - max(k, at) for k, w, _ in parts)
    leads = next((v.leads for _, _, v in parts if isinstance(v, Other) and v.leads is not None), None)
    total = Int(0, UNSIGNED.get(t.size, ULONG))
    for k, width, v in parts:
        bits = bits_of(v)
        if bits is None or covered < t.size:
            return Other(None, uniform and covered == t.size, leads=leads)
        low, high = max(k, at), min(k + width, at + t.size)
        part = extracted(bits, low - k, high - low, unknowns)
        total = add(total, _moved(part, low - at, total.type, unknowns), total.type)
    return total


def extracted(bits: Int, skip: int, n: int, unknowns: Unknowns) -> Int:
    """n bytes of an integer, the lowest `skip` left out, as an unsigned number."""
    width = bits.type.size
    t = UNSIGNED.get(n, UINT if n < 4 else ULONG)
    if n == width:
        return ar.convert(bits, t, unknowns)
    mask = (1 << 8 * n) - 1
    if bits.known:
        return Int((bits.const >> 8 * skip) & mask, t)
    whole = ar.convert(bits, UNSIGNED[width], unknowns)
    if skip:
        whole = ar.binary(">>", whole, Int(8 * skip), unknowns)
    if skip + n < width:
        whole = ar.binary("&", whole, Int(mask, UNSIGNED[width]), unknowns)
    return whole.typed(t)


def _moved(part: Int, by: int, t: Scalar, unknowns: Unknowns) -> Int:
    """An unsigned number, bytes up."""
    if not by:
        return part.typed(t)
    if part.known:
        return Int(wrap_lanes(part.const << 8 * by, t), t)
    return ar.binary("<<", part.typed(t), Int(8 * by), unknowns)


def cut(cells: MutableMapping[int, Value], at: int, n: int, unknowns: Unknowns) -> None:
    """Take n bytes out of the cells; what else these held stays."""
    for k, width, v in overlapping(cells, at, n):
        del cells[k]
        keep = [(k, at - k), (at + n, k + width - at - n)]
        cells.update(_cut_cell(k, v, (p for p in keep if p[1] > 0), unknowns))


def within(cells: Mapping[int, Value], at: int, n: int, unknowns: Unknowns) -> dict[int, Value]:
    """The cells of n bytes, counted from the first; those at the ends cut."""
    found = {k - at: v for k, v in cells.items() if at <= k < at + n}
    for k, width, v in (*overlapping(cells, at, 1), *overlapping(cells, at + n - 1, 1)):
        if k < at or k + width > at + n:
            found.pop(k - at, None)
            low, high = max(k, at), min(k + width, at + n)
            found.update({s - at: x for s, x in _cut_cell(k, v, [(low, high - low)], unknowns).items()})
    return found


def _cut_cell(k: int, v: Value, ranges: Iterable[tuple[int, int]], unknowns: Unknowns) -> dict[int, Value]:
    """Parts of the value of a cell at byte k, as cells of their own."""
    bits = bits_of(v)
    found: dict[int, Value] = {}
    for first, length in ranges:
        for at, n in _pieces(first, length):
            if bits is None:
                leads = v.leads if isinstance(v, Other) else v.object if isinstance(v, Pointer) else None
                found[at] = Other(UNSIGNED[n], is_uniform(v), leads=leads)
            else:
                found[at] = extracted(bits, at - k, n, unknowns)
    return found


def _pieces(first: int, length: int) -> Iterator[tuple[int, int]]:
    """A stretch of bytes as integers of 1, 2 and 4 bytes."""
    while length > 0:
        n = next(n for n in (4, 2, 1) if n <= length and first % n == 0)
        yield first, n
        first, length = first + n, length - n


def even(
    a: Mapping[int, Value], b: Mapping[int, Value], unknowns: Unknowns
) -> tuple[dict[int, Value], dict[int, Value]] | None:
    """Two states of one object cut at the same bytes; None where they are already."""
    if a is b:
        return None
    uneven = [
        (at, width_of(v))
        for at, v in a.items()
        if (other := b.get(at)) is not v and (other is None or width_of(other) != width_of(v))
    ]
    if not any(_crossed(b, at, n) for at, n in uneven):
        return None
    first, second = dict(a), dict(b)
    for cells, there in ((first, b), (second, a)):
        for k, v in list(cells.items()):
            n = width_of(v)
            ends = {x for at, w, _ in overlapping(there, k, max(n, 1)) for x in (at, at + w)}
            points = sorted({k, k + n} | {x for x in ends if k < x < k + n})
            if len(points) > 2:
                del cells[k]
                cells.update(_cut_cell(k, v, [(x, y - x) for x, y in pairwise(points)], unknowns))
    again = even(first, second, unknowns)  # parts of three bytes became one and two
    return again or (first, second)


def _crossed(cells: Mapping[int, Value], at: int, n: int) -> bool:
    """Whether n bytes share some with cells that lie otherwise."""
    return any(
        (k, width_of(v)) != (at, n) and width_of(v) and n for k, _, v in overlapping(cells, at, max(n, 1))
    )
