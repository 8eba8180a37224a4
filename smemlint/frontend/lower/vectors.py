"""CUDA's vector types (`float4`, `half2`) by name alone."""

from __future__ import annotations

from smemlint.frontend.lower.lowering import Context
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


def vector_record(c: Context, name: str) -> Type | None:
    """`float4` and its like by name alone."""
    found = _VECTOR.match(name)
    if not found:
        return None
    if name not in c.found.records:
        element = _ELEMENTS[found.group(1) + found.group(2)]
        nowhere = Place("", 1, 1, 1, 1, 0, 0)
        fields = tuple(Field(axis, element, nowhere) for axis in "xyzw"[: int(found.group(3))])
        c.found.records[name] = Record(name, fields, nowhere, align=vector_alignment(name))
    return RecordRef(name)


def vector_alignment(name: str) -> Expr | None:
    """Return the bytes that CUDA aligns a vector type to; None: as its elements are aligned."""
    if name in ("__half2", "__nv_bfloat162"):
        return Literal(4)
    found = _VECTOR.match(name)
    if not found or found.group(3) in "13":
        return None
    size = _ELEMENTS[found.group(1) + found.group(2)].size * int(found.group(3))
    return Literal(min(size, 16))
