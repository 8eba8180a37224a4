"""Comparisons, truth values and the choice between two numbers.

What arithmetic does not decide, scale does: a problem size is larger than a block, as guards take it.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.values import affine
from smemlint.evaluate.values.choices import MOST_WAYS, bits_of, each_way, on_way, ways_of
from smemlint.evaluate.values.division import exact_quotient
from smemlint.evaluate.values.number import (
    Int,
    Lanes,
    Monomial,
    Symbol,
    add,
    bare,
    bounds,
    collapse,
    form_of,
    formed,
    gcd_of,
    in_words,
    lanes_equal,
    multiply,
    subtract,
)
from smemlint.evaluate.values.unknowns import TURNED, Unknowns, rank_of
from smemlint.evaluate.values.widths import (
    common_type,
    is_long_unsigned,
    operand,
    promoted,
    range_of,
    unsigned,
    wrap_lanes,
)
from smemlint.ir import Scalar
from smemlint.ir.types import BOOL, LONG

COMPARISONS: dict[str, Callable[[Any, Any], object]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
NEGATED = {"!=": "==", ">=": "<", ">": "<="}
"""Comparisons that are the contrary of another, which stands for both."""

INTERIOR, LARGE = "interior-block", "large-size"
"""Kinds of assumptions: what a block in the middle of the grid finds; that a size is a large one."""
_BYTE = 255
FEW = 32
"""A size divided by this need not have a part for each lane."""
_EXTREME = 1 << 30
"""Numbers that no size and no index comes near to."""


def compare(op: str, a: Int, b: Int, unknowns: Unknowns) -> Int:
    """0 or 1 for each thread; an unknown of range 0..1 where neither arithmetic nor scale tells."""
    if a.known and b.known:
        t = common_type(a.type, b.type)
        x, y = wrap_lanes(a.const, t), wrap_lanes(b.const, t)
        r = COMPARISONS[op](unsigned(x), unsigned(y)) if is_long_unsigned(t) else COMPARISONS[op](x, y)
        if isinstance(r, bool):
            return Int(int(r), BOOL, None, _of_the_launch(op, a, b))
        each = np.asarray(r).astype(np.int64)
        apart = a.form is None or b.form is None or not a.form.terms or a.form.terms != b.form.terms
        return Int(each if apart else collapse(each), BOOL)
    t = common_type(a.type, b.type)
    wraps = t.kind == "uint" and (_may_wrap(a, b) or _may_wrap(b, a))
    around = wraps and op not in ("==", "!=")
    if (d := subtract(a, b, LONG)).known and not around:
        return compare(op, d, Int(0), unknowns)
    by_way = each_way(lambda x, y: compare(op, x, y, unknowns), a, b)
    if by_way is not None:
        return by_way
    a, b = operand(a, t, unknowns), operand(b, t, unknowns)
    if t.kind == "uint" and (_may_wrap(a, b) or _may_wrap(b, a)):
        return _either(op, a, b, unknowns)
    if a.known or b.known:
        number, limit, asked = (a, b, op) if b.known else (b, a, TURNED[op])
        beyond = _with_extreme(asked, number, limit, t, unknowns)
        if beyond is not None:
            return beyond
    d = subtract(a, b, LONG)
    low, high = bounds(d)
    if op in ("==", "!="):
        if ((low is not None and low > 0) or (high is not None and high < 0)) and not _is_mark(
            a, b, unknowns
        ):
            return Int(int(op == "!="), BOOL)
        if unknowns.edges and not d.uniform and _is_beside(d):
            unknowns.guessed.append(INTERIOR)
            return Int(int(op == "!="), BOOL)
    else:
        decided = _decided_by_ends(op, low, high)
        if decided is not None:
            return Int(int(decided), BOOL)
        if op in ("<", ">=") and _is_zero(b) and not d.varying and _by_block(d):
            unknowns.guessed.append(INTERIOR)
            return Int(int(op == ">="), BOOL)
        if unknowns.certain and not (unknowns.rests and _is_rest(d)):
            return _either(op, _in_steps(op, d, unknowns), Int(0), unknowns)
        if (not d.uniform or unknowns.interior) and not _of_few(d):
            guess = _as_interior(op, d) or _interior_each_way(op, d) or _between_sizes(op, d, unknowns)
            ranks = {s.rank for s in d.symbols()}
            if guess is not None and not (unknowns.setting and (max(ranks) < 3 or _goes_around(a, b))):
                middle = 2 in ranks
                unknowns.guessed.append(INTERIOR if middle else LARGE)
                return guess
    if op in ("==", "!=") and not d.uniform and not d.varying and _one_lane(d):
        hit = unknowns.one_lane(d, _may_be_zero(d))
        return hit if op == "==" else subtract(Int(1, BOOL), hit, BOOL)
    return _either(op, _in_steps(op, d, unknowns), Int(0), unknowns)


def _of_the_launch(op: str, a: Int, b: Int) -> affine.Affine | None:
    """What a compiler sees of a comparison that only the launch decides; None: it knows the answer."""
    if (a.form is None or not a.form.terms) and (b.form is None or not b.form.terms):
        return None
    x, y = form_of(a), form_of(b)
    return None if x.terms == y.terms else affine.atom(op, x, y, positive=True)


def _either(op: str, a: Int, b: Int, unknowns: Unknowns) -> Int:
    """The unknown of a comparison; one and its contrary have the same."""
    if unknowns.recipes is None and op in NEGATED:
        return subtract(Int(1, BOOL), _either(NEGATED[op], a, b, unknowns), BOOL)
    if op == "==":
        return unknowns.equal(subtract(a, b, LONG))
    return unknowns.derived(op, a, b, BOOL, 0, 1)


def _in_steps(op: str, d: Int, unknowns: Unknowns) -> Int:
    """What compares with 0 as d does and is the same for all lanes, where they stand within one step of what
    is not known: `128 * block + lane < 4096` as `block < 32`. Else d."""
    if op in ("==", "!=") or isinstance(d.const, int) or not Int(0, d.type, d.terms).uniform:
        return d
    step = 0
    for c in d.terms.values():  # not what an iteration is a multiple of: copies of a loop are alike or open
        step = gcd(step, gcd_of(c))
    least = 1 if op in ("<=", ">") else 0  # d <= 0 where d - 1 < 0
    part = collapse((d.const - least) // step) if step > 1 else d.const
    steps = exact_quotient(Int(0, d.type, d.terms), step, unknowns) if isinstance(part, int) else None
    return d if steps is None or not isinstance(part, int) else add(steps, Int(part + least), LONG)


def _may_wrap(v: Int, against: Int) -> bool:
    """Whether an unsigned number is known to go below zero for some values: `0u - (data & 3)`. Of 64 bits, a
    size is taken not to; of what has no lower end, only data may, what cannot be larger than zero, and what
    sizes are taken off where it is held against a number (`(unsigned)(lane - n) < 16u`)."""
    if v.known:
        return False
    if against.known and _is_taken_off(v):
        return True
    if v.type.size >= 8 and rank_of(v) > 0:
        return False
    low, high = bounds(v.typed(LONG))
    if low is None:
        return rank_of(v) == 0 or (high is not None and high <= 0)
    return low < 0


def _is_taken_off(v: Int) -> bool:
    """Whether a number is below zero where the sizes in it are large."""
    sizes = [c for mono, c in v.terms.items() if any(s.rank >= 3 for s in mono)]
    return bool(sizes) and not v.varying and all(isinstance(c, int) and c < 0 for c in sizes)


def _by_block(d: Int) -> bool:
    """Whether the block's place in the grid decides: in the middle no coordinate is negative."""
    return any(s.rank == 2 for s in d.symbols())


