"""Types as written, sizes left to whoever knows the template arguments."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from smemlint.records import record

if TYPE_CHECKING:
    from smemlint.ir.expr import Expr


@record(frozen=True, slots=True)
class Scalar:
    """A fundamental type, an enum's underlying type, or a fragment-free 2-byte float.

    size is in bytes; align equals size. `void` has size 0.
    """

    name: str
    size: int
    kind: Literal["int", "uint", "bool", "float", "void"]


@record(frozen=True, slots=True)
class PointerTo:
    """`T *`, or `T &` when `reference` is true."""

    to: Type
    reference: bool = False
    volatile: bool = field(default=False, compare=False)
    """Every access through it runs as written."""
    moves: bool = field(default=False, compare=False)
    """Of a reference: `T &&`."""


@record(frozen=True, slots=True)
class ArrayOf:
    """`T [extent]`; extent None for `T []` (extern __shared__, parameters decay in the front end)."""

    element: Type
    extent: Expr | None


@record(frozen=True, slots=True)
class RecordRef:
    """A class, struct or union: `Module.records[name]`, with its template arguments if any.

    `@` and the id of a template template parameter stand for the template that it is given; a template itself
    has no arguments, or its own parameters.
    """

    name: str
    arguments: tuple[TemplateArgument, ...] = ()


@record(frozen=True, slots=True)
class TypeParam:
    """A template's type parameter, by the id of its declaration (`TemplateParam.id`)."""

    id: str
    name: str


@record(frozen=True, slots=True)
class MemberType:
    """`typename Owner::name`: looked up in the owner's aliases once the arguments are known.

    arguments: those of a member template, `typename Owner::template name<arguments>`.
    """

    owner: Type
    name: str
    arguments: tuple[TemplateArgument, ...] = ()


@record(frozen=True, slots=True)
class FunctionType:
    """A function or function-pointer type; only ever called through a known value."""

    spelling: str


@record(frozen=True, slots=True)
class FunctionRef:
    """A function that a template parameter is given: `name<arguments>`, one of `functions` (their ids).

    Stands where a type may stand, so that it travels with an instance; no source writes it.
    """

    name: str
    functions: tuple[str, ...]
    arguments: tuple[TemplateArgument, ...] = ()


@record(frozen=True, slots=True)
class OpaqueType:
    """A type whose layout is not known (healed name, library type). `spelling` as written.

    of: the expression whose type it is, of `decltype(of)`; who knows what is visible there knows the type.
    """

    spelling: str
    of: Expr | None = None


@record(frozen=True, slots=True)
class Part:
    """What is stored of a scalar member that is a bit-field or less aligned than its type.

    start: its first bit, counted from the byte where its unit begins. bits: of the bit-field, 0: the whole.
    align: bytes that divide the unit's offset. Only layouts make it; no source writes it.
    """

    of: Scalar
    start: int
    bits: int
    align: int


Type: TypeAlias = (
    Scalar
    | Part
    | PointerTo
    | ArrayOf
    | RecordRef
    | TypeParam
    | MemberType
    | FunctionType
    | FunctionRef
    | OpaqueType
)
TemplateArgument: TypeAlias = "Type | Expr"


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


def is_reference(t: Type | None) -> bool:
    """`T &`: what it is bound to is used in its place."""
    return isinstance(t, PointerTo) and t.reference


VOID = Scalar("void", 0, "void")
BOOL = Scalar("bool", 1, "bool")
CHAR = Scalar("char", 1, "int")
UCHAR = Scalar("unsigned char", 1, "uint")
SHORT = Scalar("short", 2, "int")
USHORT = Scalar("unsigned short", 2, "uint")
INT = Scalar("int", 4, "int")
UINT = Scalar("unsigned int", 4, "uint")
LONG = Scalar("long", 8, "int")
ULONG = Scalar("unsigned long", 8, "uint")
HALF = Scalar("__half", 2, "float")
BFLOAT16 = Scalar("__nv_bfloat16", 2, "float")
FLOAT = Scalar("float", 4, "float")
DOUBLE = Scalar("double", 8, "float")
