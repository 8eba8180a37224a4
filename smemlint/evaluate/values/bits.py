"""`& | ^ << >>`, exact wherever the bits that an operator mixes are known."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import gcd

import numpy as np

from smemlint.evaluate.values.division import divide_floor, modulo_floor, split
from smemlint.evaluate.values.number import (
    Int,
    Lanes,
    add,
    bounds,
    collapse,
    gcd_of,
    in_words,
    multiple_of,
    multiply,
    scale,
    subtract,
)
from smemlint.evaluate.values.unknowns import Unknowns
from smemlint.evaluate.values.widths import (
    common_type,
    held,
    is_long_unsigned,
    operand,
    promoted,
    range_of,
    reduced,
    tame,
    unsigned,
    wrap_lanes,
)
from smemlint.ir import Scalar


def bit_and(a: Int, b: Int, unknowns: Unknowns) -> Int:
    """Return a & b: a sum of terms where b is a known mask, else an unknown with a range."""
    t = common_type(a.type, b.type)
    if a.known and b.known:
        return Int(wrap_lanes(a.const, t) & wrap_lanes(b.const, t), t)
    if a.known:
        a, b = b, a
    if a.type.size < t.size:
        a = operand(a, t, unknowns)
    mask = collapse(wrap_lanes(b.const, t)) if b.known else None
    if isinstance(mask, int):
        if mask == 0:
            return Int(0, t)
        if mask == -1 or (t.kind == "uint" and mask == (1 << (8 * t.size)) - 1):
            return a.typed(t)
        if mask > 0 and _power_of_two(mask + 1):
            return modulo_floor(a, mask + 1, t, unknowns)
        low_zeros = (mask & -mask).bit_length() - 1
        top = mask >> low_zeros
        full = (1 << (8 * t.size - low_zeros)) - 1
        if low_zeros and (top == -1 or top == full):
            return _rounded_down(a, 1 << low_zeros, t, unknowns)
        if mask > 0:
            _, rest = split(a, 1 << mask.bit_length())
            if rest.known:
                return Int(rest.const & mask, t)
            if low_zeros and _power_of_two(top + 1):
                # a contiguous field: (a & 0b1100) == a mod 16 - a mod 4
                wide = modulo_floor(a, 1 << mask.bit_length(), t, unknowns)
                low = modulo_floor(a, 1 << low_zeros, t, unknowns)
                return subtract(wide, low, t)
            return unknowns.derived("&", rest, b, t, 0, mask, mask & -mask)
    limits = bounds(a), bounds(b if mask is None else Int(mask, t))
    highs = [high for low, high in limits if high is not None and (low or 0) >= 0]
    return unknowns.derived("&", a, b, t, 0 if highs else None, min(highs) if highs else None)


def _rounded_down(a: Int, step: int, t: Scalar, unknowns: Unknowns) -> Int:
    """a & -step. `(n + 15) & ~15` becomes 16 times an unknown: its known part is a multiple too."""
    known = collapse(a.const)
    if isinstance(known, int) and known % step and not a.varying:
        return scale(divide_floor(a, step, t, "/", unknowns), step, t)
    return subtract(a, modulo_floor(a, step, t, unknowns), t)


def _power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def _low_power(v: Int) -> int:
    """Largest power of two (up to 2**40) that divides every unknown term."""
    g = 1 << 40
    for mono, c in v.terms.items():
        g = gcd(g, gcd_of(c) * multiple_of(mono))
        if g & 1:
            return 1
    return g & -g


def bitwise(op: str, a: Int, b: Int, unknowns: Unknowns) -> Int:
    """Return a | b or a ^ b: a sum where the bits of both do not meet, else an unknown."""
    known: Callable[[Lanes, Lanes], Lanes] = operator.xor if op == "^" else operator.or_
    t = common_type(a.type, b.type)
    if a.known and b.known:
        return Int(known(wrap_lanes(a.const, t), wrap_lanes(b.const, t)), t)
    for v, w in ((a, b), (b, a)):
        if w.known and isinstance(w.const, int) and w.const == 0:
            return v.typed(t)
    # Below the lowest bit of the unknown part the operator is known; above, only the unknown parts meet.
    power = min(_low_power(a), _low_power(b))
    parts = []
    for v in (a, b):
        low = np.mod(v.const, power) if not isinstance(v.const, int) else v.const % power
        high = subtract(v, Int(low, t), t)
        parts.append((low, Int(collapse(high.const), t, high.terms)))
    (low_a, high_a), (low_b, high_b) = parts
    low_part = Int(known(low_a, low_b), t)
    high = _disjoint(op, tame(high_a, unknowns), tame(high_b, unknowns), power, t, unknowns)
    return add(high, low_part, t)


def _disjoint(op: str, a: Int, b: Int, power: int, t: Scalar, unknowns: Unknowns) -> Int:
    for v, w in ((a, b), (b, a)):
        if w.known and not np.any(w.const):
            return v.typed(t)
        # w lies below every bit of v's unknown part, or within known zero bits of v
        if w.known and v.terms:
            w_high = bounds(w)[1] or 0
            aligned, rest = split(v, 1 << max(w_high.bit_length(), 1))
            if rest.known and (bounds(w)[0] or 0) >= 0:
                known: Callable[[Lanes, Lanes], Lanes] = operator.xor if op == "^" else operator.or_
                return add(aligned, Int(known(rest.const, w.const), t), t)
    if op == "^" and a.key() is not None and a.key() == b.key():
        return Int(0, t)
    (la, ha), (lb, hb) = bounds(a), bounds(b)
    if la is not None and lb is not None and ha is not None and hb is not None and la >= 0 and lb >= 0:
        # `a | b` and `a ^ b` of parts without common bits is a sum
        if ha < _granule(b) or hb < _granule(a):
            return add(a, b, t)
        return unknowns.derived(op, a, b, t, 0, (1 << max(ha, hb).bit_length()) - 1, power)
    if t.kind == "uint":
        return unknowns.derived(op, a, b, t, *range_of(t), multiple=power)
    return unknowns.derived(op, a, b, t, None, None, power)


def _granule(v: Int) -> int:
    g = _low_power(v)
    if np.any(v.const):
        g = gcd(g, gcd_of(v.const))
    return g & -g


def shift_left(a: Int, b: Int, unknowns: Unknowns) -> Int:
    """Return a << b: a multiple of a where b is known, else an unknown or a product with a power of two."""
    t = promoted(a.type)
    bits = 8 * t.size
    if b.known:
        if isinstance(b.const, int):
            return reduced(scale(a, in_words(1 << b.const), t)) if 0 <= b.const < bits else Int(0, t)
        within = (b.const >= 0) & (b.const < bits)
        factor = np.where(within, np.left_shift(np.int64(1), np.clip(b.const, 0, 63)), 0)
        return reduced(scale(a, factor, t))
    least = bounds(b)[0] or 0
    if least > 0:
        return unknowns.derived("<<", a, b, t, multiple=1 << min(least, bits))
    if b.uniform:
        # a << n is a * 2^n: keeps the lane term as a coefficient
        power = unknowns.derived("<<", Int(1), b, t, 1)
        return multiply(a, power, t)
    return unknowns.derived("<<", a, b, t)


def shift_right(a: Int, b: Int, unknowns: Unknowns) -> Int:
    """Return a >> b: a quotient rounded down where b is known, else an unknown."""
    t = promoted(a.type)
    bits = 8 * t.size
    if a.known and b.known:
        a = held(a, t)
        if is_long_unsigned(t):
            return Int(_shifted_unsigned(a.const, b.const), t)
        if isinstance(a.const, int) and isinstance(b.const, int):
            return Int(a.const >> (b.const if 0 <= b.const < bits else bits), t)
        # by more than there are bits: what the sign says is left
        return Int(np.right_shift(a.const, np.where(b.const < 0, 63, np.minimum(b.const, 63))), t)
    a = tame(a, unknowns)
    n = collapse(b.const) if b.known else None
    if isinstance(n, int) and 0 <= n < min(bits, 62):
        return divide_floor(a, 1 << n, t, ">>", unknowns)
    low, high = bounds(a)
    return unknowns.derived(">>", a, b, t, 0 if low is not None and low >= 0 else None, high)


def _shifted_unsigned(c: Lanes, n: Lanes) -> Lanes:
    """c >> n of unsigned numbers of 64 bits."""
    whole = unsigned(c)
    if isinstance(whole, int) and isinstance(n, int):
        return in_words(whole >> n) if 0 <= n < 64 else 0
    within = (np.asarray(n) >= 0) & (np.asarray(n) < 64)
    by = np.where(within, n, 0).astype(np.uint64)
    return np.where(within, np.right_shift(whole, by, dtype=np.uint64), np.uint64(0)).view(np.int64)
