"""Where the members of library classes lie that no file declares: vectors, arrays, pairs and tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import TypeAlias

from smemlint.evaluate.types.matching import is_type
from smemlint.evaluate.types.record_layout import Builder, Layout
from smemlint.ir import ArrayOf, Literal, Packing, PointerTo, RecordRef, TemplateArgument, Type
from smemlint.ir.types import ULONG
from smemlint.ir.vectors import vector_named

_GROUPS = {"thread_block": 24, "thread_group": 16, "coalesced_group": 16, "grid_group": 16}
"""Bytes of cooperative groups."""
_HOST = {
    "std::string": 32,
    "std::basic_string": 32,
    "std::string_view": 16,
    "std::basic_string_view": 16,
    "std::function": 32,
    **dict.fromkeys(("std::map", "std::multimap", "std::set"), 48),
    **dict.fromkeys(("std::unordered_map", "std::unordered_set"), 56),
}
"""Bytes of objects of host code, as libstdc++ has them: what stands behind one in a structure."""

SPANS = ("std::span", "cuda::std::span")

Bytes: TypeAlias = "Callable[[Type], int | None]"
"""Bytes of a type, or what divides its address; None: not known."""


def is_array(t: Type) -> bool:
    """Whether a class is `std::array`, whose elements are what it is taken apart into."""
    return isinstance(t, RecordRef) and t.name.endswith("std::array")


def is_span(t: Type | None) -> bool:
    """Return whether a class is a view of elements that follow each other."""
    return isinstance(t, RecordRef) and t.name in SPANS


def extent_of(t: RecordRef) -> int | None:
    """How many elements a class of views is for; None where its objects say it."""
    extent = t.arguments[1] if len(t.arguments) > 1 else None
    return extent.value if isinstance(extent, Literal) and 0 <= extent.value < 1 << 63 else None


def library_layout(t: RecordRef, size_of: Bytes, align_of: Bytes) -> Layout | None:
    """Return the layout of a library's class by its name; None for any other."""
    short = t.name.rsplit("::", 1)[-1]
    vector = _vector(short)
    if vector is not None:
        return vector
    if t.name.startswith("cooperative_groups::"):
        if short == "thread_block_tile" and t.arguments:
            return Layout(16, 8, {}) if len(t.arguments) == 1 else Layout(1, 1, {})
        return Layout(_GROUPS[short], 8, {}) if short in _GROUPS else None
    if t.name in _HOST:
        return Layout(_HOST[t.name], 8, {})
    element = _type(t.arguments[0]) if t.arguments else None
    if short == "pair" and len(t.arguments) == 2:
        return _in_order(t, ("first", "second"), size_of, align_of)
    if short == "tuple" and t.arguments:
        return _in_order(t, (f"_{i}" for i in count()), size_of, align_of)
    if short in ("array", "Array", "AlignedArray") and len(t.arguments) >= 2 and element is not None:
        n = t.arguments[1]
        size, align = size_of(element), align_of(element)
        if isinstance(n, Literal) and size and align:
            return Layout(size * n.value, align, {"_data": (0, ArrayOf(element, n))})
    if is_span(t) and element is not None:
        data: dict[str, tuple[int, Type]] = {"_data": (0, PointerTo(element))}
        fixed = extent_of(t) is not None
        return Layout(8, 8, data) if fixed else Layout(16, 8, {**data, "_size": (8, ULONG)})
    if short in ("complex", "Complex") and element is not None:
        size = size_of(element)
        if size:
            return Layout(2 * size, 2 * size, {"re": (0, element), "im": (size, element)})
    if short in ("cuComplex", "cuFloatComplex", "cufftComplex"):
        return _vector("float2")
    if short in ("cuDoubleComplex", "cufftDoubleComplex"):
        return _vector("double2")
    return None


def _vector(name: str) -> Layout | None:
    v = vector_named(name)
    if v is None:
        return None
    n, each = len(v.axes), v.element
    return Layout(
        each.size * n, v.alignas or each.size, {a: (i * each.size, each) for i, a in enumerate(v.axes)}
    )


def _in_order(t: RecordRef, names: Iterable[str], size_of: Bytes, align_of: Bytes) -> Layout | None:
    """A pair or tuple, whose elements follow each other."""
    built = Builder(union=False, packing=Packing())
    for name, a in zip(names, t.arguments, strict=False):
        held = _type(a)
        size, align = (None, None) if held is None else (size_of(held), align_of(held))
        if held is None or size is None or align is None:
            return None
        built.member(name, held, size, align, 0, None, False)
    return built.finished(0)


def _type(a: TemplateArgument) -> Type | None:
    return a if is_type(a) else None  # type: ignore[return-value]
