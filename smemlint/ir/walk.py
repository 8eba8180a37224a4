"""Walking IR trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from smemlint.ir.place import Place

_FIELDS: dict[type, tuple[str, ...]] = {}
_LEAVES = (str, int, float, bool, type(None), Place)


def children(node: object) -> tuple[object, ...]:
    """The IR nodes directly below one (types included, places and plain values left out)."""
    if isinstance(node, tuple):
        return node
    names = _FIELDS.get(type(node))
    if names is None:
        names = tuple(f.name for f in fields(node)) if is_dataclass(node) else ()
        _FIELDS[type(node)] = names
    return tuple(x for n in names if not isinstance(x := getattr(node, n), _LEAVES))


def walk(node: object) -> Iterator[object]:
    """Every IR node at or below `node`, parents first."""
    stack = [node]
    while stack:
        n = stack.pop()
        if not isinstance(n, tuple):
            yield n
        stack.extend(reversed(children(n)))
