"""C's integer types: promotion, the common type of two operands, and what a register of a type holds."""

from __future__ import annotations

import numpy as np

from smemlint.evaluate.values import (
    Int,
    Lanes,
)
from smemlint.ir import Scalar
from smemlint.ir.types import INT


def promoted(t: Scalar) -> Scalar:
    return INT if t.kind in ("bool", "int", "uint") and t.size < 4 else t


def common_type(a: Scalar, b: Scalar) -> Scalar:
    """The usual arithmetic conversions."""
    a, b = promoted(a), promoted(b)
    if a.kind == b.kind:
        return a if a.size >= b.size else b
    unsigned, signed = (a, b) if a.kind == "uint" else (b, a)
    return unsigned if unsigned.size >= signed.size else signed


def wrap_lanes(c: Lanes, t: Scalar) -> Lanes:
    """What a register of type t holds of c."""
    bits = 8 * t.size
    if bits >= 64 or t.kind == "float":
        return c
    if t.kind == "bool":
        return int(c != 0) if isinstance(c, int) else (c != 0).astype(np.int64)
    if isinstance(c, int):
        c &= (1 << bits) - 1
        return c - (1 << bits) if t.kind == "int" and c >> (bits - 1) else c
    mask = (1 << bits) - 1
    if t.kind == "uint":
        return c & mask
    half = 1 << (bits - 1)
    return ((c + half) & mask) - half


def held(v: Int, t: Scalar) -> Int:
    """A known number as an integer type t holds it."""
    return Int(wrap_lanes(v.const, t), t, None, v.form)


def wrapped(v: Int) -> Int:
    """v as its type holds it; an unknown part is taken not to overflow."""
    if v.terms:
        return v
    return Int(wrap_lanes(v.const, v.type), v.type, None, v.form)
