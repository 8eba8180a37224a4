"""What a name stands for: a variable, a function, a template argument, a constant of a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from smemlint.evaluate.language.accesses import load
from smemlint.evaluate.language.conversions import coerce, constant_of
from smemlint.evaluate.language.initialisers import initialise
from smemlint.evaluate.language.overloads import methods_for
from smemlint.evaluate.language.requires_expressions import compiles, result_type
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.machine import Frame, Machine
from smemlint.evaluate.memory.elements import NOWHERE, STRINGS
from smemlint.evaluate.memory.local_memory import as_seen
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.types.bases import owner_of
from smemlint.evaluate.types.constraints import constraints_of, satisfied
from smemlint.evaluate.types.matching import Binding, bound, is_type
from smemlint.evaluate.types.spelling import type_name
from smemlint.evaluate.types.type_traits import CONCEPTS, is_detector, trait
from smemlint.evaluate.types.value_arguments import ANY, argument_of, object_of
from smemlint.evaluate.values import affine
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.objects import temporary
from smemlint.evaluate.values.value import FunctionValue, Object, Other, Pointer, Value
from smemlint.ir import (
    SHARED,
    ArrayOf,
    Call,
    FunctionRef,
    FunctionType,
    Literal,
    MemberType,
    Module,
    Name,
    ObjectRef,
    OpaqueType,
    Part,
    PointerTo,
    RecordRef,
    Scalar,
    StaticMember,
    TemplateArgument,
    Type,
    TypeParam,
    Var,
    VariableTemplate,
)
from smemlint.ir.expr import uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.types import BOOL, LONG, ULONG, element_type, is_reference
from smemlint.toolkit.warp_names import WARP_SIZE, is_warp_size

_START = Int(0)


def name_value(m: Machine, e: Name) -> Value:
    """Return the value of a variable. What lies in registers is taken straight from its frame."""
    frame = m.frames[-1]
    o = frame.variables.get(e.id)
    if o is None:
        bound = frame.bindings.get(e.id)
        if type(bound) is Int:
            return bound
        o = m.find(e.id)
    if o is not None and o.storage == "local":
        v, t = o.cells.get(0), o.type
        if type(v) is Int:
            if v.type is t and v.type.kind != "float":
                return v if m.may is m.threads.present and not v.terms else as_seen(m, v)
        elif type(v) is Other and v.type is t and isinstance(t, Scalar) and t.kind == "float":
            return v
    p = name_place(m, e)
    return load(m, p, e.place, e) if isinstance(p, Pointer) else p


def member_anywhere(m: Machine, owner: RecordRef, name: str) -> Pointer | None:
    """`&T::x` of a data member: where it lies in any object of the class."""
    layout = m.types.layout(owner)
    found = layout.fields.get(name) if layout is not None else None
    if found is None or isinstance(found[1], Part):
        return None
    key = (ANY, owner)
    any_ = m.memory.choices.get(key)
    if any_ is None:
        any_ = m.memory.choices[key] = Object(owner.name + ANY, owner.name + ANY, owner, "local")
    return Pointer(any_, Int(found[0], LONG), found[1])


def name_place(m: Machine, e: Name) -> Pointer | Value:
    """Where a variable lies, what a reference refers to, or the value of any other name."""
    o = m.find(e.id)
    if o is None and (var := m.module.globals.get(e.id)) is not None:
        o = declare_global(m, var)
    if o is None:
        return _without_place(m, e)
    if is_reference(o.type):
        target = o.cells.get(0)
        if target is not None:
            return target
        return Other(
            None,
            False,
            Unresolved("untracked-reference", f"`{o.name}` refers to something not followed", e.place),
        )
    return Pointer(o, _START, o.type)


def shared_named(m: Machine, e: object) -> Object | None:
    """The shared variable that a name means here, or None for what is none."""
    if not isinstance(e, Name):
        return None
    o = m.frame.variables.get(e.id) or m.memory.shared.get(e.id)
    return o if o is not None and o.storage == "shared" else None


def declare_global(m: Machine, var: Var) -> Object:
    """The object of a namespace-scope (or static member) variable, made at its first use."""
    found = m.memory.globals.get(var.id)
    if found is not None:
        return found
    t = m.resolve(var.type)
    shared = var.storage in SHARED
    constant = var.storage == "constant" or (var.const and var.init is not None)
    held = Scalar | RecordRef | FunctionType
    followed = constant or (m.host and (isinstance(element_type(t), held) or _leads_to_numbers(t, var)))
    storage = "shared" if shared else "local" if followed else "global"
    o = Object(var.id, var.name, t, storage, var, volatile=var.volatile)
    m.memory.globals[var.id] = o
    if shared:
        m.memory.shared[var.id] = o
    elif followed and var.init is not None:
        keep, m.may = m.may, m.threads.present
        initialise(m, o, t, var.init)
        m.may = keep
        if constant and not var.const and not m.host:  # constant memory: the compiler does not know it
            for at, v in o.cells.items():
                if isinstance(v, Int):
                    o.cells[at] = Int(v.const, v.type, v.terms, affine.atom("constant", var.id, at))
    elif followed and isinstance(t, Scalar) and t.kind != "float" and var.storage != "constant":
        o.cells[0] = Int(0, t)
    o.uniform = True
    if m.host and not constant:
        m.memory.begun.note([o])
    return o


def _leads_to_numbers(t: Type, var: Var) -> bool:
    """Whether a pointer of the program begins at something (`Config *now = &usual;`). What begins as null is
    memory that is asked for before it is used."""
    to = t.to if isinstance(t, PointerTo) else None
    known = isinstance(to, RecordRef) or (isinstance(to, Scalar) and to.kind in ("int", "uint"))
    return known and var.init is not None and not isinstance(uncast(var.init), Literal)


def leave_members_to_others(m: Machine, o: Object) -> None:
    """What is seen to set members of an object of the host may have run: they are not known."""
    t = o.type
    found = m.types.record_of(t)
    layout = m.types.layout(t)
    for name in found[0].assigned if found is not None and layout is not None else ():
        at, member = layout.fields.get(name, (-1, None)) if layout is not None else (-1, None)
        if member is not None and at in o.cells:
            o.cells[at] = m.unknown(member, name, uniform=True, rank=3, size=True)


def _without_place(m: Machine, e: Name) -> Value:
    bound = next((f.bindings[e.id] for f in m.frame.visible() if e.id in f.bindings), None)
    if isinstance(bound, Int):
        return bound
    if isinstance(bound, ObjectRef):
        return Pointer(object_of(bound), _START, bound.type)
    if isinstance(bound, FunctionRef):
        member = None if bound.of is None else member_anywhere(m, bound.of, bound.name)
        return _function_of(m, bound) if member is None else temporary(member, PointerTo(member.pointee))
    function = m.module.functions.get(e.id)
    arguments = tuple(e.arguments)
    if function is not None:
        return FunctionValue(e.name, (function,), resolve_arguments(m, arguments))
    variable = variable_template(m, e)
    if variable is not None:
        return variable
    if not e.id or e.id not in m.module.globals:
        ids = m.module.overloaded(e.name)
        candidates = tuple(m.module.functions[i] for i in ids if i in m.module.functions)
        candidates = tuple(f for f in candidates if f.record is None or f.static or _is_own(m, f.record))
        if candidates or e.arguments:
            return FunctionValue(e.name, candidates, resolve_arguments(m, arguments))
    if is_warp_size(e.name):
        return Int(WARP_SIZE)
    reason = Unresolved("unknown-name", f"`{e.name}` is not declared in the files that were read", e.place)
    return Other(None, True, reason)


def _is_own(m: Machine, record: str) -> bool:
    """Whether a name alone may mean a method of a class: of the object at hand, or of a base of it."""
    this = m.frame.this.pointee if m.frame.this is not None else None
    found = m.types.record_of(this)
    if not isinstance(this, RecordRef) or found is None:
        return False
    return record in (found[0].name, this.name) or owner_of(m.types, this, record) is not None


def _function_of(m: Machine, given: FunctionRef) -> FunctionValue:
    """The function that a template parameter was given."""
    candidates = tuple(m.module.functions[i] for i in given.functions)
    return FunctionValue(given.name, candidates, resolve_arguments(m, given.arguments))


def _reference_to(v: FunctionValue) -> FunctionRef | None:
    """A function as a template argument; None where it depends on a record's arguments."""
    if not v.candidates or v.outer:
        return None
    arguments = tuple(OpaqueType("?") if isinstance(x := _literal(a), Int) else x for a in v.arguments)
    return FunctionRef(v.name, tuple(f.id for f in v.candidates), arguments)


