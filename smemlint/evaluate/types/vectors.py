"""The toolkit's vector types: `int4`, `double2`, `half2`."""

from __future__ import annotations

from smemlint.evaluate.types.record_layout import Layout
from smemlint.ir import RecordRef, Scalar, Type
from smemlint.ir.types import (
    BFLOAT16,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
)
from smemlint.patterns import pattern

_VECTOR_BASE: dict[str, Scalar] = {
    "char": CHAR, "uchar": UCHAR, "short": SHORT, "ushort": USHORT, "int": INT, "uint": UINT, "long": LONG,
    "ulong": ULONG, "longlong": LONG, "ulonglong": ULONG, "float": FLOAT, "double": DOUBLE,
    "half": HALF, "__half": HALF, "nv_bfloat16": BFLOAT16, "__nv_bfloat16": BFLOAT16,
}  # fmt: skip
_VECTOR = pattern(
    r"(?:struct )?(u?(?:char|short|int|long|longlong)|float|double|__half|half|(?:__)?nv_bfloat16)([1-4])$"
)


def vector_layout(name: str) -> Layout | None:
    """CUDA's built-in vector types by name."""
    match = _VECTOR.match(name)
    if not match:
        return None
    base, n = _VECTOR_BASE[match[1]], int(match[2])
    size = base.size * n
    align = base.size if n == 3 else min(size, 16)
    return Layout(size, align, {f: (i * base.size, base) for i, f in enumerate("xyzw"[:n])})


def is_vector(t: Type) -> bool:
    """A built-in vector type: copied by one instruction of its whole size where aligned."""
    return isinstance(t, RecordRef) and vector_layout(t.name.rsplit("::", 1)[-1]) is not None
