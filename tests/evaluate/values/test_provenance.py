"""What unknowns are made of: each is looked at once, however many ways lead to it."""

from __future__ import annotations

from smemlint.evaluate.values.number import Int, Symbol
from smemlint.evaluate.values.provenance import roots
from smemlint.ir.types import INT


class Counted(dict[int, tuple[object, ...]]):
    """Recipes that count how often one is asked for."""

    asked = 0

    def get(self, key: int, default: object = None) -> object:  # type: ignore[override]
        self.asked += 1
        return super().get(key, default)


def unknown(order: int) -> Int:
    return Int(0, INT, {(Symbol(order, f"u{order}"),): 1})


def test_roots_of_shared_operands() -> None:
    """Ten products, each of the one before with itself plus an unknown of its own: 2 ** 10 ways down."""
    recipes = Counted()
    last = unknown(1)
    for n in range(10):
        own = unknown(100 + n)
        made = unknown(10 + n)
        recipes[10 + n] = ("*", last, Int(0, INT, {**last.terms, **own.terms}))
        last = made
    assert roots(last, recipes) == {1, *range(100, 110)}  # type: ignore[arg-type]
    assert recipes.asked == 21