def variable_template(m: Machine, e: Name) -> Value | None:
    """The value of a variable template, or of its specialisation for these arguments."""
    name = e.name.rsplit("::", 1)[-1]
    found = _instance_of(m, e.name, tuple(e.arguments)) if e.arguments and not e.id else None
    if found is None and ("_v" in name or name in CONCEPTS):
        return _trait(name.removesuffix("_v"), resolve_arguments(m, tuple(e.arguments)))
    return found


def _instance_of(m: Machine, name: str, arguments: tuple[TemplateArgument, ...]) -> Value | None:
    made = m.module.variable_templates.get(name) or templates_named(m.module).get(name, ())
    if not made:
        return None
    given = resolve_arguments(m, arguments)
    actual = tuple(_literal(a) for a in given)
    chosen: tuple[VariableTemplate, dict[str, Binding]] | None = None
    for v in made:
        if v.specialises is not None:
            bound = m.types.patterns.arguments(v.specialises, actual)  # type: ignore[arg-type]
            fits = bound is not None and satisfied(m.types.constant, constraints_of(v), bound)
            if fits is None:
                return None
            if fits and bound is not None and (chosen is None or len(bound) < len(chosen[1])):
                chosen = v, bound
    for v in made:
        if chosen is None and v.specialises is None:
            chosen = v, _bound(m, v, given)
    if chosen is None:
        return None
    m.frames.append(Frame(chosen[1]))
    try:
        return rvalue(m, chosen[0].value)
    finally:
        m.frames.pop()


