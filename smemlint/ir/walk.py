"""Walking IR trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import chain, repeat
from typing import TypeVar

from smemlint.ir.memo import by_identity
from smemlint.ir.nodes import Loop, Name
from smemlint.ir.place import Place

_FIELDS: dict[type, tuple[str, ...]] = {}
_REVERSED: dict[type, tuple[str, ...]] = {}
_IS_LEAF: dict[type, bool] = {}
_LEAVES = (str, int, float, bool, type(None), Place)
_NO_NODE = {each.__name__ for each in _LEAVES[:-2]} | {"None", "Place"}
"""How a field is annotated that holds no node."""


def children(node: object) -> tuple[object, ...]:
    """The IR nodes directly below one (types included, places and plain values left out)."""
    if isinstance(node, tuple):
        return node
    names = _FIELDS.get(type(node))
    if names is None:
        every = fields(node) if is_dataclass(node) else ()
        names = tuple(f.name for f in every if not _NO_NODE.issuperset(str(f.type).split(" | ")))
        _FIELDS[type(node)] = names
    return tuple(x for n in names if not isinstance(x := getattr(node, n), _LEAVES))


def walk(node: object) -> Iterator[object]:
    """Every IR node at or below `node`, parents first."""
    stack = [node]
    pop, push = stack.pop, stack.append
    while stack:
        n = pop()
        if isinstance(n, tuple):
            stack.extend(reversed(n))
            continue
        yield n
        names = _REVERSED.get(type(n))
        if names is None:
            children(n)
            names = _REVERSED[type(n)] = _FIELDS[type(n)][::-1]
        for name in names:
            x = getattr(n, name)
            leaf = _IS_LEAF.get(type(x))
            if leaf is None:
                leaf = _IS_LEAF[type(x)] = isinstance(x, _LEAVES)
            if not leaf:
                push(x)


def outside_loops(node: object) -> Iterator[object]:
    """Every IR node at or below `node` that stands in no loop, parents first."""
    if not isinstance(node, Loop):
        yield node
        for child in children(node):
            yield from outside_loops(child)


P = TypeVar("P")
A = TypeVar("A")


def handed(parameters: Sequence[P], arguments: Sequence[A]) -> Iterator[tuple[P, A]]:
    """Each argument of a call with its parameter: the last one, which may be a pack, is given all that are
    left."""
    return zip(chain(parameters, repeat(parameters[-1]) if parameters else ()), arguments, strict=False)


def names_in(node: object) -> frozenset[str]:
    """Ids of the variables that are named at or below `node`."""
    return frozenset(n.id for n in walk(node) if isinstance(n, Name))


@by_identity
def nodes_of(body: object) -> tuple[object, ...]:
    """All that walk() gives for the body of a function, kept: each analysis reads it from end to end."""
    return tuple(walk(body))
