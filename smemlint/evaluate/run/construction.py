"""Objects out of their parts: constructors, aggregates, `T{...}`, and casts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from smemlint.evaluate.language.accesses import escape, load
from smemlint.evaluate.language.conversions import coerce
from smemlint.evaluate.language.expression_types import deduced_class, type_of_expression
from smemlint.evaluate.language.initialisers import fill_array, value_for
from smemlint.evaluate.language.inlining import begin_at, invoke, named_place
from smemlint.evaluate.language.overloads import free_operators, methods_of, takes
from smemlint.evaluate.language.packs import expanded
from smemlint.evaluate.language.places import place_of
from smemlint.evaluate.library.builtins import constructed
from smemlint.evaluate.library.containers import contained, is_container
from smemlint.evaluate.library.references import holds_references, leave_to_others
from smemlint.evaluate.library.smart_pointers import is_smart, owning
from smemlint.evaluate.machine.dispatch import begun, build, converted, lvalue, rvalue
from smemlint.evaluate.machine.functions import Arguments, named
from smemlint.evaluate.machine.machine import Frame, Machine
from smemlint.evaluate.memory.elements import holds_elements
from smemlint.evaluate.memory.local_memory import write_cell
from smemlint.evaluate.memory.parts import write_part
from smemlint.evaluate.run.aggregates import aggregate
from smemlint.evaluate.types.bases import base_called, bases_of, shift_to
from smemlint.evaluate.types.matching import Bindings
from smemlint.evaluate.values.number import Int, plus
from smemlint.evaluate.values.objects import MADE, at_home
from smemlint.evaluate.values.value import VALUES, Object, Other, Pointer, RecordValue, Value, is_uniform
from smemlint.ir import (
    CONVERSION_NAME,
    ArrayOf,
    Call,
    Cast,
    Construct,
    Expr,
    Function,
    InitList,
    Literal,
    Member,
    MemberType,
    Module,
    Name,
    OpaqueType,
    Part,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    SizeOf,
    Type,
    TypeParam,
    Unary,
)
from smemlint.ir.expr import PLACED
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference, referred

MOST_MADE = 16
"""Objects of an array that is a member which are made one by one."""
_EXTENTS = (RecordRef("uint3"), RecordRef("::uint3"))


def construct_value(m: Machine, e: Construct) -> Value:
    """Return what `T(...)` or `T{...}` makes."""
    t = deduced_class(m, m.resolve(e.type), e.arguments)
    if isinstance(t, RecordRef):
        if m.host and holds_references(t):
            leave_to_others(m, e.arguments)
        made = constructed(m, t, e)
        if made is not None:
            return made
        return build_record(m, t, e.arguments, e.place, e.chosen)
    return build(m, t, e.arguments, e.place)


def build_array(m: Machine, t: ArrayOf, elements: tuple[Expr, ...], place: Place | None) -> Value:
    """`{...}` for an array: its cells."""
    o = Object("temporary", "temporary", t, "local")
    fill_array(m, o, 0, t, expanded(m, elements))
    return RecordValue(t, dict(o.cells))


def build_record(
    m: Machine, t: RecordRef, elements: tuple[Expr, ...], place: Place | None, chosen: str = ""
) -> Value:
    """`T{...}` for a record: by a constructor (chosen: which one, if known), else member by member."""
    if m.host and holds_references(t):
        leave_to_others(m, [e for e in elements if not isinstance(e, VALUES)])
    if m.host and elements and is_container(t):
        listed = contained(m, t, elements if t.name == "std::tuple" else (InitList(elements, place),))
        if listed is not None:
            return listed
    found = m.types.record_of(t) if elements else None
    named: set[int] = set()
    if found is not None and found[0].constructors:
        if (
            len(elements) == 1
            and not m.host
            and not chosen
            and not isinstance(elements[0], (*VALUES, InitList))
        ):
            other = named_place(m, elements[0])
            if other is not None and other.pointee == t:
                return begun(m, elements[0])
        own = m.module.functions.get(chosen)
        if chosen and own is None:  # none that is written: it is inherited
            made = _by_inherited(m, t, [rvalue(m, e) for e in elements], place, own=True)
        else:
            made = construct(m, t, elements, place, of=(own,) if own is not None else ())
        if made is not None:
            return made
    elif found is not None:
        layout = m.types.layout(t)
        of = layout.fields if layout is not None else {}
        types = [of[f.name][1] if f.name in of else f.type for f in found[0].fields]
        named = {n for n, ft in enumerate(types) if is_reference(ft)}
    values = [_member(m, e, n in named) for n, e in enumerate(expanded(m, elements))]
    return construct_from(m, t, values, place)


def _member(m: Machine, e: Expr | Value, reference: bool) -> Value | InitList:
    """What a member of an aggregate is given."""
    if isinstance(e, VALUES):
        return e
    if reference:
        return place_of(m, e.elements[0] if isinstance(e, InitList) and e.elements else e)
    return e if isinstance(e, InitList) else begun(m, e)


def build_single(m: Machine, t: Type, elements: tuple[Expr, ...], place: Place | None) -> Value:
    """`T{x}` for a number or pointer; `T{}` is zero. More than one value make an object of unknown class."""
    if len(elements) > 1:
        v = init_list_value(m, InitList(elements, place))
        _lose(m, RecordRef("object"), [InitList(elements, place)], place)
        return v
    if elements:
        return value_for(m, t, elements[0])
    if isinstance(t, Scalar | Part | PointerTo):
        return coerce(m, Int(0), t)
    return Other()


def init_list_value(m: Machine, e: InitList) -> Value:
    values = [rvalue(m, x) for x in e.elements]
    return values[0] if len(values) == 1 else Other(None, all(is_uniform(v) for v in values))


def construct_from(m: Machine, t: RecordRef, values: list[Value | InitList], place: Place | None) -> Value:
    """A record from constructor arguments, or by aggregate initialisation."""
    short = _short(t)
    found = m.types.record_of(t)
    zero = not values and not m.host and found is not None and not found[0].constructors  # `T{}`
    made = construct(m, t, values, place) if short != "dim3" and not zero else None
    if made is not None:
        return made
    given = values[0] if len(values) == 1 else None
    if isinstance(given, RecordValue) and given.type == t:
        return given
    if short == "dim3" and isinstance(given, RecordValue) and given.type in _EXTENTS:
        return RecordValue(t, given.cells)  # as dim3's constructor does
    if short == "dim3" and values:
        defaults: list[Value | InitList] = [Int(1), Int(1), Int(1)]
        values = [*values, *defaults[len(values) :]]
    if values and (inherited := _by_inherited(m, t, values, place)) is not None:
        return inherited
    layout = m.types.layout(t)
    if layout is None:
        if m.host and len(values) == 1 and isinstance(values[0], Int) and m.types.record_of(t) is None:
            return values[0]  # `lib::Int(256)`: whatever it is, it holds the number
        _lose(m, t, values, place)
        return Other(t, all(is_uniform(v) for v in values if not isinstance(v, InitList)))
    if len(layout.fields) == 1 and values:
        ((at, whole),) = layout.fields.values()
        if isinstance(whole, ArrayOf) and not isinstance(values[0], InitList | RecordValue):
            return RecordValue(t, _filled(m, whole, at, values))
    left = deque(values)
    made = RecordValue(t, aggregate(m, t, layout, left, place))
    _lose(m, t, left, place)
    return made


def _lose(m: Machine, t: RecordRef, values: Iterable[Value | InitList], place: Place | None) -> None:
    """Say that shared arrays are reached through an object whose members are not known."""
    for v in values if not m.host else ():
        if isinstance(v, InitList):
            _lose(m, t, [e if isinstance(e, InitList) else rvalue(m, e) for e in v.elements], place)
        elif isinstance(v, Pointer) and v.object.storage == "shared":
            escape(v)
            text = f"the address of `{v.object.name}` goes into a `{_short(t)}` of unknown members"
            m.note("unknown-member", text, place)


def _short(t: RecordRef) -> str:
    return t.name.rsplit("::", 1)[-1]


def _by_inherited(
    m: Machine,
    t: RecordRef,
    values: Sequence[Value | InitList],
    place: Place | None,
    *,
    own: bool = False,
) -> Value | None:
    """An object made by a constructor of its base (`using Base::Base`; own: beside constructors of its own),
    or whose base is made of the first value; None where its bases have none."""
    found = m.types.record_of(t)
    if (
        found is None
        or (found[0].constructors and not own)
        or any(isinstance(v, InitList | RecordValue) for v in values)
    ):
        return None
    given = [v for v in values if not isinstance(v, InitList)]
    for base, at, _ in bases_of(m.types, t):
        inner = m.types.record_of(base)
        ids = inner[0].constructors if inner is not None else ()
        if not takes([m.module.functions[i] for i in ids if i in m.module.functions], len(given)):
            continue
        made = construct(m, base, given, place)
        if isinstance(made, RecordValue):
            o = Object("temporary", found[0].name, t, "local", havoc=True)
            _default_bases(m, t, o, {_short(base)})
            o.cells.update({at + k: x for k, x in at_home(o, at, made.cells).items()})
            _default_members(m, t, o, found[1])
            return RecordValue(t, dict(o.cells))
    return None


def _filled(m: Machine, t: ArrayOf, at: int, values: Sequence[Value | InitList]) -> dict[int, Value]:
    """The cells of an array that a record holds, from a list without inner braces; the rest is zero."""
    size = m.types.size_of(t.element)
    count = t.extent.value if isinstance(t.extent, Literal) else len(values)
    if size is None:
        return {}
    zeros = [Int(0)] * max(min(count, 4096) - len(values), 0) if isinstance(t.element, Scalar) else []
    given = [v for v in (*values, *zeros) if not isinstance(v, InitList)]
    return {at + i * size: coerce(m, v, t.element) for i, v in enumerate(given)}


def construct(
    m: Machine,
    t: RecordRef,
    values: Sequence[Value | Expr],
    place: Place | None,
    *,
    quiet: bool = False,
    of: Sequence[Function] = (),
) -> Value | None:
    """A record made by a constructor of the project; None when it has none that fits. of: those that may be
    meant, where that is known."""
    found = m.types.record_of(t)
    if found is None:
        return None
    record, bindings = found
    functions = list(of) or [m.module.functions[i] for i in record.constructors if i in m.module.functions]
    o = Object(MADE, record.name, t, "local", havoc=True)
    this = Pointer(o, Int(0), t)
    named = {name for f in functions for name, _ in f.initialisers}
    _default_bases(m, t, o, named)
    if functions:
        arguments: list[Expr | Value] = list(values)
        if invoke(m, functions, arguments, (), this, place) is not None:
            return RecordValue(t, dict(o.cells))
    _default_members(m, t, o, bindings)
    if quiet or not values:
        return RecordValue(t, dict(o.cells))
    return None


@named(PLACED, "std::construct_at", "cuda::std::construct_at")
def _construct_at(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """`new (p) T(a, b)`, `std::construct_at(p, a, b)`: an object that begins where a pointer leads."""
    at, given = e.arguments[0], e.arguments[1:]
    placed = isinstance(e.callee, Name) and e.callee.name == PLACED
    p = _own_place(m, at) if placed and isinstance(at, Cast) else rvalue(m, at)
    if not isinstance(p, Pointer):
        return p
    told = bool(given) or not placed
    begin_at(m, p, given, told, e.place)
    return p


def _own_place(m: Machine, at: Cast) -> Value:
    """Where `new (x) T` puts its object: where the program's `operator new(size_t, X)` says, else at x."""
    t, outside = m.resolve(at.type), free_operators(m.module, " new")
    own = methods_of(m, t.to, "operator new") if isinstance(t, PointerTo) else ()
    if own or outside:
        given = _type_given(m, at.operand)
        for f in (*own, *(f for f in outside if given in [referred(p.type) for p in f.parameters[1:2]])):
            if len(f.parameters) == 2 and (m.host or f.side != "host") and isinstance(t, PointerTo):
                call = Call(Name(f.id, f.name, at.place), (SizeOf(t.to), at.operand), at.place)
                return rvalue(m, Cast(at.type, call, place=at.place))
    return rvalue(m, at)