def _with_extreme(op: str, a: Int, b: Int, t: Scalar, unknowns: Unknowns) -> Int | None:
    """`a op b` for a known b that no size reaches (`x < 0x80000000u`), else None."""
    c = wrap_lanes(b.const, t) if isinstance(b.const, int) else 0
    if not isinstance(c, int):
        return None
    if is_long_unsigned(t):
        c %= 2**64
    if -_EXTREME < c < _EXTREME:
        return None
    least, most = range_of(promoted(a.type)) if a.type.kind != "int" or t.kind == "int" else range_of(t)
    low, high = bounds(a)
    low, high = least if low is None else low, most if high is None else high
    if op in ("==", "!="):
        decided = None if low <= c <= high else op == "!="
    else:
        decided = _decided_by_ends(op, low - c, high - c)
    if decided is None and rank_of(a) >= 1 and not a.varying and not unknowns.certain:
        unknowns.guessed.append(LARGE)
        decided = op in ("<", "<=", "!=") if c > 0 else op in (">", ">=", "!=")
    if decided is None:
        return _either(op, a, Int(c, t), unknowns)
    return Int(int(decided), BOOL)


def _one_lane(d: Int) -> bool:
    if isinstance(d.const, int) or any(not isinstance(c, int) for c in d.terms.values()):
        return False
    return len(np.unique(d.const)) == len(d.const)


