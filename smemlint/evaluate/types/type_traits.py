"""What the type traits of the standard library tell of a type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

from smemlint.evaluate.types.matching import Bindings, is_type
from smemlint.ir import (
    ArrayOf,
    Call,
    Expr,
    Literal,
    Member,
    MemberType,
    Name,
    OpaqueType,
    PointerTo,
    Record,
    RecordRef,
    Scalar,
    StaticMember,
    TemplateArgument,
    Type,
    Unary,
)
from smemlint.ir.types import BFLOAT16, DOUBLE, FLOAT, HALF, LONG, SEQUENCE, referred

CONCEPTS = {
    "same_as": "is_same",
    "convertible_to": "is_convertible",
    "integral": "is_integral",
    "floating_point": "is_floating_point",
    "signed_integral": "is_signed_integral",
    "unsigned_integral": "is_unsigned_integral",
}
"""Concepts of the standard library, and the traits that they ask."""
_NARROWED = {"is_signed_integral": "is_signed", "is_unsigned_integral": "is_unsigned"}
LONGEST_SEQUENCE = 1024
_INTEGERS = ("int", "uint", "bool")


def trait(name: str, arguments: Sequence[TemplateArgument]) -> bool | None:
    """The value of `std::NAME<...>`; None of a trait or type that is not known. name: without `std::`."""
    name = CONCEPTS.get(name, name)
    if name == "is_same" and len(arguments) == 2:
        return arguments[0] == arguments[1]
    if name == "is_convertible" and len(arguments) == 2:
        both = all(isinstance(a, Scalar) and a.kind != "void" for a in arguments)
        return True if both or arguments[0] == arguments[1] else None
    if name in _NARROWED:
        return all(trait(asked, arguments) for asked in ("is_integral", _NARROWED[name]))
    if len(arguments) != 1:
        return None
    (t,) = arguments
    if isinstance(t, Scalar):
        return _of_number(name, t)
    if isinstance(t, PointerTo) and not t.reference:
        return name == "is_pointer" if name in _ASKED else None
    if isinstance(t, ArrayOf):
        return name == "is_array" if name in _ASKED else None
    if isinstance(t, RecordRef) and name in _NOT_OF_CLASSES:
        return False
    return None


_NOT_OF_CLASSES = (
    "is_pointer", "is_array", "is_arithmetic", "is_integral", "is_floating_point", "is_void",
)  # fmt: skip
_ASKED = frozenset((
    "is_integral", "is_floating_point", "is_arithmetic", "is_unsigned", "is_signed", "is_pointer", "is_array",
    "is_void", "is_reference", "is_class",
))  # fmt: skip
"""Those of one type that numbers, pointers and arrays answer."""


def _of_number(name: str, t: Scalar) -> bool | None:
    if name not in _ASKED:
        return None
    integral = t.kind in _INTEGERS
    floating = t.kind == "float" and t not in (HALF, BFLOAT16)
    told = {
        "is_integral": integral,
        "is_floating_point": floating,
        "is_arithmetic": integral or floating,
        "is_unsigned": t.kind in ("uint", "bool"),
        "is_signed": t.kind == "int" or floating,
        "is_void": t.kind == "void",
        "is_class": t in (HALF, BFLOAT16),
    }
    return told.get(name, False)


class Types(Protocol):
    """What is asked of the types of a program."""

    def resolve(self, t: Type, bindings: Bindings) -> Type: ...
    def bases(self, record: Record, bindings: Bindings) -> list[Type]: ...
    def record_of(self, t: Type) -> tuple[Record, Bindings] | None: ...


def sequence(arguments: tuple[TemplateArgument, ...]) -> Type:
    """The type that `std::make_integer_sequence` stands for, given its template, a type and a length."""
    if len(arguments) == 3 and isinstance(arguments[1], Scalar) and isinstance(arguments[2], Literal):
        t, n = arguments[1], arguments[2].value
        if 0 <= n <= LONGEST_SEQUENCE:
            return RecordRef("std::integer_sequence", (t, *(Literal(i, t) for i in range(n))))
    return RecordRef(SEQUENCE, arguments)


def is_detector(t: Type) -> TypeGuard[RecordRef]:
    """Whether `t::type` is what `std::void_t<...>` stands for."""
    return isinstance(t, RecordRef) and t.name in ("std::void", "void")


def exists(types: Types, a: TemplateArgument, bindings: Bindings) -> bool:
    """Whether there is what `void_t` is given: a member of a class, or a type in one."""
    if isinstance(a, MemberType):
        return not isinstance(types.resolve(a, bindings), MemberType)
    e: Expr | None = a.of if isinstance(a, OpaqueType) else None
    while isinstance(e, Call | Unary):
        e = e.callee if isinstance(e, Call) else e.operand
    if isinstance(e, StaticMember):
        return has_member(types, types.resolve(e.owner, bindings), e.name)
    if isinstance(e, Member) and isinstance(e.base, Call) and isinstance(e.base.callee, Name):
        given = [x for x in e.base.callee.arguments if is_type(x)]
        return bool(given) and has_member(types, types.resolve(given[0], bindings), e.name)  # type: ignore[arg-type]
    return False


def has_member(types: Types, t: Type, name: str) -> bool:
    """Whether a class has a member of a name."""
    t = referred(t)
    found = types.record_of(t)
    if found is None:
        return False
    record, inner = found
    own = name in record.constants or name in record.methods or name in record.aliases
    if own or any(f.name == name for f in record.fields):
        return True
    return any(has_member(types, base, name) for base in types.bases(record, inner))


def computed_in(t: Type, on_device: Sequence[TemplateArgument]) -> Type | None:
    """The type in which PyTorch computes with numbers of this one; with a second argument, that of sums."""
    if not isinstance(t, Scalar):
        return None
    if t in (HALF, BFLOAT16):
        return FLOAT
    if not on_device:
        return t
    if t == FLOAT and isinstance(on_device[0], Literal) and not on_device[0].value:
        return DOUBLE
    return LONG if t.kind in ("int", "uint") else t
