"""Launches whose shape host code does not tell: the shapes to try, and what each of them says of arguments.

A block clamped to a limit has at most that many threads; one that the command line gives may have any usual
number. `scan<<<1, n / 2>>>(p, n)` ties the argument to the block: with 128 threads n is 256.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf, prod
from typing import TypeAlias

from smemlint.evaluate.values.comparison import COMPARISONS
from smemlint.evaluate.values.number import Int, Symbol, bounds, subtract
from smemlint.evaluate.values.provenance import (
    LARGEST,
    ONE_OF,
    SET_TO,
    Recipes,
    agree,
    chain,
    fits,
    limits_of,
    only_symbol,
    solve,
    value_at,
)
from smemlint.ir.types import BOOL, LONG
from smemlint.records import record

Limits: TypeAlias = "Mapping[int, tuple[float, float]]"
"""By order of an unknown: the least and the most that it can be."""
MAX_THREADS = 1024
MAX_DYNAMIC = 227 * 1024
"""Bytes of dynamic shared memory that a block can have on any device."""
USUAL = (256, 128, 512, 64, 1024, 32)
"""Threads of a block in x, the most common first."""
SQUARE = (16, 32, 8)
"""The same where another extent is unknown as well."""
WIDE = (64, 128)
"""Extents in x beside which the others follow from it: `dim3(n, 256 / n)`."""
ROWS = (4, 8, 2, 1, 16)
"""The same where the extents that are known make whole warps."""
MOST_CONDITIONS = 3
"""Conditions that choose a shape together."""
MOST_CHOICES = 16
"""Values of an unknown that are tried one by one."""
FULL_WARP = 32
ALL_TOLD = 4
"""Of more sizes those below a warp are left out, if there are others."""
MOST_BITS = 40
"""Exponents of a power of two that are tried: more make no block."""


@record(frozen=True, slots=True)
class Candidate:
    """A shape that an open launch may have. limit: the largest that the source allows."""

    block: tuple[int, int, int]
    dynamic: int | None
    arguments: Mapping[str, int]
    limit: bool = False
    stated: bool = False
    """Whether host code says all of its shapes in so many words: `small ? 64 : 128`."""
    default: bool = False
    """Whether it is that of a program which is told nothing."""


def default_first(default: Candidate, others: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return shapes to try, that of a program which is told nothing before the others."""
    return (replace(default, default=True), *(c for c in others if c.block != default.block))


def candidates(
    block: Sequence[Int],
    dynamic: Int | None,
    arguments: Mapping[str, Int],
    recipes: Recipes,
    held: Sequence[tuple[Int, int]] = (),
) -> tuple[Candidate, ...]:
    """Shapes of a launch with unknown extents, the most probable first; none where nothing is known of any.

    arguments: the integer arguments of the kernel by name. held: conditions before the launch, and what they
    are.
    """
    limits = limits_of(held, recipes)
    open_extents = [i for i, v in enumerate(block) if not v.known]
    if not open_extents:
        return ()
    stated = _at_a_limit(block, dynamic, arguments, recipes, limits)
    stated = stated or _stated(block, dynamic, arguments, recipes, limits)
    stated = stated or _one_by_one(block, dynamic, arguments, recipes, held)
    if stated:
        return stated
    rows = prod(v.const for v in block if v.known and isinstance(v.const, int))
    usual = ROWS if rows % 32 == 0 else USUAL if len(open_extents) == 1 else SQUARE
    leader = open_extents[0]
    found: dict[tuple[int, int, int], Candidate] = {}
    values, limit = _values(block[leader], usual, recipes)
    most = _most(block[leader], limits, recipes)
    if most is not None and (limit is None or most < limit):
        values, limit = list(dict.fromkeys([most, *values])), most
    wide = WIDE if usual is SQUARE and leader == 0 else ()
    for n in dict.fromkeys([*values, *(n for n in wide if limit is None or n <= limit)]):
        given = solve(block[leader], n, recipes)
        if not fits(given, limits) or (limit is not None and n > limit):
            continue
        extents = [value_at(v, given, recipes) for v in block]
        extents[leader] = n
        if n not in values and None in extents:
            continue
        for i in open_extents[1:]:
            if extents[i] is None:
                room = MAX_THREADS // prod(n for n in extents if n)
                extents[i] = next((n for n in _values(block[i], usual, recipes)[0] if n <= room), None)
                if extents[i] is not None:
                    given |= solve(block[i], extents[i] or 0, recipes)
        x, y, z = extents
        if x is None or y is None or z is None or min(x, y, z) < 1 or x * y * z > MAX_THREADS:
            continue
        made = _made((x, y, z), dynamic, arguments, given, recipes)
        if made is not None:
            found.setdefault((x, y, z), replace(made, limit=n == limit))
    return tuple(found.values())