def _may_be_zero(d: Int) -> NDArray[np.bool_]:
    """The lanes in which d may be 0, by the range of what is the same for all of them."""
    low, high = bounds(Int(0, d.type, d.terms))
    const = np.asarray(d.const)
    may = np.ones(len(const), dtype=bool)
    if low is not None:
        may &= const <= -low
    if high is not None:
        may &= const >= -high
    return may


def _decided_by_ends(op: str, low: int | None, high: int | None) -> bool | None:
    """Whether all between two ends compares so with 0, or nothing does."""
    last, first = (high, low) if op in ("<", "<=") else (low, high)
    if last is not None and COMPARISONS[op](last, 0):
        return True
    return False if first is not None and not COMPARISONS[op](first, 0) else None


def _is_mark(a: Int, b: Int, unknowns: Unknowns) -> bool:
    """Whether host code asks a number that nobody knows for one below zero, which says something else than a
    size: `if (group == -1)`."""
    if unknowns.recipes is None:
        return False
    mark, asked = (a, b) if a.known else (b, a)
    return mark.known and isinstance(mark.const, int) and mark.const < 0 and rank_of(asked) >= 3


def _is_zero(v: Int) -> bool:
    return v.known and isinstance(v.const, int) and v.const == 0


def _as_interior(op: str, d: Int) -> Int | None:
    """`d op 0` for a difference whose largest term is a problem size or a block index, as an interior block
    meets it: `i < n` holds, `i >= n` does not, `i > 0` does. None: cannot tell."""
    top = rank_of(d)
    if top < 1 or d.varying or any(s.rank < 1 or _is_narrow(s) for s in d.symbols()):
        return None
    if top < 3:
        return None if any(s.rank == 1 for s in d.symbols()) else _in_a_middle_block(op, d)
    if _is_moved_on(d):
        return _in_a_middle_block(op, d)
    largest = [mono for mono in d.terms if max(s.rank for s in mono) == top]
    decisive = [mono for mono in largest if not any(_outweighs(d, other, mono) for other in largest)]
    signs = {isinstance(c := d.terms[mono], int) and (c > 0) - (c < 0) for mono in decisive}
    if len(signs) != 1 or not (sign := signs.pop()):
        return None
    smaller = [c for mono in largest if mono not in decisive for c in [d.terms[mono]]]
    against = [np.asarray(c) * sign for c in smaller if not isinstance(c, int) or c * sign < 0]
    ends = all(s.rank >= 3 for mono in decisive for s in mono)
    if against and not (ends and all(np.all(c <= 0) for c in against)):
        return None  # no end of an array: blocks of an unknown size, or lanes that are added to it
    return Int(int(op in (">", ">=") if sign > 0 else op in ("<", "<=")), BOOL)


def _is_beside(d: Int) -> bool:
    """Whether d is not 0 in a block in the middle of the grid (`x - (width - 1)`). What each block has one of
    is no place of the grid: `x == first[blockIdx.x]`, `x == blockIdx.x * width`."""
    blocks = [mono for mono in d.terms if any(s.rank == 2 for s in mono)]
    if not blocks or any(s.reason is not None or s.name.endswith("[...]") for s in d.symbols()):
        return False
    signs = {isinstance(c := d.terms[mono], int) and (c > 0) - (c < 0) for mono in blocks}
    if len(signs) > 1 and any(s.rank >= 3 for mono in blocks for s in mono):
        return False
    below, up_to = _as_interior("<", d), _as_interior("<=", d)
    return below is not None and up_to is not None and lanes_equal(below.const, up_to.const)


