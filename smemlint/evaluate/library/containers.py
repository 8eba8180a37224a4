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
from smemlint.evaluate.memory.elements import MAPS, holds_elements
from smemlint.evaluate.memory.local_memory import write_cell
from smemlint.evaluate.memory.text import text_in
from smemlint.evaluate.types.library_layout import is_array
from smemlint.evaluate.types.matching import is_type
from smemlint.evaluate.values.number import Int, Method, Other, Pointer, RecordValue, Value, plus
from smemlint.evaluate.values.objects import Cells, Object
from smemlint.ir import ArrayOf, Call, Construct, Expr, InitList, Literal, RecordRef, Scalar, Type
from smemlint.ir.types import BOOL, ULONG

_READING = frozenset(("capacity", "max_size", "rbegin", "rend", "lower_bound", "upper_bound"))
"""Methods that leave a container as it is, beside those that are followed."""
LONGEST = 64
"""Elements that are filled in one by one; those of longer sequences are data."""
_COUNT = 8
"""Where the number of elements stands in a sequence, behind the pointer to them."""


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
    element = element_type(t)
    size = None if element is None else m.types.size_of(element)
    if element is None or size is None:
        return None
    if len(arguments) == 1 and isinstance(arguments[0], InitList):
        return _listed(m, t, element, size, expanded(m, arguments[0].elements))
    given = [rvalue(m, a) for a in arguments]
    if len(given) == 1 and isinstance(given[0], RecordValue) and is_container(given[0].type):
        return RecordValue(t, given[0].cells)  # what is read has elements of its own
    if len(given) == 2 and isinstance(given[0], Pointer) and isinstance(given[1], Pointer):
        return _between(m, t, element, size, given[0], given[1])
    if not given:
        return _sequence(t, element, Int(0, ULONG))
    if not isinstance(given[0], Int):
        return _sequence(t, element, None)
    made = _sequence(t, element, given[0])
    fill = given[1] if len(given) > 1 else None
    _fill(m, _elements_of(made), element, size, given[0], fill)
    return made


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
        write_cell(m, o, i * size, value_for(m, element, e), element)
    o.havoc = len(values) > LONGEST
    return made


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


