"""Values as other types: as a number, as a condition, as what a variable of some type holds."""

from __future__ import annotations

from smemlint.evaluate.compiler.slow_paths import conversion_stops
from smemlint.evaluate.machine.dispatch import converted, rvalue
from smemlint.evaluate.machine.groups import generalised
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.parts import truncated
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.types.bases import is_known_as, shift_to
from smemlint.evaluate.values import affine, floats
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.number import Int, add, formed, multiply, plus
from smemlint.evaluate.values.objects import NO_ADDRESS, UNSEEN
from smemlint.evaluate.values.value import (
    Closure,
    Object,
    Other,
    Pointer,
    RecordValue,
    Value,
    is_uniform,
    led_to,
)
from smemlint.ir import (
    Expr,
    Literal,
    MemberType,
    OpaqueType,
    Part,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    Type,
    TypeParam,
)
from smemlint.ir.types import BOOL, INT, ULONG


def type_of(v: Value) -> Type:
    """The type of a value, as far as it tells."""
    if isinstance(v, Int):
        return v.type
    if isinstance(v, Pointer):
        return v.integer or PointerTo(v.pointee)
    if isinstance(v, RecordValue):
        return v.type
    if isinstance(v, Closure) and v.type is not None:
        return v.type
    if isinstance(v, Other) and v.type is not None:
        return v.type
    return OpaqueType("?")


def constant_of(t: Type | None) -> Int | None:
    """What a type such as `std::integral_constant<int, 4>` stands for."""
    if not isinstance(t, RecordRef) or not t.arguments:
        return None
    short, last = t.name.rsplit("::", 1)[-1], t.arguments[-1]
    if short in ("integral_constant", "bool_constant", "Int", "C") and isinstance(last, Literal):
        return Int(last.value, last.type)
    return None


def number_of(v: Value) -> Value:
    """A value of such a type as the number that it stands for; any other as it is."""
    constant = constant_of(v.type) if isinstance(v, Other | RecordValue) else None
    return v if constant is None else constant


def operand_of(m: Machine, v: Value, t: Scalar = INT, *, pointer: bool = False) -> Value:
    """The number that a record stands for, or converts to (best to a t), where a template computes with it.
    pointer: the pointer, if it converts to one."""
    v = number_of(v)
    if not isinstance(v, RecordValue):
        return v
    made = converted(m, v, None) if pointer else None
    made = converted(m, v, t) if made is None else made
    return v if made is None else made


def integer(m: Machine, e: Expr, what: str = "") -> Int:
    """The value of an expression as an integer; an unknown one where it is none."""
    return as_int(m, rvalue(m, e), getattr(e, "place", None), what)


def as_int(m: Machine, v: Value, place: Place | None = None, what: str = "") -> Int:
    """A value as an integer; an unknown one where it is none."""
    if isinstance(v, Int):
        return v
    if isinstance(v, Pointer):
        return m.unknowns.value(ULONG, f"&{v.object.name}", low=1, rank=3)
    v = number_of(v)
    if isinstance(v, Int):
        return v
    uniform = isinstance(v, Other) and v.uniform
    reason = v.reason if isinstance(v, Other) else None
    return m.unknowns.value(
        INT,
        what or "value",
        varying=not uniform and not m.host,
        rank=3 if uniform else 0,
        reason=reason
        or Unresolved("untracked-value", "the index comes from a value that is not followed", place),
    )


def truth(m: Machine, v: Value) -> Int:
    """A condition's value as an integer."""
    if isinstance(v, Int):
        return v
    if isinstance(v, Pointer):
        return ar.logical_not(null_test(m, v), m.unknowns)
    v = number_of(v)
    if isinstance(v, Int):
        return v
    if isinstance(v, Other) and v.value is not None:
        return floats.truth(v, v.value)
    reason = v.reason if isinstance(v, Other) else None
    return m.unknowns.value(
        BOOL, "condition", varying=not is_uniform(v) and not m.host, low=0, high=1, reason=reason
    )


def is_null(v: Value) -> bool:
    """Whether a value is no address, because the code says so or the launch passes none. Another pointer that
    a kernel tests is taken to lead somewhere."""
    return isinstance(v, Pointer) and v.object.id in ("null", NO_ADDRESS)


def null_test(m: Machine, p: Pointer) -> Int:
    """1 where a pointer is null. The compiler does not know it of what a kernel is given, and host code may
    go either way where nobody is seen to make one."""
    if m.host and p.object.id.startswith(UNSEEN):
        return Int(0, BOOL, {(m.unknowns.may_be_null(p.object.name, p.object),): 1})
    found = Int(int(is_null(p)), BOOL)
    for option in p.object.options:
        if option.object.id == "null":
            found = add(found, option.when, BOOL)
        elif m.host and option.object.id.startswith(UNSEEN):
            null = Int(0, BOOL, {(m.unknowns.may_be_null(option.object.name, option.object),): 1})
            found = add(found, multiply(option.when, null, BOOL), BOOL)
    if m.host or p.object.storage != "global":
        return found
    return formed(found, affine.atom("null", p.object.id))