def _type_given(m: Machine, e: Expr) -> Type | None:
    if isinstance(e, Unary) and e.op == "&":
        to = _type_given(m, e.operand)
        return None if to is None else PointerTo(to)
    told = type_of_expression(m, e)
    return None if told is None else told.type


def _default_bases(m: Machine, t: RecordRef, o: Object, named: set[str]) -> None:
    """What bases, and members that are objects of a class, are where no constructor names them."""
    layout, found = m.types.layout(t), m.types.record_of(t)
    if layout is None or found is None:
        return
    given = [base_called(m.types, t, name) for name in named]
    parts = [(base, at) for base, at, _ in bases_of(m.types, t) if base not in given]
    if found[0].constructors or m.host:
        for f in found[0].fields:
            at, ft = layout.fields.get(f.name, (0, None))
            if f.init is None and f.name not in named:
                parts += _objects_in(m, ft, at)
    for part, at in parts:
        empty = contained(m, part, ()) if m.host and holds_elements(part) else None
        empty = owning(m, part, ()) if m.host and is_smart(part) else empty
        made = empty or construct(m, part, (), None, quiet=True)
        if isinstance(made, RecordValue):
            o.cells.update({at + k: x for k, x in at_home(o, at, made.cells).items()})


def _objects_in(m: Machine, t: Type | None, at: int) -> list[tuple[RecordRef, int]]:
    """The object that a member is, or those of a short array of host code."""
    if isinstance(t, RecordRef):
        return [(t, at)]
    if not m.host or not isinstance(t, ArrayOf) or not isinstance(t.element, RecordRef):
        return []
    size, count = m.types.size_of(t.element), t.extent.value if isinstance(t.extent, Literal) else 0
    if size is None or count > MOST_MADE:
        return []
    return [(t.element, at + i * size) for i in range(count)]


