"""Which function a call means: template arguments, the fit of parameters, explicit specialisations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from smemlint.evaluate.language.conversions import type_of
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.bases import owner_of, steps_to_base
from smemlint.evaluate.types.constraints import constraints_of, satisfied, weight
from smemlint.evaluate.types.matching import Binding, Bindings, bound, condition_of, is_type
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Pointer, Value
from smemlint.evaluate.values.widths import promoted
from smemlint.ir import (
    CONVERSION_NAME,
    ArrayOf,
    Expr,
    Function,
    FunctionRef,
    FunctionType,
    Literal,
    Module,
    ObjectRef,
    OpaqueType,
    PointerTo,
    RecordRef,
    Scalar,
    TemplateArgument,
    Type,
    TypeParam,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import DOUBLE, FLOAT, VOID, is_reference, referred
from smemlint.ir.vectors import is_vector
from smemlint.ir.walk import walk

_VALUES = (Int, FunctionRef, ObjectRef)
"""What a template parameter stands for that is no type."""


def bind(
    m: Machine,
    f: Function,
    explicit: Sequence[TemplateArgument | Int],
    values: Sequence[Value],
    this: Pointer | None = None,
    outer: Bindings | None = None,
) -> dict[str, Binding] | None:
    """Template arguments of a call: written, deduced from the values, then defaults. What a value that is not
    given would tell has no default: C++ deduces it first."""
    bindings: dict[str, Binding] = dict(record_bindings(m, f, this) if outer is None else outer)
    written = [a if isinstance(a, Int) else bound(a) for a in explicit]
    for i, parameter in enumerate(f.template):
        if parameter.pack:
            if written[i:]:
                bindings[parameter.id] = tuple(written[i:])  # type: ignore[arg-type]
            break
        if i < len(written):
            value = written[i]
            if isinstance(parameter.type, FunctionType) and not isinstance(value, _VALUES):
                continue  # a function: what it gives is not known
            if isinstance(value, OpaqueType) and value.spelling == "?":
                if m.host and parameter.kind == "value":
                    continue  # a constant that a macro of an unknown header declares
                return None
            if (parameter.kind == "value") != isinstance(value, _VALUES):
                return None
            bindings[parameter.id] = value
    if not f.template and f.requires is None:
        return bindings
    for parameter_var, v in zip(f.parameters, values, strict=False):
        pattern = parameter_var.type
        found = type_of(v)
        if is_reference(pattern):
            pattern = pattern.to
            found = v.pointee if isinstance(v, Pointer) and v.integer is None else found
        if isinstance(found, OpaqueType) and found.spelling == "?":
            continue
        if isinstance(pattern, OpaqueType):
            bindings.setdefault(parameter_var.id, found)  # `Concept auto x`
        deduced: dict[str, Binding] = {}
        if deduce(m, pattern, found, deduced):
            for k, x in deduced.items():
                if not is_open(x):
                    bindings.setdefault(k, x)
    told = _told_by(f, len(values))
    for parameter in f.template:
        if parameter.pack and parameter.kind == "type":
            bindings.setdefault(parameter.id, ())
        if parameter.id not in bindings and parameter.id not in told and parameter.default is not None:
            bindings[parameter.id] = bound(m.types.argument(parameter.default, bindings))
    return bindings if _is_enabled(m, f, bindings) else None


def deduce(m: Machine, pattern: Type, given: Type, bindings: dict[str, Binding]) -> bool:
    """Unify the type of a parameter with that of what it is given, or with the base of it that the parameter
    names, and say whether that can be; fills `bindings`."""
    if m.types.patterns.match(pattern, given, bindings):
        return True
    if isinstance(pattern, PointerTo) and not pattern.reference and isinstance(given, PointerTo | ArrayOf):
        return deduce(m, pattern.to, given.to if isinstance(given, PointerTo) else given.element, bindings)
    if not isinstance(pattern, RecordRef) or not pattern.arguments:
        return False
    base = owner_of(m.types, given, pattern.name)
    return base is not None and m.types.patterns.match(pattern, base[1], bindings)


def taking(
    m: Machine, functions: Iterable[Function], given: Sequence[Type | None]
) -> list[tuple[Function, dict[str, Binding]]]:
    """The functions each of whose parameters that is of a class stands for the class of what it is given,
    with their template arguments; those that are no templates, where there are any. given: the types of
    the arguments, where they are known."""
    found = [(f, b) for f in functions if (b := _taking(m, f, given)) is not None]
    return [(f, b) for f, b in found if not f.template] or found


def _taking(m: Machine, f: Function, given: Sequence[Type | None]) -> dict[str, Binding] | None:
    if len(f.parameters) != len(given):
        return None
    bindings: dict[str, Binding] = {}
    for parameter, t in zip(f.parameters, given, strict=True):
        pattern = referred(parameter.type)
        if isinstance(t, ArrayOf) and not is_reference(parameter.type):
            t = PointerTo(t.element)
        fits = t is not None and deduce(m, pattern, t, bindings)
        if not fits and (isinstance(pattern, RecordRef) or isinstance(t, RecordRef)):
            return None
    return bindings if _is_enabled(m, f, bindings) else None


def _is_enabled(m: Machine, f: Function, bindings: Bindings) -> bool:
    """Whether no `enable_if` of a template takes it out of the overloads; one that is not known does not."""
    return all(m.types.constant(c, bindings) != 0 for c in _conditions(f))


@by_identity
def _conditions(f: Function) -> tuple[Expr, ...]:
    """The conditions of the `enable_if`s among template parameters, result and parameters."""
    where = [x for p in f.template for x in (p.type, p.default) if x is not None]
    named = (t for x in (*where, f.returns, *(p.type for p in f.parameters)) for t in walk(x))
    return tuple(c for t in named if isinstance(t, RecordRef) and (c := condition_of(t)) is not None)


def _told_by(f: Function, given: int) -> set[str]:
    """The type parameters that the function's parameters from this one on would tell."""
    rest = [p.type for p in f.parameters[given:] if p.init is None]
    return {t.id for each in rest for t in walk(each) if isinstance(t, TypeParam)}


