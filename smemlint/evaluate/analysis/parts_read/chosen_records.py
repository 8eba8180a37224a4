"""Records of which a condition chooses one.

nvcc loads what the condition reads of both of them, and the rest of the one that is chosen: three loads of 4
bytes for `a.x > b.x ? a : b` of two numbers each, where it would otherwise load each record at once.
In: a function. Out: for each expression that is a record the others that may be taken in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smemlint.ir import (
    Assign,
    Conditional,
    Expr,
    Function,
    If,
    Loop,
    Member,
    Name,
    Return,
)
from smemlint.ir.expr import is_element, uncopied
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference
from smemlint.ir.uses import arms, declared
from smemlint.ir.walk import nodes_of


@by_identity
def alternatives(f: Function) -> Mapping[int, tuple[Expr, ...]]:
    """By id() of an expression, the others that may be taken in its place, as a condition decides."""
    begun = _initialisers(f)
    found: dict[int, tuple[Expr, ...]] = {}
    conditionals = (tuple(arms(n)) for n in nodes_of(f.body) if isinstance(n, Conditional))
    for chosen in (*conditionals, _returned(f), *_replaced(f, begun)):
        for e in chosen:
            others = tuple(other for other in chosen if other is not e)
            found[id(e)] = others
            start = begun.get(e.id) if isinstance(e, Name) else None
            if start is not None and all(
                is_element(begun.get(o.id) if isinstance(o, Name) else o) for o in others
            ):
                found[id(start)] = ()  # a copy of an element, beside elements and copies of such
    return found


def _initialisers(f: Function) -> dict[str, Expr]:
    """What variables begin as, by id."""
    return {v.id: uncopied(v.init) for v in declared(f) if v.init is not None and not is_reference(v.type)}


def _returned(f: Function) -> tuple[Expr, ...]:
    values = [uncopied(n.value) for n in nodes_of(f.body) if isinstance(n, Return) and n.value is not None]
    return tuple(values) if len(values) == 2 and all(isinstance(v, Name) for v in values) else ()


@by_identity
def set_apart(f: Function) -> frozenset[int]:
    """id() of copies of which a condition sets members one by one, outside of loops, and of these members."""
    begun = _initialisers(f)
    found: set[int] = set()
    for n in _given_under_conditions(f):
        target, value = n.target, uncopied(n.value)
        if isinstance(target, Member) and not target.arrow and isinstance(target.base, Name):
            start = begun.get(target.base.id)
            if is_element(start) and isinstance(value, Member):
                found |= {id(start), id(value)}
    return frozenset(found)


def _replaced(f: Function, begun: Mapping[str, Expr]) -> Iterator[tuple[Expr, ...]]:
    """What a variable begins as, and what it is given under a condition outside of loops."""
    for n in _given_under_conditions(f):
        start = begun.get(n.target.id) if isinstance(n.target, Name) else None
        if start is not None and is_element(start) and is_element(value := uncopied(n.value)):
            yield start, value


def _given_under_conditions(f: Function) -> Iterator[Assign]:
    looped = {id(n) for loop in nodes_of(f.body) if isinstance(loop, Loop) for n in nodes_of(loop)}
    for branch in nodes_of(f.body):
        if isinstance(branch, If) and branch.otherwise is None and id(branch) not in looped:
            for n in nodes_of(branch.then):
                if isinstance(n, Assign) and n.op == "=":
                    yield n


@by_identity
def needed_first(f: Function) -> Mapping[int, tuple[frozenset[str], bool]]:
    """By id() of an element that a variable begins as, and that a condition on its members keeps, drops or
    replaces, the members that the condition reads: nvcc may load the rest where the condition holds. And
    whether a variable is replaced, of which nvcc may load the rest once."""
    begun = _initialisers(f)
    read: dict[str, set[str]] = {}
    inside: set[int] = set()
    replaced: set[str] = set()
    for branch in nodes_of(f.body):
        if isinstance(branch, If):
            asked = [n for n in nodes_of(branch.condition) if isinstance(n, Member) and not n.arrow]
            own = [(n.base.id, n.name) for n in asked if isinstance(n.base, Name)]
            for variable, name in own:
                read.setdefault(variable, set()).add(name)
            variables = {variable for variable, _ in own}
            for n in nodes_of(branch):
                if isinstance(n, Name) and n.id in variables:
                    inside.add(id(n))
                if (
                    isinstance(n, Assign)
                    and n.op == "="
                    and isinstance(n.target, Name)
                    and n.target.id in begun
                ):
                    value = uncopied(n.value)
                    replaced |= {n.target.id, value.id} if isinstance(value, Name) else {n.target.id}
    outside = {n.id for n in nodes_of(f.body) if isinstance(n, Name) and id(n) not in inside}
    return {
        id(start): (frozenset(read[name]), name in replaced)
        for name, start in begun.items()
        if name in read and (name not in outside or name in replaced) and is_element(start)
    }
