"""What nvcc moves of a record that is copied as a whole, in the order of its bytes.

A record goes member by member. A number of 8 bytes (or a pointer) joins its like and no words; what is
narrower goes in words. Bytes behind the last member go with it, as bytes; a record with bytes of no member
between two of them goes in words of its alignment, whatever its members are. So does one that declares an
alignment, or is aligned to 16 bytes (docs/dev/joining.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from smemlint.banks import WORD
from smemlint.evaluate.types.layout import Types
from smemlint.ir import ArrayOf, Literal, Part, RecordRef, Type
from smemlint.ir.types import BFLOAT16, HALF, element_type
from smemlint.records import record

LONG = 8
LINE = 16
MOST = 512
"""Bytes of a record whose members are told apart."""


@record(frozen=True, slots=True)
class Moved:
    """What one access moves of a value. alone: it joins with nothing; number: its 8 bytes are one number;
    perhaps: it may be moved by fewer lanes, or none."""

    at: int
    width: int
    alone: bool = False
    number: bool = False
    perhaps: bool = False


NUMBER = Moved(0, LONG, number=True)
"""A number of 8 bytes."""


@record(frozen=True, slots=True)
class _Leaf:
    """Bytes that are moved as they are. number: as one number or pointer; pad: they belong to no member."""

    at: int
    size: int
    number: bool = False
    pad: bool = False


def whole(types: Types, t: Type, size: int, *, store: bool) -> list[Moved]:
    """Return what one copy of a value of a resolved type moves."""
    width = min(types.align_of(t) or 1, LINE)
    leaves = list(_leaves(types, t, 0)) if width >= LONG and size <= MOST else []
    if may_skip_padding(types, t):
        known = {leaf.at for leaf in leaves if leaf.number}
        return [
            Moved(at, LONG if at in known else WORD, number=at in known)
            for at in range(0, size, WORD)
            if at - WORD not in known
        ]
    if width != LONG or size > MOST:
        return in_units(size, width)
    found: list[Moved] = []
    for at in range(0, size, LONG):
        own = [leaf for leaf in leaves if at <= leaf.at < at + LONG]
        behind = bool(at % LINE and found and found[-1] == Moved(at - LONG, LONG))
        found += _of_unit(at, own, store=store, behind=behind)
    return found


def may_skip_padding(types: Types, t: Type) -> bool:
    """Return whether a record has bytes of no member beside members that are classes, or halves: nvcc copies
    some of those by their own assignment, which leaves such bytes out."""
    layout = types.layout(t)
    size = types.size_of(t) or 0
    if layout is None or size <= WORD or size > MOST or layout.align < WORD:
        return False
    held = [element_type(of) for _, of in layout.fields.values()]
    covered = {byte for at, of in layout.fields.values() for byte in range(*_extent(types, at, of))}
    return len(covered) < size and any(isinstance(of, RecordRef) or of in (HALF, BFLOAT16) for of in held)


def numbers(types: Types, t: Type) -> frozenset[int]:
    """Return where the members of 8 bytes lie that are one number."""
    size = types.size_of(t) or 0
    return frozenset(leaf.at for leaf in _leaves(types, t, 0, by_name=True) if leaf.number and size <= MOST)


def in_units(size: int, width: int) -> list[Moved]:
    """Return all bytes, in parts as wide as they can be."""
    found: list[Moved] = []
    at = 0
    while at < size:
        while width > size - at:
            width //= 2
        found.append(Moved(at, width))
        at += width
    return found


def _of_unit(at: int, leaves: Sequence[_Leaf], *, store: bool, behind: bool) -> list[Moved]:
    """What is moved of 8 bytes. behind: a pair of words stands in front, in the same 16."""
    if any(leaf.number for leaf in leaves):
        return [Moved(at, LONG, number=True)]
    halves = [
        word
        for word in (at, at + WORD)
        if sorted(leaf.size for leaf in leaves if word <= leaf.at < word + WORD) == [1, 1, 2]
    ]
    padded = any(leaf.pad for leaf in leaves) and any(leaf.size > 1 for leaf in leaves)
    if not halves and not padded:
        return [Moved(at, LONG)]
    found: list[Moved] = []
    for word in (at, at + WORD):
        if word not in halves:
            found.append(Moved(word, WORD, alone=store and behind))
        elif store:
            found.append(Moved(word, WORD, alone=True))
        else:
            found += [Moved(word, 2, alone=True), Moved(word + 2, 2, alone=True)]
    return found


def _leaves(types: Types, t: Type, at: int, *, by_name: bool = False) -> Iterator[_Leaf]:
    """by_name: as members are used one by one."""
    size = types.size_of(t) or 0
    if isinstance(t, ArrayOf) and isinstance(t.extent, Literal):
        step = types.size_of(t.element) or 0
        for i in range(t.extent.value if step else 0):
            yield from _leaves(types, t.element, at + i * step, by_name=by_name)
        return
    if not isinstance(t, RecordRef):
        yield _Leaf(at, size, number=size == LONG and not isinstance(t, Part))
        return
    layout = types.layout(t)
    ends = [] if layout is None else sorted(_extent(types, start, of) for start, of in layout.fields.values())
    declared = layout is not None and layout.align > max(
        (types.align_of(of) or 1 for _, of in layout.fields.values()), default=1
    )
    if layout is None or not ends or ((declared or layout.align >= LINE) and not by_name):
        yield from (_Leaf(at + start, WORD) for start in range(0, size, WORD))
        return
    steps = list(pairwise(ends))
    fields = list(layout.fields.values())
    if any(b[0] < a[1] for a, b in steps) and not any(isinstance(of, Part) for _, of in fields):
        yield from _of_union(at, size, layout.align)
        return
    if any(a[1] < b[0] for a, b in steps) and not by_name:
        yield from (
            _Leaf(at + start, min(layout.align, WORD)) for start in range(0, size, min(layout.align, WORD))
        )
        return
    for start, of in fields:
        yield from _leaves(types, of, at + start, by_name=by_name)
    yield from (_Leaf(at + byte, 1, pad=True) for byte in range(ends[-1][1], size))


def _of_union(at: int, size: int, align: int) -> Iterator[_Leaf]:
    """A union goes as numbers of its alignment."""
    yield from (_Leaf(at + start, align, number=align == LONG) for start in range(0, size, align))


def _extent(types: Types, at: int, t: Type) -> tuple[int, int]:
    """The first byte of a member, and the one behind its last."""
    if isinstance(t, Part) and t.bits:
        return at + t.start // 8, at + -(-(t.start + t.bits) // 8)
    return at, at + (types.size_of(t) or 0)
