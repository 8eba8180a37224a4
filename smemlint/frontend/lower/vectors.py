"""CUDA's vector types (`float4`, `half2`) by name alone."""

from __future__ import annotations

from smemlint.frontend.lower.lowering import Context
from smemlint.frontend.text.scalars import library_scalar
from smemlint.ir import Expr, Field, Literal, Place, Record, RecordRef, Scalar, Type
from smemlint.ir.types import DOUBLE, FLOAT, INT, LONG, SHORT, UINT, ULONG, USHORT
from smemlint.patterns import pattern

_VECTOR = pattern(r"(u?)(char|short|int|long|longlong|float|double)([1-4])$")
_ELEMENTS: dict[str, Scalar] = {
    "short": SHORT, "ushort": USHORT, "int": INT, "uint": UINT, "long": LONG, "ulong": ULONG,
    "longlong": Scalar("long long", 8, "int"), "ulonglong": Scalar("unsigned long long", 8, "uint"),
    "char": Scalar("signed char", 1, "int"), "uchar": Scalar("unsigned char", 1, "uint"),
    "float": FLOAT, "double": DOUBLE,
}  # fmt: skip


_PAIRS = {"__half2": "__half", "__nv_bfloat162": "__nv_bfloat16"}


def vector_record(c: Context, name: str) -> Type | None:
    """`float4`, `__half2`, `dim3` and their like by name alone."""
    element, axes = _parts("uint3" if name == "dim3" else name)
    if element is None:
        return None
    if name not in c.found.records:
        nowhere = Place("", 1, 1, 1, 1, 0, 0)
        fields = tuple(Field(axis, element, nowhere) for axis in axes)
        c.found.records[name] = Record(name, fields, nowhere, align=vector_alignment(name))
    return RecordRef(name)


def _parts(name: str) -> tuple[Scalar | None, str]:
    """The type of a vector type's elements, and their names."""
    if name in _PAIRS:
        return library_scalar(_PAIRS[name]), "xy"
    found = _VECTOR.match(name)
    return (_ELEMENTS[found[1] + found[2]], "xyzw"[: int(found[3])]) if found else (None, "")


def vector_alignment(name: str) -> Expr | None:
    """Return the bytes that CUDA aligns a vector type to; None: as its elements are aligned."""
    element, axes = _parts(name)
    return None if element is None or len(axes) % 2 else Literal(min(element.size * len(axes), 16))
