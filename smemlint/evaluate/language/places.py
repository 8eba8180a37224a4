"""Where elements and members lie."""

from __future__ import annotations

from smemlint.evaluate.language.accesses import escape, load
from smemlint.evaluate.language.conversions import as_int, type_of
from smemlint.evaluate.language.expression_types import (
    before_member,
    functions_meant,
    stays,
    type_at,
    type_of_expression,
)
from smemlint.evaluate.language.lifetimes import begin_life, has_destructors
from smemlint.evaluate.language.names import static_member
from smemlint.evaluate.language.overloads import declared_operators, methods_of
from smemlint.evaluate.machine.dispatch import converted, lvalue, rvalue
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.elements import holds_elements, leads
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.types.bases import owner_of
from smemlint.evaluate.types.layout import Around
from smemlint.evaluate.types.library_layout import is_array, is_span
from smemlint.evaluate.values.host_limits import one_set
from smemlint.evaluate.values.number import Int, add, form_of, multiply, plus, scale
from smemlint.evaluate.values.objects import temporary
from smemlint.evaluate.values.value import Object, Other, Pointer, RecordValue, Value
from smemlint.ir import (
    ArrayOf,
    Binary,
    Call,
    Cast,
    Construct,
    Expr,
    Index,
    Member,
    Module,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    This,
    Type,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import INT, LONG, is_reference, pointed_to

UNKNOWN_SIZE = 1 << 24
"""Bytes that a member of unknown size has in a variable."""
FURTHER = 1 << 12


def place_of(m: Machine, e: Expr) -> Pointer:
    """lvalue(), with a temporary for what has no place."""
    p = lvalue(m, e)
    if isinstance(p, Pointer) and not _is_address(m, e):
        return p
    made = temporary(p, type_of(p))
    if isinstance(p, RecordValue):
        begin_life(m, made.object)
    return made


def _is_address(m: Machine, e: Expr) -> bool:
    """Whether an expression gives a pointer by value, and names no place: a reference is bound to that."""
    if m.host:
        return False
    if isinstance(e, Index):
        return _gives_pointer(m, e)
    if isinstance(e, Cast):
        return isinstance(e.type, PointerTo) and not e.type.reference
    if not isinstance(e, Call | Unary | Binary):
        return False
    found = type_of_expression(m, e)
    if found is not None:
        return not found.place and isinstance(found.type, PointerTo)
    functions = functions_meant(m, e) if isinstance(e, Call) else ()
    return bool(functions) and all(_gives_address(f.returns) for f in functions)


def _gives_address(t: Type) -> bool:
    return t == AUTO or (isinstance(t, PointerTo) and not t.reference)


def value_at_place(m: Machine, e: Expr) -> Value:
    """The value of `a[i]` or `a.b`: what lies there."""
    p = lvalue(m, e)
    if not isinstance(p, Pointer) or (isinstance(e, Index) and _gives_pointer(m, e)):
        return p
    numbers = _set_elsewhere(m, e, p) if m.host and isinstance(e, Member) else None
    if numbers:
        return one_set(getattr(e, "name", ""), numbers, m.unknowns)
    return load(m, p, getattr(e, "place", None), e)


def _set_elsewhere(m: Machine, e: Member, p: Pointer) -> frozenset[int] | None:
    """The numbers that a member of an object of the host is set to, where no more is known of it."""
    if e.name not in set_to_numbers(m.module) or not p.offset.known:
        return None
    at = p.offset.const
    base = rvalue(m, e.base) if e.arrow else lvalue(m, e.base)
    t = base.pointee if isinstance(base, Pointer) else None
    found = m.types.record_of(t)
    unknown = not isinstance(at, int) or p.object.cells.get(at) is None
    return found[0].assigned.get(e.name) if found is not None and unknown else None


@by_identity
def set_to_numbers(module: Module) -> frozenset[str]:
    """Names of the members of objects of the host that are set to numbers only."""
    return frozenset(name for r in module.records.values() for name, numbers in r.assigned.items() if numbers)


AUTO = OpaqueType("auto")
"""What a function returns whose body tells its type, which is never a reference."""


def index_place(m: Machine, e: Index) -> Pointer | Value:
    """Return where `a[i]` lies: by an operator of the class, or by adding to a pointer."""
    operator = _operator(m, e)
    if operator is not None:
        return lvalue(m, operator)
    base = pointer_of(m, e.base)
    if isinstance(base, RecordValue):
        return _in_temporary(m, base, e)
    index = rvalue(m, e.index)
    if isinstance(index, RecordValue):
        index = converted(m, index, INT) or index
    if isinstance(base, Int) and isinstance(index, Pointer):
        base, index = index, base
    if isinstance(base, Pointer):
        return offset_pointer(m, base, as_int(m, index, e.place), e.place)
    return lost(m, base, e.base, e.place)


def _in_temporary(m: Machine, v: RecordValue, e: Index) -> Pointer | Value:
    """`view[i][j]`, where `view[i]` gives an object with an operator of its own."""
    if not isinstance(v.type, RecordRef) or not methods_of(m, v.type, "operator[]"):
        say_lost(m, v, "an element of an object", e.place)
        return Other()
    name = f"temporary@{id(e)}"
    held = Object(name, "temporary", v.type, "local", None, dict(v.cells), havoc=not v.cells)
    m.frame.variables[name] = held
    call = Call(
        Member(Name(name, "temporary", e.base.place), "operator[]", place=e.base.place), (e.index,), e.place
    )
    p = lvalue(m, call)
    m.frame.variables.pop(name, None)
    return p


def say_lost(m: Machine, v: Value, what: str, place: Place | None) -> None:
    """Say that shared arrays are reached through an object in a way that is not known."""
    for cell in v.cells.values() if isinstance(v, RecordValue) and not m.host else ():
        if isinstance(cell, Pointer) and cell.object.storage == "shared":
            escape(cell)
            m.note("unknown-member", f"{what} that leads to `{cell.object.name}`", place)


def _operator(m: Machine, e: Index) -> Call | None:
    """The call behind `buffer[i]` of a record: in a template clang does not know the operator yet."""
    if not m.host and "[]" not in declared_operators(m.module):
        return None
    t = type_at(m, e.base)
    if not isinstance(t, RecordRef):
        return None
    if not methods_of(m, t, "operator[]") and not (m.host and holds_elements(t)):
        return None
    return Call(Member(e.base, "operator[]", place=e.base.place), (e.index,), place=e.place)


def _gives_pointer(m: Machine, e: Index) -> bool:
    """Whether the operator of a class behind `tile[row]` gives a pointer, which is no place to read from."""
    if not m.host and "[]" not in declared_operators(m.module):
        return False
    found = type_of_expression(m, e)
    if found is not None:
        return not found.place and isinstance(found.type, PointerTo)
    t = type_at(m, e.base)
    methods = methods_of(m, t, "operator[]") if t is not None else ()
    return bool(methods) and all(f.returns == AUTO for f in methods)


def pointer_of(m: Machine, e: Expr) -> Value:
    """The value of what is subscripted or dereferenced; of a record the pointer that it converts to."""
    v: Value
    if stays(e):
        place = lvalue(m, e)
        if isinstance(place, Pointer) and isinstance(place.pointee, RecordRef):
            made = _led_to_by_library(m, place) or _elements_at(m, place) or converted(m, place, None)
            if made is not None:
                return made
        v = load(m, place, e.place, e) if isinstance(place, Pointer) else place
    else:
        v = rvalue(m, e)
    if m.host and isinstance(v, RecordValue) and leads(v.type) and isinstance(v.cells.get(0), Pointer):
        return v.cells[0]
    if isinstance(v, RecordValue) and is_span(v.type) and isinstance(v.cells.get(0), Pointer):
        return v.cells[0]
    made = converted(m, v, None) if isinstance(v, RecordValue) else None
    return v if made is None else made


def _elements_at(m: Machine, p: Pointer) -> Pointer | None:
    """Where the elements begin of an array of the library that a template indexes: clang leaves its operator
    open there."""
    layout = m.types.layout(p.pointee) if is_array(p.pointee) and not m.host else None
    held = next(iter(layout.fields.values()))[1] if layout is not None and len(layout.fields) == 1 else None
    return Pointer(p.object, p.offset, held.element) if isinstance(held, ArrayOf) else None


def _led_to_by_library(m: Machine, p: Pointer) -> Pointer | None:
    """What an object of the library at p leads to: `*owner`, `*optional`."""
    at = p.offset.const
    if not m.host or not leads(p.pointee) or p.offset.terms or not isinstance(at, int):
        return None
    held = p.object.cells.get(at) if p.object.storage == "local" else None
    return held if isinstance(held, Pointer) else None


def lost(m: Machine, v: Value, e: Expr, place: Place | None) -> Value:
    """What a pointer e that is not followed points to: somewhere in the shared array that it is made of,
    if any, so that accesses through it are counted. A loop loses the value, not the type of the variable."""
    reason = v.reason if isinstance(v, Other) else None
    reason = reason or Unresolved("untracked-pointer", "a pointer that is not followed", place)
    if isinstance(v, Other) and v.leads is not None:
        v.leads.escapes = True
        somewhere = m.unknowns.fresh("pointer", varying=True, reason=reason)
        declared = type_at(m, e)
        pointee = declared.to if isinstance(declared, PointerTo) else OpaqueType("?")
        return Pointer(v.leads, Int(0, LONG, {(somewhere,): 1}), pointee)
    return Other(None, False, reason)


def offset_pointer(m: Machine, p: Pointer, n: Int, place: Place | None) -> Pointer:
    """p + n, in elements of p's type."""
    size = 1 if p.integer else m.types.size_of(p.pointee)
    if size is None:
        if p.object.storage == "shared":
            m.types.miss(p.pointee)
        what = "the length of a row" if isinstance(p.pointee, ArrayOf) else "the size of an element"
        reason = Unresolved("unknown-size", f"{what} of `{p.object.name}` is not known", place)
        if p.object.storage == "shared":
            m.note(reason.code, reason.text, place)
        step = m.unknowns.value(LONG, "sizeof", low=1, reason=reason, varying=not m.host)
        return Pointer(p.object, add(p.offset, multiply(n, step, LONG), LONG), p.pointee, p.integer)
    offset = add(p.offset, scale(n, size, LONG), LONG)
    if m.journal.sums is not None and n.type.size == INT.size and not isinstance(p.pointee, ArrayOf):
        m.journal.sums.point(form_of(p.offset), form_of(offset), size, m.conditions())
    return Pointer(p.object, offset, p.pointee, p.integer)


def member_place(m: Machine, e: Member) -> Pointer | Value:
    """Return where `a.b` or `p->b` lies."""
    base: Value
    if e.arrow:
        base = rvalue(m, before_member(m, e))
        if isinstance(base, Pointer) and base.integer:
            base = Pointer(base.object, base.offset, base.pointee)
        elif isinstance(base, Other) and base.leads is not None:
            base = lost(m, base, e.base, e.place)
    elif isinstance(e.base, Call | Construct) and not m.host and has_destructors(m.module):
        base = place_of(m, e.base)
    else:
        base = lvalue(m, e.base)
    return field_of(m, _as_named(m, e.base, base), e.name, e.place)


def _as_named(m: Machine, e: Expr, base: Pointer | Value) -> Pointer | Value:
    """The part of an object with a virtual table that the class of a variable, or of the method that runs,
    names: a class below may have members of the same names."""
    layout = m.types.layout(base.pointee) if isinstance(base, Pointer) else None
    if layout is None or not layout.dynamic or not isinstance(base, Pointer):
        return base
    if isinstance(e, This):
        named = m.frame.function.record if m.frame.function is not None else None
    else:
        found = m.find(e.id) if isinstance(e, Name) else None
        t = pointed_to(found.type) if found is not None else None
        named = t.name if isinstance(t, RecordRef) else None
    owner = owner_of(m.types, base.pointee, named, dynamic=True) if named is not None else None
    return Pointer(base.object, plus(base.offset, owner[0]), owner[1]) if owner is not None else base


def _start_of(m: Machine, t: RecordRef, member: Around) -> Int:
    """Where the members behind one of unknown size begin: one number for all lanes."""
    if not member.behind:
        return Int(0, LONG)
    key = ("behind", t, member.behind)
    symbol = m.unknowns.memo.get(key)
    if symbol is None:
        aligned = max(member.align, m.unknowns.begin)
        symbol = m.unknowns.fresh(f"the size of {member.behind}", low=0, multiple=aligned, rank=3)
        m.unknowns.memo[key] = symbol
        m.unknowns.begun = True
    return Int(0, LONG, {(symbol,): 1})


def _own_member(m: Machine, t: RecordRef, name: str) -> Around | None:
    """A member of a record whose bases are not known."""
    found = m.types.record_of(t)
    for f in found[0].fields if found is not None else ():
        if f.name == name and found is not None:
            return Around(name, 0, 1, m.types.resolve(f.type, found[1]))
    return None


def _local_offset(m: Machine, t: RecordRef, member: Around) -> Int:
    """The same in a variable, whose members need only be apart."""
    record = m.module.records.get(t.name)
    names = ["", "the bases", *(f.name for f in record.fields)] if record is not None else [""]
    name, more, _ = member.behind.partition(" and more")
    at = names.index(name) if name in names else len(names)
    return Int(at * UNKNOWN_SIZE + len(more) * FURTHER, LONG)


def _element(m: Machine, base: Value, at: int, place: Place | None) -> Pointer | Value:
    """The member, or element of an array, of a number."""
    t = base.pointee if isinstance(base, Pointer) else type_of(base)
    if isinstance(base, Pointer) and isinstance(t, ArrayOf):
        start = Pointer(base.object, base.offset, t.element)
        return offset_pointer(m, start, Int(at), place)
    layout = m.types.layout(t)
    names = list(layout.fields) if layout is not None else []
    if len(names) == 1 and is_array(t):
        return _element(m, field_of(m, base, names[0], place), at, place)
    if at < len(names):
        return field_of(m, base, names[at], place)
    return field_of(m, base, "", place)


def field_of(m: Machine, base: Value, name: str, place: Place | None) -> Pointer | Value:
    """base.name for a place or a record value."""
    if name.startswith("#"):
        return _element(m, base, int(name[1:]), place)
    t = base.pointee if isinstance(base, Pointer) else base.type if isinstance(base, RecordValue) else None
    layout = m.types.layout(t)
    if layout is not None and name in layout.fields:
        at, ft = layout.fields[name]
        if isinstance(base, RecordValue):
            base = Pointer(
                Object("temporary", name, base.type, "local", None, dict(base.cells), havoc=True), Int(0), ft
            )
        assert isinstance(base, Pointer)
        p = Pointer(base.object, plus(base.offset, at), ft)
        return load(m, p, place) if is_reference(ft) else p
    reason = Unresolved("unknown-member", f"`.{name}` is a member of a type that is not known", place)
    if isinstance(base, Other):
        return Other(None, base.uniform, base.reason or reason)
    if not isinstance(base, Pointer):
        return Other(None, False, reason)
    local = base.object.storage == "local"
    if isinstance(t, RecordRef):
        constant = static_member(m, t, name)
        if constant is not None:
            return constant
        found = m.types.member(t, name) if layout is None else None
        if found is None and layout is None and local:
            found = _own_member(m, t, name)
        if found is not None and (local or not isinstance(found.type, PointerTo)):
            start = _local_offset(m, t, found) if local else _start_of(m, t, found)
            there = Pointer(base.object, add(base.offset, plus(start, found.at), LONG), found.type)
            refers = is_reference(found.type)
            return load(m, there, place) if refers else there
    if base.object.storage == "shared":
        m.note(reason.code, reason.text, place)
        somewhere = multiply(base.offset, m.unknowns.value(LONG, name, varying=True), LONG)
        return Pointer(base.object, somewhere, OpaqueType("?"))
    return Other(None, local and base.object.uniform, reason)
