"""The numbers that a structure is made of, by their paths."""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.evaluate.types.layout import Types
from smemlint.ir import ArrayOf, Literal, RecordRef, Scalar, Type

MOST = 64
"""Of a larger structure only so many numbers are told."""


def number_members(types: Types, t: Type, most: int = MOST) -> Iterator[tuple[str, int, Scalar]]:
    """Yield path (`shape.strides[1]`), byte offset and type of the first integers in a resolved type."""
    for count, found in enumerate(_numbers_within(types, t, "", 0)):
        if count == most:
            return
        yield found


def _numbers_within(types: Types, t: Type, path: str, at: int) -> Iterator[tuple[str, int, Scalar]]:
    if isinstance(t, Scalar):
        if t.kind != "float":
            yield path, at, t
    elif isinstance(t, ArrayOf) and isinstance(t.extent, Literal):
        size = types.size_of(t.element)
        for i in range(min(t.extent.value, MOST) if size else 0):
            yield from _numbers_within(types, t.element, f"{path}[{i}]", at + i * (size or 0))
    elif isinstance(t, RecordRef):
        layout = types.layout(t)
        for name, (offset, held) in layout.fields.items() if layout is not None else ():
            yield from _numbers_within(types, held, f"{path}.{name}" if path else name, at + offset)
