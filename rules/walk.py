"""Reading the IR of a kernel: which values a local variable is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from smemlint.ir import Assign, Binary, Declare, Expr, Literal, Name, Stmt


def nodes(root: object) -> Iterator[object]:
    """Every IR node under `root`, itself included, without recursion: bodies can be deep."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif is_dataclass(node) and not isinstance(node, type):
            yield node
            stack.extend(getattr(node, f.name) for f in fields(node))


def definitions(body: Stmt) -> dict[str, tuple[list[Expr], set[str]]]:
    """Variable name -> the values it is initialised with or assigned, and the names in them."""
    result: dict[str, tuple[list[Expr], set[str]]] = {}
    for node in nodes(body):
        if isinstance(node, Declare) and node.var.init is not None:
            name, value = node.var.name, node.var.init
        elif isinstance(node, Assign) and isinstance(node.target, Name):
            name, value = node.target.name, node.value
        else:
            continue
        values, names = result.setdefault(name, ([], set()))
        values.append(value)
        names.update(n.name for n in nodes(value) if isinstance(n, Name))
    return result


def has_xor(value: Expr) -> bool:
    """Whether the value holds an exclusive-or of two operands that are both no literals."""
    return any(
        isinstance(n, Binary)
        and n.op == "^"
        and not isinstance(n.left, Literal)
        and not isinstance(n.right, Literal)
        for n in nodes(value)
    )
