"""Containers of host code: `std::vector` and its kin, `std::map`, `std::pair`, `std::tuple`.

A sequence is a record that holds a pointer to its elements and their number. These live in an object of
their own, which grows as elements are added and is never moved.
"""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.language.accesses import load, store
from smemlint.evaluate.language.conversions import coerce, type_of
from smemlint.evaluate.language.initialisers import value_for
from smemlint.evaluate.language.packs import expanded
from smemlint.evaluate.language.places import offset_pointer, place_of
from smemlint.evaluate.machine.dispatch import build, rvalue
from smemlint.evaluate.machine.functions import Arguments, named, number
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.elements import LIST, MAPS, SETS, holds_elements
from smemlint.evaluate.memory.local_memory import write_cell
from smemlint.evaluate.memory.text import text_in
from smemlint.evaluate.types.library_layout import is_array
from smemlint.evaluate.types.matching import is_type
from smemlint.evaluate.values.number import Int, plus
from smemlint.evaluate.values.value import VALUES, Cells, Method, Object, Other, Pointer, RecordValue, Value
from smemlint.ir import (
    CONVERSION_NAME,
    ArrayOf,
    Call,
    Construct,
    Expr,
    InitList,
    Literal,
    PointerTo,
    RecordRef,
    Scalar,
    Type,
)
from smemlint.ir.types import BOOL, ULONG, VOID
from smemlint.records import record

_READING = frozenset(("capacity", "max_size", "rbegin", "rend", "lower_bound", "upper_bound"))
"""Methods that leave a container as it is, beside those that are followed."""
VARIANT = "std::variant"
OPTIONAL = ("std::optional",)
LONGEST = 64
"""Elements that are filled in one by one; those of longer sequences are data."""
_ELEMENTS = ("operator[]", "at", "front", "back", "top", "value", "operator*")
_ADDING = ("push_back", "emplace_back", "push", "emplace", "insert")
_LINES = ("std::queue", "std::stack", "std::priority_queue")
_COUNT = 8
"""Where the number of elements stands in a sequence, behind the pointer to them."""


@record(frozen=True, slots=True)
class _Elements:
    """What a sequence or map holds. count, n: how many, as a value and as a number that is known; size: bytes
    of each."""

    at: Pointer
    count: Int | None
    n: int | None
    type: Type
    size: int | None


def is_container(t: Type | None) -> bool:
    """Return whether a type is a sequence, a map or a tuple of the C++ library."""
    return holds_elements(t) or (isinstance(t, RecordRef) and t.name == "std::tuple")


def contained(m: Machine, t: RecordRef, arguments: Sequence[Expr]) -> Value | None:
    """Return a container made of constructor arguments; None for what its own record tells."""
    if t.name == "std::tuple":
        if not arguments:
            return None
        given = [rvalue(m, a) for a in arguments]
        if len(given) == 1 and isinstance(given[0], RecordValue) and given[0].type == t:
            return given[0]
        return _tuple(m, t, given)
    if t.name == VARIANT:
        return _variant(m, t, [a if isinstance(a, VALUES) else rvalue(m, a) for a in arguments])
    element = element_type(t)
    size = None if element is None else m.types.size_of(element)
    if element is None or size is None:
        return None
    if t.name in OPTIONAL and len(arguments) == 1:
        if str(getattr(arguments[0], "name", "")).rsplit("::", 1)[-1] == "nullopt":
            return _sequence(t, element, Int(0, ULONG))
        v = arguments[0] if isinstance(arguments[0], VALUES) else rvalue(m, arguments[0])
        other = isinstance(v, RecordValue) and v.type == t
        return v if other else _listed(m, t, element, size, (v,))
    if len(arguments) == 1 and isinstance(arguments[0], InitList):
        return _listed(m, t, element, size, expanded(m, arguments[0].elements))
    given = [a if isinstance(a, VALUES) else rvalue(m, a) for a in expanded(m, arguments)]
    if len(given) == 1 and isinstance(given[0], RecordValue) and is_container(given[0].type):
        return RecordValue(t, given[0].cells)  # what is read has elements of its own
    if t.name == LIST:
        return _listed(m, t, element, size, given)
    if len(given) == 2 and isinstance(given[0], Pointer) and isinstance(given[1], Pointer):
        return _sequence_between(m, t, element, size, given[0], given[1])
    if not given:
        return _sequence(t, element, Int(0, ULONG))
    if not isinstance(given[0], Int):
        return _sequence(t, element, None)
    made = _sequence(t, element, given[0])
    fill = given[1] if len(given) > 1 else None
    _fill(m, _elements_of(made), element, size, given[0], fill)
    return made


