"""Types as a user writes them."""

from __future__ import annotations

from smemlint.evaluate.types.matching import is_type
from smemlint.ir import (
    ArrayOf,
    FunctionRef,
    Literal,
    MemberType,
    ObjectRef,
    Part,
    PointerTo,
    RecordRef,
    Scalar,
    TemplateArgument,
    Type,
    TypeParam,
)


def dims_of(t: Type) -> tuple[tuple[int | None, ...], Type]:
    """Extents of an array type, outermost first, and its innermost element."""
    dims: list[int | None] = []
    while isinstance(t, ArrayOf):
        dims.append(t.extent.value if isinstance(t.extent, Literal) else None)
        t = t.element
    return tuple(dims), t


def type_name(t: Type) -> str:
    """A type as a user writes it."""
    if isinstance(t, Scalar | TypeParam):
        return t.name
    if isinstance(t, Part):
        return t.of.name
    if isinstance(t, PointerTo):
        return f"{type_name(t.to)} {'&' if t.reference else '*'}"
    if isinstance(t, ArrayOf):
        dims, element = dims_of(t)
        return type_name(element) + "".join(f"[{'' if d is None else d}]" for d in dims)
    if isinstance(t, RecordRef):
        name = t.name.split("@", 1)[0]
        if not t.arguments:
            return name
        return f"{name}<{', '.join(argument_name(a) for a in t.arguments)}>"
    if isinstance(t, MemberType):
        own = f"<{', '.join(argument_name(a) for a in t.arguments)}>" if t.arguments else ""
        return f"{type_name(t.owner)}::{t.name}{own}"
    if isinstance(t, ObjectRef):
        return f"{type_name(t.type)}{{{', '.join(str(n.value) for _, n in t.numbers)}}}"
    if isinstance(t, FunctionRef):
        if t.of is not None:
            return f"&{type_name(t.of)}::{t.name}"
        own = f"<{', '.join(argument_name(a) for a in t.arguments)}>" if t.arguments else ""
        return f"&{t.name}{own}"
    return t.spelling


def argument_name(a: TemplateArgument) -> str:
    if is_type(a):
        return type_name(a)  # type: ignore[arg-type]
    return str(a.value) if isinstance(a, Literal) else "?"
