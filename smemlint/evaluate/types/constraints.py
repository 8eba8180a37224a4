"""What `requires` clauses and concepts ask: whether it holds, and which of two asks for more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from smemlint.evaluate.types.matching import Bindings
from smemlint.ir import Binary, Expr, Function, Module, Name, Record, VariableTemplate

_DEPTH = 8


def constraints_of(of: Function | Record | VariableTemplate) -> list[Expr]:
    """Return the conditions of a template."""
    own = None if isinstance(of, Record) else of.requires
    return [x for x in (*(p.requires for p in of.template), own) if x is not None]


def satisfied(
    constant: Callable[[Expr, Bindings], int | None], conditions: Iterable[Expr], bindings: Bindings
) -> bool | None:
    """Whether all conditions hold; None: that is not known."""
    found = [constant(c, bindings) for c in conditions]
    return False if 0 in found else None if None in found else True


def weight(module: Module, conditions: Iterable[Expr], depth: int = 0) -> int:
    """How many simple conditions they are: of two templates that fit, the one that asks for more is meant."""
    total = 0
    for c in conditions:
        made = module.variable_templates.get(c.name, ()) if isinstance(c, Name) else ()
        if isinstance(c, Binary) and c.op == "&&":
            total += weight(module, (c.left, c.right), depth)
        elif made and depth < _DEPTH:
            total += weight(module, chain(constraints_of(made[0]), (made[0].value,)), depth + 1)
        else:
            total += 1
    return total