def _variant(m: Machine, t: RecordRef, values: Sequence[Value]) -> RecordValue:
    """One of several types: a sequence of one element, whose type is told where the number of elements is."""
    kinds: list[Type] = [a for a in t.arguments if is_type(a)]  # type: ignore[misc]
    if len(values) == 1 and isinstance(values[0], RecordValue) and values[0].type == t:
        return values[0]
    v = values[0] if values else build(m, kinds[0], (), None) if kinds else Other()
    own = type_of(v)
    fits = [i for i, kind in enumerate(kinds) if kind == own] or [
        i for i, kind in enumerate(kinds) if isinstance(kind, Scalar) and isinstance(v, Int)
    ]
    if len(values) > 1 or not fits:
        return _sequence(t, own, None)
    made = _sequence(t, kinds[fits[0]], Int(fits[0], ULONG))
    write_cell(m, _elements_of(made), 0, coerce(m, v, kinds[fits[0]]), kinds[fits[0]])
    return made


def chosen_in(p: Value) -> tuple[int, Pointer] | None:
    """Which of its types a variant at p holds, and where; None where that is not known."""
    at = number(p.offset) if isinstance(p, Pointer) else None
    if not isinstance(p, Pointer) or at is None or p.object.storage != "local":
        return None
    t, held, which = p.pointee, p.object.cells.get(at), number(p.object.cells.get(at + _COUNT))
    if not isinstance(t, RecordRef) or t.name != VARIANT or which is None or not isinstance(held, Pointer):
        return None
    return which, Pointer(held.object, held.offset, t.arguments[which])  # type: ignore[arg-type]


def element_type(t: Type | None) -> Type | None:
    """Return what a sequence or a map holds; None where its type does not tell."""
    if not isinstance(t, RecordRef) or not t.arguments or not is_type(t.arguments[0]):
        return None
    if t.name not in MAPS:
        return t.arguments[0]  # type: ignore[return-value]
    return RecordRef("std::pair", t.arguments[:2]) if len(t.arguments) > 1 else None


def _sequence(t: RecordRef, element: Type, count: Int | None) -> RecordValue:
    o = Object("elements", "elements", element, "local", uniform=True)
    cells: dict[int, Value] = {0: Pointer(o, Int(0), element)}
    if count is not None:
        cells[_COUNT] = count.typed(ULONG)
    else:
        o.havoc = True
    return RecordValue(t, cells)


def _elements_of(v: RecordValue) -> Object:
    held = v.cells[0]
    assert isinstance(held, Pointer)
    return held.object


def _listed(
    m: Machine, t: RecordRef, element: Type, size: int, values: Sequence[Expr | Value]
) -> RecordValue:
    made = _sequence(t, element, Int(len(values), ULONG))
    o = _elements_of(made)
    for i, e in enumerate(values[:LONGEST]):
        write_cell(m, o, i * size, _as_element(m, element, e), element)
    o.havoc = len(values) > LONGEST
    return made


def _as_element(m: Machine, element: Type, e: Expr | Value) -> Value:
    """What a container holds of a value: a variant is made of one of its types."""
    if (
        isinstance(element, RecordRef)
        and element.name in (VARIANT, *OPTIONAL)
        and not isinstance(e, InitList)
    ):
        v = e if isinstance(e, VALUES) else rvalue(m, e)
        return contained(m, element, (v,)) or Other()  # type: ignore[arg-type]
    return value_for(m, element, e)