@by_identity
def templates_named(module: Module) -> dict[str, tuple[VariableTemplate, ...]]:
    """Return variable templates of a module by qualified name, and by their last part the first of them."""
    found = dict(module.variable_templates)
    for name, made in module.variable_templates.items():
        found.setdefault(name.rpartition("::")[2], made)
    return found


def _literal(a: TemplateArgument | Int) -> TemplateArgument | Int:
    """A template argument as patterns are matched with it."""
    if isinstance(a, Int) and a.known and isinstance(a.const, int):
        return Literal(a.const, a.type)
    return a


def _bound(m: Machine, v: VariableTemplate, given: Sequence[Type | Int]) -> dict[str, Binding]:
    bindings: dict[str, Binding] = {}
    for i, p in enumerate(v.template):
        if i < len(given):
            bindings[p.id] = given[i]
        elif p.default is not None:
            bindings[p.id] = bound(m.types.argument(p.default, bindings))
    return bindings


def resolve_arguments(m: Machine, arguments: tuple[object, ...]) -> tuple[Type | Int, ...]:
    """Template arguments as written, under the bindings in force."""
    result: list[Type | Int] = []
    for a in arguments:
        bound = m.bindings.get(a.id) if isinstance(a, TypeParam | Name) else None
        if isinstance(bound, tuple):  # `f<Ns...>`
            result += [b if isinstance(b, Int) or is_type(b) else OpaqueType("?") for b in bound]
        elif isinstance(a, TypeParam) and isinstance(bound, Int):
            result.append(bound)
        elif isinstance(a, OpaqueType) and isinstance(a.of, Name):
            o = m.find(a.of.id)
            result.append(a if o is None else o.type)
        elif isinstance(a, OpaqueType) and isinstance(a.of, Call):
            result.append(result_type(m, a.of) or m.resolve(a))
        elif is_type(a):
            t = m.resolve(a)  # type: ignore[arg-type]
            number = static_member(m, t.owner, t.name) if isinstance(t, MemberType) else None
            result.append(number if isinstance(number, Int) else t)  # `Config::kSize` reads like a type
        elif isinstance(a, Int):
            result.append(a)
        else:
            v = rvalue(m, a)  # type: ignore[arg-type]
            told = _reference_to(v) if isinstance(v, FunctionValue) else argument_of(m.types, v)
            result.append(v if isinstance(v, Int) else told or OpaqueType("?"))
    return tuple(result)