def _is_moved_on(d: Int) -> bool:
    """Whether a block's place that run-time numbers move on is held against a number (`n + i < 512`): that
    one is the size, and where the place begins decides as little as which block it is."""
    signs = {isinstance(c, int) and (c > 0) - (c < 0) for c in d.terms.values()}
    if signs not in ({1}, {-1}) or any(s.rank >= 3 for mono in d.terms for s in mono if len(mono) > 1):
        return False
    return any(mono[0].rank == 2 for mono in d.terms if len(mono) == 1)


def _outweighs(d: Int, mono: Monomial, other: Monomial) -> bool:
    """Whether one term of a difference is far larger than another: what they do not have in common is a size
    against blocks and lanes (`height * pitch` against `row * pitch`), or blocks against lanes."""
    mine, its = Counter(mono), Counter(other)
    left, right = mine - its, its - mine
    weight = max((s.rank for s in left), default=0)
    if weight <= max((s.rank for s in right), default=0):
        return False
    return isinstance(d.terms[other], int) or weight < 3 or any(s.rank >= 3 and s.cut < FEW for s in left)


def _interior_each_way(op: str, d: Int) -> Int | None:
    """The same where an index depends on which way was taken: what all ways have in common. None: nothing."""
    bits = bits_of([d])
    if not bits or any(s.varying for s in bits):
        return None
    found: Int | None = None
    for way in ways_of(bits, MOST_WAYS) or ():
        on = on_way(d, way)
        told = None if on.known else _as_interior(op, on)
        if told is None or (found is not None and not lanes_equal(found.const, told.const)):
            return None
        found = told
    return found


def _of_few(d: Int) -> bool:
    """Whether lanes are compared with a size in parts of a warp's length and more (`lane < k / 256`): nobody
    can tell that there are as many of these as lanes. Where blocks count them there are."""
    symbols = list(d.symbols())
    sizes = [s for s in symbols if s.rank >= 3]
    return bool(sizes) and not any(s.rank == 2 for s in symbols) and all(s.cut >= FEW for s in sizes)


def _goes_around(a: Int, b: Int) -> bool:
    """Whether a size and lanes in sum are compared with a number (`n + lane >= 96`), no guard."""
    x = b if a.known else a
    return (a.known or b.known) and not np.any(np.asarray(x.const) < 0)


def _is_rest(d: Int) -> bool:
    """Whether a difference is what a size leaves from a block's place on (`n - blockIdx.x * 256`), which is a
    whole part for each block but those at the edge of the grid."""
    symbols = list(d.symbols())
    return any(s.rank >= 3 for s in symbols) and any(s.name.startswith("blockIdx") for s in symbols)


def _is_narrow(s: Symbol) -> bool:
    """Whether a value cannot be a large size: one of a byte."""
    return s.rank >= 3 and s.high is not None and s.high <= _BYTE


def _between_sizes(op: str, d: Int, unknowns: Unknowns) -> Int | None:
    """`d op 0` where sizes stand on both sides (`first + i > last`): which way it goes is unknown, but away
    from the edge it goes the same way in all lanes of a block."""
    sizes = any(s.rank >= 3 for s in d.symbols())
    if not sizes or d.uniform or d.varying or any(s.rank < 1 or _is_narrow(s) for s in d.symbols()):
        return None
    if isinstance(d.const, int) or any(not isinstance(c, int) for c in d.terms.values()):
        return None
    return unknowns.derived(op, Int(int(d.const.min()), d.type, d.terms), Int(0), BOOL, 0, 1)