def _fill(m: Machine, o: Object, element: Type, size: int, count: Int, fill: Value | None) -> None:
    """Give the elements a value each, or that of `T()`."""
    n = number(count)
    if n is None or n > LONGEST:
        o.cells, o.havoc = Cells(), True
        return
    for i in range(n):
        if fill is not None:
            write_cell(m, o, i * size, coerce(m, fill, element), element)
        elif isinstance(element, Scalar):
            write_cell(m, o, i * size, Int(0, element), element)
        else:
            write_cell(m, o, i * size, build(m, element, (), None), element)


def _sequence_between(
    m: Machine, t: RecordRef, element: Type, size: int, first: Pointer, last: Pointer
) -> RecordValue:
    """A sequence of what stands between two pointers."""
    at, end = number(first.offset), number(last.offset)
    if first.object is not last.object or at is None or end is None or not 0 <= (end - at) <= LONGEST * size:
        return _sequence(t, element, None)
    n = (end - at) // size
    made = _sequence(t, element, Int(n, ULONG))
    for i in range(n):
        p = Pointer(first.object, plus(first.offset, i * size), first.pointee)
        write_cell(m, _elements_of(made), i * size, coerce(m, load(m, p, None), element), element)
    return made


# ---------------------------------------------------------------------- what is asked of them


def container_element(m: Machine, v: Method, e: Call) -> Pointer | None:
    """Return the place of `v[i]`, `v.at(i)`, `v.front()` or `v.back()`; None for everything else.

    Of an element that is not known, which may be set, the others are not known either.
    """
    if v.name not in _ELEMENTS or not isinstance(v.self, Pointer):
        return None
    held = _elements_at(m, v.self)
    place = None if held is None else _place_of(m, v, e, v.self, held)
    if place is None:
        forget_elements(v.self)
    return place


def _place_of(m: Machine, v: Method, e: Call, self: Pointer, held: _Elements) -> Pointer | None:
    if isinstance(self.pointee, RecordRef) and self.pointee.name in MAPS:
        return _mapped(m, self, held, e)
    if v.name in ("front", "value", "operator*"):
        return held.at if held.n else None
    if v.name in ("back", "top"):
        at = _last(self.pointee, held)
        return None if at is None else offset_pointer(m, held.at, Int(at), e.place)
    index = rvalue(m, e.arguments[0]) if e.arguments else None
    return offset_pointer(m, held.at, index, e.place) if isinstance(index, Int) else None


def _last(t: Type, held: _Elements) -> int | None:
    """Which element stands on top of a stack, first in a queue by priority, last in a sequence."""
    n = held.n
    if not n or not isinstance(t, RecordRef) or t.name != "std::priority_queue":
        return n - 1 if n else None
    keys = _keys(held) if all(a == VOID for a in t.arguments[1:]) else None
    numbers = [k for k in keys or () if isinstance(k, int)]
    return numbers.index(max(numbers)) if len(numbers) == n else None


def _elements_at(m: Machine, self: Pointer) -> _Elements | None:
    """What the sequence or map at a place holds; None where that is not followed."""
    element, at = element_type(self.pointee), number(self.offset)
    if not is_container(self.pointee) or element is None or at is None or self.object.storage != "local":
        return None
    held, count = self.object.cells.get(at), self.object.cells.get(at + _COUNT)
    if held is None and not self.object.havoc and count is None:
        made = _sequence(self.pointee, element, Int(0, ULONG))  # type: ignore[arg-type]
        self.object.cells.update({at + k: x for k, x in made.cells.items()})
        held, count = made.cells[0], made.cells[_COUNT]
    if held is None and self.object.havoc:  # of one that is not known the elements have a type
        self.object.cells[at] = held = _sequence(self.pointee, element, None).cells[0]  # type: ignore[arg-type]
    if not isinstance(held, Pointer) or held.object.storage != "local":
        return None
    if count is None and m.host:
        self.object.cells[at + _COUNT] = count = m.unknown(ULONG, "size", uniform=True)
    start, count = Pointer(held.object, held.offset, element), count if isinstance(count, Int) else None
    return _Elements(start, count, number(count), element, m.types.size_of(element))