def is_open(binding: object) -> bool:
    """Whether a template argument still names a parameter, of a function whose own are not known."""
    return any(isinstance(t, TypeParam) for t in walk(binding))


def record_bindings(m: Machine, f: Function, this: Pointer | None) -> Bindings:
    """Template bindings of the record that a method belongs to."""
    return bindings_in(m, f, this.pointee if this is not None else None)


def bindings_in(m: Machine, f: Function, t: Type | None) -> Bindings:
    """Template bindings of the record that a method of an object of type t belongs to."""
    if f.record is None:
        return {}
    while isinstance(t, RecordRef):
        found = m.types.record_of(t)
        if found is None:
            break
        record, bindings = found
        if record.name == f.record or any(f.id in ids for ids in record.methods.values()):
            return bindings
        t = next((b for b in m.types.bases(record, bindings) if isinstance(b, RecordRef)), None)
    return m.bindings if m.frame.function is not None and m.frame.function.record == f.record else {}


def _paired(
    m: Machine, f: Function, values: Sequence[Value], bindings: Bindings
) -> Iterator[tuple[Type, Type]]:
    """The type of each parameter with that of the value for it, references seen through."""
    for parameter, v in zip(f.parameters, values, strict=False):
        t = m.types.resolve(parameter.type, bindings)
        have = type_of(v)
        if is_reference(t):
            t = t.to
            have = v.pointee if isinstance(v, Pointer) else have
        yield t, have


def converts(m: Machine, f: Function, values: Sequence[Value], bindings: Bindings) -> bool:
    """False where a parameter is one of CUDA's vectors and a number is given."""
    if _takes_plain(f):
        return True
    for t, have in _paired(m, f, values, bindings):
        if isinstance(t, RecordRef) and is_vector(t) and isinstance(have, Scalar):
            return False
    return True


@by_identity
def _takes_plain(f: Function) -> bool:
    """Whether all parameters are numbers and pointers, whatever the template arguments are."""
    return all(
        isinstance(p.type, Scalar) or (isinstance(p.type, PointerTo) and not p.type.reference)
        for p in f.parameters
    )


