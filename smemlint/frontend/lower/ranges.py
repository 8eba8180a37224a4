"""`for (T x : range)`: over an array or a braced list by indices, over a record by its iterators."""

from __future__ import annotations

from dataclasses import replace

from smemlint.frontend.clang import cursors
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.lower.lowering import Context
from smemlint.frontend.lower.types import CONSTANT_ARRAY
from smemlint.ir import (
    ArrayOf,
    Binary,
    Block,
    Call,
    Declare,
    Expr,
    Index,
    InitList,
    Literal,
    Loop,
    Member,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    Stmt,
    Type,
    Unary,
    Var,
)
from smemlint.ir.types import INT


def range_loop(c: Context, range_node: Node, variables: list[Stmt], body: Stmt, place: Place) -> Stmt | None:
    """The loop; None where the range has no length that is known, or more than one variable is declared."""
    if len(variables) != 1 or not isinstance(variables[0], Declare):
        return None
    item = variables[0].var
    before: list[Stmt] = []
    elements = c.exprs.lower(range_node)
    if isinstance(elements, InitList) and elements.elements:
        length = len(elements.elements)
        listed = _local(c, "range", ArrayOf(_element_type(item.type), Literal(length)), elements, place)
        before.append(Declare(listed))
        elements = Name(listed.id, listed.name)
    else:
        type_ = cursors.canonical_type(cursors.cursor_type(range_node))
        if type_.kind != CONSTANT_ARRAY:
            return _by_iterators(c, elements, item, body, place) if _iterates(c, range_node) else None
        length = int(cursors.array_size(type_))
    counter = _local(c, "index", INT, Literal(0), place)
    index = Name(counter.id, counter.name)
    taken = Declare(replace(item, init=Index(elements, index, place)))
    loop = Loop(
        Declare(counter),
        Binary("<", index, Literal(length)),
        Unary("++x", index),
        Block((taken, body)),
        place=place,
    )
    return Block((*before, loop))


def _iterates(c: Context, range_node: Node) -> bool:
    """Whether a range is an object of a class."""
    type_ = c.types.of(range_node)
    while isinstance(type_, PointerTo) and type_.reference:
        type_ = type_.to
    return isinstance(type_, RecordRef)


def _by_iterators(c: Context, elements: Expr, item: Var, body: Stmt, place: Place) -> Stmt:
    """`for (auto i = range.begin(), end = range.end(); i != end; ++i) { T x = *i; ... }`."""
    made = [
        _local(c, name, OpaqueType("auto"), Call(Member(elements, name, False, place), (), place), place)
        for name in ("begin", "end")
    ]
    at, end = (Name(v.id, v.name) for v in made)
    for name in ("begin", "end"):
        c.work.mention(name)
    loop = Loop(
        None,
        Binary("!=", at, end),
        Unary("++x", at),
        Block((Declare(replace(item, init=Unary("*", at, place))), body)),
        place=place,
    )
    return Block((*map(Declare, made), loop))


def _element_type(type_: Type) -> Type:
    while isinstance(type_, PointerTo) and type_.reference:
        type_ = type_.to
    return type_ if isinstance(type_, Scalar) else INT


def _local(c: Context, name: str, type_: Type, init: Expr, place: Place) -> Var:
    return Var(c.declared.local_id(f"({name})", place.offset), f"({name})", type_, "local", place, init)
