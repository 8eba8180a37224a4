"""What a compiler can prove of an integer: a constant plus multiples of values that it knows nothing about.

The evaluator knows the block, the arguments and every lane's number; nvcc knows none of them. An `Affine`
follows each integer beside its value, by the operators that made it, as an optimiser's known bits and
affine forms do: two addresses have a known distance only if their terms are equal, and are known to be
aligned only as far as `divides` says. Numbers that merely happen to fit prove nothing.
"""

from __future__ import annotations

from collections.abc import Hashable

_MOST = 1 << 20
"""More is never asked for."""
MASKED = 31
_SMALL = 1 << 10
UNSURE = 1
"""What nothing else is sure to share (`Affine.dropped`)."""
Terms = tuple[tuple[int, int], ...]


class Affine:
    """const + the sum of terms, (what stands for a value, its coefficient), sorted. Immutable.

    divides: the power of two known to divide the sum of the terms, 0 where there are none. It is that of the
    worst term that went into it: a compiler does not add up `17 * (16 - t) + t`. But it sees what a number
    and its negative leave: `(2 * t - lane) + lane` is `2 * t`.
    dropped: more is taken for known than a compiler must see; it does not count for equality. A shift drops
    what was added below (`(8 * t + 1) >> 5` for `(8 * t) >> 5`): then what names the sums as written,
    and two that drop the same differ by what the compiler sees. UNSURE where a value that a launch decides is
    as well aligned on all ways, or known in a loop. 0: nothing.
    """

    __slots__ = ("_hash", "const", "divides", "dropped", "terms")
    _hash: int
    """Set when it is asked first."""

    def __init__(self, const: int, terms: Terms = (), divides: int = 0, dropped: int = 0) -> None:
        self.const = const
        self.terms = terms
        self.divides = divides
        self.dropped = dropped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Affine):
            return NotImplemented
        return self.const == other.const and self.terms == other.terms and self.divides == other.divides

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(_distinct((self.const, self.terms, self.divides)))
            return self._hash

    def __repr__(self) -> str:
        return f"Affine({self.const}, {self.terms}, {self.divides})"


def atom(
    *origin: Hashable,
    divides: int = 1,
    const: int = 0,
    cut: int = 0,
    small: bool = False,
    dropped: int = 0,
) -> Affine:
    """A value of which only its origin is known, what divides it, and the rest `const`. cut: MASKED, or the
    power of two that it was divided by. small: a compiler sees that it is not negative, and far from the ends
    of its type (threadIdx, `x & 7`). dropped: see Affine; also where it is so of what it comes from."""
    divides = min(divides, _MOST)
    traits = (cut if cut == MASKED else cut.bit_length()) << 5 | divides.bit_length() - 1
    traits |= _SMALL if small else 0
    for o in origin:
        if type(o) is Affine and o.dropped:
            dropped = _both(dropped, *[o.dropped for o in origin if type(o) is Affine])
            break
    return Affine(const, ((hash(_distinct(origin)) << 11 | traits, 1),), divides, dropped)


def number(n: int) -> Affine:
    """A known number."""
    return _NUMBERS[n] if 0 <= n < len(_NUMBERS) else Affine(n)


_NUMBERS = tuple(map(Affine, range(65)))
"""The numbers that are asked for most."""


def _dropped(a: Affine, b: Affine) -> int:
    """What names all that two values drop."""
    return a.dropped if not b.dropped else b.dropped if not a.dropped else _both(a.dropped, b.dropped)


def _both(*dropped: int) -> int:
    """What names all that some values drop."""
    found = sorted({each for each in dropped if each})
    if len(found) < 2:
        return found[0] if found else 0
    return UNSURE if UNSURE in found else hash(tuple(found)) | 2


def _distinct(value: Hashable) -> Hashable:
    """What stands for a value where it is hashed: Python's -1 and -2 have one hash, odd numbers never do."""
    if isinstance(value, int):
        return 2 * value + 1
    if not isinstance(value, tuple):
        return value
    return tuple(
        [
            2 * part + 1
            if type(part) is int
            else part
            if type(part) is Affine or type(part) is str or type(part) is bytes
            else _distinct(part)
            for part in value
        ]
    )


def cuts(value: int, by: int) -> bool:
    """Whether a value times a power of two is what `&` leaves of another: `(x & 7) * 4`, `(x >> 3) * 8`."""
    cut = value >> 5 & 31
    return cut == MASKED or cut == by.bit_length() > 1


