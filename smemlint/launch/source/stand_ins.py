"""What stands in for the type arguments of a kernel that no launch tells: float, unless the kernel's own code
or the parameter's name says otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smemlint.ir import (
    ArrayOf,
    Assign,
    Binary,
    Declare,
    Expr,
    Function,
    Index,
    Name,
    PointerTo,
    RecordRef,
    Type,
    TypeParam,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import FLOAT, HALF, INT
from smemlint.ir.walk import nodes_of, walk
from smemlint.patterns import pattern

_WORD = pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_EMPTY_WORDS = frozenset(("t", "type", "typename", "ty"))
_INTEGERS = frozenset(("index", "idx", "int", "integer", "offset", "size", "count", "ordinal", "id"))
_ITERATORS = frozenset(("iterator", "iter", "itr", "ptr", "pointer"))
_OF_INTEGERS = _INTEGERS | frozenset(("row", "col", "column", "key", "map"))
_TRAITS = frozenset(("iterator_traits", "iterator_value"))
_INTEGRAL = frozenset(("%", "<<", ">>", "&", "|", "^"))
"""Operators that no float has."""


def stand_ins(kernel: Function) -> Mapping[str, Type]:
    """Types by the id of the template parameter: numbers that index or that bits are taken of are integers,
    iterators are pointers, and what a tensor core multiplies are halves."""
    return _of(kernel)


def words_of(name: str) -> list[str]:
    """The words of a name but those that say that it is a type's: `IndexType` and `index_t` are `index`."""
    words = [w.lower() for w in _WORD.findall(name)]
    return [w for w in words if w not in _EMPTY_WORDS]


def named_integer(name: str) -> bool:
    """Whether a type's name says that it is one of integers."""
    words = words_of(name)
    return bool(words) and words[-1] in _INTEGERS


def _found(kernel: Function) -> Mapping[str, Type]:
    parameters = {p.id: p.name for p in kernel.template if p.kind == "type" and not p.pack}
    if not parameters:
        return {}
    found: dict[str, Type] = {id: INT for id, name in parameters.items() if named_integer(name)}
    nodes = list(nodes_of(kernel.body))
    integral = set(_integral(kernel, nodes))
    found.update((id, INT) for id in parameters if id in integral)
    traits = _in_traits(kernel, nodes)
    for id, name in parameters.items():
        words = words_of(name)
        if id in traits or (words and words[-1] in _ITERATORS):
            found[id] = PointerTo(INT if _OF_INTEGERS.intersection(words) else FLOAT)
    found.update((id, HALF) for id in _multiplied(nodes))
    return {id: found.get(id, FLOAT) for id in parameters}


_of = by_identity(_found)


def _integral(kernel: Function, nodes: list[object]) -> Iterator[str]:
    """Ids of the parameters whose values are used as only integers can be."""
    of: dict[str, str] = {}
    variables = [*kernel.parameters, *(n.var for n in nodes if isinstance(n, Declare))]
    for var in variables:
        t = var.type
        while isinstance(t, PointerTo | ArrayOf):
            t = t.to if isinstance(t, PointerTo) else t.element
        if isinstance(t, TypeParam):
            of[var.id] = t.id
    for n in nodes:
        parts: list[Expr] = []
        if isinstance(n, Index):
            parts = [n.index]
        elif isinstance(n, Binary) and n.op in _INTEGRAL:
            parts = [n.left, n.right]
        elif isinstance(n, Assign) and n.op[:-1] in _INTEGRAL:
            parts = [n.target, n.value]
        for part in parts:
            yield from (of[x] for x in _values(part) if x in of)


def _values(e: Expr) -> Iterator[str]:
    """Ids of the variables that a number is made of, not those that are converted first or that index."""
    if isinstance(e, Name):
        yield e.id
    elif isinstance(e, Index):
        yield from _values(e.base)
    elif isinstance(e, Binary) and e.op in ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"):
        yield from _values(e.left)
        yield from _values(e.right)


def _in_traits(kernel: Function, nodes: list[object]) -> frozenset[str]:
    types = [p.type for p in kernel.parameters] + [n.var.type for n in nodes if isinstance(n, Declare)]
    return frozenset(
        a.id
        for t in types
        for r in walk(t)
        if isinstance(r, RecordRef) and r.name.rsplit("::", 1)[-1] in _TRAITS
        for a in r.arguments
        if isinstance(a, TypeParam)
    )


def _multiplied(nodes: list[object]) -> frozenset[str]:
    """Ids of the template parameters that are the elements of a tensor core's operands: no floats."""
    fragments = (
        t
        for n in nodes
        if isinstance(n, Declare)
        for t in walk(n.var.type)
        if isinstance(t, RecordRef) and t.name.rsplit("::", 1)[-1] == "fragment"
    )
    return frozenset(
        a.id
        for t in fragments
        if any(isinstance(x, RecordRef) and x.name.endswith(("matrix_a", "matrix_b")) for x in t.arguments)
        for a in t.arguments
        if isinstance(a, TypeParam)
    )