def _mapped(m: Machine, self: Pointer, held: _Elements, e: Call) -> Pointer | None:
    """The value of a key; a key that is new is added."""
    size, n, o = held.size, held.n, held.at.object
    layout = m.types.layout(held.type)
    given = rvalue(m, e.arguments[0]) if e.arguments else None
    key = _key(given)
    if size is None or n is None or layout is None or given is None or n > LONGEST:
        return None
    second, type_ = layout.fields["second"]
    keys = _keys(held)
    if (keys is None or key is None) and n > 0:  # of a key that is not known it may be each
        unknown = m.unknowns.value(ULONG, "place of a key", low=0, high=n - 1)
        row = offset_pointer(m, held.at, unknown, e.place)
        return Pointer(o, plus(row.offset, second), type_) if isinstance(row, Pointer) else None
    if keys is None or key is None:
        return None
    at = keys.index(key) if key in keys else n
    if at == n:
        of = layout.fields["first"][1]
        write_cell(m, o, n * size, coerce(m, given, of), of)
        _set_count(m, self, Int(n + 1, ULONG))
        write_cell(m, o, n * size + second, build(m, type_, (), None), type_)
    return Pointer(o, Int(at * size + second), type_)


def _key(v: Value | None) -> int | str | None:
    """What a map knows an element by: a number or text; None where that is not known."""
    n = number(v)
    return text_in(v) if n is None else n


def _keys(held: _Elements) -> list[int | str] | None:
    """The keys of a map or set, or the elements of a queue; None where one is not known."""
    if held.n is None or held.size is None:
        return None
    keys = [_key(held.at.object.cells.get(i * held.size)) for i in range(held.n)]
    known = [k for k in keys if k is not None]
    return known if len(known) == held.n else None


def _looked_up(m: Machine, v: Method, e: Call, held: _Elements) -> Value | None:
    """What `find`, `count` and `contains` of a map or set give."""
    n = held.n
    key = _key(rvalue(m, e.arguments[0])) if len(e.arguments) == 1 else None
    if n == 0 and isinstance(v.self, Pointer) and any(o is v.self.object for o in m.memory.globals.values()):
        return None  # a registry, which what runs before `main` fills
    keys = None if n is None or n > LONGEST else _keys(held)
    if v.name == "find" and n is not None and held.size is not None and (key is None or keys is None):
        # Of a key that is not known it may be each, or the end.
        unknown = m.unknowns.value(ULONG, "place of a key", low=0, high=n)
        return offset_pointer(m, held.at, unknown, e.place)
    if key is None or keys is None:
        return None
    if v.name != "find":
        return Int(int(key in keys), BOOL if v.name == "contains" else ULONG)
    return offset_pointer(m, held.at, Int(keys.index(key) if key in keys else len(keys)), e.place)


def _set_count(m: Machine, self: Pointer, count: Value) -> None:
    store(m, Pointer(self.object, plus(self.offset, _COUNT), ULONG), count, None)


