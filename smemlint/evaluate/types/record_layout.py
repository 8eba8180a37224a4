"""Where the members of a record lie: the Itanium C++ ABI, as clang and nvcc follow it.

Virtual tables, reuse of tail padding, empty bases, bit-fields, `packed` and `#pragma pack`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from smemlint.ir import ArrayOf, Packing, Part, RecordRef, Scalar, Type
from smemlint.records import record


@record(frozen=True, slots=True)
class Layout:
    """size and align in bytes; fields: name -> (byte offset, type), inherited ones included (those that a
    class hides by a name of its own, with their offset behind the name). bases: where they begin.

    end: of its data, 0: it has none. dynamic: has a virtual table. plain: a POD in the sense
    of C++03, whose padding nobody uses. empties: the empty subobjects, by offset and type.
    """

    size: int
    align: int
    fields: Mapping[str, tuple[int, Type]]
    end: int = -1
    dynamic: bool = False
    plain: bool = True
    empties: frozenset[tuple[int, RecordRef]] = field(default_factory=frozenset)
    packed: bool = False
    reach: int = 0
    """The end of the last part, an empty one too."""
    loose: bool = False
    """A part of it has an unknown size, in whose place it has plenty: members are apart, that is all."""
    bases: Mapping[RecordRef, int] = field(default_factory=dict)

    @property
    def used(self) -> int:
        """Bytes that a base of this type, or a member that overlaps, keeps from others."""
        return self.size if self.plain or self.end < 0 else self.reach

    @property
    def empty(self) -> bool:
        """Without any data: it takes no room as a base."""
        return self.end == 0 and not self.dynamic


def round_up(n: int, to: int) -> int:
    """Return the least multiple of `to` from n on."""
    return -(-n // to) * to


class Builder:
    """Places the parts of one record, in the order of their declaration."""

    def __init__(self, *, union: bool, packing: Packing) -> None:
        self.union = union
        self.packed, self.pack = packing.packed, packing.pack
        self.bits = 0
        """Bits in use: where the next bit-field may begin."""
        self.size = 0
        self.align = 1
        self.dynamic = False
        self.plain = True
        self.loose = False
        self.fields: dict[str, tuple[int, Type]] = {}
        self.empties: set[tuple[int, RecordRef]] = set()
        self.bases: dict[RecordRef, int] = {}

    @property
    def end(self) -> int:
        return -(-self.bits // 8)

    def virtual_table(self) -> None:
        self.dynamic, self.plain = True, False
        self._occupy(0, 8, 1 if self.packed else self._packed(8))

    def base(self, t: RecordRef, inner: Layout) -> None:
        """A non-virtual base class."""
        self.plain = False
        self.loose |= inner.loose
        align = self._packed(inner.align)
        empties = inner.empties | ({(0, t)} if inner.empty else frozenset())
        start = 0 if inner.empty else round_up(self.end, align)
        if inner.empty and not self._free(empties, 0):
            start = round_up(self.end, align)
        while not self._free(empties, start):
            start += align
        self._hold(empties, start)
        self.bases[t] = start
        self.dynamic |= inner.dynamic
        self.fields.update({n: (start + o, ft) for n, (o, ft) in inner.fields.items()})
        if inner.empty:
            self.size = max(self.size, start + inner.size)
            self.align = max(self.align, align)
        else:
            self._occupy(start, inner.used, align)
            self.size = max(self.size, start + inner.used)

    def member(
        self, name: str, t: Type, size: int, align: int, explicit: int, inner: Layout | None, overlaps: bool
    ) -> int:
        """An ordinary member; returns its offset. explicit: of `alignas`, or 0. inner: of a record."""
        if self.packed and (inner is None or inner.plain or inner.packed):
            align = 1
        align = self._packed(max(align, explicit))
        empty = inner is not None and inner.empty
        empties: frozenset[tuple[int, RecordRef]] = frozenset()
        if inner is not None and isinstance(t, RecordRef):
            empties = inner.empties | ({(0, t)} if inner.empty else frozenset())
        start = 0 if self.union or (overlaps and empty) else round_up(self.end, align)
        if overlaps and empty and not self._free(empties, start):
            start = round_up(self.end, align)
        while not self.union and not self._free(empties, start):
            start += align
        if not self.union:
            self._hold(empties, start)
        if overlaps and empty:
            self.size = max(self.size, start + size)
            self.align = max(self.align, align)
        else:
            self._occupy(start, inner.used if overlaps and inner is not None else size, align)
            self.size = max(self.size, start + size)
        if name:
            self._name(name, start, t)
        elif inner is not None:
            self.fields.update({n: (start + o, ft) for n, (o, ft) in inner.fields.items()})
        return start

    def bit_field(self, name: str, t: Scalar, width: int, explicit: int) -> None:
        """`t name : width`. One without a name only moves the next."""
        unit = 8 * t.size
        align = 8 if self.packed and not self.pack else unit
        align = 8 * self._packed(max(align // 8, explicit))
        start = 0 if self.union else self.bits
        straddles = not self.packed and not self.pack and start % align + width > unit
        if width == 0:
            start = round_up(start, unit)
        elif straddles or explicit:
            start = round_up(start, align)
        self.bits = max(self.bits, start + width)
        self.size = max(self.size, self.end)
        if name:
            self.align = max(self.align, align // 8)
            unit = 8 * (t.size if start % unit + width <= unit else 8 if start % 8 + width <= 64 else t.size)
            at = start - start % (unit if start % unit + width <= unit else 8)
            self._name(name, at // 8, Part(t, start - at, width, 0))

    def _name(self, name: str, at: int, t: Type) -> None:
        if name in self.fields:
            self.fields = {f"{n}@{k}" if n == name else n: (k, ft) for n, (k, ft) in self.fields.items()}
        self.fields[name] = (at, t)

    def finished(self, explicit: int) -> Layout:
        """The whole; explicit: of `alignas` on the record, or 0."""
        align = max(self.align, explicit)
        reach = max(self.size, self.end)
        size = max(round_up(reach, align), 1)
        if self.size == 0 and self.end == 0:
            size = max(align, 1)
        fields = {n: (at, _placed(t, at, align)) for n, (at, t) in self.fields.items()}
        return Layout(
            size,
            align,
            fields,
            self.end,
            self.dynamic,
            self.plain,
            frozenset(self.empties),
            self.packed,
            reach,
            self.loose,
            self.bases,
        )

    def _packed(self, align: int) -> int:
        return min(align, self.pack) if self.pack else align

    def _occupy(self, start: int, size: int, align: int) -> None:
        self.bits = max(self.bits, 8 * (start + size))
        self.align = max(self.align, align)
        self.size = max(self.size, start + size)

    def _free(self, empties: frozenset[tuple[int, RecordRef]], start: int) -> bool:
        """Whether no two empty objects of one type would have one address."""
        return not any((start + at, t) in self.empties for at, t in empties)

    def _hold(self, empties: frozenset[tuple[int, RecordRef]], start: int) -> None:
        self.empties.update((start + at, t) for at, t in empties)


def _placed(t: Type, at: int, align: int) -> Type:
    """A member's type where it lies: what is divided by less than its size is stored in smaller parts."""
    known = min(at & -at, align) if at else align
    if isinstance(t, ArrayOf):
        element = _placed(t.element, at, align)
        return t if element is t.element else ArrayOf(element, t.extent)
    if isinstance(t, Scalar) and t.size > known:
        return Part(t, 0, 0, known)
    if isinstance(t, Part) and not t.align:
        return Part(t.of, t.start, t.bits, min(known, t.of.size))
    return t
