"""Members that a record is stored with as they were loaded from there: nvcc does not store them.

`a[i] = make_float2(a[i].x * s, a[i].y)` is one store of 4 bytes, and `a[i].y` is not even loaded. It is so
for what was loaded by itself: as a member, or of a copied record of which nothing else is used, or where no
alignment lets members be loaded together. Records that were loaded whole go back whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from smemlint.banks import WORD
from smemlint.evaluate.machine.machine import Barrier, Event, Machine
from smemlint.evaluate.memory.segment import declared_alignment
from smemlint.evaluate.values.number import Int, plus
from smemlint.evaluate.values.value import Object, Other, Pointer, RecordValue, Value, same
from smemlint.ir import Call, Construct, Expr, InitList, Scalar
from smemlint.ir.expr import uncast
from smemlint.ir.vectors import is_vector
from smemlint.records import record

MOST = 64
"""Loads that are remembered."""
MOST_MEMBERS = 8
"""Members of a record that are told apart."""


@record(frozen=True, eq=False, slots=True)
class Loaded:
    """Where a value was found. event: the access; node: the expression that read it; member: which one of the
    record that was read, "": all of it."""

    object: Object
    offset: Int
    event: Event
    value: Value
    node: Expr | None
    member: str = ""


def remember(m: Machine, p: Pointer, v: Value, node: Expr | None, log: Sequence[Event | Barrier]) -> Value:
    """A value that the latest accesses loaded. Of a record each member that was loaded by itself is known
    now."""
    events = [e for e in log if isinstance(e, Event) and not e.volatile and e.choice is None]
    if len(events) != len(log) or len(events) > MOST_MEMBERS:
        return v
    if isinstance(v, RecordValue):
        return _members(m, p, v, node, events)
    if len(events) == 1:
        _keep(m, Loaded(p.object, p.offset, events[0], v, node))
    return v


def _members(m: Machine, p: Pointer, v: RecordValue, node: Expr | None, events: list[Event]) -> RecordValue:
    declared = declared_alignment(m, p.object)
    if len(events) > 1 and (is_vector(v.type) or any(declared >= 2 * e.site.width for e in events)):
        return v  # one load
    layout = None if v.cells else m.types.layout(v.type)
    cells: dict[int, Value] = {}
    for name, (at, of) in layout.fields.items() if layout is not None else ():
        place = plus(p.offset, at)
        for event in events:
            by_itself = (
                isinstance(of, Scalar)
                and of.size == event.site.width
                and (event.moved is not None and event.moved.number) is (of.size > WORD)
            )
            if by_itself and same(place, event.offset):
                cells[at] = m.unknown(of, f"{p.object.name}[...]", uniform=False)
                _keep(m, Loaded(p.object, place, event, cells[at], node, name))
    return RecordValue(v.type, cells) if cells else v


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
    layout = m.types.layout(p.pointee)
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
    given = {id(e) for e in _sources(value)}
    m.journal.idle |= {found.event.order for found in back if _is_spare(m, found, given)}
    return left


def unchanged(m: Machine, p: Pointer, v: Value) -> bool:
    """Whether a number is stored where it was loaded, and still lies: nvcc does not store it."""
    if not m.memory.loaded or m.task.as_written or m.silent or not isinstance(p.pointee, Scalar):
        return False
    key = _key(v)
    found = None if key is None else m.memory.loaded.get(key)
    return found is not None and not found.member and _is_there(m, found, p.object, p.offset, p.pointee.size)


def _is_spare(m: Machine, found: Loaded, given: set[int]) -> bool:
    """Whether nothing but the store needs what was loaded: it is written there, or it is the member of a
    variable that is stored once and of which it is not read."""
    if not found.member:
        return id(found.node) in given
    f = m.frame.function
    read = None if f is None else m.code.stored_back(f).get(id(found.node))
    return read is not None and found.member not in read


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


def _sources(value: Expr | None) -> Iterator[Expr]:
    """What a record is made of."""
    value = None if value is None else uncast(value)
    parts: tuple[Expr, ...] = ()
    if isinstance(value, Call | Construct):
        parts = value.arguments
    elif isinstance(value, InitList):
        parts = value.elements
    yield from map(uncast, parts)
