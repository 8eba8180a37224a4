"""Reading the IR of a kernel: which values a local variable is given."""

from __future__ import annotations

from smemlint.ir import Assign, Binary, Declare, Expr, Literal, Name, Stmt
from smemlint.ir.walk import walk

_LAST: list[tuple[Stmt, dict[str, tuple[list[Expr], set[str]]]]] = []
"""The body that was read last: all accesses of a kernel ask about the same one."""


def definitions(body: Stmt) -> dict[str, tuple[list[Expr], set[str]]]:
    """Variable name -> the values it is initialised with or assigned, and the names in them."""
    if _LAST and _LAST[0][0] is body:
        return _LAST[0][1]
    result: dict[str, tuple[list[Expr], set[str]]] = {}
    for node in walk(body):
        if isinstance(node, Declare) and node.var.init is not None:
            name, value = node.var.name, node.var.init
        elif isinstance(node, Assign) and isinstance(node.target, Name):
            name, value = node.target.name, node.value
        else:
            continue
        values, names = result.setdefault(name, ([], set()))
        values.append(value)
        names.update(n.name for n in walk(value) if isinstance(n, Name))
    _LAST[:] = [(body, result)]
    return result


def has_xor(value: Expr) -> bool:
    """Whether the value holds an exclusive-or of two operands that are both no literals."""
    return any(
        isinstance(n, Binary)
        and n.op == "^"
        and not isinstance(n.left, Literal)
        and not isinstance(n.right, Literal)
        for n in walk(value)
    )