def _between(
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
    if v.name not in ("operator[]", "at", "front", "back") or not isinstance(v.self, Pointer):
        return None
    place = _place_of(m, v, e, v.self)
    if place is None:
        forget_elements(v.self)
    return place


def _place_of(m: Machine, v: Method, e: Call, self: Pointer) -> Pointer | None:
    found = _parts(m, self)
    if found is None:
        return None
    held, count, element = found
    if isinstance(self.pointee, RecordRef) and self.pointee.name in MAPS:
        return _mapped(m, self, held, count, element, e)
    if v.name == "front":
        return held
    if v.name == "back":
        n = number(count)
        return None if n is None else offset_pointer(m, held, Int(n - 1), e.place)
    index = rvalue(m, e.arguments[0]) if e.arguments else None
    return offset_pointer(m, held, index, e.place) if isinstance(index, Int) else None


def _parts(m: Machine, self: Pointer) -> tuple[Pointer, Int | None, Type] | None:
    """Where the elements of a sequence begin, how many there are, and what they are."""
    element, at = element_type(self.pointee), number(self.offset)
    if not is_container(self.pointee) or element is None or at is None or self.object.storage != "local":
        return None
    held, count = self.object.cells.get(at), self.object.cells.get(at + _COUNT)
    if held is None and not self.object.havoc and count is None:
        made = _sequence(self.pointee, element, Int(0, ULONG))  # type: ignore[arg-type]
        self.object.cells.update({at + k: x for k, x in made.cells.items()})
        held, count = made.cells[0], made.cells[_COUNT]
    if not isinstance(held, Pointer) or held.object.storage != "local":
        return None
    return Pointer(held.object, held.offset, element), count if isinstance(count, Int) else None, element


def _mapped(
    m: Machine, self: Pointer, held: Pointer, count: Int | None, element: Type, e: Call
) -> Pointer | None:
    """The value of a key; a key that is new is added."""
    size, n = m.types.size_of(element), number(count)
    layout = m.types.layout(element) if isinstance(element, RecordRef) else None
    given = rvalue(m, e.arguments[0]) if e.arguments else None
    key = _key(m, given)
    if size is None or n is None or layout is None or key is None or given is None or n > LONGEST:
        return None
    second, type_ = layout.fields["second"]
    keys = _keys(m, held, n, size)
    if keys is None:
        return None
    at = keys.index(key) if key in keys else n
    if at == n:
        of = layout.fields["first"][1]
        write_cell(m, held.object, n * size, coerce(m, given, of), of)
        _set_count(m, self, Int(n + 1, ULONG))
        write_cell(m, held.object, n * size + second, build(m, type_, (), None), type_)
    return Pointer(held.object, Int(at * size + second), type_)


def _key(m: Machine, v: Value | None) -> int | str | None:
    """What a map knows an element by: a number or text; None where that is not known."""
    n = number(v)
    return text_in(m, v) if n is None else n


def _keys(m: Machine, held: Pointer, n: int, size: int) -> list[int | str] | None:
    """The keys of a map or set; None where one is not known."""
    keys = [_key(m, held.object.cells.get(i * size)) for i in range(n)]
    known = [k for k in keys if k is not None]
    return known if len(known) == n else None


def _looked_up(
    m: Machine, v: Method, e: Call, held: Pointer, count: Int | None, element: Type
) -> Value | None:
    """What `find`, `count` and `contains` of a map or set give."""
    n, size = number(count), m.types.size_of(element)
    key = _key(m, rvalue(m, e.arguments[0])) if len(e.arguments) == 1 else None
    keys = None if n is None or size is None or n > LONGEST else _keys(m, held, n, size)
    if key is None or keys is None or size is None:
        return None
    if v.name != "find":
        return Int(int(key in keys), BOOL if v.name == "contains" else ULONG)
    return offset_pointer(m, held, Int(keys.index(key) if key in keys else len(keys)), e.place)


def _set_count(m: Machine, self: Pointer, count: Value) -> None:
    store(m, Pointer(self.object, plus(self.offset, _COUNT), ULONG), count, None)


def container_method(m: Machine, v: Method, e: Call) -> Value | None:
    """Return what a method of a sequence gives, and do what it does; None for what is not known."""
    found = _parts(m, v.self) if isinstance(v.self, Pointer) else None
    if found is None or not isinstance(v.self, Pointer):
        return None
    held, count, element = found
    size = m.types.size_of(element)
    if v.name == "size" or v.name == "length":
        return count
    if v.name == "empty" and number(count) is not None:
        return Int(int(number(count) == 0), BOOL)
    if v.name in ("data", "begin", "cbegin"):
        return held
    if v.name in ("end", "cend") and count is not None:
        return offset_pointer(m, held, count, e.place)
    if v.name in ("push_back", "emplace_back", "emplace", "insert") and (n := number(count)) is not None:
        added = _added(m, v, e, held, n, element, size)
        if added is not None:
            return added
    if v.name in ("find", "count", "contains"):
        return _looked_up(m, v, e, held, count, element)
    if v.name in ("clear", "pop_back"):
        n = number(count)
        _set_count(m, v.self, Int(0 if v.name == "clear" else max((n or 1) - 1, 0), ULONG))
        return Other()
    if v.name in ("resize", "assign") and e.arguments and size is not None:
        values = [rvalue(m, a) for a in e.arguments]
        if isinstance(values[0], Int):
            if v.name == "assign" or number(count) == 0:
                _fill(m, held.object, element, size, values[0], values[1] if len(values) > 1 else None)
            _set_count(m, v.self, values[0])
            return Other()
    if v.name in ("reserve", "shrink_to_fit"):
        return Other()
    if v.name not in _READING:
        forget_elements(v.self)
    return None


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


def _added(
    m: Machine, v: Method, e: Call, held: Pointer, n: int, element: Type, size: int | None
) -> Value | None:
    assert isinstance(v.self, Pointer)
    is_map = isinstance(v.self.pointee, RecordRef) and v.self.pointee.name in MAPS
    if size is None or (v.name in ("insert", "emplace") and not is_map):
        return None
    known = _keys(m, held, n, size) if is_map else []
    if known is None:
        return None
    single = len(e.arguments) == 1 and (v.name in ("push_back", "insert") or isinstance(element, Scalar))
    if single:
        value = value_for(m, element, e.arguments[0])
    elif v.name == "push_back":
        return None
    else:
        value = rvalue(m, Construct(element, e.arguments, e.place))
    if is_map:
        key = _key(m, value.cells.get(0)) if isinstance(value, RecordValue) else None
        if key is None:
            return None
        if key in known:
            return Other()  # it stays what it is
    write_cell(m, held.object, n * size, coerce(m, value, element), element)
    _set_count(m, v.self, Int(n + 1, ULONG))
    return Other()


# ---------------------------------------------------------------------- pairs and tuples


def members_of(m: Machine, t: Type) -> list[tuple[int, Type]]:
    """Return offset and type of each element of a pair, a tuple, an array or another record."""
    layout = m.types.layout(t) if isinstance(t, RecordRef) else None
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
def _made(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    pair = str(getattr(e.callee, "name", "")).endswith("pair")
    types = tuple(type_of(v) for v in values)
    return _tuple(m, RecordRef("std::pair" if pair else "std::tuple", types), values)


@named("std::get")
def _got(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    place = got_place(m, e, arguments)
    return Other() if place is None else load(m, place, e.place)


def got_place(m: Machine, e: Call, arguments: Arguments) -> Pointer | None:
    """The element that `std::get<1>(x)` names."""
    which = number(arguments[0]) if arguments else None
    place = place_of(m, e.arguments[0]) if len(e.arguments) == 1 else None
    if which is None or not isinstance(place, Pointer):
        return None
    found = members_of(m, place.pointee)
    if which >= len(found):
        return None
    at, t = found[which]
    return Pointer(place.object, plus(place.offset, at), t)
