"""Values: an integer is a polynomial in unknowns whose coefficients are known for every thread.

`threadIdx.x * n + k` is {(n,): [0, 1, 2, ...], (): k}. A coefficient that is one number for the whole block
is a Python int, else an int64 vector over the block's threads (padded to whole warps). Of an unsigned number
of 64 bits they hold the bits: 2**64 - 1 is -1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import affine
from smemlint.evaluate.values.affine import Affine
from smemlint.evaluate.values.lanes import some
from smemlint.ir import Scalar
from smemlint.ir.types import INT
from smemlint.records import record

Lanes: TypeAlias = "int | NDArray[np.int64]"

_MIN, _MAX = np.minimum.reduce, np.maximum.reduce
"""What the methods of arrays call in the end."""


@record(eq=False, slots=True)
class Ring:
    """(lanes + start) mod size, as of a ring buffer whose start is not known: lanes are known numbers, start
    is one number for the block (or for each warp), of which `begins` is what is known."""

    lanes: NDArray[np.int64]
    size: int
    begins: Int


@record(eq=False, slots=True)
class Symbol:
    """An unknown integer, immutable. `varying`: may differ from lane to lane, else one value for all lanes.

    low, high: what is known of its range. multiple: a number known to divide it.
    rank: how large it is in practice (3: problem sizes, 2: block index, 1: loop counters, 0: nothing known);
    guards such as `i < n` are decided by it. order: creation order, which sorts monomials.
    """

    order: int
    name: str
    varying: bool = False
    low: int | None = None
    high: int | None = None
    multiple: int = 1
    rank: int = 0
    reason: Unresolved | None = None
    choice: int = 0
    """Of 0/1 unknowns of which at most one is 1 (each stands for one way to a join point): their number."""
    shared: bool = False
    """Where it varies: whether the lanes of one warp have one value, which other warps need not have."""
    alone: bool = False
    """Of a 0/1 unknown: whether it is 1 in one lane of the block, whichever that is (`threadIdx.x == u`)."""
    cut: int = 1
    """What a size was divided by (`k / 256`): it may be no large one."""
    ring: Ring | None = None
    """Of a remainder: the places in a ring that it stands for."""

    @property
    def bit(self) -> bool:
        """Whether it is 0 or 1."""
        return self.low == 0 and self.high == 1


Monomial: TypeAlias = tuple[Symbol, ...]


class Int:
    """An integer of C type `type`: const + sum of coefficient * product of symbols. Immutable.

    form: what a compiler can prove of it; None: no more than what the number tells (`form_of`).
    """

    __slots__ = ("_bounds", "_key", "_proved", "const", "form", "given", "seen", "terms", "type")

    _bounds: tuple[int | None, int | None]
    _key: tuple[object, ...] | None
    _proved: Affine
    """What bounds(), key() and form_of() found; set when they are asked first."""
    seen: tuple[NDArray[np.bool_], Int | None] | None
    """The last mask that this was read under, and what its lanes see of it; None: just this."""
    given: tuple[NDArray[np.bool_], Int, Affine] | None
    """Set where some lanes were given a value: the mask, the value, and what is proved of the others."""

    def __init__(
        self,
        const: Lanes,
        type: Scalar = INT,
        terms: dict[Monomial, Lanes] | None = None,
        form: Affine | None = None,
    ) -> None:
        self.const = const
        self.type = type
        self.terms: dict[Monomial, Lanes] = terms or {}
        self.form = form
        self.seen = self.given = None

    @property
    def known(self) -> bool:
        return not self.terms

    @property
    def uniform(self) -> bool:
        """One value for all threads, known or not."""
        if not isinstance(self.const, int):
            return False
        for mono, c in self.terms.items():
            if not isinstance(c, int):
                return False
            for s in mono:
                if s.varying:
                    return False
        return True

    @property
    def shared(self) -> bool:
        """One value for the lanes of each warp, as far as the unknowns go that it adds up."""
        terms = self.terms.items()
        if not isinstance(self.const, int) or any(not isinstance(c, int) for _, c in terms):
            return False
        return all(s.shared or not s.varying for mono, _ in terms for s in mono)

    def symbols(self) -> Iterator[Symbol]:
        """Yield the unknowns that it adds up, one as often as terms hold it."""
        return chain.from_iterable(self.terms)

    @property
    def varying(self) -> bool:
        """Holds an unknown that may differ from lane to lane."""
        for mono in self.terms:
            for s in mono:
                if s.varying:
                    return True
        return False

    def typed(self, type: Scalar) -> Int:
        return self if type is self.type else Int(self.const, type, self.terms, self.form)

    def key(self) -> tuple[object, ...] | None:
        """Equal keys: equal values. None when a coefficient is a vector."""
        try:
            return self._key
        except AttributeError:
            self._key = self._made_key()
            return self._key

    def _made_key(self) -> tuple[object, ...] | None:
        if not isinstance(self.const, int) or any(not isinstance(c, int) for c in self.terms.values()):
            return None
        if not self.terms:
            return (self.const, ())
        return (self.const, tuple(sorted([(tuple([s.order for s in m]), c) for m, c in self.terms.items()])))

    def __repr__(self) -> str:
        parts = [f"{c}*{'*'.join(s.name for s in m)}" for m, c in self.terms.items()]
        return f"Int({' + '.join([str(self.const), *parts])}: {self.type.name})"


def lanes_equal(a: Lanes, b: Lanes) -> bool:
    """Whether two coefficients are the same in every lane."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return a is b or not some(np.not_equal(a, b))


