"""`/` and `%`, exact wherever the divisor divides what is not known.

A sum is split into the terms that are multiples of the divisor and the rest; only the rest is cut.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

import numpy as np

from smemlint.evaluate.values.number import (
    Int,
    Lanes,
    Monomial,
    Ring,
    add,
    bounds,
    collapse,
    gcd_of,
    in_words,
    multiple_of,
    scale,
    subtract,
)
from smemlint.evaluate.values.unknowns import Unknowns, rank_of
from smemlint.evaluate.values.widths import (
    common_type,
    held,
    is_long_unsigned,
    may_be_negative,
    operand,
    unsigned,
    wrap_lanes,
)
from smemlint.ir import Scalar
from smemlint.ir.types import LONG


def split(v: Int, d: int) -> tuple[Int, Int]:
    """v = aligned + rest, where every term of `aligned` is a multiple of d."""
    aligned: dict[Monomial, Lanes] = {}
    rest: dict[Monomial, Lanes] = {}
    for mono, c in v.terms.items():
        divides = gcd_of(c) * multiple_of(mono) % d == 0
        (aligned if divides else rest)[mono] = c
    return Int(0, v.type, aligned), Int(v.const, v.type, rest)


def exact_quotient(v: Int, d: int, unknowns: Unknowns) -> Int | None:
    """v / d for a v whose terms all are multiples of d; None when it cannot be written down."""
    terms: dict[Monomial, Lanes] = {}
    for mono, c in v.terms.items():
        g = gcd_of(c)
        if g % d == 0:
            terms[mono] = c // d
            continue
        common = gcd(g, d)
        need = d // common
        symbol = next((s for s in mono if s.multiple % need == 0), None)
        if symbol is None:
            return None
        others = list(mono)
        others.remove(symbol)
        new = tuple(sorted([*others, unknowns.quotient(symbol, need)], key=lambda s: s.order))
        terms[new] = c // common
    return Int(0, v.type, terms)


def _floor_divide(c: Lanes, d: Lanes) -> Lanes:
    if isinstance(c, int) and isinstance(d, int):
        return c // d if d else 0
    safe = d if isinstance(d, int) else np.where(d == 0, 1, d)
    if isinstance(safe, int) and safe == 0:
        return 0
    result: Lanes = np.floor_divide(c, safe)
    return result


def _known_quotient(c: Lanes, d: Lanes, t: Scalar) -> Lanes:
    """C's division of numbers of type t."""
    if is_long_unsigned(t):
        whole, by = unsigned(c), unsigned(d)
        if isinstance(whole, int) and isinstance(by, int):
            return in_words(whole // by) if by else 0
        return np.floor_divide(whole, np.where(by == 0, np.uint64(1), by), dtype=np.uint64).view(np.int64)
    return _truncating(c, d)


def _truncating(c: Lanes, d: Lanes) -> Lanes:
    """Division of signed numbers, towards zero."""
    if isinstance(c, int) and isinstance(d, int):
        if d == 0:
            return 0
        magnitude = abs(c) // abs(d)
        return magnitude if (c >= 0) == (d >= 0) else -magnitude
    # of -2**63 too, whose size has no sign
    size, by = (np.abs(np.asarray(x, dtype=np.int64)).view(np.uint64) for x in (c, d))
    q = (size // np.where(by == 0, np.uint64(1), by)).view(np.int64)
    result: Lanes = np.where((np.asarray(c) >= 0) == (np.asarray(d) >= 0), q, -q)
    return result


def divide(a: Int, b: Int, unknowns: Unknowns) -> Int:
    """Return a / b, rounded towards zero."""
    t = common_type(a.type, b.type)
    if a.known and b.known:
        a, b = held(a, t), held(b, t)
        return Int(_known_quotient(a.const, b.const, t), t)
    a, b = operand(a, t, unknowns), operand(b, t, unknowns)
    d = _divisor(b)
    if d > 0:
        below = _sizes_may_go_below(a, d)
        if t.kind == "int" and (below or may_be_negative(a)):
            return _towards_zero(a, b, d, t, unknowns)
        if below and d & (d - 1):
            return unknowns.derived("/", a, b, t, 0)  # as a large number
        return divide_floor(a, d, t, "/", unknowns)
    if same_multiple := _cancel(a, b):
        return Int(same_multiple, t)
    low, high = bounds(a)
    if low is not None and low >= 0 and (bounds(b)[0] or 0) > 0:
        if high is not None and bounds(b)[0] is not None and high < (bounds(b)[0] or 0):
            return Int(0, t)
        return unknowns.derived("/", a, b, t, 0, high)
    return unknowns.derived("/", a, b, t)


def _divisor(b: Int) -> int:
    """A known divisor that is the same for all lanes and has no sign, else 0."""
    d = collapse(b.const) if b.known else 0
    return d if isinstance(d, int) and 0 < d < 1 << 62 else 0


def _sizes_may_go_below(v: Int, d: int) -> bool:
    """Whether sizes may make a number negative, and d cuts through it: `(lane - 8 * n) % 8`. With the place
    of a block in it, a block in the middle is meant, of which no coordinate is negative."""
    ranks = {s.rank for s in v.symbols()}
    if not ranks or max(ranks) < 3 or 2 in ranks:
        return False
    low = bounds(v)[0]
    if low is not None and low >= 0:
        return False
    _, rest = split(v, d)
    return not (v.uniform and not rest.known) and not (rest.known and not np.any(np.asarray(rest.const) % d))


def _towards_zero(a: Int, b: Int, d: int, t: Scalar, unknowns: Unknowns) -> Int:
    low, high = bounds(a)
    least = None if low is None else -(-low // d) if low < 0 else low // d
    most = None if high is None else -(-high // d) if high < 0 else high // d
    return unknowns.derived("/", a, b, t, least, most)


def _stays_below(v: Int, d: int) -> bool:
    """Whether the unknown part of v never carries a lane over a multiple of d."""
    left = v.const % d
    low, high = bounds(Int(0, LONG, v.terms))
    if low is None or high is None:
        return False
    least, most = (left, left) if isinstance(left, int) else (int(left.min()), int(left.max()))
    return least + low >= 0 and most + high < d


def _cancel(a: Int, b: Int) -> int:
    """k when a is k times b, else 0."""
    if not b.terms or a.terms.keys() != b.terms.keys():
        return 0
    mono, c = next(iter(b.terms.items()))
    ca = a.terms[mono]
    if not isinstance(c, int) or not isinstance(ca, int) or c == 0 or ca % c:
        return 0
    k = ca // c
    rest = subtract(a, scale(b, k, a.type), a.type)
    return k if rest.known and isinstance(rest.const, int) and rest.const == 0 else 0


def divide_floor(a: Int, d: int, t: Scalar, op: str, unknowns: Unknowns) -> Int:
    """(aligned + rest) / d, rounding down; a negative total is not expected of an unknown. op: `/`, or the
    shift that divides by d."""
    if d == 1:
        return a.typed(t)
    by = Int(d.bit_length() - 1 if op == ">>" else d)
    aligned, rest = split(a, d)
    quotient = exact_quotient(aligned, d, unknowns)
    if quotient is not None:
        if rest.known:
            return add(quotient, Int(_floor_divide(rest.const, d), t), t)
        low, high = bounds(rest)
        if low is not None and high is not None and low // d == high // d:
            return add(quotient, Int(low // d, t), t)
        if _stays_below(rest, d):
            return add(quotient, Int(_floor_divide(rest.const, d), t), t)
        if quotient.terms:
            part = unknowns.derived(
                op, rest, by, t, None if low is None else low // d, None if high is None else high // d
            )
            return add(quotient, part, t)
    low, high = bounds(a)
    return unknowns.derived(
        op, a, by, t, None if low is None else low // d, None if high is None else high // d
    )


def modulo(a: Int, b: Int, unknowns: Unknowns) -> Int:
    """Return a % b, with the sign of a."""
    t = common_type(a.type, b.type)
    if a.known and b.known:
        a, b = held(a, t), held(b, t)
        q = _known_quotient(a.const, b.const, t)
        return Int(wrap_lanes(a.const - q * b.const, t), t)
    d = _divisor(b)
    if d > 0 and t.kind == "uint" and d & (d - 1) == 0 and d >> (8 * min(a.type.size, t.size)) == 0:
        return modulo_floor(a, d, t, unknowns)  # whether a wraps changes nothing
    a, b = operand(a, t, unknowns), operand(b, t, unknowns)
    if d > 0:
        below = _sizes_may_go_below(a, d)
        if t.kind == "int" and (below or may_be_negative(a)):
            made = unknowns.derived("%", a, b, t, 1 - d, d - 1)
            unknowns.remainders.update({mono[0].order: (a, d) for mono in made.terms if len(made.terms) == 1})
            return made
        if below:
            return unknowns.derived("%", a, b, t, 0, d - 1)  # of a large number
        return modulo_floor(a, d, t, unknowns)
    low, high = bounds(a)
    b_low, b_high = bounds(b)
    if low is not None and low >= 0:
        if high is not None and b_low is not None and high < b_low:
            return a.typed(t)
        highs = [x for x in (high, None if b_high is None else b_high - 1) if x is not None]
        rest = unknowns.derived("%", a, b, t, 0, min(highs) if highs else None)
        if rank_of(a) or rank_of(b):
            unknowns.rests_of_sizes.update(s.order for s in rest.symbols())
        return rest
    return unknowns.derived("%", a, b, t)


def modulo_floor(a: Int, d: int, t: Scalar, unknowns: Unknowns) -> Int:
    """Return the remainder of a by a known positive d, from 0 to d - 1."""
    _, rest = split(_congruent(a, d, unknowns), d)
    if rest.known:
        if isinstance(rest.const, int):
            return Int(rest.const % d, t)
        return Int(np.mod(rest.const, d), t)
    low, high = bounds(rest)
    if low is not None and high is not None and low >= 0 and high < d:
        return rest.typed(t)
    if _stays_below(rest, d):
        return add(Int(rest.const % d, t), Int(0, t, rest.terms), t)
    g = d
    for mono, c in rest.terms.items():
        g = gcd(g, gcd_of(c) * multiple_of(mono))
    if g > 1:
        # (g*u + c) mod d = g * ((u + c/g) mod d/g) + c mod g
        inner = exact_quotient(Int(0, t, rest.terms), g, unknowns)
        if inner is not None:
            carried = add(inner, Int(collapse(_floor_divide(rest.const, g)), t), t)
            if carried.uniform:
                m = unknowns.derived("%", carried, Int(d // g), t, 0, d // g - 1)
                low_part = rest.const % g
                return add(scale(m, g, t), Int(low_part, t), t)
    made = unknowns.derived("%", rest, Int(d), t, 0, d - 1)
    return _as_ring(made, rest, d, g, unknowns)


def _congruent(v: Int, d: int, unknowns: Unknowns) -> Int:
    """A number that differs from v by a multiple of d: for C's remainder, which may be negative, what it is
    one of (`((lane - n) % 8 + 8) % 8`)."""
    for mono, c in v.terms.items():
        of, by = unknowns.remainders.get(mono[0].order, (None, 1))
        if of is not None and len(mono) == 1 and isinstance(c, int) and c * by % d == 0:
            others = Int(v.const, v.type, {m: x for m, x in v.terms.items() if m != mono})
            return _congruent(add(others, scale(of, c, v.type), v.type), d, unknowns)
    return v


def _as_ring(made: Int, rest: Int, d: int, g: int, unknowns: Unknowns) -> Int:
    """A remainder, with what lanes have of it by themselves beside what all lanes of a warp share."""
    start = Int(0, rest.type, rest.terms)
    if (
        isinstance(rest.const, int)
        or not start.shared
        or len(made.terms) != 1
        or unknowns.recipes is not None
    ):
        return made
    ((mono, _),) = made.terms.items()
    begins = unknowns.derived("%", start, Int(d), made.type, 0, d - 1, g)
    return Int(0, made.type, {(replace(mono[0], ring=Ring(rest.const, d, begins)),): 1})
