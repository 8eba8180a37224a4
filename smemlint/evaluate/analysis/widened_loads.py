"""Which integers of 16 bits are widened, not only copied: nvcc does not join loads of such in a plain array.

In: a function and an expression that loads one. Out: whether arithmetic, an index or a wider variable takes
it.
"""

from __future__ import annotations

from smemlint.evaluate.analysis.computed_halves import is_wider, types_of
from smemlint.ir import (
    Assign,
    Binary,
    Cast,
    Conditional,
    Declare,
    Expr,
    Function,
    Index,
    Name,
    Scalar,
    Type,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import nodes_of

__all__ = ["is_widened"]


def is_widened(f: Function, node: Expr) -> bool:
    """Whether what this expression loads surely becomes a number of more than 16 bits."""
    return id(node) in _widened(f)


@by_identity
def _widened(f: Function) -> frozenset[int]:
    """By id(): expressions whose value is widened, on its way through variables of 16 bits, too."""
    found: set[int] = set()
    copies: list[tuple[Expr, str]] = []
    names: dict[str, list[int]] = {}
    types = types_of(f)
    for n in nodes_of(f.body):
        if isinstance(n, Name):
            names.setdefault(n.id, []).append(id(n))
        found |= {id(_plain(e)) for e in _operands(n, types)}
        copy = _copy(n, types)
        if copy is not None:
            copies.append((_plain(copy[0]), copy[1]))
    grew = True
    while grew:
        before = len(found)
        wide = {name for name, uses in names.items() if not found.isdisjoint(uses)}
        found |= {id(value) for value, name in copies if name in wide}
        grew = len(found) > before
    return frozenset(found)


def _operands(n: object, types: dict[str, Type]) -> tuple[Expr, ...]:
    """What C widens to an `int`, or to what it is put into, before anything else happens to it."""
    if isinstance(n, Binary):
        return () if n.op == "," else (n.left, n.right)
    if isinstance(n, Unary):
        return () if n.op in ("*", "&") else (n.operand,)
    if isinstance(n, Index):
        return (n.index,)
    if isinstance(n, Conditional):
        return (n.condition,)
    if isinstance(n, Cast):
        return (n.operand,) if isinstance(n.type, Scalar) and n.type.size > 2 else ()
    if isinstance(n, Assign):
        if n.op != "=":
            return (n.target, n.value)
        return (n.value,) if is_wider(n.target, types) else ()
    if isinstance(n, Declare) and n.var.init is not None:
        return (n.var.init,) if isinstance(n.var.type, Scalar) and n.var.type.size > 2 else ()
    return ()


def _copy(n: object, types: dict[str, Type]) -> tuple[Expr, str] | None:
    """What is put into a variable of 16 bits, and the variable's id."""
    if isinstance(n, Declare) and n.var.init is not None:
        return (n.var.init, n.var.id) if isinstance(n.var.type, Scalar) and n.var.type.size == 2 else None
    if isinstance(n, Assign) and n.op == "=" and isinstance(n.target, Name):
        t = types.get(n.target.id)
        return (n.value, n.target.id) if isinstance(t, Scalar) and t.size == 2 else None
    return None


def _plain(e: Expr) -> Expr:
    """An expression without casts that keep its 16 bits."""
    while isinstance(e, Cast) and isinstance(e.type, Scalar) and e.type.size == 2:
        e = e.operand
    return e
