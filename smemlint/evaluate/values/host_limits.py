"""Choices of host code that depend on the very number they choose: `n < 1024 ? n : 1024`, `n == 0 ? 256 : n`.

What a program does when it is told nothing (`if (argc > 1) n = atoi(argv[1])`) is a default; a limit is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.values.comparison import extreme, one_of_two
from smemlint.evaluate.values.number import Int, subtract
from smemlint.evaluate.values.provenance import (
    DEEPEST,
    DEFAULT,
    ONE_OF,
    SET_TO,
    Recipes,
    agree,
    made_of,
    only_symbol,
    roots,
    value_at,
)
from smemlint.evaluate.values.unknowns import Unknowns
from smemlint.evaluate.values.value import same
from smemlint.ir.types import INT, LONG

_LESS, _MORE = ("<", "<="), (">", ">=")


def limited(c: Int, new: Int, old: Int, unknowns: Unknowns) -> Int | None:
    """c ? new : old where c compares what is chosen; None where it does not. c: not known, of host code."""
    recipes = unknowns.recipes
    if recipes is None or len(c.terms) != 1:
        return None
    ((mono, factor),) = c.terms.items()
    if len(mono) != 1 or mono[0].order not in recipes or (c.const, factor) not in ((0, 1), (1, -1)):
        return None
    op, d, zero = recipes[mono[0].order]
    if (factor == -1) != (op == "!="):
        new, old = old, new
    if not zero.known or op not in (*_LESS, *_MORE, "==", "!="):
        return None
    difference = subtract(new, old, LONG)
    if op in ("==", "!="):
        if same(difference, d) or same(difference, subtract(Int(0, LONG), d, LONG)):
            return old  # `n == 32 ? 32 : n` is n
        return _one_of_both(c, new, old, d, unknowns)
    # `new` is taken where d is below (or above) zero
    below = op in _LESS
    if _same_but_one(difference, d):
        return extreme("min" if below else "max", new, old, unknowns)
    if _same_but_one(difference, subtract(Int(0, LONG), d, LONG)):
        return extreme("max" if below else "min", new, old, unknowns)
    return _one_of_both(c, new, old, d, unknowns)


def _one_of_both(c: Int, new: Int, old: Int, d: Int, unknowns: Unknowns) -> Int | None:
    """`n` where it is of use, else a number: what is compared with is what n was made of."""
    recipes = unknowns.recipes
    assert recipes is not None
    told = new if new.known else old
    other = old if new.known else new
    if told.known and not other.known and roots(other, recipes) & roots(d, recipes):
        return one_told(c, new, old, unknowns)
    return None


def is_told(v: Int, recipes: Recipes | None, depth: int = 0) -> bool:
    """Whether a number is known, or one of several that are."""
    if v.known:
        return isinstance(v.const, int)
    if all(s.bit for s in v.symbols()):
        return True
    symbol = only_symbol(v)
    recipe = recipes.get(symbol.order) if symbol is not None and recipes is not None else None
    if recipe is None or recipe[0] not in (ONE_OF, DEFAULT) or depth >= DEEPEST:
        return False
    options = recipe[1:2] if recipe[0] == DEFAULT else recipe[1:]
    return all(is_told(option, recipes, depth + 1) for option in options)


def one_told(c: Int, new: Int, old: Int, unknowns: Unknowns) -> Int:
    """c ? new : old as one unknown, of which it is known what it is made of."""
    either = one_of_two(c, new, old, unknowns)
    symbol = only_symbol(either)
    if symbol is not None and unknowns.recipes is not None:
        unknowns.recipes[symbol.order] = (ONE_OF, new, old)
    return either


def told_or(c: Int, default: Int, other: Int, unknowns: Unknowns) -> Int:
    """A number that is another one only where that is told."""
    either = one_of_two(c, default, other, unknowns)
    symbol = only_symbol(either)
    if symbol is None or unknowns.recipes is None:
        return default
    unknowns.recipes[symbol.order] = (DEFAULT, default, other)
    return either


def by_default(v: Int, unknowns: Unknowns, held: Sequence[tuple[Int, int]]) -> int | None:
    """What a number is where all that it is made of is what it is by default; None where conditions say that
    this is not so."""
    recipes = unknowns.recipes or {}
    given = dict(unknowns.given)
    for order in made_of(v, recipes):
        op, default, _ = recipes[order]
        if op == DEFAULT and isinstance(default.const, int):
            given.setdefault(order, default.const)
    n = value_at(v, given, recipes)
    return n if n is not None and agree(held, given, recipes) else None


def _same_but_one(a: Int, b: Int) -> bool:
    """Whether two numbers are the same or differ by one: `n < 1024` and `n <= 1023`."""
    d = subtract(a, b, LONG)
    return same(d, Int(0, LONG)) or (d.known and d.const in (1, -1))


def one_set(name: str, numbers: frozenset[int], unknowns: Unknowns) -> Int:
    """A member that is set to each of these numbers somewhere; zero and less are not told yet."""
    each = [Int(n) for n in sorted(numbers, reverse=True) if n > 0]
    value = each.pop() if each else unknowns.value(INT, name, low=0, rank=3)
    for other in each:
        symbol = unknowns.memo.get(("set to", name, other.const))
        if symbol is None:
            symbol = unknowns.memo["set to", name, other.const] = unknowns.fresh(name, low=1, rank=3)
        if unknowns.recipes is not None:
            unknowns.recipes[symbol.order] = (SET_TO, other, value)
        value = Int(0, INT, {(symbol,): 1})
    return value