def is_cut(value: int) -> bool:
    """Whether a value is what a mask, a shift or a division leaves of another."""
    return value >> 5 & 31 != 0


def power_of_two_in(n: int) -> int:
    """The largest power of two that divides n, 0 for 0."""
    return n & -n


def _worst(a: int, b: int) -> int:
    """What divides a sum, by what divides its parts; 0 divides like everything."""
    return min(a, b) if a and b else a or b


def whole(v: Affine) -> int:
    """The power of two known to divide all of v; 0: v is 0."""
    return _worst(v.divides, power_of_two_in(v.const))


def add(a: Affine, b: Affine) -> Affine:
    """Return a + b, with what a compiler still knows of it."""
    dropped = _dropped(a, b)
    if not b.terms:
        return Affine(a.const + b.const, a.terms, a.divides, dropped) if b.const or dropped else a
    if not a.terms:
        return Affine(a.const + b.const, b.terms, b.divides, dropped)
    terms = dict(a.terms)
    for value, factor in b.terms:
        terms[value] = terms.get(value, 0) + factor
    kept = tuple(sorted([(v, f) for v, f in terms.items() if f]))
    if len(kept) == abs(len(a.terms) - len(b.terms)):  # all terms of one are gone
        return Affine(a.const + b.const, kept, divisor(kept), dropped)
    return Affine(a.const + b.const, kept, _worst(a.divides, b.divides), dropped)


def divisor(terms: Terms) -> int:
    """What divides the worst of some terms, 0 where there are none."""
    return min((min(power_of_two_in(f) << (v & 31), _MOST) for v, f in terms), default=0)


def scale(a: Affine, by: int) -> Affine:
    """Return a times a number, with what a compiler still knows of it."""
    if by == 1:
        return a
    if by == 0:
        return Affine(0, dropped=a.dropped)
    divides = min(a.divides * power_of_two_in(by), _MOST)
    return Affine(a.const * by, tuple([(v, f * by) for v, f in a.terms]), divides, a.dropped)


def multiply(a: Affine, b: Affine) -> Affine:
    """Return a * b, with what a compiler still knows of it."""
    if not b.terms:
        return _loosened(scale(a, b.const), b)
    if not a.terms:
        return _loosened(scale(b, a.const), a)
    first, second = sorted((a, b), key=lambda v: (v.terms, v.const))
    return atom("*", first, second, divides=max(whole(a), 1) * max(whole(b), 1))


def _loosened(a: Affine, by: Affine) -> Affine:
    """What was made of two, where more of the second is taken for known than a compiler must see."""
    return Affine(a.const, a.terms, a.divides, _both(a.dropped, by.dropped)) if by.dropped else a


def either(condition: Hashable, a: Affine, b: Affine) -> Affine:
    """One of two values, as a condition decides."""
    if a == b:
        return a
    divides = _worst(_worst(a.divides, b.divides), power_of_two_in(a.const - b.const))
    dropped = UNSURE if _shifts(a, b) else 0
    return atom("?", condition, a, b, divides=divides, const=a.const % divides, dropped=dropped)


def _shifts(a: Affine, b: Affine) -> bool:
    """Whether two values are one that is shifted by two numbers: of `t << (c ? 2 : 3)` less is known."""
    if a.const or b.const or len(a.terms) != 1 or len(b.terms) != 1:
        return False
    (x, p), (y, q) = *a.terms, *b.terms
    return x == y and p != q and min(p, q) > 0 and not p & (p - 1) and not q & (q - 1)


def _never_negative(a: Affine) -> bool:
    """Whether a compiler sees that a sum is not negative."""
    return a.const >= 0 and all(value & _SMALL and factor > 0 for value, factor in a.terms)


def combine(op: str, a: Affine, b: Affine, *, positive: bool) -> Affine:
    """`a op b`. positive: a is known not to be negative; of `>>`, because its type has no sign."""
    if op == "+":
        return add(a, b)
    if op == "-":
        return add(a, scale(b, -1))
    if op == "*":
        return multiply(a, b)
    if op == "<<":
        return scale(a, 1 << b.const) if not b.terms and 0 <= b.const < 32 else _opaque(op, a, b, whole(a))
    if op in ("|", "^"):
        return _bitwise(op, a, b)
    if op == "&" and not a.terms:
        a, b = b, a
    if b.terms:
        return _opaque(op, a, b, max(whole(a), whole(b)) if op == "&" else 1)
    n = b.const
    if op == "&":
        return _masked(a, n)
    if op == ">>" and 0 <= n < 32:
        return _divided(a, 1 << n, floor=True, unsigned=positive)
    if op == "/" and n > 0:
        return _divided(a, n, floor=positive and n & (n - 1) == 0)
    if op == "%" and n > 0 and n & (n - 1) == 0 and positive:
        return _masked(a, n - 1, pairs=False)
    return _opaque(op, a, b, 1)