def _made(
    block: tuple[int, int, int],
    dynamic: Int | None,
    arguments: Mapping[str, Int],
    given: Mapping[int, int],
    recipes: Recipes,
) -> Candidate | None:
    """A shape with what it says of the arguments; None where its memory is more than any device has."""
    tied = {name: value_at(v, given, recipes) for name, v in arguments.items()}
    known = {name: n for name, n in tied.items() if n is not None}
    bytes_ = value_at(dynamic, given, recipes) if dynamic is not None else None
    if bytes_ is not None and not 0 <= bytes_ <= MAX_DYNAMIC:
        return None
    return Candidate(block, bytes_, known)


def _at_a_limit(
    block: Sequence[Int],
    dynamic: Int | None,
    arguments: Mapping[str, Int],
    recipes: Recipes,
    limits: Limits,
) -> tuple[Candidate, ...]:
    """The shape where conditions keep what is open at its limit: `min(n, 1024)` behind `if (n > 1024)`."""
    given: dict[int, int] = {}
    for v in block:
        symbol = only_symbol(v)
        if v.known or symbol is None:
            continue
        low, high = bounds(v)
        op, *options = recipes.get(symbol.order, ("",))
        part = next((x for x in options if isinstance(x, Int) and x.terms), None)
        s = only_symbol(part) if part is not None and op in ("min", "max") else None
        if part is None or s is None or min(*v.terms.values(), *part.terms.values()) < 0:
            return ()
        least, most = limits.get(s.order, (-inf, inf))
        end, limit = (least, high) if op == "min" else (most, low)
        if limit is None or abs(end) == inf or value_at(v, {s.order: int(end)}, recipes) != limit:
            return ()
        given |= solve(v, limit, {})
    x, y, z = (value_at(v, given, recipes) or 0 for v in block)
    made = _made((x, y, z), dynamic, arguments, given, recipes)
    return () if made is None or x * y * z == 0 else (replace(made, stated=True),)


def _stated(
    block: Sequence[Int],
    dynamic: Int | None,
    arguments: Mapping[str, Int],
    recipes: Recipes,
    limits: Limits,
) -> tuple[Candidate, ...]:
    """The shapes between which few conditions choose alone; none where a number has a say."""
    bits = dict.fromkeys(s for v in block for s in v.symbols())
    if len(bits) > MOST_CONDITIONS or not all(s.bit and s.order in recipes for s in bits):
        return ()
    found: dict[tuple[int, int, int], Candidate] = {}
    for ways in product((1, 0), repeat=len(bits)):
        held = [(Int(0, BOOL, {(s,): 1}), way) for s, way in zip(bits, ways, strict=True)]
        given = dict(zip((s.order for s in bits), ways, strict=True))
        if not fits(given, limits) or not agree(held, {}, recipes):
            continue
        for condition, way in held:
            given |= solve(condition, way, recipes)
        x, y, z = (value_at(v, given, recipes) or 0 for v in block)
        made = _made((x, y, z), dynamic, arguments, given, recipes)
        if made is not None and min(x, y, z) >= 1 and x * y * z <= MAX_THREADS:
            found.setdefault((x, y, z), replace(made, stated=True))
    return tuple(found.values())


def _one_by_one(
    block: Sequence[Int],
    dynamic: Int | None,
    arguments: Mapping[str, Int],
    recipes: Recipes,
    held: Sequence[tuple[Int, int]],
) -> tuple[Candidate, ...]:
    """The shapes where one number decides alone and there are few that it can be; none where there is no such
    number."""
    leader = next(v for v in block if not v.known)
    for s in chain(leader, recipes):
        found: dict[tuple[int, int, int], Candidate] = {}
        for n in _few(s, leader, recipes, held) or ():
            given = {s.order: n}
            extents = [value_at(v, given, recipes) for v in block]
            x, y, z = (n or 0 for n in extents)
            if None in extents:
                return ()
            if min(x, y, z) < 1 or x * y * z > MAX_THREADS or not agree(held, given, recipes):
                continue
            made = _made((x, y, z), dynamic, arguments, given, recipes)
            if made is not None:
                same = found.get((x, y, z), made)
                agreed = {k: v for k, v in made.arguments.items() if same.arguments.get(k) == v}
                bytes_ = made.dynamic if made.dynamic == same.dynamic else None
                found[x, y, z] = replace(made, arguments=agreed, dynamic=bytes_, stated=True)
        if len(found) > ALL_TOLD and any(prod(b) >= FULL_WARP for b in found):
            found = {b: c for b, c in found.items() if prod(b) >= FULL_WARP}
        if 0 < len(found) <= MOST_CHOICES:
            order = {n: i for i, n in enumerate(USUAL)}
            return tuple(
                sorted(found.values(), key=lambda c: (order.get(prod(c.block), len(order)), -c.block[0]))
            )
    return ()


