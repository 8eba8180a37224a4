"""Ways of host code that a program does not take as it is told: what is compared there is another number."""

from __future__ import annotations

from smemlint.evaluate.machine.dispatch import unseen
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.comparison import COMPARISONS
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.provenance import only_symbol
from smemlint.evaluate.values.unknowns import TURNED
from smemlint.evaluate.values.value import Value
from smemlint.ir import Binary, Expr, Function, Literal, Name, Unary
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import given
from smemlint.ir.walk import names_in, walk

SIZE = 3
"""The rank of unknown numbers that are sizes."""
DEEPEST = 6
"""Variables in one another that are followed."""


def by_sign(m: Machine, condition: Expr) -> bool:
    """Whether a condition of host code is known since sizes are not negative, which nobody makes sure of."""
    if isinstance(condition, Binary) and condition.op in ("&&", "||"):
        return by_sign(m, condition.left) or by_sign(m, condition.right)
    if not m.host or not isinstance(condition, Binary) or condition.op not in COMPARISONS:
        return False
    sides = condition.left, condition.right
    if not any(isinstance(x, Literal) or (isinstance(x, Unary) and x.op == "-") for x in sides):
        return False
    left, right = (unseen(m, x) for x in sides)
    if _is_size(right):
        return _below(right, left, TURNED.get(condition.op, condition.op))
    return _is_size(left) and _below(left, right, condition.op)


def _below(size: Value, other: Value, op: str) -> bool:
    """Whether a size is compared with what is less than any."""
    if not isinstance(size, Int) or size.const != 0 or not isinstance(other, Int) or not other.known:
        return False
    return isinstance(other.const, int) and (other.const < 0 or (other.const == 0 and op in ("<", ">=")))


def _is_size(v: Value) -> bool:
    """Whether a number that may be less than zero by its type is taken not to be."""
    s = only_symbol(v) if isinstance(v, Int) and v.type.kind == "int" else None
    return s is not None and s.rank == SIZE and s.low == 0 and s.high is None


def forget(m: Machine, condition: Expr) -> None:
    """Take what a condition compares, and what was made of it in this function, for numbers that are not
    known: `if (n == 512)` of an n that is known to be 64."""
    if m.frame.function is None:
        return
    compared = names_in(condition)
    for id in _derived_from(m.frame.function, compared):
        o = m.frame.variables.get(id)
        for at, v in list(o.cells.items()) if o is not None else ():
            if not isinstance(v, Int):
                continue
            if _is_size(v):
                o.cells[at] = m.unknowns.value(v.type, o.name)  # type: ignore[union-attr]
            elif v.known and not (at and v.const == 1):  # an extent that is not given
                o.cells[at] = m.unknowns.value(v.type, o.name, rank=3)  # type: ignore[union-attr]


def _derived_from(f: Function, ids: frozenset[str]) -> set[str]:
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
