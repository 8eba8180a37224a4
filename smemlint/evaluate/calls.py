"""Calls: device functions, methods, lambdas and constructors are inlined; the rest is the library's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from smemlint.evaluate.expressions import (
    as_int,
    coerce,
    lvalue,
    place_of,
    resolve_arguments,
    rvalue,
    static_member,
    type_of,
)
from smemlint.evaluate.layout import Binding, Bindings, is_type
from smemlint.evaluate.machine import Frame, Machine
from smemlint.evaluate.memory import Object
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import (
    Closure,
    FunctionValue,
    Int,
    Method,
    Other,
    Pointer,
    RecordValue,
    Value,
)
from smemlint.ir import (
    ArrayOf,
    Call,
    Expr,
    Function,
    InitList,
    Literal,
    Member,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    StaticMember,
    TemplateArgument,
    Type,
)

MAX_DEPTH = 48
CONVERSION = "operator conversion"


def call(m: Machine, e: Call, want_place: bool = False) -> Value:
    """The value of a call, or the place that a returned reference names."""
    discarded = m.discarded is e
    callee = e.callee
    v: Value
    if isinstance(callee, Member):
        v = _method(m, callee)
    elif isinstance(callee, StaticMember):
        v = static_member(m, m.resolve(callee.owner), callee.name) or FunctionValue(
            f"{_owner_name(m, callee)}::{callee.name}", (), ()
        )
        if isinstance(v, FunctionValue) and callee.arguments:
            v = replace(v, arguments=resolve_arguments(m, callee.arguments))
    else:
        v = rvalue(m, callee)
        if isinstance(v, RecordValue):  # a dependent `tile(i, j)`, which clang leaves without its operator
            v = _method(m, Member(callee, "operator()", place=e.place))
        if isinstance(v, Other) and isinstance(callee, Name):
            v = FunctionValue(callee.name, (), resolve_arguments(m, callee.arguments))
    result = _apply(m, v, e, discarded, want_place)
    if not want_place and isinstance(result, Reference):
        return m.load(result.place, e.place)
    if isinstance(result, Reference):
        return result.place
    return result


@dataclass(frozen=True, slots=True)
class Reference:
    """What a function that returns a reference hands back."""

    place: Pointer


def _owner_name(m: Machine, callee: StaticMember) -> str:
    owner = m.resolve(callee.owner)
    return owner.name if isinstance(owner, RecordRef) else "?"


def _apply(m: Machine, v: Value, e: Call, discarded: bool, want_place: bool) -> Value | Reference:
    if isinstance(v, FunctionValue) and v.candidates:
        result = invoke(m, v.candidates, e.arguments, v.arguments, None, e.place, v.outer)
        if result is not None:
            return result
    if isinstance(v, Method):
        if v.candidates:
            this = v.self if isinstance(v.self, Pointer) else None
            result = invoke(m, v.candidates, e.arguments, v.arguments, this, e.place)
            if result is not None:
                return result
        from smemlint.evaluate.library import method

        return method(m, v, e, discarded)
    if isinstance(v, Closure):
        return _run_closure(m, v, e, want_place)
    if isinstance(v, Pointer | RecordValue):
        return Other()
    from smemlint.evaluate.library import function

    name = v.name if isinstance(v, FunctionValue) else e.callee.name if isinstance(e.callee, Name) else ""
    arguments = v.arguments if isinstance(v, FunctionValue) else ()
    return function(m, name, arguments, e, discarded)


def _method(m: Machine, callee: Member) -> Value:
    """A method bound to its object."""
    base = rvalue(m, callee.base) if callee.arrow else lvalue(m, callee.base)
    if isinstance(base, Closure | FunctionValue):
        return base
    if isinstance(base, RecordValue):
        o = Object("temporary", "temporary", base.type, "local", None, dict(base.cells), havoc=not base.cells)
        base = Pointer(o, Int(0), base.type)
    if isinstance(base, Pointer):
        held = base.object.cells.get(0) if base.object.storage == "local" else None
        if isinstance(held, Closure) and callee.name == "operator()":
            return held
        candidates, bindings = methods_of(m, base.pointee, callee.name)
        if candidates:
            del bindings
            return Method(callee.name, base, candidates)
        from smemlint.evaluate.expressions import field_of

        if isinstance(base.pointee, RecordRef):
            layout = m.types.layout(base.pointee)
            if layout is not None and callee.name in layout.fields:
                p = field_of(m, base, callee.name, callee.place)
                value = m.load(p, callee.place) if isinstance(p, Pointer) else p
                if isinstance(value, Closure | FunctionValue):
                    return value
        return Method(callee.name, base)
    return Method(callee.name, base if isinstance(base, Other) else Other(type_of(base), False))


def methods_of(m: Machine, t: Type, name: str) -> tuple[tuple[Function, ...], Bindings]:
    """Methods of a record type by name, its bases searched."""
    if not isinstance(t, RecordRef):
        return (), {}
    found = m.types.record_of(t)
    if found is None:
        return (), {}
    record, bindings = found
    ids = record.methods.get(name, ())
    functions = tuple(m.module.functions[i] for i in ids if i in m.module.functions)
    if functions:
        return functions, bindings
    for base in record.bases:
        functions, inner = methods_of(m, m.types.resolve(base, bindings), name)
        if functions:
            return functions, inner
    return (), {}


def record_bindings(m: Machine, f: Function, this: Pointer | None) -> Bindings:
    """Template bindings of the record that a method belongs to."""
    if f.record is None:
        return {}
    t: Type | None = this.pointee if this is not None else None
    while isinstance(t, RecordRef):
        found = m.types.record_of(t)
        if found is None:
            break
        record, bindings = found
        if record.name == f.record or any(f.id in ids for ids in record.methods.values()):
            return bindings
        bases = [m.types.resolve(b, bindings) for b in record.bases]
        t = next((b for b in bases if isinstance(b, RecordRef)), None)
    return m.bindings if m.frame.function is not None and m.frame.function.record == f.record else {}


def invoke(
    m: Machine,
    candidates: Sequence[Function],
    arguments: Sequence[Expr | Value],
    explicit: Sequence[TemplateArgument | Int],
    this: Pointer | None,
    place: Place | None,
    outer: Bindings | None = None,
) -> Value | Reference | None:
    """Inline the first candidate that fits; None when none does."""
    device = [f for f in candidates if f.side != "host"] if not m.host else list(candidates)
    fitting = [f for f in device if len(f.parameters) == len(arguments)] or [
        f for f in device if len(f.parameters) > len(arguments) or _has_pack(f)
    ]
    if not fitting:
        return None
    if m.depth >= MAX_DEPTH:
        m.note("recursion", f"`{fitting[0].name}` calls itself too deeply", place)
        return Other(reason=Unresolved("recursion", f"`{fitting[0].name}` recurses", place))
    references = [
        all(i < len(f.parameters) and _is_reference(f.parameters[i].type) for f in fitting)
        for i in range(len(arguments))
    ]
    values: list[Value] = []
    for a, by_reference in zip(arguments, references, strict=True):
        if isinstance(a, Int | Pointer | Other | RecordValue | FunctionValue | Closure | Method):
            values.append(a)
        elif by_reference:
            values.append(place_of(m, a))
        elif isinstance(a, InitList):
            values.append(Other())
        else:
            values.append(rvalue(m, a))
    best: tuple[int, Function, dict[str, Binding]] | None = None
    for f in fitting:
        bound = bind(m, f, explicit, values, this, outer)
        if bound is None:
            continue
        score = _score(m, f, values, bound)
        if best is None or score > best[0]:
            best = (score, f, bound)
    if best is None:
        return None
    _, f, bound = best
    special = _specialisation(m, f, bound)
    if special is not None:
        f, bound = special
    return _run(m, f, bound, arguments, values, this, place)


def _has_pack(f: Function) -> bool:
    return any(p.pack for p in f.template)


def _is_reference(t: Type) -> bool:
    return isinstance(t, PointerTo) and t.reference


def bind(
    m: Machine,
    f: Function,
    explicit: Sequence[TemplateArgument | Int],
    values: Sequence[Value],
    this: Pointer | None = None,
    outer: Bindings | None = None,
) -> dict[str, Binding] | None:
    """Template arguments of a call: written, deduced from the values, then defaults."""
    bindings: dict[str, Binding] = dict(record_bindings(m, f, this) if outer is None else outer)
    written = [a if isinstance(a, Int) else m.types.bound(a) for a in explicit]
    for i, parameter in enumerate(f.template):
        if parameter.pack:
            bindings[parameter.id] = tuple(written[i:])  # type: ignore[arg-type]
            break
        if i < len(written):
            value = written[i]
            if isinstance(value, OpaqueType) and value.spelling == "?":
                return None
            if (parameter.kind == "value") != isinstance(value, Int):
                return None
            bindings[parameter.id] = value
    if not f.template:
        return bindings
    for parameter_var, v in zip(f.parameters, values, strict=False):
        pattern = parameter_var.type
        found = type_of(v)
        if isinstance(pattern, PointerTo) and pattern.reference:
            pattern = pattern.to
            found = v.pointee if isinstance(v, Pointer) and v.integer is None else found
        if isinstance(found, OpaqueType) and found.spelling == "?":
            continue
        deduced: dict[str, Binding] = {}
        if m.types.match(pattern, found, deduced):
            for k, x in deduced.items():
                bindings.setdefault(k, x)
    for parameter in f.template:
        if parameter.id not in bindings and parameter.default is not None:
            bindings[parameter.id] = m.types.bound(m.types.argument(parameter.default, bindings))
    return bindings


def _score(m: Machine, f: Function, values: Sequence[Value], bindings: Bindings) -> int:
    """How well the parameter types fit, for overloads."""
    score = 0 if f.template else 1
    for parameter, v in zip(f.parameters, values, strict=False):
        t = m.types.resolve(parameter.type, bindings)
        have = type_of(v)
        if isinstance(t, PointerTo) and t.reference:
            t = t.to
            have = v.pointee if isinstance(v, Pointer) else have
        if t == have:
            score += 4
        elif isinstance(t, PointerTo) == isinstance(have, PointerTo | ArrayOf):
            score += 1
            if (
                isinstance(t, Scalar)
                and isinstance(have, Scalar)
                and (t.kind == "float") == (have.kind == "float")
            ):
                score += 1
        else:
            score -= 4
    return score


def _specialisation(m: Machine, f: Function, bound: Bindings) -> tuple[Function, dict[str, Binding]] | None:
    """The explicit specialisation for these arguments."""
    for id in m.module.specialisations.get(f.id, ()):
        special = m.module.functions.get(id)
        if special is None or special.specialises is None:
            continue
        actual: list[TemplateArgument] = []
        for p in f.template:
            b = bound.get(p.id)
            if isinstance(b, Int) and b.known and isinstance(b.const, int):
                actual.append(Literal(b.const))
            elif is_type(b):
                actual.append(b)  # type: ignore[arg-type]
        matched = m.types.match_arguments(special.specialises, tuple(actual))
        if matched is not None:
            return special, matched
    return None


def _run(
    m: Machine,
    f: Function,
    bindings: Bindings,
    arguments: Sequence[Expr | Value],
    values: Sequence[Value],
    this: Pointer | None,
    place: Place | None,
) -> Value | Reference:
    from smemlint.evaluate.statements import run

    frame = Frame(bindings, f, this, None, call=place, arguments=tuple(arguments))
    objects: list[Object] = []
    for i, parameter in enumerate(f.parameters):
        t = m.types.resolve(parameter.type, bindings)
        if i < len(values):
            v = values[i]
            if isinstance(t, PointerTo) and t.reference:
                if not isinstance(v, Pointer) or v.integer is not None:
                    v = _boxed(v)
            else:
                v = coerce(m, v, t)
        else:
            m.frames.append(frame)
            v = coerce(m, rvalue(m, parameter.init), t) if parameter.init is not None else Other(t)
            m.frames.pop()
        if isinstance(t, OpaqueType) and not isinstance(v, Other):
            t = type_of(v)
        o = Object(parameter.id, parameter.name, t, "local", parameter)
        if isinstance(v, RecordValue):
            o.cells.update(v.cells)
            o.havoc = True
        else:
            o.cells[0] = v
        objects.append(o)
    for o in objects:
        frame.variables[o.id] = o
    m.enter(frame, f)
    return _enter(m, frame, lambda: run(m, f.body), f)


def _boxed(v: Value) -> Value:
    """A temporary that a reference can bind to."""
    if isinstance(v, Closure | FunctionValue):
        return v
    o = Object("temporary", "temporary", type_of(v), "local")
    if isinstance(v, RecordValue):
        o.cells.update(v.cells)
        o.havoc = True
    else:
        o.cells[0] = v
    return Pointer(o, Int(0), o.type)


def _enter(m: Machine, frame: Frame, body: Callable[[], None], f: Function | None) -> Value | Reference:
    must, may = m.must, m.may
    loops, m.loops = m.loops, []
    m.frames.append(frame)
    m.depth += 1
    try:
        if f is not None and f.initialisers:
            _initialise_members(m, f)
        body()
    finally:
        m.depth -= 1
        m.frames.pop()
        m.loops = loops
        m.must, m.may = must, may
    result = frame.result
    if result is None:
        return Other()
    by_reference = frame.names_place if f is None else _is_reference(f.returns)
    if by_reference and isinstance(result, Pointer):
        return Reference(result)
    return result


def _initialise_members(m: Machine, f: Function) -> None:
    from smemlint.evaluate.expressions import field_of, value_for

    this = m.frame.this
    if this is None:
        return
    for name, init in f.initialisers:
        target = field_of(m, this, name, None)
        if isinstance(target, Pointer):
            v = value_for(m, target.pointee, init)
            m.store(target, v, None)


def _run_closure(m: Machine, c: Closure, e: Call, want_place: bool) -> Value | Reference:
    from smemlint.evaluate.statements import run

    if m.depth >= MAX_DEPTH:
        return Other()
    parent = c.frame
    assert isinstance(parent, Frame)
    frame = Frame(parent.bindings, None, parent.this, parent, call=e.place, place=want_place)
    for parameter, a in zip(c.function.parameters, e.arguments, strict=False):
        t = m.resolve(parameter.type)
        v: Value = place_of(m, a) if _is_reference(t) else coerce(m, rvalue(m, a), t)
        if isinstance(t, OpaqueType) and not isinstance(v, Other):
            t = type_of(v)
        o = Object(parameter.id, parameter.name, t, "local", parameter)
        if isinstance(v, RecordValue):
            o.cells.update(v.cells)
            o.havoc = True
        else:
            o.cells[0] = v
        frame.variables[parameter.id] = o
    return _enter(m, frame, lambda: run(m, c.function.body), None)


def construct(
    m: Machine, t: RecordRef, values: Sequence[Value | InitList], place: Place | None, *, quiet: bool = False
) -> Value | None:
    """A record made by a constructor of the project; None when it has none that fits."""
    found = m.types.record_of(t)
    if found is None:
        return None
    record, bindings = found
    short = record.name.split("@", 1)[0].split("<", 1)[0].rsplit("::", 1)[-1]
    ids = record.methods.get(short, ())
    functions = [m.module.functions[i] for i in ids if i in m.module.functions]
    o = Object("temporary", short, t, "local", havoc=True)
    this = Pointer(o, Int(0), t)
    _default_members(m, t, o, bindings)
    if functions:
        arguments: list[Expr | Value] = list(values)
        if invoke(m, functions, arguments, (), this, place) is not None:
            return RecordValue(t, dict(o.cells))
    if quiet or not values:
        return RecordValue(t, dict(o.cells))
    return None


def _default_members(m: Machine, t: RecordRef, o: Object, bindings: Bindings) -> None:
    from smemlint.evaluate.expressions import value_for

    found = m.types.record_of(t)
    layout = m.types.layout(t)
    if found is None or layout is None:
        return
    for f in found[0].fields:
        if f.init is not None and f.name in layout.fields:
            at, ft = layout.fields[f.name]
            m.frames.append(Frame(bindings))
            v = value_for(m, ft, f.init)
            m.frames.pop()
            m.write_cell(o, at, v, ft)


def convert_record(m: Machine, v: RecordValue | Pointer, t: Type, place: Place | None) -> Value | None:
    """A record's conversion operator to t, if it has one."""
    owner = v.type if isinstance(v, RecordValue) else v.pointee
    functions, _ = methods_of(m, owner, CONVERSION)
    if not functions:
        return None
    if isinstance(v, RecordValue):
        o = Object("temporary", "temporary", v.type, "local", None, dict(v.cells), havoc=True)
        this = Pointer(o, Int(0), v.type)
    else:
        this = v
    wanted = [f for f in functions if isinstance(f.returns, PointerTo) == isinstance(t, PointerTo)]
    result = invoke(m, wanted or functions, (), (), this, place)
    if isinstance(result, Reference):
        return m.load(result.place, place)
    return result


__all__ = ["as_int", "bind", "call", "construct", "convert_record", "invoke", "methods_of"]
