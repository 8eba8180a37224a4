"""C's integer operators on `Int`, exact wherever the unknown part allows it.

An unknown that is the same for all lanes goes through `/ % & | ^ >>` as long as the part that the operator
cuts off is known; else the result is a new unknown, with the range that the operator guarantees.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from math import gcd

import numpy as np

from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import (
    Int,
    Lanes,
    Monomial,
    Symbol,
    add,
    bounds,
    collapse,
    gcd_of,
    multiple_of,
    multiply,
    scale,
    subtract,
)
from smemlint.ir import Scalar
from smemlint.ir.types import BOOL, INT, UINT

NONLINEAR = "nonlinear-index"


@dataclass(slots=True)
class Unknowns:
    """Makes the unknowns of one evaluation; equal uniform expressions get the same unknown."""

    memo: dict[tuple[object, ...], Symbol] = field(default_factory=dict)
    count: int = 0
    guesses: int = 0
    """Comparisons that were decided by scale alone (`i < n`)."""
    interior: bool = False
    """Decide comparisons of uniform values by scale too: while a condition only chooses between numbers."""

    def fresh(
        self,
        name: str,
        *,
        varying: bool = False,
        low: int | None = None,
        high: int | None = None,
        multiple: int = 1,
        rank: int = 0,
        reason: Unresolved | None = None,
    ) -> Symbol:
        self.count += 1
        return Symbol(self.count, name, varying, low, high, multiple, rank, reason)

    def value(self, type: Scalar, name: str, **facts: object) -> Int:
        return Int(0, type, {(self.fresh(name, **facts),): 1})  # type: ignore[arg-type]

    def derived(
        self,
        op: str,
        a: Int,
        b: Int,
        type: Scalar,
        low: int | None = None,
        high: int | None = None,
        multiple: int = 1,
    ) -> Int:
        """The result of an operator that the polynomial cannot express."""
        uniform = a.uniform and b.uniform
        reason = next((s.reason for v in (a, b) for m in v.terms for s in m if s.varying and s.reason), None)
        if not uniform and reason is None:
            reason = Unresolved(
                NONLINEAR, f"`{op}` cuts through a run-time value that is added to a lane term"
            )
        ka, kb = a.key(), b.key()
        key = (op, ka, kb) if uniform and ka is not None and kb is not None else None
        if key is not None and key in self.memo:
            return Int(0, type, {(self.memo[key],): 1})
        rank = max((s.rank for v in (a, b) for m in v.terms for s in m), default=0)
        symbol = self.fresh(
            f"({name_of(a)} {op} {name_of(b)})",
            varying=not uniform,
            low=low,
            high=high,
            multiple=multiple,
            rank=rank if op in ("/", ">>", "*", "<<") else 0,
            reason=None if uniform else reason,
        )
        if key is not None:
            self.memo[key] = symbol
        return Int(0, type, {(symbol,): 1})

    def quotient(self, symbol: Symbol, by: int) -> Symbol:
        """symbol / by, which `symbol.multiple` proves exact."""
        key = ("quotient", symbol.order, by)
        if key not in self.memo:
            self.memo[key] = self.fresh(
                f"({symbol.name}/{by})",
                varying=symbol.varying,
                low=None if symbol.low is None else symbol.low // by,
                high=None if symbol.high is None else symbol.high // by,
                multiple=symbol.multiple // by,
                rank=symbol.rank,
                reason=symbol.reason,
            )
        return self.memo[key]


def name_of(v: Int) -> str:
    """A short text of a value for messages."""
    parts = []
    for mono, c in v.terms.items():
        text = " * ".join(s.name for s in mono)
        parts.append(
            text
            if isinstance(c, int) and c == 1
            else f"{c} * {text}"
            if isinstance(c, int)
            else f"lanes * {text}"
        )
    if isinstance(v.const, int):
        if v.const or not parts:
            parts.append(str(v.const))
    else:
        parts.append("lanes")
    text = " + ".join(parts)
    return text if len(text) < 60 else "..."


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


def wrapped(v: Int) -> Int:
    """v as its type holds it; an unknown part is taken not to overflow."""
    if v.terms:
        return v
    return Int(wrap_lanes(v.const, v.type), v.type)


def convert(v: Int, t: Scalar, unknowns: Unknowns) -> Int:
    """Integer conversion to t."""
    if t.kind == "bool":
        return compare("!=", v, Int(0, v.type), unknowns)
    if v.terms:
        low, high = bounds(v)
        if t.size < v.type.size and t.size < 4:
            limit = (1 << (8 * t.size)) if t.kind == "uint" else 1 << (8 * t.size - 1)
            if low is None or high is None or high >= limit or low < (0 if t.kind == "uint" else -limit):
                if t.kind == "uint":
                    return bit_and(v, Int(limit - 1, v.type), unknowns).typed(t)
                return unknowns.derived("cast", v, Int(t.size), t, -limit, limit - 1)
        return v.typed(t)
    return Int(wrap_lanes(v.const, t), t)


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


def _truncating(c: Lanes, d: Lanes) -> Lanes:
    """C's division of known numbers."""
    if isinstance(c, int) and isinstance(d, int):
        if d == 0:
            return 0
        magnitude = abs(c) // abs(d)
        return magnitude if (c >= 0) == (d >= 0) else -magnitude
    q = _floor_divide(np.abs(c), np.abs(d))
    result: Lanes = np.where((np.asarray(c) >= 0) == (np.asarray(d) >= 0), q, -q)
    return result