def coerce(m: Machine, v: Value, t: Type) -> Value:
    """v as a variable of resolved type t holds it."""
    if isinstance(t, PointerTo):
        return _as_pointer(m, v, t)
    if isinstance(t, Part):
        return truncated(m, coerce(m, v, t.of), t)
    if isinstance(t, Scalar):
        return _as_number(m, v, t)
    if isinstance(t, RecordRef) and isinstance(v, Int) and t.name.rsplit("::", 1)[-1] == "dim3":
        return RecordValue(t, {0: v, 4: Int(1), 8: Int(1)})
    if isinstance(t, RecordRef) and isinstance(v, RecordValue) and v.type != t:
        return generalised(m, v, t) or _part_of(m, v, t)
    return v


def _part_of(m: Machine, v: RecordValue, t: RecordRef) -> RecordValue:
    """What is left of an object that is copied as one of its base class."""
    at, size = shift_to(m.types, v.type, t), m.types.size_of(t)
    if at is None or at < 0 or size is None:
        return RecordValue(t, v.cells)
    return RecordValue(t, {k - at: x for k, x in v.cells.items() if at <= k < at + size})


def as_base(m: Machine, p: Pointer, t: Type) -> Pointer:
    """A place as a reference of resolved type t names it: of an object the part that is of its base."""
    to = t.to if isinstance(t, PointerTo) else t
    at = shift_to(m.types, p.pointee, to)
    return p if at is None else Pointer(p.object, plus(p.offset, at), to, p.integer)


def _as_pointer(m: Machine, v: Value, t: PointerTo) -> Value:
    """v as a pointer of resolved type t."""
    if isinstance(v, Pointer):
        if t.volatile and v.object.storage == "shared":
            for o in (v.object, *led_to(v.object)):
                o.volatile = True
        to = v.pointee if isinstance(t.to, Scalar) and t.to.kind == "void" else t.to
        void = isinstance(v.pointee, Scalar) and v.pointee.kind == "void"
        unknown = isinstance(to, OpaqueType | TypeParam | MemberType) and not void
        if unknown and (v.object.storage != "shared" or to == OpaqueType("auto")):
            to = v.pointee  # in shared memory a guess would be a wrong width
        if is_known_as(m.types, v.pointee, to):
            to = v.pointee  # what its virtual functions are is told by the object
        at = shift_to(m.types, v.pointee, to)
        return Pointer(v.object, plus(v.offset, at) if at else v.offset, to)
    if isinstance(v, Int):
        null = v.known and isinstance(v.const, int) and v.const == 0
        return Pointer(Object("null" if null else "address", "null", t.to, "global"), Int(0), t.to)
    if isinstance(v, RecordValue):
        made = converted(m, v, t)
        if made is not None:
            return coerce(m, made, t)
    if m.host and isinstance(v, Other):
        return m.unknown(t, "memory", uniform=True)  # what an unknown allocator returns has a type
    return v


def _as_number(m: Machine, v: Value, t: Scalar) -> Value:
    """v as a number of type t."""
    if isinstance(v, RecordValue) and not m.host and t.kind != "void":
        made = converted(m, v, t)
        if made is not None:
            return made if isinstance(made, RecordValue) else coerce(m, made, t)
    if t.kind == "float":
        if isinstance(v, Other) and v.type == t:
            return v
        conversion_stops(m, v, t)
        if isinstance(v, Int):
            return Other(t, v.uniform, None, floats.of_integer(v, t), made_of=floats.made_of("float", v))
        if not isinstance(v, Other):
            return Other(t, is_uniform(v))
        number = None if v.value is None else floats.rounded(v.value, t)
        return Other(t, v.uniform, v.reason, number, v.leads, made_of=floats.made_of("rounded", v))
    if isinstance(v, Int):
        # a value returned from a void function: clang complains and keeps it
        return ar.convert(v, t, m.unknowns) if t.size else Other(t, v.uniform)
    if isinstance(v, Pointer):
        if t.kind == "bool":
            return truth(m, v)
        return Pointer(v.object, v.offset, v.pointee, t)
    if isinstance(v, Other):
        if t.kind == "void" or v.leads is not None:
            return v
        if v.value is not None:
            whole = floats.truth(v, v.value) if t.kind == "bool" else floats.to_integer(v, v.value, t)
            if whole is not None:
                return whole
        elif v.near is not None and t.kind != "bool":
            whole = floats.to_integer(v, v.near, t)
            if whole is not None:
                return whole
        conversion_stops(m, v, t)
        return as_int(m, v).typed(t)
    return v
