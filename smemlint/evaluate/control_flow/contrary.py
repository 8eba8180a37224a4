"""Ways of host code that a program does not take as it is told: what is compared there is another number."""

from __future__ import annotations

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.number import Int
from smemlint.ir import Expr, Function, Name
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import given
from smemlint.ir.walk import names_in, walk

DEEPEST = 6
"""Variables in one another that are followed."""


def forget(m: Machine, condition: Expr) -> None:
    """Take what a condition compares, and what was made of it in this function, for numbers that are not
    known: `if (n == 512)` of an n that is known to be 64."""
    if m.frame.function is None:
        return
    compared = names_in(condition)
    for id in _made_of(m.frame.function, compared):
        o = m.frame.variables.get(id)
        for at, v in list(o.cells.items()) if o is not None else ():
            if isinstance(v, Int) and v.known and not (at and v.const == 1):  # an extent that is not given
                o.cells[at] = m.unknowns.value(v.type, o.name, rank=3)  # type: ignore[union-attr]


def _made_of(f: Function, ids: frozenset[str]) -> set[str]:
    """Ids of some variables of a function, and of those that are set to what is made of them."""
    found = set(ids)
    for _ in range(DEEPEST):
        more = {id for id, used in _settings(f) if id not in found and not found.isdisjoint(used)}
        if not more:
            break
        found |= more
    return found


@by_identity
def _settings(f: Function) -> tuple[tuple[str, frozenset[str]], ...]:
    """Which variable is set somewhere, and the ids that stand in what it is set to."""
    found: list[tuple[str, frozenset[str]]] = []
    for a in given(f):
        into = next((x.id for x in walk(a.target) if isinstance(x, Name)), None)
        if into is not None:
            found.append((into, names_in(a.value)))
    return tuple(found)
