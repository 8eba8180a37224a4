"""How the unknowns of host code were made: what else follows when one of them is known.

`dim3 block(n / 2)` of an unknown n has 128 threads where n is 256, and everything else that is made of n is
known as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import TypeAlias

from smemlint.evaluate.values.choices import bits_of, on_way
from smemlint.evaluate.values.comparison import COMPARISONS
from smemlint.evaluate.values.number import Int, Symbol, bounds, subtract
from smemlint.evaluate.values.unknowns import TURNED, Unknowns
from smemlint.ir.types import LONG

Recipes: TypeAlias = "Mapping[int, tuple[str, Int, Int]]"
"""By order of an unknown: the operator that gave it, and what it was applied to."""
Given: TypeAlias = "Mapping[int, int]"
"""By order of an unknown: its value."""

CONTRARY = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
ONE_OF = "one of"
"""The operator of a choice between two values that nobody can decide."""
DEFAULT = "default"
"""The operator of what a number is unless the program is told another: that number, and the other."""
SET_TO = "set to"
"""The operator of a choice between two numbers, or between one and such a choice, that are all there are."""
LARGEST = "largest that fits"
"""Of a number that the runtime chooses as large as it can: its limit."""
MOST_PARTS = 8
"""Conditions that one is taken apart into."""
DEEPEST = 12
"""Operators in one another that are followed."""

_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "min": min,
    "max": max,
    "truth": lambda a, b: int(a != 0),
}


def value_at(v: Int, given: Given, recipes: Recipes, depth: int = 0) -> int | None:
    """The value of a uniform integer where some unknowns are given; None where that is not enough."""
    if not isinstance(v.const, int) or depth > DEEPEST:
        return None
    total = v.const
    for mono, c in v.terms.items():
        if not isinstance(c, int):
            return None
        product = c
        for s in mono:
            n = given.get(s.order)
            if n is None:
                recipe = recipes.get(s.order)
                n = _evaluated(recipe, given, recipes, depth + 1) if recipe is not None else None
            if n is None:
                return None
            product *= n
        total += product
    return total


def _evaluated(recipe: tuple[str, Int, Int], given: Given, recipes: Recipes, depth: int) -> int | None:
    op, left, right = recipe
    a, b = value_at(left, given, recipes, depth), value_at(right, given, recipes, depth)
    if a is None or b is None:
        return None
    if op in COMPARISONS:
        return int(bool(COMPARISONS[op](a, b)))
    if op in ("/", "%"):
        return None if a < 0 or b <= 0 else a // b if op == "/" else a % b
    if op in ("<<", ">>"):
        return None if not 0 <= b < 62 else a << b if op == "<<" else a >> b
    return _OPERATORS[op](a, b) if op in _OPERATORS else None


def solve(v: Int, target: int, recipes: Recipes, *, exact: bool = False) -> dict[int, int]:
    """What the unknowns are where v has a value, as far as that follows. exact: a quotient says nothing of
    what was divided; else it is taken to leave no rest."""
    given: dict[int, int] = {}
    for _ in range(DEEPEST):
        s = only_symbol(v)
        c = v.terms.get((s,)) if s is not None else None
        if s is None or not isinstance(v.const, int) or not isinstance(c, int) or (target - v.const) % c:
            break
        n = (target - v.const) // c
        given[s.order] = n
        recipe = recipes.get(s.order)
        cut = exact and recipe is not None and recipe[0] in ("/", ">>")
        before = _undone(recipe, n) if recipe is not None and not cut else None
        if before is None:
            break
        v, target = before
    return given


def _undone(recipe: tuple[str, Int, Int], n: int) -> tuple[Int, int] | None:
    """The operand that is not a number, and the value that it had for the operator to give n."""
    op, a, b = recipe
    if (op == "==" and n == 1) or (op == "!=" and n == 0):
        return subtract(a, b, LONG), 0
    if op == "truth":
        return (a, 1) if n == 1 and bounds(a) == (0, 1) else (a, 0) if n == 0 else None
    if b.known and isinstance(b.const, int):
        k = b.const
        if op == "/":
            return a, n * k
        if op == ">>" and 0 <= k < 32:
            return a, n << k
        if (op == "min" and n < k) or (op == "max" and n > k):
            return a, n
        return None
    if a.known and isinstance(a.const, int):
        k = a.const
        if (op == "min" and n < k) or (op == "max" and n > k):
            return b, n
        if op == "<<" and k == 1 and n > 0 and n & (n - 1) == 0:
            return b, n.bit_length() - 1
    return None


def following(v: Int, n: Int, unknowns: Unknowns) -> dict[int, int]:
    """What is given in host code where v is n, besides what was given before."""
    if unknowns.recipes is None or not n.known or not isinstance(n.const, int):
        return unknowns.given
    return unknowns.given | solve(v, n.const, unknowns.recipes, exact=True)


def agree(held: Iterable[tuple[Int, int]], given: Given, recipes: Recipes) -> bool:
    """Whether conditions can be what they are held to be together, as far as limits of numbers tell."""
    conditions = list(held)
    asked = {s.order for c, _ in conditions for s in c.symbols()}
    # What the numbers say of a condition, beside what it is held to be.
    numbers = {order: n for order, n in given.items() if order not in asked}
    for c, way in conditions:
        for known in (value_at(c, numbers, recipes), value_at(c, given, recipes)):
            if known is not None and bool(known) != bool(way):
                return False
    limits = limits_of(conditions, recipes)
    return all(low <= high for low, high in limits.values()) and fits(given, limits)


def limits_of(held: Iterable[tuple[Int, int]], recipes: Recipes) -> dict[int, tuple[float, float]]:
    """The least and the most that unknowns (by order) can be where conditions are as they are held to be."""
    limits: dict[int, tuple[float, float]] = {}
    for part, what in (x for c, way in held for x in _conditions_in(c, way, recipes)):
        limit = _limit(part, what, recipes)
        if limit is not None:
            order, low, high = limit
            least, most = limits.get(order, (-inf, inf))
            limits[order] = max(low, least), min(high, most)
    return limits


def _conditions_in(c: Int, way: int, recipes: Recipes) -> Iterator[tuple[Int, int]]:
    """What follows for the conditions that one is made of: none of `a || b` holds where that does not."""
    symbol = only_symbol(c)
    recipe = recipes.get(symbol.order) if symbol is not None else None
    if recipe is not None and recipe[0] == "truth" and (c.const, c.terms[(symbol,)]) == (0, 1):  # type: ignore[index]
        c = recipe[1]
    if len(c.terms) == 1:
        yield c, way
        return
    for s in bits_of([c])[:MOST_PARTS]:
        for value in (0, 1):
            other = on_way(c, {s: value})
            if other.known and isinstance(other.const, int) and bool(other.const) != bool(way):
                yield Int(0, c.type, {(s,): 1}), 1 - value


def fits(given: Given, limits: Mapping[int, tuple[float, float]]) -> bool:
    """Whether unknowns with these values are within their limits."""
    return all(limits[order][0] <= n <= limits[order][1] for order, n in given.items() if order in limits)


def _limit(c: Int, way: int, recipes: Recipes) -> tuple[int, float, float] | None:
    """What a condition says of the one number that it compares: `n > 16` that n is 17 at least."""
    symbol = only_symbol(c)
    recipe = recipes.get(symbol.order) if symbol is not None else None
    if symbol is None or recipe is None or (c.const, c.terms[(symbol,)]) not in ((0, 1), (1, -1)):
        return None
    op, d = recipe[0], subtract(recipe[1], recipe[2], LONG)
    compared = only_symbol(d)
    k = d.terms[(compared,)] if compared is not None else None
    if compared is None or not isinstance(k, int) or not isinstance(d.const, int) or op not in COMPARISONS:
        return None
    if bool(way) != (c.const == 0):
        op = CONTRARY[op]
    # k * n + const `op` 0
    floor, ceil = -d.const // k, -(d.const // k)
    if k < 0:
        op = TURNED[op]
    ranges = {
        "<": (-inf, ceil - 1), "<=": (-inf, floor), ">": (floor + 1, inf), ">=": (ceil, inf),
        "==": (ceil, floor), "!=": (-inf, inf),
    }  # fmt: skip
    return compared.order, *ranges[op]


def only_symbol(v: Int) -> Symbol | None:
    """The unknown of `c * s + k`."""
    if len(v.terms) != 1:
        return None
    (mono,) = v.terms
    return mono[0] if len(mono) == 1 else None


def chain(v: Int, recipes: Recipes) -> list[Symbol]:
    """Unknowns each of which decides v alone, the last made first: of `(n / 2) + 1` the quotient, then n."""
    found: list[Symbol] = []
    while len(found) < DEEPEST:
        s = only_symbol(v)
        if s is None:
            break
        found.append(s)
        recipe = recipes.get(s.order)
        operands = [x for x in recipe[1:] if x.terms] if recipe is not None else []
        if len(operands) != 1:
            break
        v = operands[0]
    return found


def made_of(v: Int, recipes: Recipes) -> set[int]:
    """Orders of the unknowns with a recipe that v is made of, as far as DEEPEST operations lead."""
    seen: set[int] = set()
    level = [v]
    for _ in range(DEEPEST):
        orders = {s.order for x in level for s in x.symbols() if s.order in recipes} - seen
        seen |= orders
        level = [x for n in orders for x in recipes[n][1:]]
    return seen


def roots(v: Int, recipes: Recipes) -> set[int]:
    """Orders of the unknowns that v is made of in the end, as far as DEEPEST operations lead."""
    found: set[int] = set()
    seen: set[int] = set()
    level = [v]
    for depth in range(DEEPEST + 1):
        orders = {s.order for x in level for s in x.symbols()} - seen
        seen |= orders
        made = {n: recipes.get(n) if depth < DEEPEST else None for n in orders}
        found |= {n for n, recipe in made.items() if recipe is None}
        level = [x for recipe in made.values() if recipe is not None for x in recipe[1:]]
    return found
