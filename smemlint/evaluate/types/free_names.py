"""What a type as written depends on: the template parameters that it names, or also what runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from smemlint.evaluate.values.number import Int
from smemlint.ir import (
    ArrayOf,
    Binary,
    Cast,
    Conditional,
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
    SizeOf,
    StaticMember,
    Type,
    TypeParam,
    Unary,
)
from smemlint.ir.walk import walk

_CLOSED: Final = frozenset(
    (
        *(ArrayOf, FunctionType, FunctionRef, MemberType, ObjectRef, OpaqueType, Part, PointerTo, Scalar),
        *(Binary, Cast, Conditional, Literal, SizeOf, StaticMember, Unary),
    )
)
"""Nodes whose meaning follows from that of their parts."""
_MISSING: Final = object()


def free_names(t: Type, module: Module) -> tuple[str, ...] | None:
    """Return the ids of the parameters that a type names, values after a `=` (they have to be bound); None
    where it names anything that is no constant of the whole module, such as a variable of a function."""
    found: dict[str, None] = {}
    for n in walk(t):
        kind = type(n)
        if kind in _CLOSED:
            if kind is Unary and n.op not in ("+", "-", "~", "!"):  # type: ignore[attr-defined]
                return None
        elif kind is TypeParam:
            found[n.id] = None  # type: ignore[attr-defined]
        elif kind is RecordRef:
            if n.name.startswith("@"):  # type: ignore[attr-defined]
                found[n.name[1:]] = None  # type: ignore[attr-defined]
        elif isinstance(n, Name) and n.id and not n.arguments:
            variable = module.globals.get(n.id)
            if variable is not None and not (variable.const and variable.init is not None):
                return None
            if variable is None and n.id not in module.functions:
                found["=" + n.id] = None
        else:
            return None
    return tuple(found)


def key_of(t: Type, names: tuple[str, ...], bindings: Mapping[str, object]) -> tuple[object, ...] | None:
    """Return what tells apart what a type resolves to, for as long as the bindings live; None where a value
    that it names is not bound."""
    key: list[object] = [id(t)]
    for name in names:
        value = name.startswith("=")
        b = bindings.get(name[1:] if value else name, _MISSING)
        if b is _MISSING and value:
            return None
        if isinstance(b, Int) and not b.terms and isinstance(b.const, int):
            key.append((b.const, b.type.name))
        else:
            key.append(id(b))
    return tuple(key)
