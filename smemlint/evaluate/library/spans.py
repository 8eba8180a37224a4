"""Views of arrays: `std::span`, `cuda::std::span`."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.language.accesses import load
from smemlint.evaluate.language.conversions import as_int
from smemlint.evaluate.language.names import resolve_arguments
from smemlint.evaluate.language.places import offset_pointer, place_of
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.library_layout import extent_of, is_span
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Method, Pointer, RecordValue, Value
from smemlint.ir import ArrayOf, Call, Expr, InitList, Literal, Member, RecordRef
from smemlint.ir.types import BOOL, ULONG

_DATA, _SIZE = 0, 8


def made_span(m: Machine, t: RecordRef, given: Sequence[Expr]) -> Value | None:
    """Return the view that `span(p, n)`, `span(array)` makes; None where what it shows is not known."""
    if not given or any(isinstance(e, InitList) for e in given):
        return None
    if len(given) == 2:
        first, count = rvalue(m, given[0]), rvalue(m, given[1])
        return (
            _view(t, first, as_int(m, count))
            if isinstance(first, Pointer) and isinstance(count, Int)
            else None
        )
    p = place_of(m, given[0])
    if is_span(p.pointee):
        shown = _shown(m, p)
        return None if shown is None else _view(t, *shown)
    layout = m.types.layout(p.pointee) if isinstance(p.pointee, RecordRef) else None
    held = (
        next(iter(layout.fields.values()))[1] if layout is not None and len(layout.fields) == 1 else p.pointee
    )
    if not isinstance(held, ArrayOf) or not isinstance(held.extent, Literal):
        return None
    return _view(t, Pointer(p.object, p.offset, held.element), Int(held.extent.value, ULONG))


def _view(t: RecordRef, first: Pointer, count: Int) -> RecordValue:
    made = RecordRef(t.name, t.arguments or (first.pointee,))
    cells: dict[int, Value] = {_DATA: first}
    return RecordValue(made, cells if extent_of(made) is not None else {**cells, _SIZE: count})


def _type_of(v: Value) -> RecordRef | None:
    t = v.pointee if isinstance(v, Pointer) else v.type if isinstance(v, RecordValue) else None
    return t if isinstance(t, RecordRef) else None


def _shown(m: Machine, v: Value) -> tuple[Pointer, Int] | None:
    """Where the elements of a view begin, and how many there are."""
    t, whole = _type_of(v), load(m, v, None) if isinstance(v, Pointer) else v
    cells = whole.cells if isinstance(whole, RecordValue) else {}
    fixed = extent_of(t) if t is not None else None
    first, count = cells.get(_DATA), cells.get(_SIZE) if fixed is None else Int(fixed, ULONG)
    return (first, count) if isinstance(first, Pointer) and isinstance(count, Int) else None


def span_element(m: Machine, v: Method, e: Call) -> Pointer | None:
    """Return what `v[i]`, `v.front()` and `v.back()` of a view name."""
    shown = _shown(m, v.self) if v.name in ("operator[]", "front", "back") else None
    if shown is None:
        return None
    first, count = shown
    at = Int(0) if v.name == "front" else ar.binary("-", count, Int(1), m.unknowns)
    return offset_pointer(m, first, as_int(m, rvalue(m, e.arguments[0])) if e.arguments else at, e.place)


def span_method(m: Machine, v: Method, e: Call) -> Value | None:
    """Return what a method of a view gives: where its elements lie, how many there are, a part of it."""
    shown, t = _shown(m, v.self), _type_of(v.self)
    if shown is None or t is None:
        return None
    first, count = shown
    written = e.callee.arguments if isinstance(e.callee, Member) else ()  # `v.first<4>()`
    given = [*resolve_arguments(m, written), *(rvalue(m, a) for a in e.arguments)]
    numbers = [x for x in given if isinstance(x, Int)]
    if v.name in ("data", "begin", "cbegin"):
        return first
    if v.name in ("end", "cend"):
        return offset_pointer(m, first, count, e.place)
    if v.name == "size":
        return count
    if v.name == "empty":
        return ar.binary("==", count, Int(0, BOOL), m.unknowns)
    if v.name not in ("first", "last", "subspan") or not numbers or len(numbers) != len(given):
        return None
    part = RecordRef(t.name, t.arguments[:1])
    left = ar.binary("-", count, numbers[0], m.unknowns)
    if v.name == "first":
        return _view(part, first, numbers[0])
    at = left if v.name == "last" else numbers[0]
    size = numbers[0] if v.name == "last" else numbers[1] if len(numbers) > 1 else left
    moved = offset_pointer(m, first, as_int(m, at), e.place)
    return _view(part, moved, as_int(m, size))
