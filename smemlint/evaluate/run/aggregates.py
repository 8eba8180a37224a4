"""Aggregates member by member: `T{a, b}`, with inner braces or without; what is not given is what its
initialiser says, else zero."""

from __future__ import annotations

from collections import deque

from smemlint.evaluate.language.initialisers import value_for
from smemlint.evaluate.machine.dispatch import build
from smemlint.evaluate.machine.machine import Frame, Machine
from smemlint.evaluate.memory.elements import holds_elements
from smemlint.evaluate.memory.parts import write_part
from smemlint.evaluate.types.bases import bases_of
from smemlint.evaluate.types.matching import Bindings
from smemlint.evaluate.types.record_layout import Layout
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.pieces import overlapping, width_of
from smemlint.evaluate.values.value import Object, Other, Pointer, RecordValue, Value
from smemlint.ir import ArrayOf, Expr, InitList, Literal, Part, Place, Record, RecordRef, Scalar, Type

MOST_ELEMENTS = 4096

Given = deque["Value | InitList"]
"""What is left of a list in braces."""


def aggregate(
    m: Machine, t: RecordRef, layout: Layout, given: Given, place: Place | None
) -> dict[int, Value]:
    """The cells of a record without constructors; takes from the list what it needs."""
    cells: dict[int, Value] = {}
    found = m.types.record_of(t)
    record, bindings = found if found is not None else (None, {})
    inits: dict[str, Expr | None] = {f.name: f.init for f in record.fields} if record is not None else {}
    done: set[str] = set()
    for base, at, inner in bases_of(m.types, t):
        if given and not isinstance(given[0], InitList | RecordValue):
            break
        v = given.popleft() if given else InitList(())
        leaf = build(m, base, v.elements, place) if isinstance(v, InitList) else v
        done |= {f"{n}@{at + k}" if n in inits else n for n, (k, _) in inner.fields.items()}
        _put_cells(m, t, cells, at, base, leaf)
    unnamed = _unnamed(m, record, bindings, layout) if record is not None else {}
    for name, (at, ft) in layout.fields.items():
        if name in done or (not name and isinstance(ft, Part)):
            continue  # of a base, or bits without a name
        if name in unnamed:
            at, ft, names = unnamed[name]
            done |= names
        left_out = bool(given) and isinstance(given[0], InitList) and given[0].gap
        if left_out:
            given.popleft()
        if given and not left_out:
            v = _next_member(m, ft, given, place)
        elif (init := inits.get(name)) is not None:
            m.frames.append(Frame(bindings))
            v = value_for(m, ft, init)
            m.frames.pop()
        elif m.host:
            continue  # zero counts as not set yet
        else:
            v = build(m, ft, (), place)
        _put_cells(m, t, cells, at, ft, v)
        if record is not None and record.union:
            break
    return cells


def _unnamed(
    m: Machine, record: Record, bindings: Bindings, layout: Layout
) -> dict[str, tuple[int, RecordRef, set[str]]]:
    """By its first name each member that has none (`union { int x, r; };`): where it lies, and all names."""
    result = {}
    for f in record.fields:
        t = m.types.resolve(f.type, bindings) if not f.name else None
        inner = m.types.layout(t) if isinstance(t, RecordRef) else None
        names = list(inner.fields) if inner is not None else []
        if inner is not None and isinstance(t, RecordRef) and names and names[0] in layout.fields:
            at = layout.fields[names[0]][0] - inner.fields[names[0]][0]
            result[names[0]] = (at, t, set(names))
    return result


def _next_member(m: Machine, t: Type, given: Given, place: Place | None) -> Value:
    """The value of a member, out of what is left of the list: inner braces may be left out."""
    v = given[0]
    if isinstance(v, InitList):
        given.popleft()
        return build(m, t, v.elements, place)
    single = isinstance(v, Int | Pointer) or (isinstance(v, Other) and isinstance(v.type, Scalar))
    single = single and not holds_elements(t)  # a string is made of a pointer
    if single and isinstance(t, RecordRef) and t.name != "dim3":  # which one number is enough for
        inner, found = m.types.layout(t), m.types.record_of(t)
        if inner is not None and inner.fields and (found is None or not found[0].constructors):
            return RecordValue(t, aggregate(m, t, inner, given, place))
    if single and isinstance(t, ArrayOf) and isinstance(t.extent, Literal):
        size = m.types.size_of(t.element)
        if size is not None:
            return RecordValue(t, _elements(m, t.element, size, t.extent.value, given, place))
    given.popleft()
    return value_for(m, t, v)


def _elements(
    m: Machine, t: Type, size: int, count: int, given: Given, place: Place | None
) -> dict[int, Value]:
    cells: dict[int, Value] = {}
    for i in range(min(count, MOST_ELEMENTS)):
        v = _next_member(m, t, given, place) if given else build(m, t, (), place)
        _put_cells(m, t, cells, i * size, t, v)
    return cells


def _put_cells(m: Machine, of: Type, cells: dict[int, Value], at: int, t: Type, v: Value) -> None:
    if isinstance(v, RecordValue):
        cells.update({at + k: x for k, x in v.cells.items()})
    elif isinstance(t, Part) and t.bits:
        if not overlapping(cells, at, t.of.size) and all(map(width_of, cells.values())):
            cells[at] = Int(0, t.of)  # with the bits beside it, which nobody names or which come next
        write_part(m, Pointer(Object("temporary", "temporary", of, "local", None, cells), Int(at), t), v, t)
    else:
        cells[at] = v
