"""Static shared arrays of which a function only stores and loads elements: what nothing loads, nvcc drops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from smemlint.ir import ArrayOf, Assign, Binary, Cast, Declare, Evaluate, Expr, Function, Index, Member, Name
from smemlint.ir.memo import by_identity
from smemlint.ir.nodes import Scalar, Type
from smemlint.ir.uses import declared
from smemlint.ir.walk import nodes_of


@by_identity
def plain_uses(f: Function) -> Mapping[str, frozenset[int]]:
    """By id of a static shared variable whose elements are stored and loaded by its own name and that goes
    nowhere else: id() of the expressions that load from it."""
    arrays = {v.id: v.type for v in declared(f) if v.storage == "shared" and not v.volatile}
    if not arrays:
        return {}
    named = Counter(n.id for n in nodes_of(f.body) if isinstance(n, Name) and n.id in arrays)
    loads: dict[str, set[int]] = {id: set() for id in arrays}
    for n in nodes_of(f.body):
        for e, reads in _elements(n):
            root = _root(e, arrays)
            if root is not None:
                named[root] -= 1
                if reads:
                    loads[root].add(id(e))
    return {id: frozenset(found) for id, found in loads.items() if not named[id]}


def _elements(n: object) -> list[tuple[Expr, bool]]:
    """The operands of a node that may be elements, each with whether its value is asked for."""
    if isinstance(n, Evaluate):
        e = n.expr
        return [(e.target, e.op != "=")] if isinstance(e, Assign) else []
    if isinstance(n, Assign):
        return [(n.value, True)]
    if isinstance(n, Binary):
        return [(n.left, True), (n.right, True)]
    if isinstance(n, Cast) and isinstance(n.type, Scalar):
        return [(n.operand, True)]
    if isinstance(n, Declare) and isinstance(n.var.type, Scalar) and n.var.init is not None:
        return [(n.var.init, True)]
    return []


def _root(e: Expr, arrays: Mapping[str, Type]) -> str | None:
    """The array of which an expression is an element, or a member of one."""
    while isinstance(e, Member) and not e.arrow:
        e = e.base
    depth = 0
    while isinstance(e, Index):
        e = e.base
        depth += 1
    if not isinstance(e, Name) or e.id not in arrays:
        return None
    t = arrays[e.id]
    while isinstance(t, ArrayOf):
        t = t.element
        depth -= 1
    return e.id if depth == 0 else None
