"""Which statements of host code may throw, where handlers are there to meet it."""

from __future__ import annotations

from collections.abc import Container, Iterable

from smemlint.ir import Call, Declare, Evaluate, Function, Member, Name, Return, Stmt, Try, UnknownExpr
from smemlint.ir.walk import nodes_of, walk


def throwing(functions: Iterable[Function]) -> frozenset[str] | None:
    """Ids of those of some functions that may throw, and the names of methods among them with a dot; None
    where none of them catches anything."""
    every = [(f, nodes_of(f.body)) for f in functions]
    if not any(isinstance(n, Try) for _, nodes in every for n in nodes):
        return None
    found = {name for f, nodes in every if any(map(is_throw, nodes)) for name in _names(f)}
    grew = True
    while grew:
        new = {
            name
            for f, nodes in every
            if f.id not in found and any(calls(n, found) for n in nodes)
            for name in _names(f)
        }
        found |= new
        grew = bool(new)
    return frozenset(found)


def _names(f: Function) -> tuple[str, ...]:
    return (f.id,) if f.record is None else (f.id, f".{f.name}")


def calls(n: object, functions: Container[str]) -> bool:
    """Return whether a node calls one of some functions (ids, or names of methods with a dot)."""
    if not isinstance(n, Call):
        return False
    callee = n.callee
    if isinstance(callee, Name):
        return bool(callee.id) and callee.id in functions
    return isinstance(callee, Member) and f".{callee.name}" in functions


def may_throw(s: Stmt, functions: frozenset[str] | None) -> bool:
    """Return whether a statement itself throws, or calls one of some functions that do."""
    if functions is None or not isinstance(s, Evaluate | Declare | Return):
        return False
    return any(is_throw(n) or calls(n, functions) for n in walk(s))


def is_throw(n: object) -> bool:
    """Return whether a node is a `throw`."""
    return isinstance(n, UnknownExpr) and n.reason == "throw"