def container_method(m: Machine, v: Method, e: Call) -> Value | None:
    """Return what a method of a sequence gives, and do what it does; None for what is not known."""
    held = _elements_at(m, v.self) if isinstance(v.self, Pointer) else None
    if held is None or not isinstance(v.self, Pointer):
        return None
    count, n = held.count, held.n
    if v.name in ("size", "length") or (v.name == "index" and count is not None):
        return count
    if v.name == "empty" and n is not None:
        return Int(int(n == 0), BOOL)
    if v.name in ("data", "begin", "cbegin", "operator->"):
        _in_order_of_keys(v.self.pointee, held)
        return held.at
    if v.name in ("has_value", CONVERSION_NAME) and n is not None:
        return Int(int(n != 0), BOOL)
    if v.name == "value_or" and e.arguments and n is not None:
        other = rvalue(m, e.arguments[0])
        return load(m, held.at, e.place) if n else coerce(m, other, held.type)
    if v.name in ("end", "cend") and count is not None:
        return offset_pointer(m, held.at, count, e.place)
    if v.name == "pop" and held.size is not None:
        return _popped(m, v.self, held, held.size)
    if v.name in _ADDING and n is not None:
        added = _added(m, v, e, held, n)
        if added is not None:
            return added
    if v.name in ("find", "count", "contains"):
        return _looked_up(m, v, e, held)
    if v.name in ("clear", "reset", "pop_back"):
        _set_count(m, v.self, Int(max((n or 1) - 1, 0) if v.name == "pop_back" else 0, ULONG))
        return Other()
    if v.name in ("resize", "assign") and e.arguments and held.size is not None:
        values = [rvalue(m, a) for a in e.arguments]
        if isinstance(values[0], Int):
            if v.name == "assign" or n == 0:
                fill = values[1] if len(values) > 1 else None
                _fill(m, held.at.object, held.type, held.size, values[0], fill)
            _set_count(m, v.self, values[0])
            return Other()
    if v.name in ("reserve", "shrink_to_fit"):
        return Other()
    if v.name not in _READING:
        forget_elements(v.self)
    return None