def _in_a_middle_block(op: str, d: Int) -> Int:
    """The comparison in the middle of the grid (in block 1 of an unknown one)."""
    total: Lanes = d.const
    for mono, c in d.terms.items():
        value = 1
        for s in mono:
            middle = 1 if s.high is None else max(s.high // 2, 1)
            value *= middle if s.rank == 2 else s.low or 0
        total = total + c * value
    r = np.asarray(COMPARISONS[op](total, 0)).astype(np.int64)
    return Int(int(r.flat[0]) if (r == r.flat[0]).all() else r, BOOL)


def truth_of(a: Int, unknowns: Unknowns) -> Int:
    """a != 0 as 0 or 1."""
    if a.type is BOOL:
        return a
    result = compare("!=", a, Int(0, a.type), unknowns)
    if (a.form is None and not a.terms) or unknowns.recipes is not None:
        return result
    return formed(result, affine.atom("!=", form_of(a), positive=True))


def logical_not(a: Int, unknowns: Unknowns) -> Int:
    truth = truth_of(a, unknowns)
    return subtract(Int(1, BOOL), truth, BOOL)


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
        or (len(c.terms) <= MOST_TERMS // 2 and _of_one_choice(c))
    ):
        return c
    return unknowns.derived("truth", c, Int(0), BOOL, 0, 1)


def _of_one_choice(c: Int) -> bool:
    """Whether ways to one join point alone decide."""
    choices = {s.choice for s in c.symbols()}
    return len(choices) == 1 and 0 not in choices


MOST_TERMS = 24


def too_long(c: Int, a: Int, b: Int) -> bool:
    """Whether `select(c, a, b)` would be a formula that costs more than it tells."""
    if c.known:
        return False
    terms = len(a.terms) + len(b.terms)
    if _of_one_choice(c):  # ways add up; they do not multiply
        return terms > 4 * MOST_TERMS
    return (len(c.terms) + 1) * terms > MOST_TERMS


def one_of_two(c: Int, a: Int, b: Int, unknowns: Unknowns) -> Int:
    """c ? a : b as one unknown between the ends of both."""
    (la, ha), (lb, hb) = bounds(a), bounds(b)
    low = None if la is None or lb is None else min(la, lb)
    high = None if ha is None or hb is None else max(ha, hb)
    reason = next((s.reason for v in (c, a, b) for s in v.symbols() if s.reason), None)
    uniform = a.uniform and b.uniform and c.uniform
    rank = min(rank_of(a), rank_of(b))
    one = unknowns.value(
        a.type, "one of two values", varying=not uniform, low=low, high=high, rank=rank, reason=reason
    )
    return formed(one, affine.either(form_of(c), form_of(a), form_of(b)))


def extreme(pick: str, a: Int, b: Int, unknowns: Unknowns) -> Int:
    """The smaller (`min`) or larger (`max`) of two numbers that do not tell which."""
    t = common_type(a.type, b.type)
    (la, ha), (lb, hb) = bounds(a), bounds(b)
    if pick == "min":
        low = None if la is None or lb is None else min(la, lb)
        highs = [h for h in (ha, hb) if h is not None]
        return unknowns.derived("min", a, b, t, low, min(highs) if highs else None)
    high = None if ha is None or hb is None else max(ha, hb)
    lows = [x for x in (la, lb) if x is not None]
    return unknowns.derived("max", a, b, t, max(lows) if lows else None, high)


def select(c: Int, a: Int, b: Int) -> Int:
    """c ? a : b for a 0/1 value c: b + c * (a - b)."""
    if c.known and isinstance(c.const, int) and c.form is None:
        return _selected(c, a, b)
    if a.form is None and b.form is None and c.form is None:
        return _selected(c, a, b)
    result = _selected(bare(c), bare(a), bare(b))
    return formed(result, affine.either(form_of(c), form_of(a), form_of(b)))


def _selected(c: Int, a: Int, b: Int) -> Int:
    t = common_type(a.type, b.type) if a.type != b.type else a.type
    if c.known:
        if isinstance(c.const, int):
            return (a if c.const else b).typed(t)
        keep = c.const != 0
        terms: dict[Monomial, Lanes] = {}
        for mono in {**a.terms, **b.terms}:
            of_a, of_b = in_words(a.terms.get(mono, 0)), in_words(b.terms.get(mono, 0))
            if isinstance(of_a, int) and isinstance(of_b, int) and of_a == of_b:
                value: Lanes = of_a
            else:
                value = collapse(np.where(keep, of_a, of_b))
            if not (isinstance(value, int) and value == 0):
                terms[mono] = value
        const: Lanes = np.where(keep, in_words(a.const), in_words(b.const))
        return Int(const, t, terms)
    return add(b, multiply(c, subtract(a, b, t), t), t)
