"""C's integer types: promotion, the common type of two operands, and what a register of a type holds.

Numbers of 64 bits are kept as signed ones: the unsigned 2**64 - 1 is -1. `unsigned` gives them back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.choices import each_way
from smemlint.evaluate.values.number import (
    Int,
    Lanes,
    Monomial,
    bounds,
    ends_of,
    in_words,
    lanes_equal,
    symbol_range,
)
from smemlint.evaluate.values.unknowns import Unknowns
from smemlint.ir import Scalar
from smemlint.ir.types import INT, LONG, UINT, ULONG

_BEHIND = {("int", 4): INT, ("uint", 4): UINT, ("int", 8): LONG, ("uint", 8): ULONG}
"""What enumerations are computed with."""
_USUAL = 1 << 13
"""How large an unknown may well be, of which nothing else is known."""


def promoted(t: Scalar) -> Scalar:
    """Return the type that C computes with in place of a small one."""
    if t.kind in ("bool", "int", "uint") and t.size < 4:
        return INT
    return _BEHIND[t.kind, t.size] if t.enumeration else t


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
    if t.kind == "float":
        return c
    if bits >= 64:
        return in_words(c)
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


def is_long_unsigned(t: Scalar) -> bool:
    """Whether numbers of this type may be larger than the signed ones that stand for them."""
    return t.kind == "uint" and t.size >= 8


def unsigned(c: Lanes) -> int | NDArray[np.uint64]:
    """A number of 64 bits without a sign."""
    return c & (2**64 - 1) if isinstance(c, int) else c.view(np.uint64)


def signed(c: int | NDArray[np.uint64]) -> Lanes:
    """Unsigned numbers of 64 bits as they are kept."""
    return in_words(c) if isinstance(c, int) else c.view(np.int64)


def held(v: Int, t: Scalar) -> Int:
    """A known number as an integer type t holds it."""
    return Int(wrap_lanes(v.const, t), t, None, v.form)


def wrapped(v: Int) -> Int:
    """v as its type holds it; an unknown part is taken not to overflow."""
    if v.terms:
        return v
    return Int(wrap_lanes(v.const, v.type), v.type, None, v.form)


def reduced(v: Int) -> Int:
    """v as its type holds it, its numbers short: of an unknown part any number that wraps alike will do."""
    if not v.terms:
        return Int(wrap_lanes(v.const, v.type), v.type, None, v.form)
    most = 1 << (8 * max(v.type.size, 4) + 2)
    if _is_short(v.const, most) and all(_is_short(c, most) for c in v.terms.values()):
        return v
    signed = LONG if v.type.size >= 8 else INT
    terms = {m: wrap_lanes(c, signed) for m, c in v.terms.items()}
    return Int(wrap_lanes(v.const, signed), v.type, {m: c for m, c in terms.items() if np.any(c)}, v.form)


def short_steps(v: Int) -> Int:
    """An unsigned sum with an unknown part, in which lanes that wrapped stand beside those that did not."""
    if v.type.kind != "uint" or v.type.size != 4:
        return v
    ends = ends_of(v.const)
    return (
        v
        if ends[0] >= -1 << 31 and ends[1] < 1 << 31
        else Int(wrap_lanes(v.const, INT), v.type, v.terms, v.form)
    )


def _is_short(c: Lanes, most: int) -> bool:
    return not isinstance(c, int) or -most < c < most


def range_of(t: Scalar) -> tuple[int, int]:
    """The smallest and the largest number of an integer type."""
    bits = 8 * t.size
    if t.kind == "bool":
        return 0, 1
    return (0, (1 << bits) - 1) if t.kind == "uint" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _largest(mono: Monomial) -> int:
    """How large a product of unknowns may be: what their ranges say, a usual number for sizes, and where they
    say nothing."""
    product, usual = 1, 1
    for s in mono:
        if s.high is None or s.rank:
            usual = _USUAL
        if s.high is not None:
            largest = max(abs(s.high), abs(s.low or 0))
            product *= min(largest, _USUAL) if s.rank else largest
    return max(product, usual)


def tame(v: Int, unknowns: Unknowns) -> Int:
    """v with its unknown part made one that stays within v's type, where it may well overflow.

    An index is no larger than its type. A hash is (`(blockIdx.x * 64 + t) * 2654435761u`): only what
    wraps with it, such as `& 1023`, can be said of its sum.
    """
    if not v.terms or unknowns.recipes is not None:
        return v
    bits = 8 * max(v.type.size, 4)
    limit = 1 << (bits + 1)
    reach, spread = 0, 0
    for mono, c in v.terms.items():
        size = _largest(mono)
        if isinstance(c, int):
            reach += abs(c) * size
        else:
            low, high = ends_of(c)
            reach += max(abs(low), abs(high)) * size
            spread += (high - low) * size
    const = v.const
    if isinstance(const, int):
        around = abs(const)
    else:
        low, high = ends_of(const)
        around = max(abs(low), abs(high))
        spread += high - low
    if reach <= limit and around < limit >> 2:
        return v
    low, high = range_of(promoted(v.type))
    if spread >= limit >> 5 or v.varying:
        reason = Unresolved("nonlinear-index", "a lane's number grows beyond its type and wraps around")
        return unknowns.value(
            v.type, "number that wraps", varying=not v.uniform, low=low, high=high, reason=reason
        )
    start = const if isinstance(const, int) else int(const[0])
    whole = Int(start, v.type, v.terms)
    wraps = unknowns.derived("mod", whole, Int(bits), v.type, low, high)
    return Int(const - start, v.type, wraps.terms)


def may_be_negative(v: Int) -> bool:
    """Whether all that is known of an unknown part is that it may be negative: it is no size and no index, or
    it lies between two ends, less more than the lower one."""
    symbols = list(v.symbols())
    signed = any(s.low is not None and s.low < 0 and not s.rank for s in symbols)
    between = [not s.rank and not s.choice and None not in (s.low, s.high) for s in symbols]
    if not signed and not (between and all(between)):
        return False
    low = bounds(v)[0]
    return low is None or low < 0


def in_register(v: Int, unknowns: Unknowns) -> Int:
    """v as an unsigned register of 32 bits holds it, where sums of known ends may leave that: lanes below 0
    are large numbers. Sizes and counts are taken not to wrap."""
    if not v.terms or v.type.kind != "uint" or v.type.size != 4 or unknowns.recipes is not None:
        return v
    if any(s.rank or s.low is None or s.high is None for s in v.symbols()):
        return v
    least, most = bounds(v)
    if least is None or most is None or (least >= 0 and most < 1 << 32):
        return v
    turns = _turns(v)
    if turns is not None:
        return Int(v.const - (turns << 32), v.type, v.terms, v.form)
    by_way = each_way(lambda x: in_register(wrapped(x), unknowns), v)
    if by_way is not None:
        return by_way
    return unknowns.derived("unsigned", v, Int(v.type.size), v.type, *range_of(v.type))


def _turns(v: Int) -> Lanes | None:
    """How many times 2**32 each lane of v is over 0, or under it; None where a lane may be here or there."""
    least, most = v.const, v.const
    for mono, c in v.terms.items():
        low, high = symbol_range(mono)
        if low is None or high is None:
            return None
        ends = (c * low, c * high)
        least = least + (min(ends) if isinstance(c, int) else np.minimum(*ends))
        most = most + (max(ends) if isinstance(c, int) else np.maximum(*ends))
    return least >> 32 if lanes_equal(least >> 32, most >> 32) else None


def operand(v: Int, t: Scalar, unknowns: Unknowns) -> Int:
    """v as an operand of type t, in numbers: what wraps does so in v's own type first."""
    if not v.terms or unknowns.recipes is not None:
        return v
    v = tame(v, unknowns)
    if v.type.kind == "uint" and (t.kind == "uint" or t.size > v.type.size):
        return in_register(v, unknowns)
    if t.kind == "uint" and v.type.kind == "int" and may_be_negative(v):
        return unknowns.derived("unsigned", v, Int(t.size), t, *range_of(t))
    return v
