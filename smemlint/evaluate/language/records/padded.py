"""What nvcc moves of a record with bytes that belong to no member.

Bytes between members do not go with a copy that keeps members apart; those behind the last one do, as part
of it. A copy that names no member goes in whole words, of which the late part of the compiler leaves alone
the one of four that is not used whole (docs/dev/joining.md).
"""

from __future__ import annotations

from smemlint.banks import WORD
from smemlint.evaluate.analysis.parts_read.chosen_records import alternatives
from smemlint.evaluate.analysis.parts_read.members import chosen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.segment import declared_alignment
from smemlint.evaluate.types.record_parts import LINE, Moved, numbers
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Other, Pointer, RecordValue, Value
from smemlint.ir import Call, Conditional, Construct, Expr, Function, Name, RecordRef, Scalar, Type
from smemlint.ir.expr import is_element, uncast, uncopied
from smemlint.ir.types import is_reference
from smemlint.ir.uses import array_of
from smemlint.ir.vectors import is_vector
from smemlint.records import record

Part = tuple[int, int]
"""Offset and width of a part of a record."""


@record(frozen=True, slots=True)
class _Record:
    """A record that holds nothing but numbers, and may have bytes of none. members: of each, where it lies
    and its size."""

    members: tuple[Part, ...]
    size: int
    align: int

    @property
    def gaps(self) -> list[int]:
        """Where its words lie that are not used whole, but for the last one."""
        used: dict[int, int] = {}
        for at, size in self.members:
            for word in range(at // WORD * WORD, at + size, WORD):
                used[word] = used.get(word, 0) + min(at + size, word + WORD) - max(at, word)
        return [word for word, n in used.items() if n < WORD and word != self.size - WORD]

    @property
    def mixed(self) -> bool:
        """Whether a word holds two bytes and a number of 16 bits: nvcc may move it in parts, and joins
        none."""
        words: dict[int, list[int]] = {}
        for at, size in self.members:
            words.setdefault(at // WORD, []).append(size)
        return any(sorted(sizes) == [1, 1, 2] for sizes in words.values())

    @property
    def half_last(self) -> bool:
        """Whether it ends in a member of 2 bytes with 2 of no member behind."""
        at, size = self.members[-1]
        return size == 2 and at == self.size - WORD

    @property
    def whole_words(self) -> list[Moved]:
        """Word by word; of four the one that is not used whole alone."""
        gaps = self.gaps if self.size % LINE == 0 else []
        lines = [at // LINE for at in gaps]
        alone = {at for at in gaps if lines.count(at // LINE) == 1}
        return [Moved(at, WORD, alone=at in alone) for at in range(0, self.size, WORD)]

    @property
    def plain_words(self) -> list[Moved]:
        """All of it, word by word."""
        return [Moved(at, WORD) for at in range(0, self.size, WORD)]

    @property
    def narrow_last(self) -> bool:
        """Whether it ends in a byte."""
        return self.members[-1][1] == 1

    def by_members(self, *, store: bool) -> list[Moved]:
        """One member after the other; what lies behind the last goes with it."""
        *first, (at, size) = self.members
        last: list[Moved]
        if size == 1:
            width = max(w for w in (1, 2, 4) if at % w == 0 and at + w <= self.size)
            last = [Moved(at, width)]
        elif self.half_last:
            last = [Moved(at, WORD, alone=True)]
            if not store:
                last = [Moved(at, 2, alone=True), Moved(at + 2, 2, alone=True)]
        else:
            last = [Moved(at, size)]
        return [*(Moved(start, width) for start, width in first), *last]


def _record(m: Machine, t: Type) -> _Record | None:
    layout = m.types.layout(t)
    found = scalars(m, t) if isinstance(t, RecordRef) else []
    whole_words = layout is not None and layout.align >= WORD and layout.size <= 2 * LINE
    return (
        _Record(tuple(found), layout.size, layout.align)
        if layout is not None and found and whole_words
        else None
    )


def scalars(m: Machine, t: RecordRef) -> list[Part]:
    """(offset, width) of the members of a record that holds nothing but numbers; none of another."""
    layout = m.types.layout(t)
    fields = () if layout is None else layout.fields.values()
    found = [(at, of.size) for at, of in fields if isinstance(of, Scalar)]
    return sorted(found) if len(found) == len(fields) else []


def loaded_whole(m: Machine, f: Function, p: Pointer, t: RecordRef, node: Expr | None) -> list[Moved] | None:
    """What is loaded of a record that is used as a whole; None: all, as wide as it is aligned."""
    variables, given = m.code.members_touched(f)
    touched = id(node) in given or (isinstance(node, Name) and node.id in variables)
    found = _record(m, t)
    _doubt(m, node, found is not None and found.mixed)
    apart = _member_by_member(m, t, made=False) if touched else None
    if apart is not None:
        return moved(m, t, apart)
    if found is None or found.align > WORD or any(size > WORD for _, size in found.members):
        return None
    if not touched:
        return _whole_copy(m, p, found, node)
    if not found.gaps and not found.half_last:
        _doubt(m, node, found.narrow_last and found.size > 2 * WORD and _is_declared(m, p, 2 * WORD))
        return None
    _doubt(m, node, True)
    return found.by_members(store=False) if has_gaps(found.members) else found.whole_words


def note_choice(m: Machine, f: Function, t: Type, node: Expr | None) -> None:
    """Remember a record that is loaded where a condition chooses it or another one in shared memory."""
    others = alternatives(f).get(id(node))
    if others is None or not isinstance(t, RecordRef) or is_vector(t):
        return
    copies: set[int] = set()
    for other in others:
        o = m.find(other.id) if isinstance(other, Name) else None
        refers = o.cells.get(0) if o is not None and is_reference(o.type) else None
        if isinstance(refers, Pointer):
            o = None if refers.object.storage == "shared" else refers.object
        if o is None:
            continue
        start = None if o.var is None or o.var.init is None else uncopied(o.var.init)
        if start is None or not is_element(start) or (m.frame.looped and isinstance(refers, Pointer)):
            return
        copies.add(id(start))
    m.journal.chosen |= {id(node), *copies}


def _whole_copy(m: Machine, p: Pointer, r: _Record, node: Expr | None) -> list[Moved] | None:
    """What is loaded of a record of which no member is used."""
    if not r.gaps and not (r.half_last and r.size == 2 * WORD):
        return None
    if r.align >= min(r.size, LINE):
        return None
    if _is_declared(m, p, 2 * WORD):
        _doubt(m, node, True)  # it depends on where the copy goes
        return r.plain_words
    return r.whole_words if r.gaps else r.by_members(store=False)


def _doubt(m: Machine, node: Expr | None, doubtful: bool) -> None:
    if doubtful:
        m.journal.padded.add(id(node))


def _is_declared(m: Machine, p: Pointer, alignment: int) -> bool:
    return declared_alignment(m, p.object) >= alignment


def stored_whole(
    m: Machine, p: Pointer, v: Value, value: Expr | None, node: Expr | None
) -> list[Moved] | None:
    """What is stored of a record; None: all, as wide as it is aligned. node: the place."""
    t = p.pointee
    if not isinstance(t, RecordRef) or not isinstance(v, RecordValue) or m.task.as_written:
        return None
    f = m.frame.runs
    name = array_of(uncast(value)) if value is not None else None
    touched = f is not None and isinstance(name, Name) and name.id in m.code.members_touched(f)[0]
    members = scalars(m, t)
    made = bool(v.cells) and all(at in v.cells for at, _ in members)
    constant = made and all(map(_is_constant, v.cells.values()))
    if (v.cells or touched) and (apart := _member_by_member(m, t, made=made and not constant)):
        return moved(m, t, apart)
    found = _record(m, t)
    _doubt(m, node, found is not None and found.mixed)
    if found is None or not has_gaps(found.members) or any(size > WORD for _, size in found.members):
        return None
    if made:
        ends = _is_constant(v.cells[members[-1][0]])  # with zeros behind it
        return found.by_members(store=True) if ends else moved(m, t, members)
    if not found.gaps and not found.half_last:
        _doubt(m, node, found.size > 2 * WORD and _is_declared(m, p, 2 * WORD))
        return None
    if touched:
        return found.by_members(store=True)
    if _is_declared(m, p, 2 * WORD) and found.align < min(found.size, LINE):
        _doubt(m, node, True)
        return None
    if found.half_last and found.size == 2 * WORD and found.align == WORD:
        return found.by_members(store=True)
    _doubt(m, node, f is None or not _is_plain(f, name))
    return None


def _is_plain(f: Function, value: Expr | None) -> bool:
    """Whether a value is copied from one place: no condition chose it, and no function gave it."""
    made = isinstance(value, Call | Conditional | Construct)
    return not made and not (isinstance(value, Name) and value.id in chosen(f))


def moved(m: Machine, t: Type, parts: list[Part]) -> list[Moved]:
    """Parts of a record as they are moved."""
    known = numbers(m.types, t)
    return [
        Moved(start, size, number=start in known)
        for at, width in parts
        for start, size in (
            ((at, width),) if at in known or width != 2 * WORD else ((at, WORD), (at + WORD, WORD))
        )
    ]


def _is_constant(v: Value) -> bool:
    if isinstance(v, Other):
        return v.value is not None
    return isinstance(v, Int) and not v.terms and isinstance(v.const, int)


def _member_by_member(m: Machine, t: RecordRef, *, made: bool) -> list[Part] | None:
    """(offset, width) of what nvcc moves of a record with whole words that belong to no member: one member
    after the other. The words behind the last one go with it, unless (made) the members were computed."""
    layout, found = m.types.layout(t), scalars(m, t)
    if layout is None or len(found) < 2 or any(size < WORD for _, size in found[:-1]):
        return None
    ends = [at + size for at, size in found]
    last, width = found[-1]
    if layout.size > ends[-1] and not made:
        while last % (2 * width) == 0 and last + 2 * width <= layout.size:
            width *= 2
    words = [(end + WORD - 1) // WORD * WORD for end in ends]
    gap = any(end < at for end, (at, _) in zip(words, found[1:], strict=False)) or layout.size > words[-1]
    return [*found[:-1], (last, width)] if gap else None


def is_padded_twice(m: Machine, t: RecordRef) -> bool:
    """Whether bytes of no member lie behind a narrow member and behind the last one, a byte: nvcc may load it
    with what lies there, as a word beside the others."""
    layout, found = m.types.layout(t), scalars(m, t)
    if layout is None or len(found) < 2 or layout.align < WORD:
        return False
    ends = [*(at for at, _ in found[1:]), layout.size]
    padded = [size < WORD and at + size < end for (at, size), end in zip(found, ends, strict=True)]
    words = {at // WORD for at, _ in found}
    return found[-1][1] == 1 and padded[-1] and any(padded[:-1]) and len(words) == len(found)


def has_gaps(members: list[Part] | tuple[Part, ...]) -> bool:
    """Whether a member is narrower than a word and alone in it: nvcc joins it with no other."""
    words = [word for at, size in members for word in range(at // WORD, (at + size - 1) // WORD + 1)]
    return len(words) == len(set(words)) and any(size < WORD for _, size in members)