def _opaque(op: str, a: Affine, b: Affine, divides: int) -> Affine:
    return atom(op, a, b, divides=max(divides, 1))


def _divided(a: Affine, by: int, *, floor: bool, unsigned: bool = False) -> Affine:
    """a / by. floor: rounds down, and `by` is a power of two.

    nvcc takes `(8 * t + 1) >> 5` for `(8 * t) >> 5` in most places where the number is unsigned or plainly
    not negative, and not where t is an int of which it knows nothing (read off the machine code).
    """
    small, dropped = _never_negative(a), a.dropped
    shift = by if by & (by - 1) == 0 and by < 1 << 30 else 0
    if all(factor % by == 0 for _, factor in a.terms) and (floor or a.const % by == 0):
        terms = tuple((v, factor // by) for v, factor in a.terms)
        divides = max(a.divides // power_of_two_in(by), 1) if terms else 0
        return Affine(a.const // by, terms, divides, dropped)
    if floor and a.divides % by == 0:
        divides = max(a.divides // by, 1)
        return atom(
            "/", a.terms, by, divides=divides, const=a.const // by, cut=shift, small=small, dropped=dropped
        )
    if floor and shift and (unsigned or small):
        low = _without_low(a)
        if low.const != a.const:
            dropped = _both(dropped, hash(_distinct((a.const, a.terms, by))) | 2)
        a = low
    # Of a number that may be negative `/ 8` and `>> 3` are two things.
    return atom("/" if floor else "/ to 0", a, by, cut=shift, small=small, dropped=dropped)


def _without_low(a: Affine) -> Affine:
    """Without the low bits that are known, which no shift carries into the rest."""
    return Affine(a.const - a.const % max(a.divides, 1), a.terms, a.divides, a.dropped)


def cut_to(a: Affine, bits: int, *, signed: bool, whole: bool) -> Affine:
    """An integer of so many bits that is made of a longer one: it is masked (`(unsigned char)(4 * t + i)`),
    or of a signed one the low bits that are known are apart. whole: no bit is lost here."""
    if not a.terms:
        return a
    (value, factor), *others = a.terms
    low = a.const % max(a.divides, 1)
    masked = not others and factor == 1 and value >> 5 & 31 == MASKED
    if bits == 16 and whole and masked and low == a.const:
        return a  # it stays in its register of 16 bits, and there are none of 8
    if not signed:
        return _masked(a, (1 << bits) - 1)
    return atom("cast", _without_low(a), bits, divides=max(a.divides, 1), const=low)


def _masked(a: Affine, mask: int, *, pairs: bool = True) -> Affine:
    """a & mask: what it clears at the low end is known too.

    Of `(4 * t + i) & 127` nvcc sees for some i only how far it is from i = 0 (read off the machine code); for
    all of them in pairs, `(2 * t + i) & 127`, and not with `%`.
    """
    if not a.terms:
        return Affine(a.const & mask)
    if mask == -1:
        return a
    known = a.divides
    while known < _MOST and not mask & known:
        known <<= 1
    low = a.const % a.divides & mask & (known - 1)
    unsure = low and mask >= a.divides and not (pairs and a.divides == 2)
    dropped = UNSURE if unsure else 0
    return atom(
        "&", _without_low(a), mask, divides=known, const=low, cut=MASKED, small=mask >= 0, dropped=dropped
    )


def _bitwise(op: str, a: Affine, b: Affine) -> Affine:
    """`a | b`, `a ^ b`: a sum where one fills the known low zeros of the other."""
    if not a.terms:
        a, b = b, a
    if not a.terms:
        return Affine(a.const | b.const if op == "|" else a.const ^ b.const)
    if not b.terms and 0 <= b.const < a.divides:
        low = a.const % a.divides
        const = a.const - low + (low | b.const if op == "|" else low ^ b.const)
        return Affine(const, a.terms, a.divides, a.dropped)
    if a == b:
        return a if op == "|" else Affine(0)
    known = _worst(a.divides, b.divides)
    low_a, low_b = a.const % known, b.const % known
    return atom(op, a, b, divides=known, const=low_a | low_b if op == "|" else low_a ^ low_b)
