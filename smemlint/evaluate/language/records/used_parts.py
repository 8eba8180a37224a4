"""Which part of a value a load needs: a byte, a half, single members of a record."""

from __future__ import annotations

from dataclasses import replace

from smemlint.banks import WORD
from smemlint.evaluate.analysis.parts_read.chosen_records import needed_first
from smemlint.evaluate.analysis.parts_read.halves import halves_read, member_halves, narrow_reads
from smemlint.evaluate.analysis.parts_read.members import halved, members_set
from smemlint.evaluate.analysis.parts_read.punned import moved_about
from smemlint.evaluate.language.records.padded import (
    has_gaps,
    is_padded_twice,
    loaded_whole,
    moved,
    note_choice,
)
from smemlint.evaluate.language.records.read_parts import words_read
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.segment import declared_alignment
from smemlint.evaluate.types.record_parts import Moved, whole
from smemlint.evaluate.values.value import Pointer
from smemlint.ir import Expr, Function, Part, RecordRef, Scalar, Type
from smemlint.ir.types import UINT


def used_of(m: Machine, p: Pointer, t: Type, size: int, node: Expr | None) -> list[Moved] | None:
    """Return what is loaded of a value of which only a part is used; None: all of it."""
    f = m.frame.runs
    if f is None or size < WORD:
        return None
    if isinstance(t, Scalar) and size == WORD:
        narrow = narrow_reads(f).get(id(node)) if t.kind in ("int", "uint") else None
        if narrow is None or (narrow[2] and t.kind == "int") or _known_early(m, p):
            return None
        return [Moved(narrow[0], narrow[1], alone=True)]
    if size == WORD:
        return None
    if isinstance(t, Scalar):
        half = halves_read(f).get(id(node))
        return None if half is None or size != 2 * WORD or t.kind == "float" else [Moved(half, WORD)]
    if not isinstance(t, RecordRef):
        return None
    note_choice(m, f, t, node)
    parts = _members_of(m, f, t, size, node)
    if parts is None and size % WORD == 0 and (words := words_read(m, f, node)) is not None:
        parts = [(at, WORD) for at in words]
    if id(node) in moved_about(f):
        m.journal.chosen.add(id(node))
        parts = parts or [(at, WORD) for at in range(0, size, WORD)]
    if parts is not None:
        found: list[Moved] | None = moved(m, t, parts)
    else:
        found = None if id(node) in m.code.members_read(f) else loaded_whole(m, f, p, t, node)
    needed = needed_first(f).get(id(node))
    return found if needed is None else _needed_first(m, t, size, node, found, *needed)


def _needed_first(
    m: Machine,
    t: RecordRef,
    size: int,
    node: Expr | None,
    parts: list[Moved] | None,
    names: frozenset[str],
    replaced: bool,
) -> list[Moved] | None:
    """Parts of a record of which a condition reads some members, and needs the rest where it holds: what
    joins these is loaded with them, what does not may be loaded by fewer lanes."""
    found = whole(m.types, t, size, store=False) if parts is None else parts
    layout = m.types.layout(t)
    fields = layout.fields if layout is not None else {}
    first = [fields[name][0] for name in names if name in fields]
    if replaced and any(isinstance(of, Scalar) and of.size < WORD for _, of in fields.values()):
        m.journal.chosen.add(id(node))
    if not first or not any(part.number for part in found):
        return parts
    return [
        part if any(part.at <= at < part.at + part.width for at in first) else replace(part, perhaps=True)
        for part in found
    ]


def _known_early(m: Machine, p: Pointer) -> bool:
    """Whether the declaration of an array lets its elements be joined."""
    return declared_alignment(m, p.object) >= 2 * WORD


def _members_of(
    m: Machine, f: Function, t: RecordRef, size: int, node: Expr | None
) -> list[tuple[int, int]] | None:
    """Where the members lie of a record that are used, and how wide they are loaded; None: all of it is."""
    if id(node) in halved(f) and (m.types.align_of(t) or 1) >= WORD:
        return [(at, WORD) for at in range(0, size, WORD)]
    names = m.code.members_read(f).get(id(node))
    dead = members_set(f).get(id(node))
    layout = m.types.layout(t) if names or dead else None
    if layout is None:
        return None
    names = (frozenset(layout.fields) if names is None else names) - (dead or frozenset())
    fields = [m.types.field_at(t, name.split(".")) for name in names]
    used = [field for field in fields if field is not None]
    if not used or len(used) < len(fields):
        return None
    if half := member_halves(f).get(id(node)):
        used = [_half(at, of, half.get(name)) for name, (at, of) in zip(names, used, strict=True)]
    parts = [(at, m.types.size_of(of) or 0) for at, of in used]
    bits = (m.types.align_of(t) or 1) >= WORD and any(isinstance(of, Part) and of.bits for _, of in used)
    if bits or is_padded_twice(m, t):
        m.journal.padded.add(id(node))
        return [(word, WORD) for word in sorted({at // WORD * WORD for at, _ in parts})]
    if len(parts) > 1 and all(isinstance(of, Scalar) for _, of in used) and has_gaps(parts):
        return sorted(parts)
    found: dict[tuple[int, int], None] = {}
    for (at, of), (_, part) in zip(used, parts, strict=True):
        if not part or isinstance(of, Part) or (m.types.align_of(t) or 1) < min(part, WORD):
            return None
        width = max(min(m.types.align_of(of) or 1, 16), WORD)
        first, end = at // width * width, at + part
        found |= dict.fromkeys((x, width) for x in range(first, end, width))
    covered = {x for at, width in found for x in range(at, at + width, WORD)}
    return sorted(found) if len(covered) < -(-size // WORD) else None


def _half(at: int, t: Type, half: int | None) -> tuple[int, Type]:
    """A member, or the half of it that is used of an integer of 8 bytes."""
    if half is None or not isinstance(t, Scalar) or t.size != 2 * WORD or t.kind == "float":
        return at, t
    return at + half, UINT
