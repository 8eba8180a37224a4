"""Values that depend on which way was taken: 0/1 unknowns for the ways, and each way can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import product
from typing import TypeAlias

from smemlint.evaluate.values.number import Int, Lanes, Monomial, Symbol, add, lanes_equal, multiply, subtract
from smemlint.ir.types import BOOL

Way: TypeAlias = "Mapping[Symbol, int]"
"""What 0/1 unknowns are on one way; those of one choice are all there, or none."""

MOST_WAYS = 16
"""Ways of which an operator is applied to each."""


def bits_of(values: Iterable[Int]) -> list[Symbol]:
    """The 0/1 unknowns in values, in the order in which they were made."""
    return sorted({s for v in values for s in v.symbols() if s.bit}, key=lambda s: (s.choice, s.order))


def ways_of(bits: Iterable[Symbol], most: int) -> list[dict[Symbol, int]] | None:
    """All that 0/1 unknowns can be together; None where that is more than `most`."""
    groups: dict[object, list[Symbol]] = {}
    for s in bits:
        groups.setdefault(s.choice or s, []).append(s)
    count = 1
    for group in groups.values():
        count *= len(group) + 1
        if count > most:
            return None
    alternatives = [
        [{s: int(s is taken) for s in group} for taken in (None, *group)] for group in groups.values()
    ]
    return [{s: n for part in parts for s, n in part.items()} for parts in product(*alternatives)]


def on_way(v: Int, way: Way) -> Int:
    """A value where some 0/1 unknowns are known."""
    if all(map(way.keys().isdisjoint, v.terms)):
        return v
    const: Lanes = v.const
    terms: dict[Monomial, Lanes] = {}
    for mono, c in v.terms.items():
        if any(way.get(s) == 0 for s in mono):
            continue
        rest = tuple(s for s in mono if s not in way)
        if rest:
            terms[rest] = terms[rest] + c if rest in terms else c
        else:
            const = const + c
    kept = {m: c for m, c in terms.items() if not lanes_equal(c, 0)}
    return Int(const, v.type, kept, v.form)


def taken(c: Int, truth: bool) -> dict[Symbol, int]:
    """What is known where a 0/1 value is true, or false: of the unknown that it is, and of its choice."""
    if len(c.terms) != 1 or not isinstance(c.const, int):
        return {}
    ((mono, factor),) = c.terms.items()
    if len(mono) != 1 or not mono[0].bit or not isinstance(factor, int):  # a factor of each lane: no 0 or 1
        return {}
    if (c.const, factor) not in ((0, 1), (1, -1)):
        return {}
    return {mono[0]: int(truth is (factor == 1))}


def with_choice(known: Way, v: Int) -> Way:
    """`known`, and that the others of a choice are 0 where one of them is 1; for the unknowns of v."""
    ones = {s.choice for s, n in known.items() if n == 1 and s.choice}
    if not ones:
        return known
    others = {s: 0 for s in v.symbols() if s.choice in ones and s not in known}
    return {**known, **others} if others else known


def each_way(apply: Callable[..., Int], *values: Int) -> Int | None:
    """An operator applied to numbers that only the ways decide, on each way by itself; None where something
    else is not known either."""
    if not any(v.terms for v in values) or any(not s.bit for v in values for s in v.symbols()):
        return None
    ways = _indicated(tuple(bits_of(values)))
    if ways is None:
        return None
    results = [apply(*[on_way(v, way) for v in values]) for way, _ in ways]
    total = base = results[0]
    for (_, on), result in zip(ways[1:], results[1:], strict=True):
        total = add(total, multiply(on, subtract(result, base, base.type), base.type), base.type)
    return total


@lru_cache(maxsize=64)
def _indicated(bits: tuple[Symbol, ...]) -> list[tuple[Way, Int]] | None:
    """The ways of some 0/1 unknowns, with what is 1 on each alone: the same ones come again and again."""
    ways = ways_of(bits, MOST_WAYS)
    return None if ways is None else [(way, indicator(way)) for way in ways]


def indicator(way: Way) -> Int:
    """1 on a way, 0 on all others."""
    result = Int(1, BOOL)
    ones = {s.choice for s, n in way.items() if n == 1 and s.choice}
    for s, n in way.items():
        if n:
            result = multiply(result, Int(0, BOOL, {(s,): 1}), BOOL)
        elif s.choice not in ones:
            result = multiply(result, Int(1, BOOL, {(s,): -1}), BOOL)
    return result