def score_of(m: Machine, f: Function, values: Sequence[Value], bindings: Bindings) -> float:
    """How well the parameter types fit, for overloads."""
    return sum(_rank(m, t, have) for t, have in _paired(m, f, values, bindings))


def _rank(m: Machine, t: Type, have: Type) -> float:
    """How well a value of one type suits a parameter of another: as it is, promoted, converted, not."""
    if isinstance(have, ArrayOf) and isinstance(t, PointerTo):
        have = PointerTo(have.element)
    if t == have:
        return 4
    if isinstance(t, Scalar) and isinstance(have, Scalar):
        if t.enumeration:
            return -4
        promotion = t == (DOUBLE if have == FLOAT else promoted(have))
        return 3 if promotion else 1 + ((t.kind == "float") == (have.kind == "float"))
    if isinstance(t, RecordRef) and isinstance(have, RecordRef):
        above = steps_to_base(m.types, have, t)
        return _rank_of_base(above) if above else 1 if _may_be_made(m, t, have) else -4
    if isinstance(t, PointerTo) and isinstance(have, PointerTo):
        above = steps_to_base(m.types, have.to, t.to)
        known = all(isinstance(x, Scalar | RecordRef) and x != VOID for x in (t.to, have.to))
        return _rank_of_base(above) if above else 0 if known else 1
    return 1 if isinstance(t, PointerTo | ArrayOf) == isinstance(have, PointerTo | ArrayOf) else -4


def _rank_of_base(above: int) -> float:
    """How well a class suits its base so many steps above: the nearer, the better."""
    return 2 + 2.0 ** (1 - above)


def _may_be_made(m: Machine, t: RecordRef, of: RecordRef) -> bool:
    """Whether an object of a class may be made of one of another, as far as is known."""
    found = m.types.record_of(t), m.types.record_of(of)
    known = all(r is not None and m.types.layout(x) is not None for r, x in zip(found, (t, of), strict=True))
    return not known or bool(
        (found[0] is not None and found[0][0].constructors) or methods_of(m, of, CONVERSION_NAME)
    )


def _contradicts(f: Function, written: int, values: Sequence[Value]) -> bool:
    """Whether two values of different types are given for one type parameter, `T f(T a, T b)`: C++ deduces
    nothing then. written: how many template arguments the call has."""
    deduced = {p.id for p in f.template[written:] if p.kind == "type" and not p.pack}
    seen: dict[str, Type] = {}
    for parameter, v in zip(f.parameters, values, strict=False):
        t, have = parameter.type, type_of(v)
        if is_reference(t):
            t, have = t.to, v.pointee if isinstance(v, Pointer) and v.integer is None else have
        told = isinstance(t, TypeParam) and t.id in deduced and isinstance(have, Scalar)
        if told and isinstance(t, TypeParam) and seen.setdefault(t.id, have) != have:
            return True
    return False


def best_fits(
    m: Machine,
    candidates: Sequence[Function],
    explicit: Sequence[TemplateArgument | Int],
    values: Sequence[Value],
    this: Pointer | None = None,
    outer: Bindings | None = None,
) -> list[tuple[Function, dict[str, Binding]]]:
    """The candidates that fit the values best, in their order, with their template arguments. Of equally good
    ones those that are no templates, then those all of whose parameters are known, then those without a pack,
    then those that say more of types (`T *`), then those that require more: they are more special. None of
    several where it is not known whether one is a candidate."""
    found: list[tuple[Function, dict[str, Binding]]] = []
    best: tuple[float, ...] = ()
    alone = len(candidates) == 1
    unsure = False
    for f in candidates:
        if not alone and len(explicit) > len(f.template) and not has_pack(f):
            continue
        bound = bind(m, f, explicit, values, this, outer)
        conditions = constraints_of(f)
        fits = bound is not None and (alone or satisfied(m.types.constant, conditions, bound))
        if bound is None or fits is False or not converts(m, f, values, bound):
            continue
        unsure |= fits is None
        fit = (
            alone or not _contradicts(f, len(explicit), values),
            0 if alone else score_of(m, f, values, bound),
            not f.template,
            all(p.id in bound or p.pack for p in f.template),
            not has_pack(f),
            sum(not isinstance(referred(x.type), TypeParam) for x in f.parameters) if f.template else 0,
            weight(m.module, conditions),
        )
        if not found or fit > best:
            found, best = [], fit
        if fit == best:
            found.append((f, bound))
    return [] if unsure else found


