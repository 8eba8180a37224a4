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
_POSITIVE = 1 << 11
_SIGNED = 1 << 12
_EARLY = 13
_TRAITS = 18
"""A value's traits, in its low bits: five of what divides it, five of how it was cut, what is seen of its
sign, and five of what the optimiser knows to divide it."""
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
    early: int = 0,
    positive: bool | None = None,
) -> Affine:
    """A value of which only its origin is known, what divides it, and the rest `const`. cut: MASKED, or the
    power of two that it was divided by. small: machine code sees that it is not negative, and far from the
    ends of its type (threadIdx, `x & 7`). dropped: see Affine; also where it is so of what it comes from.
    early: what the optimiser knows to divide it, where that is more. positive: whether the optimiser sees
    that it is not negative (of an int, it does not see it of threadIdx); None: nobody knows."""
    divides = min(divides, _MOST)
    traits = _traits(divides, cut=cut, small=small, early=early, positive=positive)
    for o in origin:
        if type(o) is Affine and o.dropped:
            dropped = _all_drops(dropped, *[o.dropped for o in origin if type(o) is Affine])
            break
    return Affine(const, ((hash(_distinct(origin)) << _TRAITS | traits, 1),), divides, dropped)


def _traits(
    divides: int, *, cut: int = 0, small: bool = False, early: int = 0, positive: bool | None = None
) -> int:
    traits = (cut if cut == MASKED else cut.bit_length()) << 5 | divides.bit_length() - 1
    traits |= (_SMALL if small else 0) | (0 if positive is None else _POSITIVE if positive else _SIGNED)
    return traits | (max(min(early, _MOST), divides).bit_length() - 1) << _EARLY


def number(n: int) -> Affine:
    """A known number."""
    return _NUMBERS[n] if 0 <= n < len(_NUMBERS) else Affine(n)


_NUMBERS = tuple(map(Affine, range(65)))
"""The numbers that are asked for most."""


def _dropped(a: Affine, b: Affine) -> int:
    """What names all that two values drop."""
    return a.dropped if not b.dropped else b.dropped if not a.dropped else _all_drops(a.dropped, b.dropped)


def _all_drops(*dropped: int) -> int:
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


def early(v: Affine) -> int:
    """What the optimiser knows to divide the sum of the terms, 0 where there are none."""
    if v.divides != divisor(v.terms):
        return v.divides
    return min((min(power_of_two_in(f) << (x >> _EARLY & 31), _MOST) for x, f in v.terms), default=0)


def _sign(v: Affine) -> bool | None:
    """Whether the optimiser sees that a sum is not negative; None: of some of its values nobody knows."""
    if any(x & _SIGNED for x, _ in v.terms):
        return False
    return True if v.const >= 0 and all(f > 0 and x & _POSITIVE for x, f in v.terms) else None


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
    divides = _worst(a.divides, b.divides)
    if divides == 1 and (known := _put_together(kept)):
        return Affine(a.const + b.const, kept, known, UNSURE)
    return Affine(a.const + b.const, kept, divides, dropped)


def _put_together(terms: Terms) -> int:
    """What divides the sum of some terms where they are `x / 16 * 16 + x % 16`, of which the optimiser makes
    x in loops, and not where it wrote `x / 16` in another way before; else 0."""
    for x, f in terms:
        if f == 1 and _is_seen_early(x):
            for quotient, n in terms:
                if _is_quotient(quotient, n) and _remainder_name(quotient, n) == x >> _TRAITS:
                    others = tuple([(v, g) for v, g in terms if v not in (x, quotient)])
                    return min(1 << (x >> _EARLY & 31), divisor(others) or _MOST)
    return 0


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
    positive = _of_both(first, second)
    return atom("*", first, second, divides=max(whole(a), 1) * max(whole(b), 1), positive=positive)


def _of_both(a: Affine, b: Affine) -> bool | None:
    """Whether the optimiser sees of two values that neither is negative."""
    signs = _sign(a), _sign(b)
    return False if False in signs else None if None in signs else True


def limit(pick: str, a: Affine, b: Affine) -> Affine:
    """The `min` or `max` of two values: only the optimiser sees how it is aligned."""
    positive = True if pick == "max" and True in (_sign(a), _sign(b)) else _of_both(a, b)
    known = max(_worst(*(_worst(early(v), power_of_two_in(v.const)) for v in (a, b))), 1)
    if positive:  # it may see that the limit is never reached
        return atom(pick, a, b, divides=known, dropped=UNSURE, positive=True)
    return atom(pick, a, b, early=known, positive=positive)


def _loosened(a: Affine, by: Affine) -> Affine:
    """What was made of two, where more of the second is taken for known than a compiler must see."""
    return Affine(a.const, a.terms, a.divides, _all_drops(a.dropped, by.dropped)) if by.dropped else a


def either(condition: Hashable, a: Affine, b: Affine) -> Affine:
    """One of two values, as a condition decides."""
    if a == b:
        return a
    divides = _worst(_worst(a.divides, b.divides), power_of_two_in(a.const - b.const))
    dropped = UNSURE if _shifts(a, b) else 0
    positive = _of_both(a, b)
    const = a.const % divides
    return atom("?", condition, a, b, divides=divides, const=const, dropped=dropped, positive=positive)


def _shifts(a: Affine, b: Affine) -> bool:
    """Whether two values are one that is shifted by two numbers: of `t << (c ? 2 : 3)` less is known."""
    if a.const or b.const or len(a.terms) != 1 or len(b.terms) != 1:
        return False
    (x, p), (y, q) = *a.terms, *b.terms
    return x == y and p != q and min(p, q) > 0 and not p & (p - 1) and not q & (q - 1)