def collapse(c: Lanes, active: NDArray[np.bool_] | None = None) -> Lanes:
    """The same coefficient, as a Python int when all (active) threads agree."""
    if isinstance(c, int):
        return c
    asked = c if active is None else c[active]
    if asked.size == 0:
        return 0
    first = int(asked[0])
    if asked[-1] != first or some(asked != first):
        return c
    return first


def gcd_of(c: Lanes) -> int:
    """Greatest common divisor of all coefficients, 0 for all zero."""
    if isinstance(c, int):
        return abs(c)
    return int(np.gcd.reduce(c))


def multiple_of(mono: Monomial) -> int:
    """Return what divides a product of symbols."""
    return mono[0].multiple if len(mono) == 1 else math.prod(s.multiple for s in mono)


def one_for_each_warp(v: Int) -> bool:
    """Whether the lanes of each warp have one value: `rows[threadIdx.x / 32]`."""
    if any(s.varying and not s.shared for s in v.symbols()):
        return False
    parts = [c for c in (v.const, *v.terms.values()) if not isinstance(c, int)]
    return all(c.size % 32 == 0 and lanes_equal(c, np.repeat(c[::32], 32)) for c in parts)


def plus(a: Int, n: int) -> Int:
    """a + n, in a's type."""
    if n == 0:
        return a
    form = None if a.form is None else affine.add(a.form, affine.number(n))
    return Int(a.const + n, a.type, a.terms, form)


def add(a: Int, b: Int, type: Scalar) -> Int:
    """Return a + b in a type; numbers beyond 64 bits wrap."""
    try:
        return _add(a, b, type)
    except OverflowError:
        return _add(_in_words(a), _in_words(b), type)


def _add(a: Int, b: Int, type: Scalar) -> Int:
    form = None if a.form is None and b.form is None else affine.add(form_of(a), form_of(b))
    if not b.terms:
        return Int(a.const + b.const, type, a.terms, form)
    terms = dict(a.terms)
    for mono, c in b.terms.items():
        old = terms.get(mono)
        total = c if old is None else old + c
        if isinstance(total, int):
            if total == 0:
                terms.pop(mono, None)
                continue
        elif not some(total):
            terms.pop(mono, None)
            continue
        terms[mono] = total
    return Int(a.const + b.const, type, terms, form)


def in_words(c: Lanes) -> Lanes:
    """A coefficient as 64 bits hold it: numbers of no lane in particular may have grown longer."""
    if not isinstance(c, int) or -(2**63) <= c < 2**63:
        return c
    return (c + 2**63) % 2**64 - 2**63


def _in_words(v: Int) -> Int:
    return Int(in_words(v.const), v.type, {m: in_words(c) for m, c in v.terms.items()}, v.form)


def form_of(v: Int) -> Affine:
    """What a compiler can prove of a number: by the operators that made it, else by itself."""
    if v.form is not None:
        return v.form
    if type(v.const) is int and not v.terms:
        return affine.number(v.const)
    try:
        return v._proved
    except AttributeError:
        v._proved = _by_itself(v)
        return v._proved


def _by_itself(v: Int) -> Affine:
    """What the number alone proves."""
    form = Affine(0)
    if isinstance(v.const, int):
        form = Affine(v.const)
    else:
        first = int(v.const[0])
        steps = v.const - first
        divides = affine.power_of_two_in(gcd_of(steps))
        form = affine.atom("lanes", steps.tobytes(), divides=divides) if divides else form
        form = affine.add(form, Affine(first))
    for mono, c in v.terms.items():
        product = tuple([s.order for s in mono])
        if isinstance(c, int):
            term = affine.scale(affine.atom("unknown", product, divides=_power(multiple_of(mono))), c)
        else:
            divides = _power(gcd_of(c)) * _power(multiple_of(mono))
            term = affine.atom("unknown", product, c.tobytes(), divides=divides)
        form = affine.add(form, term)
    return form


def _power(n: int) -> int:
    return max(affine.power_of_two_in(n), 1)


def scale(a: Int, factor: Lanes, type: Scalar) -> Int:
    """Return a times a factor, one number or one a lane."""
    try:
        return _scale(a, factor, type)
    except OverflowError:
        return _scale(_in_words(a), in_words(factor), type)


