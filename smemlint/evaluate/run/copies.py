"""Objects that are made of others of their class: copy and move constructors that do more than copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from smemlint.evaluate.language.accesses import escape, load, store
from smemlint.evaluate.language.conversions import coerce
from smemlint.evaluate.language.inlining import MOVES, Reference, forget_given, invoke
from smemlint.evaluate.language.overloads import takes_own
from smemlint.evaluate.machine.dispatch import lvalue, rvalue
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.run.calls import called
from smemlint.evaluate.run.construction import construct
from smemlint.evaluate.types.bases import bases_of
from smemlint.evaluate.values.number import Int, plus
from smemlint.evaluate.values.objects import MADE, temporary
from smemlint.evaluate.values.value import Cells, Closure, Object, Pointer, RecordValue, Value, reached
from smemlint.ir import (
    ArrayOf,
    Call,
    Cast,
    Conditional,
    Expr,
    Function,
    Index,
    Literal,
    Member,
    Module,
    Name,
    PointerTo,
    Record,
    RecordRef,
    Type,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference, referred

Own = Callable[[Module], Mapping[str, tuple[Function, ...]]]
MOST_ELEMENTS = 64
"""Elements of an array that are copied one by one."""


@by_identity
def copiers(module: Module) -> Mapping[str, tuple[Function, ...]]:
    """The constructors with a body that take an object of their own class, by the name of the record."""
    return _taking_own(module, lambda record: record.constructors)


@by_identity
def _assigners(module: Module) -> Mapping[str, tuple[Function, ...]]:
    """The `operator=` with a body that take an object of their own class, by the name of the record."""
    return _taking_own(module, lambda record: record.methods.get("operator=", ()))


def says_how_to_assign(module: Module) -> bool:
    """Whether a class of the program has an `operator=` for its own objects."""
    return bool(_assigners(module))


def _taking_own(module: Module, ids: Callable[[Record], Sequence[str]]) -> Mapping[str, tuple[Function, ...]]:
    found: dict[str, tuple[Function, ...]] = {}
    for name, record in module.records.items():
        own = (f for i in ids(record) if (f := module.functions.get(i)) is not None)
        if taking := tuple(f for f in own if takes_own(f)):
            found[name] = taking
    return found


def _copies(m: Machine, t: Type) -> bool:
    """Whether constructors of the program copy objects of a type, or parts of them."""
    return _copies(m, t.element) if isinstance(t, ArrayOf) else _is_told(m, t, copiers, _copies)


def _assigns(m: Machine, t: Type) -> bool:
    """Whether the program says how objects of a type, or parts of them, are assigned."""
    return _is_told(m, t, _assigners, _assigns)


def _is_told(m: Machine, t: Type, own: Own, of_part: Callable[[Machine, Type], bool]) -> bool:
    """Whether the program has such functions of a record, or of a part of it."""
    known = m.memo.copying.get((own, t))
    if known is None:
        m.memo.copying[own, t] = False  # in a type that holds itself
        found = m.types.record_of(t)
        known = found is not None and (
            found[0].name in own(m.module) or any(of_part(m, part) for _, part in _subobjects(m, t))
        )
        m.memo.copying[own, t] = known
    return known


def _subobjects(m: Machine, t: Type) -> list[tuple[int, Type]]:
    """Bases and members of a record, and where they begin."""
    layout, found = m.types.layout(t), m.types.record_of(t)
    if layout is None or found is None or found[0].union:
        return []
    bases = list(bases_of(m.types, t))
    inherited = {name for _, _, inner in bases for name in inner.fields} - {f.name for f in found[0].fields}
    own = [(at, ft) for name, (at, ft) in layout.fields.items() if name not in inherited]
    return [(at, base) for base, at, _ in bases] + own


def begun_as(m: Machine, e: Expr) -> Value:
    """What an object begins as that is made of an expression."""
    if not copiers(m.module):
        v = rvalue(m, e)
        return _as_its_own(m, v) if isinstance(v, Closure) and isinstance(e, Name | Member) else v
    moved, of = False, e
    while isinstance(of, Call) and len(of.arguments) == 1:
        if not isinstance(of.callee, Name) or of.callee.id or of.callee.name not in MOVES:
            break
        moved, of = True, of.arguments[0]
    if isinstance(of, Call) and isinstance(of.callee, Name) and of.callee.name.endswith("forward"):
        named = lvalue(m, of.arguments[0]) if len(of.arguments) == 1 else None
        if isinstance(named, Pointer) and isinstance(named.pointee, RecordRef) and _copies(m, named.pointee):
            forget_given(None, [named])  # copied or moved, as the caller's argument says
            if named.object.storage == "shared":
                escape(named)
                m.note("unknown-expression", f"`{named.object.name}` is copied or moved from", of.place)
            return RecordValue(named.pointee, {})
    if isinstance(of, Call):
        given = called(m, of)
        if not isinstance(given, Reference):
            return given
        return _initial_value(m, given.place, moved, of)
    if isinstance(of, Cast) and is_reference(of.type):
        moved = moved or of.type.moves
    elif isinstance(of, Name | Conditional):
        if not all(_is_copied(m, name) for name in _alternatives(of)):
            v = rvalue(m, e)
            return _as_its_own(m, v) if isinstance(v, Closure) else v
    elif not isinstance(of, Member | Index) and not (isinstance(of, Unary) and of.op == "*"):
        return rvalue(m, e)
    place = lvalue(m, of)
    return _initial_value(m, place, moved, of) if isinstance(place, Pointer) else place


def _as_its_own(m: Machine, c: Closure) -> Closure:
    """A lambda as another variable holds it: what it captured by value is copied, too."""
    if not c.captured or m.host:
        return c
    own: dict[str, Object] = {}
    for id, o in c.captured.items():
        whole = copied(m, Pointer(o, Int(0), o.type), False) if _copies(m, o.type) else None
        cells = Cells(whole.cells) if isinstance(whole, RecordValue) else Cells(o.cells)
        own[id] = Object(o.id, o.name, o.type, "local", o.var, cells, o.uniform, havoc=o.havoc)
    return replace(c, captured=own)


def _alternatives(e: Expr) -> list[Expr]:
    """The variables that an expression names one of; what is more than that as it is."""
    return [*_alternatives(e.then), *_alternatives(e.otherwise)] if isinstance(e, Conditional) else [e]


def _is_copied(m: Machine, e: Expr) -> bool:
    """Whether an expression is a variable whose copies constructors of the program make."""
    o = m.find(e.id) if isinstance(e, Name) else None
    if o is None:
        return False
    return _copies(m, referred(o.type))


def _initial_value(m: Machine, p: Pointer, moved: bool, e: Expr) -> Value:
    place = getattr(e, "place", None)
    return _copy_of(m, p, p.pointee, moved) if _copies(m, p.pointee) else load(m, p, place, e)


def copied(m: Machine, p: Pointer, moved: bool) -> Value:
    """The copy of an object, or what one becomes that its value is moved to."""
    return (
        _copy_of(m, p, p.pointee, moved) if copiers(m.module) and _copies(m, p.pointee) else load(m, p, None)
    )


def _copy_of(m: Machine, p: Pointer, t: Type, moved: bool) -> Value:
    fitting = _constructors(m, t, copiers, moved)
    if fitting and isinstance(t, RecordRef):
        made = construct(m, t, [p], None, of=fitting[:1])
        return RecordValue(t, {}) if made is None else made
    whole = load(m, p, None)
    cells = dict(whole.cells) if isinstance(whole, RecordValue) else {}
    for at, part in _subobjects(m, t) or _elements(m, t):
        if _copies(m, part):
            v = _copy_of(m, Pointer(p.object, plus(p.offset, at), part), part, moved)
            size = m.types.size_of(part) or 0
            cells = {k: x for k, x in cells.items() if not at <= k < at + size}
            if isinstance(v, RecordValue):
                cells.update({at + k: x for k, x in v.cells.items()})
    return RecordValue(t, cells)


def _elements(m: Machine, t: Type) -> list[tuple[int, Type]]:
    if not isinstance(t, ArrayOf) or not isinstance(t.extent, Literal) or t.extent.value > MOST_ELEMENTS:
        return []
    size = m.types.size_of(t.element)
    return [] if size is None else [(i * size, t.element) for i in range(t.extent.value)]


def _constructors(m: Machine, t: Type, of: Own, moved: bool) -> Sequence[Function]:
    """Those that take what is moved, or what is not; what is moved may be copied, too."""
    found = m.types.record_of(t)
    own = of(m.module).get(found[0].name, ()) if found is not None else ()
    return [f for f in own if _takes_rvalue(f) == moved] or [f for f in own if moved and not _takes_rvalue(f)]


def _takes_rvalue(f: Function) -> bool:
    t = f.parameters[0].type
    return isinstance(t, PointerTo) and t.moves


def returned(m: Machine, e: Expr) -> Value:
    """What a function gives back. A variable of its own is not copied, a parameter is moved."""
    o = m.frame.variables.get(e.id) if isinstance(e, Name) else None
    if o is None or not isinstance(o.type, RecordRef) or o.storage != "local":
        return begun_as(m, e)
    f = m.frame.function
    if f is None or all(p.id != o.id for p in f.parameters):
        return _given_away(o, rvalue(m, e))
    return copied(m, Pointer(o, Int(0), o.type), True)


def _given_away(o: Object, v: Value) -> Value:
    """What a variable held that is made where the result lies: its pointers to itself lead there."""
    if not isinstance(v, RecordValue) or all(led is not o for x in v.cells.values() for led in reached(x)):
        return v
    made = Object(MADE, o.name, o.type, "local")
    return RecordValue(
        v.type,
        {
            k: replace(x, object=made) if isinstance(x, Pointer) and x.object is o else x
            for k, x in v.cells.items()
        },
    )


def assigned(m: Machine, target: Pointer, e: Expr) -> bool:
    """Assign what an expression names as classes of the program say, where they say anything of it; whether
    they do."""
    if not _assigners(m.module) or not _assigns(m, target.pointee):
        return False
    moved = isinstance(e, Call) and isinstance(e.callee, Name) and e.callee.name in MOVES
    source = lvalue(m, e)
    if isinstance(source, RecordValue):
        source, moved = temporary(source, source.type, open_=True), True
    if isinstance(source, Pointer) and source.pointee == target.pointee:
        _assign(m, target, source, moved)
    else:
        v = load(m, source, None) if isinstance(source, Pointer) else source
        store(m, target, coerce(m, v, target.pointee), None)
    return True


def _assign(m: Machine, to: Pointer, source: Pointer, moved: bool) -> None:
    t = to.pointee
    fitting = _constructors(m, t, _assigners, moved)
    if fitting:
        invoke(m, fitting[:1], [source], (), to, None)
        return
    parts = [(at, u) for at, u in _subobjects(m, t) if _assigns(m, u)]
    whole = load(m, source, None)
    if isinstance(whole, RecordValue) and parts:
        cells, before = dict(whole.cells), load(m, to, None)
        held = before.cells if isinstance(before, RecordValue) else {}
        for at, u in parts:
            within = range(at, at + (m.types.size_of(u) or 0))
            cells = {k: x for k, x in cells.items() if k not in within}
            cells.update({k: x for k, x in held.items() if k in within})
        whole = RecordValue(t, cells)
    store(m, to, whole, None)
    for at, u in parts:
        mine = Pointer(to.object, plus(to.offset, at), u)
        _assign(m, mine, Pointer(source.object, plus(source.offset, at), u), moved)
