"""The fundamental types, and questions about types."""

from __future__ import annotations

from typing import TypeGuard

from smemlint.ir.nodes import INT as INT
from smemlint.ir.nodes import ArrayOf, PointerTo, Scalar, Type


def primary_name(record: str) -> str:
    """The name of a class template without what one of its specialisations is for: `A` of `A<int, *>`."""
    return record.split("<", 1)[0] if record.endswith(">") else record


def own_name(record: str) -> str:
    """The name that a class has in its own scope: `A` of `space::A<int>`, and of a local class."""
    return record.split("@", 1)[0].split("<", 1)[0].rsplit("::", 1)[-1]


def element_type(t: Type) -> Type:
    """What an array, or an array of arrays, holds; any other type as it is."""
    while isinstance(t, ArrayOf):
        t = t.element
    return t


def held_type(t: Type | None) -> Type | None:
    """What lies at the end of arrays and pointers; any other type as it is."""
    while isinstance(t, ArrayOf | PointerTo):
        t = pointed_to(t)
    return t


def pointed_to(t: Type | None) -> Type | None:
    """What a pointer, a reference or an array leads to."""
    return t.to if isinstance(t, PointerTo) else t.element if isinstance(t, ArrayOf) else None


def referred(t: Type) -> Type:
    """What a reference refers to; any other type as it is."""
    return t.to if isinstance(t, PointerTo) and t.reference else t


def is_reference(t: object) -> TypeGuard[PointerTo]:
    """`T &`: what it is bound to is used in its place."""
    return isinstance(t, PointerTo) and t.reference


SEQUENCE = "__make_integer_seq"
"""The compiler's own template behind `std::make_integer_sequence`, told once its length is known."""

VOID = Scalar("void", 0, "void")
BOOL = Scalar("bool", 1, "bool")
CHAR = Scalar("char", 1, "int")
SCHAR = Scalar("signed char", 1, "int")
UCHAR = Scalar("unsigned char", 1, "uint")
SHORT = Scalar("short", 2, "int")
USHORT = Scalar("unsigned short", 2, "uint")
UINT = Scalar("unsigned int", 4, "uint")
LONG = Scalar("long", 8, "int")
ULONG = Scalar("unsigned long", 8, "uint")
LONG_LONG = Scalar("long long", 8, "int")
ULONG_LONG = Scalar("unsigned long long", 8, "uint")
HALF = Scalar("__half", 2, "float")
BFLOAT16 = Scalar("__nv_bfloat16", 2, "float")
FLOAT = Scalar("float", 4, "float")
DOUBLE = Scalar("double", 8, "float")
CONSTANT = "const"
"""The name of the record that stands around a constant type among template arguments."""