def _scale(a: Int, factor: Lanes, type: Scalar) -> Int:
    if isinstance(factor, int) and factor == 0:
        return Int(0, type)
    form = None
    if a.form is not None:
        by = affine.number(factor) if isinstance(factor, int) else form_of(Int(factor))
        form = affine.multiply(a.form, by)
    terms = {m: c * factor for m, c in a.terms.items()} if a.terms else None
    return Int(a.const * factor, type, terms, form)


def subtract(a: Int, b: Int, type: Scalar) -> Int:
    """Return a - b in a type."""
    if a.form is None and b.form is None and not a.terms and not b.terms:
        try:
            return Int(a.const - b.const, type)
        except OverflowError:
            pass
    return add(a, scale(b, -1, type), type)


def multiply(a: Int, b: Int, type: Scalar) -> Int:
    """Return a * b in a type, term by term."""
    if a.form is None and b.form is None:
        return _multiply(a, b, type)
    return formed(_multiply(bare(a), bare(b), type), affine.multiply(form_of(a), form_of(b)))


def bare(v: Int) -> Int:
    """The same number without what is proved of it, for operators whose result is formed as a whole."""
    return v if v.form is None else Int(v.const, v.type, v.terms)


def formed(v: Int, form: Affine) -> Int:
    """The same number, of which a compiler can prove this."""
    return Int(v.const, v.type, v.terms, form)


def _multiply(a: Int, b: Int, type: Scalar) -> Int:
    if not a.terms:
        return scale(b, a.const, type)
    if not b.terms:
        return scale(a, b.const, type)
    result = add(
        scale(a, b.const, type),
        Int(0, type, {m: c * a.const for m, c in b.terms.items() if not _zero(a.const)}),
        type,
    )
    for ma, ca in a.terms.items():
        for mb, cb in b.terms.items():
            mono = _product(ma, mb)
            if mono is not None:
                result = add(result, Int(0, type, {mono: ca * cb}), type)
    return result


def _product(a: Monomial, b: Monomial) -> Monomial | None:
    """a * b. A 0/1 unknown is its own square; two of one choice are never 1 together: None, for 0."""
    if len(a) == len(b) == 1:  # as nearly always
        x, y = a[0], b[0]
        if x is y:
            return a if x.bit else (x, x)
        if x.choice and x.choice == y.choice:
            return None
        return (x, y) if x.order <= y.order else (y, x)
    symbols = sorted(a + b, key=lambda s: s.order)
    chosen: dict[int, Symbol] = {}
    for s in symbols:
        if s.choice and chosen.setdefault(s.choice, s) is not s:
            return None
    return tuple(s for i, s in enumerate(symbols) if i == 0 or s is not symbols[i - 1] or not s.bit)


def _zero(c: Lanes) -> bool:
    return isinstance(c, int) and c == 0


def symbol_range(mono: Monomial) -> tuple[int | None, int | None]:
    """Range of a product of symbols; unknown ends are None."""
    if len(mono) == 1:
        return mono[0].low, mono[0].high
    low: int | None = 1
    high: int | None = 1
    for s in mono:
        if s.low is None or s.low < 0:
            return None, None
        low = None if low is None else low * s.low
        high = None if high is None or s.high is None else high * s.high
    return low, high


def bounds(v: Int) -> tuple[int | None, int | None]:
    """Smallest and largest value that any thread can have; None: not known."""
    try:
        return v._bounds
    except AttributeError:
        v._bounds = _bounds_of(v)
        return v._bounds


def _bounds_of(v: Int) -> tuple[int | None, int | None]:
    low: int | None
    high: int | None
    low, high = ends_of(v.const)
    for mono, c in v.terms.items():
        if low is None and high is None:
            break
        s_low, s_high = symbol_range(mono)
        least, most = ends_of(c)
        ends: list[int] = []
        for coefficient in (least, most) if least != most else (least,):
            if coefficient == 0:
                ends.append(0)
                continue
            if s_low is not None:
                ends.append(coefficient * s_low)
            if s_high is not None:
                ends.append(coefficient * s_high)
        unbounded_low = (most > 0 and s_low is None) or (least < 0 and s_high is None)
        unbounded_high = (most > 0 and s_high is None) or (least < 0 and s_low is None)
        low = None if low is None or unbounded_low else low + min(ends)
        high = None if high is None or unbounded_high else high + max(ends)
    if low is not None and low < 0 and v.type.size == 8 and v.type.kind == "uint":
        return _unsigned_ends(v, low, high)
    return low, high


def _unsigned_ends(v: Int, low: int, high: int | None) -> tuple[int | None, int | None]:
    """The range of an unsigned number of 64 bits some of whose lanes are kept as negative ones."""
    if v.terms:
        return None, None
    return (low + 2**64, high + 2**64) if high is not None and high < 0 else (0, 2**64 - 1)


def ends_of(c: Lanes) -> tuple[int, int]:
    """Return the smallest and the largest of a coefficient."""
    return (c, c) if isinstance(c, int) else (int(_MIN(c)), int(_MAX(c)))
