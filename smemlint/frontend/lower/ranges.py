"""`for (T x : range)`: over an array or a braced list by indices, over a record by its iterators."""

from __future__ import annotations

from dataclasses import replace

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.lower.context import Context
from smemlint.frontend.lower.types import CONSTANT_ARRAY
from smemlint.ir import (
    ArrayOf,
    Binary,
    Block,
    Call,
    Declare,
    Expr,
    FunctionType,
    Index,
    InitList,
    Literal,
    Loop,
    Member,
    MemberType,
    Name,
    OpaqueType,
    Place,
    PointerTo,
    RecordRef,
    Scalar,
    Stmt,
    Type,
    TypeParam,
    Unary,
    Var,
)
from smemlint.ir.types import INT, referred


def range_loop(c: Context, range_node: Node, variables: list[Stmt], body: Stmt, place: Place) -> Stmt | None:
    """The loop; None where the range has no length that is known. variables: the one of the loop, and what it
    is taken apart into."""
    if not variables or not isinstance(variables[0], Declare):
        return None
    item = variables[0].var
    body = Block((*variables[1:], body)) if len(variables) > 1 else body
    before: list[Stmt] = []
    elements = c.exprs.lower(range_node)
    if isinstance(elements, InitList) and elements.elements:
        length = len(elements.elements)
        listed = _local(c, "range", ArrayOf(_element_type(item.type), Literal(length)), elements, place)
        before.append(Declare(listed))
        elements = Name(listed.id, listed.name)
        extent: Expr = Literal(length)
    else:
        type_ = cursors.canonical_type(cursors.cursor_type(range_node))
        if type_.kind == CONSTANT_ARRAY:
            extent = Literal(int(cursors.array_size(type_)))
        else:
            dependent = _type_of(c, range_node)
            if not isinstance(dependent, ArrayOf) or dependent.extent is None:
                return _by_iterators(c, elements, item, body, place)
            extent = dependent.extent
    counter = _local(c, "index", INT, Literal(0), place)
    index = Name(counter.id, counter.name)
    taken = Declare(replace(item, init=Index(elements, index, place)))
    loop = Loop(
        Declare(counter),
        Binary("<", index, extent),
        Unary("++x", index),
        Block((taken, body)),
        place=place,
    )
    return Block((*before, loop))


def _type_of(c: Context, node: Node) -> Type | None:
    """The type of a range; of an element in a template, whose index clang leaves open, by what it is of."""
    type_ = referred(c.types.of(node))
    if isinstance(type_, RecordRef | ArrayOf):
        return type_
    kids = cursors.children(node)
    if node.kind == kinds.UNEXPOSED and len(kids) == 1:
        return _type_of(c, kids[0])
    if node.kind != kinds.ARRAY_SUBSCRIPT or len(kids) != 2:
        return None
    base = _type_of(c, kids[0])
    return base.element if isinstance(base, ArrayOf) else None


def _by_iterators(c: Context, elements: Expr, item: Var, body: Stmt, place: Place) -> Stmt:
    """`auto &&r = range; for (auto i = r.begin(), end = r.end(); i != end; ++i) { T x = *i; ... }`."""
    held = _local(c, "range", PointerTo(OpaqueType("auto"), reference=True), elements, place)
    over = Name(held.id, held.name)
    made = [
        _local(c, name, OpaqueType("auto"), Call(Member(over, name, False, place), (), place), place)
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
    return Block((*map(Declare, (held, *made)), loop))


def _element_type(type_: Type) -> Type:
    """What a braced list holds, by the type of the loop's variable."""
    found = referred(type_)
    known = Scalar | RecordRef | PointerTo | FunctionType | TypeParam | MemberType
    return found if isinstance(found, known) else INT


def _local(c: Context, name: str, type_: Type, init: Expr, place: Place) -> Var:
    return Var(c.declared.local_id(f"({name})", place.offset), f"({name})", type_, "local", place, init)
