"""What host code reads that launches may depend on: variables and members, and no floating-point data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from functools import partial

from smemlint.ir import (
    ArrayOf,
    Cast,
    Declare,
    Expr,
    Function,
    Index,
    Member,
    Module,
    Name,
    PointerTo,
    Scalar,
    Type,
    Unary,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import walk

MOST_PARTS = 16_384
"""Parts of statements of which it is remembered what they read, set and call."""


def data_of(module: Module, f: Function, nodes: Iterable[object]) -> frozenset[str]:
    """Ids of the variables that lead to floating-point numbers: what a program computes, and no shape.

    They are pointers to such, arrays of such that stand outside functions, and the numbers themselves where
    they are handed over by address. nodes: of the function's body.
    """
    here = [*f.parameters, *(n.var for n in nodes if isinstance(n, Declare))]
    found = {v.id for v in here if is_real(v.type) or is_real(_pointee(v.type))}
    return _outside_functions(module).union(found)


@by_identity
def _outside_functions(module: Module) -> frozenset[str]:
    return frozenset(id for id, v in module.globals.items() if is_real(_element(v.type)))


def reads(code: object, data: Set[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The variables (ids) and the members that some code names; with a dot those of which it names a part.

    data: variables that lead to floating-point numbers: an element of one, or one handed over by address, is
    passed over.
    """
    nodes = _reading(code)
    passed = set(_passed_over(nodes, data)) if data else set()
    names = frozenset(x.id for x in nodes if isinstance(x, Name) and id(x) not in passed)
    members = [x for x in nodes if isinstance(x, Member)]
    whole = {id(_owner(x)) for x in members}
    return names, frozenset(f"{x.name}." if id(x) in whole else x.name for x in members)


@partial(by_identity, most=MOST_PARTS)
def _reading(code: object) -> tuple[Name | Member | Index | Unary, ...]:
    """What reads a variable or a member, or leads to one, at or below some code: programs that are linked
    from the same files ask for the same code."""
    return tuple(n for n in walk(code) if isinstance(n, Name | Member | Index | Unary))


def _passed_over(nodes: Iterable[object], data: Set[str]) -> Iterator[int]:
    for n in nodes:
        if isinstance(n, Index):
            base: Expr = n.base
            while isinstance(base, Index):
                base = base.base
        elif isinstance(n, Unary) and n.op in ("&", "*"):
            base = n.operand
        else:
            continue
        if isinstance(base, Name) and base.id in data:
            yield id(base)


def _owner(e: Member) -> Expr:
    """What a member is one of, past the index of an array and what a pointer leads to."""
    base = e.base
    while isinstance(base, Index | Cast) or (isinstance(base, Unary) and base.op in ("*", "&")):
        base = base.base if isinstance(base, Index) else base.operand
    return base


def _pointee(t: Type) -> Type | None:
    return t.to if isinstance(t, PointerTo) and not t.reference else None


def _element(t: Type | None) -> Type | None:
    while isinstance(t, ArrayOf | PointerTo):
        t = t.element if isinstance(t, ArrayOf) else t.to
    return t


def is_real(t: Type | None) -> bool:
    """Whether a type is that of floating-point numbers."""
    return isinstance(t, Scalar) and t.kind == "float"
