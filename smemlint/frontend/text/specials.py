"""CUDA's built-in variables (`threadIdx.x`, `warpSize`) as expressions."""

from __future__ import annotations

from smemlint.frontend.text.scalars import SPECIAL_AXES
from smemlint.ir import Construct, Expr, RecordRef, Special


def special_member(base: Expr, name: str) -> Expr | None:
    """`threadIdx.x`, when the base is one of the hardware's index variables."""
    if isinstance(base, Construct) and name in ("x", "y", "z") and len(base.arguments) == 3:
        first = base.arguments[0]
        if isinstance(first, Special) and first.axis == "x":
            return Special(first.name, name, first.place)
    return None


def special_value(name: str) -> Expr:
    """A whole `threadIdx` (three values) or `warpSize`."""
    if name in SPECIAL_AXES:
        return special_triple(name)
    return Special(name)


def special_triple(name: str) -> Construct:
    kind = "uint3" if name in ("threadIdx", "blockIdx") else "dim3"
    return Construct(RecordRef(kind), tuple(Special(name, axis) for axis in "xyz"))
