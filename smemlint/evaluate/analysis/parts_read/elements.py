"""Which elements of a thread's own array are read: what is loaded for the others is not loaded at all.

`float v[4]; for (c = 0; c < 4; c++) v[c] = s[4 * t + c]; x = v[0] + v[2];` is two loads. In: a function.
Out: by array the elements that are read, where all of them are written as numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

from smemlint.ir import (
    ArrayOf,
    Assign,
    Binary,
    Conditional,
    Function,
    If,
    Index,
    Lambda,
    Literal,
    Loop,
    Name,
    Switch,
    Unary,
)
from smemlint.ir.expr import uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import array_of, declared
from smemlint.ir.walk import children, nodes_of

MOST = 32
"""Elements of an array that the compiler keeps in registers."""


@by_identity
def elements_read(f: Function) -> Mapping[str, frozenset[int]]:
    """By id of a small array of a thread's own with which no more is done, the elements that are read."""
    arrays = {
        v.id
        for v in declared(f)
        if isinstance(v.type, ArrayOf) and v.storage == "local" and v.init is None
        if isinstance(v.type.extent, Literal) and v.type.extent.value <= MOST
    }
    reads: dict[str, set[int]] = {id: set() for id in arrays}

    def look(node: object) -> None:
        if isinstance(node, Assign) and node.op == "=" and _array_of(node.target):
            assert isinstance(node.target, Index)
            look(node.target.index)
            look(node.value)
        elif isinstance(node, Index) and _array_of(node):
            at = uncast(node.index)
            if isinstance(at, Literal):
                reads.get(_array_of(node), set()).add(at.value)
            else:
                arrays.discard(_array_of(node))
                look(node.index)
        elif isinstance(node, Unary) and node.op == "&" and _array_of(node.operand):
            arrays.discard(_array_of(node.operand))  # `dot(&v[0])`: what lies beside it is read as well
            look(node.operand)
        elif isinstance(node, Name):
            arrays.discard(node.id)
        else:
            for child in children(node):
                look(child)
            if isinstance(node, Lambda):
                arrays.difference_update(n.id for n in (*node.copies, *node.references))

    look(f.body)
    return {id: frozenset(read) for id, read in reads.items() if id in arrays}


@by_identity
def changing(f: Function) -> frozenset[str]:
    """Ids of variables and arrays that are set under conditions, or in loops whose end is not written as a
    number: that they still hold what was loaded may be the launch's doing."""
    found: set[str] = set()
    for n in nodes_of(f.body):
        counted = (
            isinstance(n, Loop) and isinstance(n.condition, Binary) and isinstance(n.condition.right, Literal)
        )
        if isinstance(n, If | Switch | Conditional) or (isinstance(n, Loop) and not counted):
            for a in nodes_of(n):
                target = a.target if isinstance(a, Assign) else a.operand if isinstance(a, Unary) else None
                if target is not None and isinstance(name := array_of(target), Name):
                    found.add(name.id)
    return frozenset(found)


def _array_of(e: object) -> str:
    """The id of what an element is of; "": it is no element of a variable."""
    return e.base.id if isinstance(e, Index) and isinstance(e.base, Name) else ""