def static_member(m: Machine, owner: Type, name: str) -> Value | None:
    """A constant, method or enumerator of a record, its template arguments bound."""
    if not isinstance(owner, RecordRef):
        return None
    known = m.types.constants.get((id(owner), name))
    if known is not None:
        return known[1]
    if (owner, name) in m.types.asked:  # `Log<N>` with an `N` that nobody tells asks for `Log<N / 2>` forever
        return None
    m.types.asked.append((owner, name))
    try:
        v = _static_member(m, owner, name)
    finally:
        m.types.asked.pop()
    if v is None or isinstance(v, FunctionValue) or (isinstance(v, Int) and v.known and v.uniform):
        m.types.remember(owner, name, v)
    return v


def _static_member(m: Machine, owner: RecordRef, name: str) -> Value | None:
    found = m.types.record_of(owner)
    if found is None:
        if name != "value":
            return None
        known = _trait(owner.name.rsplit("::", 1)[-1], owner.arguments)
        return constant_of(owner) if known is None else known
    record, bindings = found
    var = record.constants.get(name)
    for arguments, one in record.given:
        if one.name == name and m.types.patterns.arguments(arguments, owner.arguments) is not None:
            var = one
    if var is not None:
        m.frames.append(Frame(bindings))
        try:
            if var.init is None:
                return None
            t = m.resolve(var.type)
            if isinstance(t, ArrayOf | RecordRef):
                o = Object(var.id, var.name, t, "local", var, uniform=True)
                initialise(m, o, t, var.init)
                return Pointer(o, Int(0), t)
            return coerce(m, rvalue(m, var.init), t)
        finally:
            m.frames.pop()
    if name in record.methods:
        return FunctionValue(name, methods_for(m, owner, record.methods[name]), (), bindings)
    for base in m.types.bases(record, bindings):
        value = static_member(m, base, name)
        if value is not None:
            return value
    return None


def _trait(name: str, arguments: Sequence[TemplateArgument | Int]) -> Int | None:
    types = [a for a in arguments if is_type(a)]
    told = trait(name, types) if len(types) == len(arguments) else None  # type: ignore[arg-type]
    return None if told is None else Int(int(told), BOOL)


def static_member_value(m: Machine, e: StaticMember) -> Value:
    owner = m.resolve(e.owner)
    if is_detector(e.owner):
        there = compiles(m, e.owner.arguments[0])
        if there is not None:
            return Int(int(there), BOOL)
        return Other(BOOL, True, Unresolved("unknown-expression", "requires", e.place))
    v = static_member(m, owner, e.name)
    if isinstance(v, FunctionValue) and e.arguments:
        return replace(v, arguments=resolve_arguments(m, e.arguments))
    if v is not None:
        if isinstance(v, Pointer) and isinstance(v.pointee, ArrayOf):
            return load(m, v, e.place)
        return v
    if e.arguments and isinstance(owner, RecordRef):
        made = _instance_of(m, f"{owner.name}::{e.name}", e.arguments)
        if made is not None:
            return made
    if m.host and e.name == "npos" and isinstance(owner, RecordRef) and owner.name in STRINGS:
        return Int(NOWHERE, ULONG)
    reason = Unresolved("unknown-constant", f"`{type_name(owner)}::{e.name}` is not known", e.place)
    return Other(None, True, reason)