def _popped(m: Machine, self: Pointer, held: _Elements, size: int) -> Value | None:
    """Take the first element out of a queue, the last out of a stack."""
    t, n, o = self.pointee, held.n, held.at.object
    first = isinstance(t, RecordRef) and t.name == "std::queue"
    at = 0 if first and n else _last(t, held)
    if at is None or n is None:
        forget_elements(self)
        return None
    cells = {k: x for k, x in o.cells.items() if k // size != at}
    o.cells = Cells({k - size * (k // size > at): x for k, x in cells.items()})
    _set_count(m, self, Int(n - 1, ULONG))
    return Other()


def _in_order_of_keys(t: Type, held: _Elements) -> None:
    """Put what a map or set holds in its order, before anybody walks through it. What stands where is not
    known where a key is not, or whether it is there."""
    if not isinstance(t, RecordRef) or t.name not in ("std::map", "std::set") or held.n == 0:
        return
    n, size, o = held.n, held.size, held.at.object
    keys = _keys(held) if n is not None and n <= LONGEST and size else None
    if keys is None or size is None or len({type(k) for k in keys}) != 1:
        o.cells, o.havoc = Cells(), True
        return
    to = {at: i for i, at in enumerate(sorted(range(len(keys)), key=keys.__getitem__))}
    o.cells = Cells({to.get(k // size, k // size) * size + k % size: x for k, x in o.cells.items()})


def forget_elements(p: Pointer) -> None:
    """Know nothing any more of a container: what is not known may have changed it."""
    at = number(p.offset)
    if not holds_elements(p.pointee) or p.object.storage != "local" or at is None:
        return
    held = p.object.cells.get(at)
    if isinstance(held, Pointer) and held.object.storage == "local":
        held.object.cells = Cells()
        held.object.havoc = True
    p.object.cells.pop(at + _COUNT, None)
    p.object.havoc = True


def _added(m: Machine, v: Method, e: Call, held: _Elements, n: int) -> Value | None:
    assert isinstance(v.self, Pointer)
    element, size = held.type, held.size
    name = v.self.pointee.name if isinstance(v.self.pointee, RecordRef) else ""
    keyed, line = name in (*MAPS, *SETS), name in _LINES
    if size is None or (v.name in ("insert", "emplace") and not (keyed or line or name in OPTIONAL)):
        return None
    if name in OPTIONAL:
        n = 0
    known = _keys(held) if keyed else []
    if known is None:
        return None
    pushed = v.name in ("push_back", "push", "insert")
    if len(e.arguments) == 1 and (pushed or isinstance(element, Scalar)):
        value = _as_element(m, element, e.arguments[0])
    elif pushed and name not in MAPS:
        return None
    else:
        value = rvalue(m, Construct(element, e.arguments, e.place))
    at = n
    if keyed:
        key = _key(value.cells.get(0) if isinstance(value, RecordValue) and name in MAPS else value)
        if key is None:
            return None
        at = known.index(key) if key in known else n  # what is there stays what it is
    if at == n:
        write_cell(m, held.at.object, n * size, coerce(m, value, element), element)
        _set_count(m, v.self, Int(n + 1, ULONG))
    place = Pointer(held.at.object, Int(at * size), element)
    told = RecordRef("std::pair", (PointerTo(element), BOOL))
    return RecordValue(told, {0: place, 8: Int(int(at == n), BOOL)}) if keyed else Other()


# ---------------------------------------------------------------------- pairs and tuples


def members_of(m: Machine, t: Type) -> list[tuple[int, Type]]:
    """Return offset and type of each element of a pair, a tuple, an array or another record."""
    layout = m.types.layout(t)
    if layout is None:
        return []
    at, data = next(iter(layout.fields.values()), (0, None))
    if is_array(t) and isinstance(data, ArrayOf) and isinstance(data.extent, Literal):
        size = m.types.size_of(data.element) or 0
        return [(at + i * size, data.element) for i in range(data.extent.value)]
    return list(layout.fields.values())


def _tuple(m: Machine, t: RecordRef, values: Sequence[Value]) -> RecordValue:
    cells: dict[int, Value] = {}
    for (at, type_), v in zip(members_of(m, t), values, strict=False):
        v = coerce(m, v, type_)
        cells.update({at + k: x for k, x in v.cells.items()} if isinstance(v, RecordValue) else {at: v})
    return RecordValue(t, cells)


@named("std::make_pair", "std::make_tuple", "thrust::make_pair", "thrust::make_tuple")
def _make_tuple(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    pair = str(getattr(e.callee, "name", "")).endswith("pair")
    types = tuple(type_of(v) for v in values)
    return _tuple(m, RecordRef("std::pair" if pair else "std::tuple", types), values)


@named("std::holds_alternative", "std::get_if")
def _variant_access(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value | None:
    """Whether a variant holds a type, or the address of what it holds."""
    asks = str(getattr(e.callee, "name", "")).endswith("alternative")
    place = (place_of if asks else rvalue)(m, e.arguments[0]) if len(e.arguments) == 1 and arguments else None
    held = chosen_in(place) if isinstance(place, Pointer) else None
    if held is None:
        return None
    wanted = arguments[0]
    same = held[1].pointee == wanted or (not is_type(wanted) and number(wanted) == held[0])
    if asks:
        return Int(int(same), BOOL)
    return held[1] if same else coerce(m, Int(0), PointerTo(held[1].pointee))


@named("std::make_optional")
def _made_optional(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    t = type_of(values[0]) if len(values) == 1 else None
    size = None if t is None else m.types.size_of(t)
    if t is None or size is None:
        return Other()
    return _listed(m, RecordRef("std::optional", (t,)), t, size, values)


@named("std::get")
def _got(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    place = got_place(m, e, arguments)
    return Other() if place is None else load(m, place, e.place)


def got_place(m: Machine, e: Call, arguments: Arguments) -> Pointer | None:
    """The element that `std::get<1>(x)` names."""
    which = number(arguments[0]) if arguments else None
    place = place_of(m, e.arguments[0]) if len(e.arguments) == 1 else None
    if isinstance(place, Pointer) and (held := chosen_in(place)) is not None:
        return held[1] if which == held[0] or (which is None and arguments[0] == held[1].pointee) else None
    if which is None or not isinstance(place, Pointer):
        return None
    found = members_of(m, place.pointee)
    if which >= len(found):
        return None
    at, t = found[which]
    return Pointer(place.object, plus(place.offset, at), t)