def takes(candidates: Sequence[Function], count: int) -> list[Function]:
    """Those that take so many arguments: all of them written, else the rest by default or in a pack."""
    return [f for f in candidates if len(f.parameters) == count] or [
        f
        for f in candidates
        if has_pack(f)
        or (len(f.parameters) > count and all(p.init is not None for p in f.parameters[count:]))
    ]


def specialisation(m: Machine, f: Function, bound: Bindings) -> tuple[Function, dict[str, Binding]] | None:
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
        matched = m.types.patterns.arguments(special.specialises, tuple(actual))
        if matched is not None:
            return special, matched
    return None


def methods_for(m: Machine, t: RecordRef, ids: Iterable[str]) -> tuple[Function, ...]:
    """Of the methods (ids) of a class template those of an instance: what is written for it alone goes before
    what is written for all."""
    functions = tuple(m.module.functions[i] for i in ids if i in m.module.functions)
    if all(f.specialises is None or f.template for f in functions):
        return functions
    given = m.types.resolve(t, m.frame.bindings)
    instance = given if isinstance(given, RecordRef) else t
    key = instance, tuple(f.id for f in functions)
    known = m.memo.methods.get(key)
    if known is None:
        known = m.memo.methods[key] = _of_instance(m, functions, instance.arguments)
    return known


def _of_instance(
    m: Machine, functions: Iterable[Function], arguments: tuple[TemplateArgument, ...]
) -> tuple[Function, ...]:
    """Those of the methods of a class template that an instance with these arguments has."""
    special = [f for f in functions if f.specialises is not None and not f.template]
    others = [f for f in functions if f.specialises is None or f.template]
    own = [f for f in special if m.types.patterns.arguments(f.specialises or (), arguments) is not None]
    forms = {tuple(p.type for p in f.parameters) for f in own}
    return (*own, *(f for f in others if tuple(p.type for p in f.parameters) not in forms))


def methods_of(m: Machine, t: Type, name: str) -> tuple[Function, ...]:
    """Methods of a record type by name: its own, else those of all its bases (`using A::f; using B::f;`; a
    name that two bases have and no such line joins does not compile)."""
    if not isinstance(t, RecordRef):
        return ()
    found = m.types.record_of(t)
    if found is None:
        return ()
    record, bindings = found
    functions = methods_for(m, t, record.methods.get(name, ()))
    if functions:
        return functions
    found_there = (methods_of(m, base, name) for base in m.types.bases(record, bindings))
    return tuple(dict.fromkeys(f for functions in found_there for f in functions))


def takes_own(f: Function) -> bool:
    """Whether a constructor or `operator=` takes an object of its own class by reference."""
    t = f.parameters[0].type if len(f.parameters) == 1 else None
    return (
        is_reference(t) and isinstance(t, PointerTo) and isinstance(t.to, RecordRef) and t.to.name == f.record
    )


@by_identity
def declared_operators(module: Module) -> frozenset[str]:
    """The operators that records of a program declare as methods."""
    return frozenset(n.removeprefix("operator") for n in module.methods if n.startswith("operator"))


def free_operators(module: Module, op: str) -> tuple[Function, ...]:
    """The functions outside of records that a program declares for an operator. Looked up by its name each
    time, never kept by module: a run of host code is taken over by the names that it asked for."""
    functions = (module.functions[i] for i in module.overloads.get(f"operator{op}", ()))
    return tuple(f for f in functions if f.record is None)


def has_pack(f: Function) -> bool:
    return any(p.pack for p in f.template) or any(p.pack for p in f.parameters)