def _never_negative(a: Affine) -> bool:
    """Whether a compiler sees that a sum is not negative."""
    return a.const >= 0 and all(value & _SMALL and factor > 0 for value, factor in a.terms)


def combine(
    op: str, a: Affine, b: Affine, *, positive: bool, unsigned: bool = False, wide: bool = False
) -> Affine:
    """`a op b`. positive: a is known not to be negative. unsigned: the type has no sign. wide: it has 64
    bits, so that an unsigned number that became an int is not negative."""
    if op == "+":
        return add(a, b)
    if op == "-":
        found = add(a, scale(b, -1))
        unsure = _is_remainder(a, b)
        return Affine(found.const, found.terms, found.divides, UNSURE) if unsure else found
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
        return _divided(a, 1 << n, floor=True, unsigned=unsigned)
    if op == "/" and n > 0:
        return _divided(a, n, floor=positive and n & (n - 1) == 0, unsigned=unsigned)
    if op == "%" and n > 0:
        return _remainder(a, n, positive, True if unsigned else None if wide else _sign(a))
    return _opaque(op, a, b, 1)


def _remainder(a: Affine, n: int, positive: bool, sign: bool | None) -> Affine:
    """a % n. sign: whether the optimiser sees that a is not negative: then it makes a mask where n is a power
    of two. Else machine code does not see how the remainder is aligned. It does of another n, unless the
    optimiser knows so much of a that it divides numbers of fewer bits."""
    if a.terms and early(a) % n == 0 and a.const % n == 0:
        return number(0)
    if n & (n - 1) or not a.terms:
        divides = min(max(whole(a), 1), power_of_two_in(n))
        return atom("%", a, n, divides=divides, positive=sign, dropped=UNSURE if _sign(a) else 0)
    if sign or (sign is None and positive):
        masked = _masked(a, n - 1, pairs=False)
        return masked if sign else Affine(masked.const, masked.terms, masked.divides, UNSURE)
    return _seen_early(a, n, _divided(a, n, floor=positive), sign)


def _seen_early(a: Affine, n: int, quotient: Affine, positive: bool | None) -> Affine:
    """A remainder by a power of two of which machine code does not see how it is aligned."""
    known = min(early(a), n)
    low = a.const % known
    (value, _) = quotient.terms[0]
    name = _remainder_name(value, n) if len(quotient.terms) == 1 and not low else hash(_distinct((a, n)))
    return Affine(low, ((name << _TRAITS | _traits(1, early=known, positive=positive), 1),), 1, a.dropped)


def _remainder_name(quotient: int, n: int) -> int:
    """What names a remainder by the value that is its quotient."""
    return hash(_distinct(("%", quotient >> _TRAITS, n)))


def _is_seen_early(value: int) -> bool:
    return value >> _EARLY & 31 > value & 31


def _is_remainder(a: Affine, b: Affine) -> bool:
    """Whether a - b is `x - x / 16 * 16`: machine code mostly does not see how it is aligned."""
    if b.const or len(b.terms) != 1 or not a.terms:
        return False
    ((value, n),) = b.terms
    if not _is_quotient(value, n):
        return False
    name = [(value >> _TRAITS, 1)]
    return any(
        [(x >> _TRAITS, f) for x, f in _divided(a, n, floor=floor).terms] == name for floor in (True, False)
    )


def _is_quotient(value: int, n: int) -> bool:
    """Whether a value is what a division by a power of two gives."""
    return n > 1 and not n & (n - 1) and value >> 5 & 31 == n.bit_length()


def _opaque(op: str, a: Affine, b: Affine, divides: int) -> Affine:
    return atom(op, a, b, divides=max(divides, 1))


def _divided(a: Affine, by: int, *, floor: bool, unsigned: bool = False) -> Affine:
    """a / by. floor: rounds down, and `by` is a power of two.

    nvcc takes `(8 * t + 1) >> 5` for `(8 * t) >> 5` in most places where the number is unsigned or plainly
    not negative, and not where t is an int of which it knows nothing (read off the machine code).
    """
    small, dropped = _never_negative(a), a.dropped
    positive = (by > 1 or None) if unsigned else _sign(a)
    shift = by if by & (by - 1) == 0 and by < 1 << 30 else 0
    if all(factor % by == 0 for _, factor in a.terms) and (floor or a.const % by == 0):
        terms = tuple((v, factor // by) for v, factor in a.terms)
        divides = max(a.divides // power_of_two_in(by), 1) if terms else 0
        return Affine(a.const // by, terms, divides, dropped)
    if floor and a.divides % by == 0:
        divides = max(a.divides // by, 1)
        return atom(
            "/",
            a.terms,
            by,
            divides=divides,
            const=a.const // by,
            cut=shift,
            small=small,
            dropped=dropped,
            positive=positive,
        )
    if floor and shift and (unsigned or small):
        low = _without_low(a)
        if low.const != a.const:
            dropped = _all_drops(dropped, hash(_distinct((a.const, a.terms, by))) | 2)
        a = low
    # Of a number that may be negative `/ 8` and `>> 3` are two things.
    op = "/" if floor else "/ to 0"
    return atom(op, a, by, cut=shift, small=small, dropped=dropped, positive=positive)


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
    plain, small = _without_low(a), mask >= 0
    positive = small or _sign(a)
    return atom(
        "&",
        plain,
        mask,
        divides=known,
        const=low,
        cut=MASKED,
        small=small,
        dropped=dropped,
        positive=positive,
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
    low = low_a | low_b if op == "|" else low_a ^ low_b
    return atom(op, a, b, divides=known, const=low, positive=_of_both(a, b))
