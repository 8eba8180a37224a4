"""Members that a record is stored with as they were loaded from there: nvcc does not store them.

`a[i] = make_float2(a[i].x * s, a[i].y)` is one store of 4 bytes, and `a[i].y` is not even loaded. It is so
for what was loaded by itself: as a member, or of a copied record of which nothing else is used. Records that
were loaded whole go back whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from smemlint.evaluate.machine.machine import Barrier, Event, Machine
from smemlint.evaluate.values.number import Int, Other, Pointer, RecordValue, Value, plus, same
from smemlint.evaluate.values.objects import Object
from smemlint.ir import Call, Cast, Construct, Expr, InitList, RecordRef, Scalar
from smemlint.records import record

MOST = 64
"""Loads that are remembered."""


@record(frozen=True, eq=False, slots=True)
class Loaded:
    """Where a value was found. event: the access; node: the expression that read it, None: a whole record."""

    object: Object
    offset: Int
    event: Event
    value: Value
    node: Expr | None


def remember(m: Machine, p: Pointer, v: Value, node: Expr | None) -> Value:
    """A value that the latest access has loaded alone. Of a record that is its one used member, known now."""
    event = m.log[-1]
    if not isinstance(event, Event) or event.volatile or event.choice is not None:
        return v
    if isinstance(v, RecordValue):
        layout = m.types.layout(v.type) if isinstance(v.type, RecordRef) and not v.cells else None
        for at, of in layout.fields.values() if layout is not None else ():
            place = plus(p.offset, at)
            if isinstance(of, Scalar) and of.size == event.site.width and same(place, event.offset):
                part = m.unknown(of, f"{p.object.name}[...]", uniform=False)
                _keep(m, Loaded(p.object, place, event, part, None))
                return RecordValue(v.type, {at: part})
        return v
    _keep(m, Loaded(p.object, p.offset, event, v, node))
    return v


def _keep(m: Machine, found: Loaded) -> None:
    key, loads = _key(found.value), m.memory.loaded
    if key is None:
        return
    loads[key] = found
    if len(loads) > MOST:
        del loads[next(iter(loads))]


def changed(m: Machine, p: Pointer, v: Value, value: Expr | None) -> list[tuple[int, int]] | None:
    """(offset, width) of the members that a store of a record has to store; None: all, as one."""
    if not m.memory.loaded or m.task.as_written or m.silent or not isinstance(v, RecordValue):
        return None
    layout = m.types.layout(p.pointee) if isinstance(p.pointee, RecordRef) else None
    if layout is None:
        return None
    left: list[tuple[int, int]] = []
    back: list[Loaded] = []
    for at, of in layout.fields.values():
        if not isinstance(of, Scalar):
            return None
        key = _key(v.cells.get(at))
        found = None if key is None else m.memory.loaded.get(key)
        if found is not None and _is_there(m, found, p.object, plus(p.offset, at), of.size):
            back.append(found)
        else:
            left.append((at, of.size))
    if not back or not left:
        return None
    given = {id(e) for e in _given(value)}
    m.journal.idle |= {found.event.order for found in back if id(found.node) in given}
    return left


def _key(v: Value | None) -> object:
    """What stands for a loaded value, and for no other."""
    if isinstance(v, Other):
        return v
    if isinstance(v, Int) and isinstance(v.const, int) and v.const == 0 and len(v.terms) == 1:
        ((mono, factor),) = v.terms.items()
        return mono[0] if len(mono) == 1 and isinstance(factor, int) and factor == 1 else None
    return None


def _is_there(m: Machine, found: Loaded, o: Object, offset: Int, width: int) -> bool:
    """Whether a value is still what lies at a place, as the compiler sees it."""
    e = found.event
    if found.object is not o or e.site.width != width or not same(found.offset, offset):
        return False
    if m.may is not e.may and bool((m.may & ~e.may).any()):
        return False
    since = takewhile(lambda later: later is not e, reversed(m.log))
    return not any(_may_change(later, e) for later in since)


def _may_change(later: Event | Barrier, e: Event) -> bool:
    if isinstance(later, Barrier):
        return not later.passable
    if later.site.object is not e.site.object and later.choice is None:
        return later.site.op not in ("load", "store")
    return later.site.op != "load"


def _given(value: Expr | None) -> Iterator[Expr]:
    """What a record is made of."""
    while isinstance(value, Cast):
        value = value.operand
    parts: tuple[Expr, ...] = ()
    if isinstance(value, Call | Construct):
        parts = value.arguments
    elif isinstance(value, InitList):
        parts = value.elements
    for e in parts:
        while isinstance(e, Cast):
            e = e.operand
        yield e
