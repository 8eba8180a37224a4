"""CUDA's vector types by name: `float4`, `half2`."""

from __future__ import annotations

from smemlint.ir.nodes import RecordRef, Scalar, Type
from smemlint.ir.types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    LONG_LONG,
    SCHAR,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    ULONG_LONG,
    USHORT,
)
from smemlint.patterns import pattern
from smemlint.records import record

_ELEMENTS: dict[str, Scalar] = {
    "char": SCHAR, "uchar": UCHAR, "short": SHORT, "ushort": USHORT, "int": INT, "uint": UINT, "long": LONG,
    "ulong": ULONG, "longlong": LONG_LONG, "ulonglong": ULONG_LONG, "float": FLOAT, "double": DOUBLE,
    "half": HALF, "__half": HALF, "nv_bfloat16": BFLOAT16, "__nv_bfloat16": BFLOAT16,
}  # fmt: skip
_VECTOR = pattern(rf"(?:struct )?({'|'.join(_ELEMENTS)})([1-4])$")


@record(frozen=True, slots=True)
class Vector:
    """A vector type. axes: names of its elements, in order."""

    element: Scalar
    axes: str

    @property
    def alignas(self) -> int | None:
        """The bytes that its declaration aligns it to; None: as its elements are aligned."""
        return None if len(self.axes) % 2 else min(self.element.size * len(self.axes), 16)


def vector_named(name: str) -> Vector | None:
    """Return the vector type of a name."""
    found = _VECTOR.match(name)
    return Vector(_ELEMENTS[found[1]], "xyzw"[: int(found[2])]) if found else None


def is_vector(t: Type) -> bool:
    """Whether a type is a vector: copied by one instruction of its whole size where aligned."""
    return isinstance(t, RecordRef) and vector_named(t.name.rsplit("::", 1)[-1]) is not None