def _few(s: Symbol, extent: Int, recipes: Recipes, held: Sequence[tuple[Int, int]]) -> Sequence[int] | None:
    """All that an unknown can be, where that is few: its limits say so, checks name each value, or it is the
    exponent of a power of two."""
    low, high = limits_of(held, recipes).get(s.order, (-inf, inf))
    low, high = max(low, s.low or 0), min(high, inf if s.high is None else s.high)
    if high - low < MOST_CHOICES:
        return range(int(low), int(high) + 1)
    told = _set_to(s, recipes)
    if told:
        return told
    asked = list(_compared(s, recipes, held))
    named = sorted({n for op, n in asked if op in ("==", "!=")})
    others = {n + d for _, n in asked for d in (-1, 0, 1)} - set(named)
    if named and not any(agree(held, {s.order: n}, recipes) for n in others):
        return named
    shifts = [
        recipe for x in chain(extent, recipes) if (recipe := recipes.get(x.order)) and recipe[0] == "<<"
    ]
    if any(only_symbol(exponent) == s for _, _, exponent in shifts):
        return range(int(low), MOST_BITS)
    return None


def _set_to(s: Symbol, recipes: Recipes) -> list[int]:
    """The numbers that a member is set to."""
    op, number, rest = recipes.get(s.order, ("", Int(0), Int(0)))
    if op != SET_TO:
        return []
    other = only_symbol(rest)
    return [n for n in (number.const, rest.const) if isinstance(n, int) and n] + (
        [] if other is None else _set_to(other, recipes)
    )


def _compared(s: Symbol, recipes: Recipes, held: Sequence[tuple[Int, int]]) -> Iterator[tuple[str, int]]:
    """How conditions compare an unknown, and with which numbers."""
    queue = [c for c, _ in held]
    seen: set[int] = set()
    for c in queue:
        for order in {x.order for mono in c.terms for x in mono} - seen:
            seen.add(order)
            op, a, b = recipes.get(order, ("", Int(0), Int(0)))
            if op in COMPARISONS and only_symbol(d := subtract(a, b, LONG)) == s:
                yield from ((op, n) for n in solve(d, 0, {}).values())
            elif op == "truth":
                queue.append(a)


def _most(v: Int, limits: Limits, recipes: Recipes) -> int | None:
    """The largest extent that checks before the launch leave."""
    for s in chain(v, recipes):
        high = limits.get(s.order, (-inf, inf))[1]
        n = value_at(v, {s.order: int(high)}, recipes) if high != inf else None
        if n is not None and 1 <= n <= MAX_THREADS:
            return n
    return None


def _values(v: Int, usual: Sequence[int], recipes: Recipes) -> tuple[list[int], int | None]:
    """Values of one extent to try, the most probable first, and the limit that the source names."""
    low, high = bounds(v)
    for s in chain(v, recipes):
        recipe = recipes.get(s.order)
        if recipe is not None and recipe[0] == LARGEST and high is not None:
            return [high], high
        least = s.low or 0
        if s.high is not None and 0 <= s.high - least < MOST_CHOICES:
            each = [value_at(v, {s.order: n}, recipes) for n in range(s.high, least - 1, -1)]
            possible = [n for n in dict.fromkeys(each) if n is not None and 1 <= n <= MAX_THREADS]
            return possible, max(possible, default=None)
    named = [n for n in _named(v, recipes) if 1 <= n <= MAX_THREADS]
    if high is not None:
        high = min(high, MAX_THREADS)
        named.insert(0, high)
    fitting = [n for n in usual if (high is None or n <= high) and (low is None or n >= low)]
    return list(dict.fromkeys([*named, *fitting])), high


def _named(v: Int, recipes: Recipes) -> list[int]:
    """The numbers between which a choice is made."""
    found: list[int] = []
    symbol = only_symbol(v)
    recipe = recipes.get(symbol.order) if symbol is not None else None
    if symbol is not None and recipe is not None and recipe[0] == ONE_OF:
        for option in recipe[1:]:
            given = value_at(option, {}, recipes)
            n = value_at(v, {symbol.order: given}, recipes) if given is not None else None
            found += [n] if n is not None else []
    return found


def is_multiple(v: Int, of: int, recipes: Recipes) -> bool:
    """Whether a number is a multiple of another whatever the unknown numbers in it are."""
    if not isinstance(v.const, int) or v.const % of:
        return False
    for mono, c in v.terms.items():
        recipe = recipes.get(mono[0].order) if len(mono) == 1 else None
        options = recipe[1:] if recipe is not None and recipe[0] in ("min", "max", ONE_OF) else ()
        known = options and all(isinstance(x, Int) and is_multiple(x, of, recipes) for x in options)
        if c % of and not known:
            return False
    return True
