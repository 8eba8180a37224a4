"""What code names, declares and sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Set
from typing import TypeVar

from smemlint.ir.expr import SHARED, STEPS, uncopied
from smemlint.ir.macros import is_macro_like
from smemlint.ir.memo import by_identity
from smemlint.ir.module import Function, Module
from smemlint.ir.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Declare,
    Evaluate,
    Expr,
    If,
    Index,
    LaunchStmt,
    Literal,
    Loop,
    Member,
    Name,
    Special,
    Stmt,
    Unary,
    Var,
)
from smemlint.ir.types import is_reference
from smemlint.ir.walk import nodes_of, walk

T = TypeVar("T")
HANDED = (*STEPS, "&")
"""The operators of a Unary that change what they stand at, or let others change it."""


def target_of(n: object, operators: Container[str] = STEPS) -> Expr | None:
    """What a node sets by itself: the target of an assignment, or of one of these operators."""
    if isinstance(n, Assign):
        return n.target
    return n.operand if isinstance(n, Unary) and n.op in operators else None


def variables_set(nodes: Iterable[object], operators: Container[str] = STEPS) -> frozenset[str]:
    """Ids of the variables that some nodes set as a whole."""
    return frozenset(e.id for n in nodes if isinstance(e := target_of(n, operators), Name))


def places_set(code: object) -> frozenset[str]:
    """Ids of the variables that code sets, or parts of them."""
    found: set[str] = set()
    for n in walk(code):
        place = target_of(n)
        while isinstance(place, Index) or (isinstance(place, Member) and not place.arrow):
            place = place.base
        if isinstance(place, Name):
            found.add(place.id)
    return frozenset(found)


def holds(code: object, kinds: type | tuple[type, ...], operators: Container[str] = ()) -> bool:
    """Whether something at or below a node is of a kind, or applies one of these unary operators."""
    return any(isinstance(n, kinds) or (isinstance(n, Unary) and n.op in operators) for n in walk(code))


def grown(found: set[T], more: Callable[[Set[T]], Iterable[T]]) -> set[T]:
    """The set, with what `more` finds on the strength of it, until that is nothing new."""
    while new := set(more(found)) - found:
        found |= new
    return found


def assignment(s: object) -> Assign | None:
    """The assignment that a statement is; a variable that it declares is assigned what it begins with."""
    if isinstance(s, Declare) and s.var.init is not None:
        return Assign("=", Name(s.var.id, s.var.name), s.var.init)
    return s.expr if isinstance(s, Evaluate) and isinstance(s.expr, Assign) else None


@by_identity
def declared(f: Function) -> tuple[Var, ...]:
    """The variables that the statements of a function declare."""
    return tuple(n.var for n in nodes_of(f.body) if isinstance(n, Declare))


@by_identity
def idle_shared(module: Module) -> frozenset[str]:
    """Ids of the shared variables that functions declare and nothing names: neither their code, nor text that
    did not reach the tree, nor perhaps a macro that nothing defines."""
    left = {v.id: v.name for f in module.functions.values() for v in declared(f) if v.storage in SHARED}
    for f in module.functions.values() if left else ():
        names = [n for n in nodes_of(f.body) if isinstance(n, Name)]
        unknown = any(not n.id and is_macro_like(n.name) for n in names)
        for id in {v.id for v in declared(f)} if unknown else {n.id for n in names}:
            left.pop(id, None)
    lost = " ".join(u.text for u in module.unparsed)
    return frozenset(id for id, name in left.items() if not re.search(rf"\b{re.escape(name)}\b", lost))


@by_identity
def variables(f: Function) -> Mapping[str, Var]:
    """By id: the parameters of a function, and what its statements declare."""
    return {v.id: v for v in (*f.parameters, *declared(f))}


@by_identity
def inputs(f: Function) -> frozenset[str]:
    """Ids of the variables of a function that are made to be read: what it is given by value, what loops
    count, and what begins with more than a number; and nothing else sets them."""
    nodes = nodes_of(f.body)
    steps = tuple(n.step for n in nodes if isinstance(n, Loop) and n.step is not None)
    counting = {id(n) for n in walk(steps)}
    begun = (v.id for v in declared(f) if holds(v.init, (Name, Special, Call)))
    elsewhere = variables_set(n for n in nodes if id(n) not in counting)
    taken = (p.id for p in f.parameters if not is_reference(p.type))
    return frozenset((*begun, *variables_set(walk(steps)), *taken)) - elsewhere


@by_identity
def unasked(f: Function) -> frozenset[int]:
    """id() of the expressions of a function whose value nobody keeps: statements, conditions, what is
    assigned to or a reference is bound to, and their parts."""
    nodes = nodes_of(f.body)
    found: list[object] = [n.condition for n in nodes if isinstance(n, If | Loop | Conditional)]
    found += [n.expr for n in nodes if isinstance(n, Evaluate)]
    found += [n.left for n in nodes if isinstance(n, Binary) and n.op == ","]
    found += [n.target for n in nodes if isinstance(n, Assign)]
    found += [n.var.init for n in nodes if isinstance(n, Declare) and is_reference(n.var.type)]
    for e in found:
        if isinstance(e, Binary) and e.op in ("&&", "||", ","):
            found += [e.left, e.right]
        elif isinstance(e, Conditional):
            found += [e.then, e.otherwise]
        elif isinstance(e, Unary | Cast):
            found.append(e.operand)
    return frozenset(map(id, found))


@by_identity
def given(f: Function) -> tuple[Assign, ...]:
    """What gives variables and places of a function a value; what a variable begins with is assigned, too."""
    nodes = nodes_of(f.body)
    return tuple(a for n in nodes if (a := n if isinstance(n, Assign) else _begun(n)) is not None)


def _begun(n: object) -> Assign | None:
    return assignment(n) if isinstance(n, Declare) else None


def array_of(e: Expr) -> Expr:
    """What an expression is an element of, or of one of its rows; itself, if it is no element."""
    while isinstance(e, Index):
        e = e.base
    return e


def arms(e: Expr) -> Iterator[Expr]:
    """What a value may be, as conditions decide."""
    e = uncopied(e)
    if isinstance(e, Conditional):
        yield from arms(e.then)
        yield from arms(e.otherwise)
    else:
        yield e


def statements(s: T | None) -> tuple[T | Stmt, ...]:
    """What runs one after the other; of an expression that alone."""
    return s.body if isinstance(s, Block) else () if s is None else (s,)


def only_statement(s: T | None) -> T | Stmt | None:
    """The one statement that a block is."""
    one: T | Stmt | None = s
    while isinstance(one, Block) and len(one.body) == 1:
        one = one.body[0]
    return one


def last_statement(s: Stmt | None) -> Stmt | None:
    """The statement with which a block ends."""
    while isinstance(s, Block) and s.body:
        s = s.body[-1]
    return s


@by_identity
def given_memory(module: Module) -> frozenset[str]:
    """Names of kernels that a launch gives dynamic shared memory: what takes it may be declared nowhere."""
    return frozenset(
        x.name.rsplit("::", 1)[-1]
        for f in module.functions.values()
        if f.side != "kernel"
        for n in nodes_of(f.body)
        if isinstance(n, LaunchStmt) and not (n.dynamic is None or n.dynamic == Literal(0))
        for x in walk(n.kernel)
        if isinstance(x, Name)
    )