def divide(a: Int, b: Int, unknowns: Unknowns) -> Int:
    t = common_type(a.type, b.type)
    if a.known and b.known:
        a, b = convert(a, t, unknowns), convert(b, t, unknowns)
        return Int(_truncating(a.const, b.const), t)
    d = collapse(b.const) if b.known else None
    if isinstance(d, int) and d > 0:
        return _divide_floor(a, d, t, "/", unknowns)
    if same_multiple := _cancel(a, b):
        return Int(same_multiple, t)
    low, high = bounds(a)
    if low is not None and low >= 0 and (bounds(b)[0] or 0) > 0:
        if high is not None and bounds(b)[0] is not None and high < (bounds(b)[0] or 0):
            return Int(0, t)
        return unknowns.derived("/", a, b, t, 0, high)
    return unknowns.derived("/", a, b, t)


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


def _divide_floor(a: Int, d: int, t: Scalar, op: str, unknowns: Unknowns) -> Int:
    """(aligned + rest) / d, rounding down; a negative total is not expected of an unknown."""
    if d == 1:
        return a.typed(t)
    aligned, rest = split(a, d)
    quotient = exact_quotient(aligned, d, unknowns)
    if quotient is not None:
        if rest.known:
            return add(quotient, Int(_floor_divide(rest.const, d), t), t)
        low, high = bounds(rest)
        if low is not None and high is not None and low // d == high // d:
            return add(quotient, Int(low // d, t), t)
        if quotient.terms:
            part = unknowns.derived(
                op, rest, Int(d), t, None if low is None else low // d, None if high is None else high // d
            )
            return add(quotient, part, t)
    low, high = bounds(a)
    return unknowns.derived(
        op, a, Int(d), t, None if low is None else low // d, None if high is None else high // d
    )


def modulo(a: Int, b: Int, unknowns: Unknowns) -> Int:
    t = common_type(a.type, b.type)
    if a.known and b.known:
        a, b = convert(a, t, unknowns), convert(b, t, unknowns)
        q = _truncating(a.const, b.const)
        return Int(a.const - q * b.const, t)
    d = collapse(b.const) if b.known else None
    if isinstance(d, int) and d > 0:
        return _modulo_floor(a, d, t, "%", unknowns)
    low, high = bounds(a)
    b_low, b_high = bounds(b)
    if low is not None and low >= 0:
        if high is not None and b_low is not None and high < b_low:
            return a.typed(t)
        if not a.uniform and a.known and b.uniform and _rank(b) >= 3:
            return a.typed(t)  # a lane term against a problem size, as guards take it
        return unknowns.derived("%", a, b, t, 0, None if b_high is None else b_high - 1)
    return unknowns.derived("%", a, b, t)


def _rank(v: Int) -> int:
    return max((s.rank for m in v.terms for s in m), default=0)


def _modulo_floor(a: Int, d: int, t: Scalar, op: str, unknowns: Unknowns) -> Int:
    _, rest = split(a, d)
    if rest.known:
        if isinstance(rest.const, int):
            return Int(rest.const % d, t)
        return Int(np.mod(rest.const, d), t)
    low, high = bounds(rest)
    if low is not None and high is not None and low >= 0 and high < d:
        return rest.typed(t)
    g = d
    for mono, c in rest.terms.items():
        g = gcd(g, gcd_of(c) * multiple_of(mono))
    if g > 1:
        # (g*u + c) mod d = g * ((u + c/g) mod d/g) + c mod g
        inner = exact_quotient(Int(0, t, rest.terms), g, unknowns)
        if inner is not None:
            carried = add(inner, Int(_floor_divide(rest.const, g), t), t)
            if carried.uniform:
                m = unknowns.derived(op, carried, Int(d // g), t, 0, d // g - 1)
                low_part = rest.const % g
                return add(scale(m, g, t), Int(low_part, t), t)
    return unknowns.derived(op, rest, Int(d), t, 0, d - 1)


def _power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def bit_and(a: Int, b: Int, unknowns: Unknowns) -> Int:
    t = common_type(a.type, b.type)
    if a.known and b.known:
        return Int(convert(a, t, unknowns).const & convert(b, t, unknowns).const, t)
    if a.known:
        a, b = b, a
    mask = collapse(b.const) if b.known else None
    if isinstance(mask, int):
        if mask == 0:
            return Int(0, t)
        if mask == -1 or (t.kind == "uint" and mask == (1 << (8 * t.size)) - 1):
            return a.typed(t)
        if mask > 0 and _power_of_two(mask + 1):
            return _modulo_floor(a, mask + 1, t, "%", unknowns)
        low_zeros = (mask & -mask).bit_length() - 1
        top = mask >> low_zeros
        full = (1 << (8 * t.size - low_zeros)) - 1
        if low_zeros and (top == -1 or top == full):
            low = _modulo_floor(a, 1 << low_zeros, t, "%", unknowns)
            return subtract(a, low, t)
        if mask > 0:
            _, rest = split(a, 1 << mask.bit_length())
            if rest.known:
                return Int(rest.const & mask, t)
            if low_zeros and _power_of_two(top + 1):
                # a contiguous field: (a & 0b1100) == a mod 16 - a mod 4
                wide = _modulo_floor(a, 1 << mask.bit_length(), t, "%", unknowns)
                low = _modulo_floor(a, 1 << low_zeros, t, "%", unknowns)
                return subtract(wide, low, t)
            return unknowns.derived("&", rest, b, t, 0, mask, mask & -mask)
    high_a, high_b = bounds(a)[1], bounds(b)[1]
    highs = [h for h, v in ((high_a, a), (high_b, b)) if h is not None and (bounds(v)[0] or 0) >= 0]
    return unknowns.derived("&", a, b, t, 0 if highs else None, min(highs) if highs else None)


def _low_power(v: Int) -> int:
    """Largest power of two (up to 2**40) that divides every unknown term."""
    g = 1 << 40
    for mono, c in v.terms.items():
        g = gcd(g, gcd_of(c) * multiple_of(mono))
    return g & -g


def _bitwise(op: str, a: Int, b: Int, unknowns: Unknowns) -> Int:
    known: Callable[[Lanes, Lanes], Lanes] = operator.xor if op == "^" else operator.or_
    t = common_type(a.type, b.type)
    if a.known and b.known:
        return Int(known(convert(a, t, unknowns).const, convert(b, t, unknowns).const), t)
    for v, w in ((a, b), (b, a)):
        if w.known and isinstance(w.const, int) and w.const == 0:
            return v.typed(t)
    # Below the lowest bit of the unknown part the operator is known; above, only the unknown parts meet.
    power = min(_low_power(a), _low_power(b))
    parts = []
    for v in (a, b):
        low = np.mod(v.const, power) if not isinstance(v.const, int) else v.const % power
        parts.append((low, subtract(v, Int(low, t), t)))
    (low_a, high_a), (low_b, high_b) = parts
    low_part = Int(known(low_a, low_b), t)
    high = _disjoint(op, high_a, high_b, power, t, unknowns)
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
    return unknowns.derived(op, a, b, t, None, None, power)


def _granule(v: Int) -> int:
    g = _low_power(v)
    if np.any(v.const):
        g = gcd(g, gcd_of(v.const))
    return g & -g


def shift_left(a: Int, b: Int, unknowns: Unknowns) -> Int:
    t = promoted(a.type)
    if b.known:
        if isinstance(b.const, int):
            if b.const < 0 or b.const >= 64:
                return Int(0, t)
            return wrapped(scale(a, 1 << b.const, t)) if b.const < 62 else Int(0, t)
        factor = np.left_shift(np.int64(1), np.clip(b.const, 0, 62))
        return wrapped(scale(a, factor, t))
    if (bounds(b)[0] or 0) > 0:
        return unknowns.derived("<<", a, b, t, multiple=1 << (bounds(b)[0] or 0))
    if b.uniform:
        # a << n is a * 2^n: keeps the lane term as a coefficient
        power = unknowns.derived("<<", Int(1), b, t, 1)
        return multiply(a, power, t)
    return unknowns.derived("<<", a, b, t)


def shift_right(a: Int, b: Int, unknowns: Unknowns) -> Int:
    t = promoted(a.type)
    if a.known and b.known:
        a = convert(a, t, unknowns)
        if isinstance(a.const, int) and isinstance(b.const, int):
            return Int(a.const >> b.const if 0 <= b.const < 64 else 0, t)
        return Int(np.right_shift(a.const, np.clip(b.const, 0, 63)), t)
    n = collapse(b.const) if b.known else None
    if isinstance(n, int) and 0 <= n < 62:
        return _divide_floor(a, 1 << n, t, ">>", unknowns)
    low, high = bounds(a)
    return unknowns.derived(">>", a, b, t, 0 if low is not None and low >= 0 else None, high)


_COMPARE: dict[str, Callable[[Lanes, Lanes], object]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def compare(op: str, a: Int, b: Int, unknowns: Unknowns) -> Int:
    """0 or 1 for each thread; an unknown of range 0..1 where neither arithmetic nor scale tells."""
    if a.known and b.known:
        t = common_type(a.type, b.type)
        r = _COMPARE[op](convert(a, t, unknowns).const, convert(b, t, unknowns).const)
        return Int(int(r), BOOL) if isinstance(r, bool) else Int(np.asarray(r).astype(np.int64), BOOL)
    d = subtract(a, b, INT)
    if d.known:
        return compare(op, d, Int(0), unknowns)
    low, high = bounds(d)
    if op in ("==", "!="):
        if (low is not None and low > 0) or (high is not None and high < 0):
            return Int(int(op == "!="), BOOL)
    else:
        decided = _decided(op, low, high)
        if decided is not None:
            return Int(int(decided), BOOL)
        if op in ("<", ">=") and _is_zero(b) and _rank(d) >= 2 and not d.varying:
            unknowns.guesses += 1
            return Int(int(op == ">="), BOOL)
        if not d.uniform or unknowns.interior:
            guess = _as_interior(op, d)
            if guess is not None:
                unknowns.guesses += 1
                return guess
    if op in ("==", "!=") and not d.uniform and not d.varying and _one_lane(d):
        # one lane of the block matches: which one changes nothing
        hit = np.zeros(len(np.asarray(d.const)), dtype=np.int64)
        hit[0] = 1
        return Int(hit if op == "==" else 1 - hit, BOOL)
    return unknowns.derived(op, d, Int(0), BOOL, 0, 1)


def _one_lane(d: Int) -> bool:
    if isinstance(d.const, int) or any(not isinstance(c, int) for c in d.terms.values()):
        return False
    return len(np.unique(d.const)) == len(d.const)


def _decided(op: str, low: int | None, high: int | None) -> bool | None:
    if op == "<":
        return True if high is not None and high < 0 else False if low is not None and low >= 0 else None
    if op == "<=":
        return True if high is not None and high <= 0 else False if low is not None and low > 0 else None
    if op == ">":
        return True if low is not None and low > 0 else False if high is not None and high <= 0 else None
    return True if low is not None and low >= 0 else False if high is not None and high < 0 else None


def _is_zero(v: Int) -> bool:
    return v.known and isinstance(v.const, int) and v.const == 0


def _as_interior(op: str, d: Int) -> Int | None:
    """`d op 0` for a difference whose largest term is a problem size or a block index, as an interior block
    meets it: `i < n` holds, `i >= n` does not, `i > 0` does. None: cannot tell."""
    top = max((max(s.rank for s in m) for m in d.terms), default=0)
    if top < 1 or d.varying or any(s.rank < 1 for m in d.terms for s in m):
        return None
    if top < 3:
        return _in_a_middle_block(op, d)
    signs = set()
    for mono, c in d.terms.items():
        if max(s.rank for s in mono) == top:
            if not isinstance(c, int):
                return None
            signs.add(c > 0)
    if len(signs) != 1:
        return None
    positive = signs.pop()
    return Int(int(op in (">", ">=") if positive else op in ("<", "<=")), BOOL)


def _in_a_middle_block(op: str, d: Int) -> Int:
    """The comparison in the middle of the grid (in block 1 of an unknown one), at the start of loops."""
    total: Lanes = d.const
    for mono, c in d.terms.items():
        value = 1
        for s in mono:
            middle = 1 if s.high is None else max(s.high // 2, 1)
            value *= middle if s.rank == 2 else s.low or 0
        total = total + c * value
    r = _COMPARE[op](total, 0)
    return Int(int(r), BOOL) if isinstance(r, bool) else Int(np.asarray(r).astype(np.int64), BOOL)


def binary(op: str, a: Int, b: Int, unknowns: Unknowns) -> Int:
    """Any binary operator but `&& || ,`."""
    if op in ("<<", ">>"):
        return shift_left(a, b, unknowns) if op == "<<" else shift_right(a, b, unknowns)
    if op in _COMPARE:
        return compare(op, a, b, unknowns)
    if op == "/":
        return divide(a, b, unknowns)
    if op == "%":
        return modulo(a, b, unknowns)
    if op == "&":
        return bit_and(a, b, unknowns)
    if op in ("^", "|"):
        return _bitwise(op, a, b, unknowns)
    t = common_type(a.type, b.type)
    if op == "+":
        r = add(a, b, t)
    elif op == "-":
        r = subtract(a, b, t)
    elif op == "*":
        if len(a.terms) * len(b.terms) > MOST_TERMS:
            return unknowns.derived("*", a, b, t)
        r = multiply(a, b, t)
    else:
        raise ValueError(f"no integer operator {op!r}")
    if r.terms or (
        isinstance(r.const, int) and -(1 << 31) <= r.const < (1 << 31) and (r.const >= 0 or t.kind == "int")
    ):
        return r
    if t.kind == "int" and op != "*":
        return r
    return wrapped(r)


def logical_not(a: Int, unknowns: Unknowns) -> Int:
    truth = truth_of(a, unknowns)
    return subtract(Int(1, BOOL), truth, BOOL)


def truth_of(a: Int, unknowns: Unknowns) -> Int:
    """a != 0 as 0 or 1."""
    if a.type is BOOL:
        return a
    return compare("!=", a, Int(0, a.type), unknowns)


def logical_and(a: Int, b: Int) -> Int:
    return multiply(a, b, BOOL)


def logical_or(a: Int, b: Int) -> Int:
    return subtract(add(a, b, BOOL), multiply(a, b, BOOL), BOOL)


def one_unknown(c: Int, unknowns: Unknowns) -> Int:
    """The same truth value as a single unknown, where it has grown to a long formula over whole blocks."""
    if (
        len(c.terms) < 2
        or not isinstance(c.const, int)
        or any(not isinstance(x, int) for x in c.terms.values())
    ):
        return c
    return unknowns.derived("truth", c, Int(0), BOOL, 0, 1)


MOST_TERMS = 24


def too_long(c: Int, a: Int, b: Int) -> bool:
    """Whether `select(c, a, b)` would be a formula that costs more than it tells."""
    return not c.known and (len(c.terms) + 1) * (len(a.terms) + len(b.terms)) > MOST_TERMS


def one_of_two(c: Int, a: Int, b: Int, unknowns: Unknowns) -> Int:
    """c ? a : b as one unknown between the ends of both."""
    (la, ha), (lb, hb) = bounds(a), bounds(b)
    low = None if la is None or lb is None else min(la, lb)
    high = None if ha is None or hb is None else max(ha, hb)
    reason = next((s.reason for v in (c, a, b) for m in v.terms for s in m if s.reason), None)
    uniform = a.uniform and b.uniform and c.uniform
    rank = min(_rank(a), _rank(b))
    return unknowns.value(
        a.type, "one of two values", varying=not uniform, low=low, high=high, rank=rank, reason=reason
    )


def select(c: Int, a: Int, b: Int) -> Int:
    """c ? a : b for a 0/1 value c: b + c * (a - b)."""
    t = common_type(a.type, b.type) if a.type != b.type else a.type
    if c.known:
        if isinstance(c.const, int):
            return (a if c.const else b).typed(t)
        keep = c.const != 0
        terms: dict[Monomial, Lanes] = {}
        for mono in {**a.terms, **b.terms}:
            merged = np.where(keep, a.terms.get(mono, 0), b.terms.get(mono, 0))
            value = collapse(merged)
            if not (isinstance(value, int) and value == 0):
                terms[mono] = value
        return Int(np.where(keep, a.const, b.const), t, terms)
    return add(b, multiply(c, subtract(a, b, t), t), t)


def is_unsigned(t: Scalar) -> bool:
    return t.kind == "uint"


__all__ = [
    "NONLINEAR",
    "UINT",
    "Unknowns",
    "binary",
    "compare",
    "convert",
    "logical_and",
    "logical_not",
    "logical_or",
    "select",
    "truth_of",
]