def _default_members(m: Machine, t: RecordRef, o: Object, bindings: Bindings) -> None:
    found = m.types.record_of(t)
    layout = m.types.layout(t)
    if found is None or layout is None:
        return
    for f in found[0].fields:
        if f.init is not None and f.name in layout.fields:
            at, ft = layout.fields[f.name]
            m.frames.append(Frame(bindings, None, Pointer(o, Int(0), t)))
            v = value_for(m, ft, f.init)
            m.frames.pop()
            if isinstance(ft, Part) and ft.bits:
                write_part(m, Pointer(o, Int(at), ft), v, ft)
            else:
                write_cell(m, o, at, v, ft)


def cast_value(m: Machine, e: Cast) -> Value:
    """Return a value as another type, by a conversion function or constructor where classes have one."""
    t = deduced_class(m, m.resolve(e.type), (e.operand,))
    if is_reference(t):
        p = lvalue(m, e)
        return load(m, p, e.place, e) if isinstance(p, Pointer) else p
    if isinstance(e.operand, InitList):
        return build(m, t, e.operand.elements, e.place)
    made = constructed(m, t, Construct(t, (e.operand,), e.place)) if isinstance(t, RecordRef) else None
    if made is not None:
        return made
    if isinstance(t, RecordRef):
        return _by_one_of_several(m, e.operand, t) or _record_of(m, t, e)
    v = _by_one_of_several(m, e.operand, t) or rvalue(m, e.operand)
    if isinstance(t, Scalar) and t.kind == "void":
        return Other()
    cast = coerce(m, v, t)
    to = t.to if isinstance(t, PointerTo) and m.host else None
    if isinstance(cast, Pointer) and isinstance(to, OpaqueType | TypeParam | MemberType):
        return replace(cast, pointee=to)  # not what it pointed to before: a kernel's type is deduced from it
    return cast


def _by_one_of_several(m: Machine, e: Expr, t: Type) -> Value | None:
    """What the conversion function for a t makes of an object, where classes have several of them."""
    if not isinstance(e, Call) or not isinstance(e.callee, Member) or e.callee.name != CONVERSION_NAME:
        return None
    if not isinstance(t, Scalar | PointerTo | RecordRef) or not has_several(m.module):
        return None
    place = place_of(m, e.callee.base)
    made = converted(m, place, t) if isinstance(place, Pointer) else None
    return Other() if made is None else made


@by_identity
def has_several(module: Module) -> bool:
    """Whether a class of a program has more than one conversion function, or a template of them."""
    found = [r.methods.get(CONVERSION_NAME, ()) for r in module.records.values()]
    return any(len(ids) > 1 or (ids and module.functions[ids[0]].template) for ids in found)


def _record_of(m: Machine, t: RecordRef, e: Cast) -> Value:
    """`T(x)`, which is a cast to clang in a template: a copy of x, or what a constructor makes of it. One
    that takes a reference loads nothing."""
    if _takes_a_reference(m, t):
        p = place_of(m, e.operand)
        if p.pointee != t:
            return construct_from(m, t, [p], e.place)
        return load(m, p, e.place, e.operand)
    v = rvalue(m, e.operand)
    return v if isinstance(v, RecordValue) else construct_from(m, t, [v], e.place)


def _takes_a_reference(m: Machine, t: RecordRef) -> bool:
    """Whether each constructor that takes one argument takes a reference."""
    found = m.types.record_of(t)
    ids = found[0].constructors if found is not None else ()
    fitting = takes([m.module.functions[i] for i in ids if i in m.module.functions], 1)
    return bool(fitting) and all(f.parameters and is_reference(f.parameters[0].type) for f in fitting)


def cast_place(m: Machine, e: Cast) -> Pointer | Value:
    """A cast to a reference names the place of its operand as another type."""
    if not is_reference(e.type):
        return rvalue(m, e)
    p = lvalue(m, e.operand)
    if not isinstance(p, Pointer):
        return p
    to = m.resolve(e.type.to)
    at = shift_to(m.types, p.pointee, to)
    return Pointer(p.object, plus(p.offset, at) if at else p.offset, to)
