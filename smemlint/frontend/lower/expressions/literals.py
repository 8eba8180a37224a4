"""Literals, read from the text where clang's cursors do not hold the value."""

from __future__ import annotations

from smemlint.frontend.clang import cursors
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.lower.context import Context
from smemlint.frontend.text.literals import integer_literal, literal_from_text
from smemlint.ir import Expr, FloatLiteral, Literal, StringLiteral, UnknownExpr
from smemlint.ir.types import BOOL


def integer(c: Context, node: Node) -> Expr:
    positions = c.positions
    text = None if positions.in_macro(node) else positions.text(node)
    found = integer_literal(text) if text else None
    if found is not None:
        return found
    value = cursors.evaluate(node)
    scalar = c.types.scalar_of(cursors.cursor_type(node))
    if isinstance(value, int):
        return Literal(value, scalar, c.place(node))
    return UnknownExpr("integer literal", (), c.place(node))


def floating(c: Context, node: Node) -> Expr:
    text = None if c.positions.in_macro(node) else c.positions.text(node)
    found = literal_from_text(text) if text else None
    if isinstance(found, FloatLiteral):
        return found
    value = cursors.evaluate(node)
    scalar = c.types.scalar_of(cursors.cursor_type(node))
    return FloatLiteral(float(value) if value is not None else 0.0, scalar)


def character(c: Context, node: Node) -> Expr:
    value = cursors.evaluate(node)
    scalar = c.types.scalar_of(cursors.cursor_type(node))
    return Literal(int(value) if value is not None else 0, scalar)


def string(c: Context, node: Node) -> Expr:
    return StringLiteral(cursors.spelling(node), c.place(node))


def boolean(c: Context, node: Node) -> Expr:
    text = c.positions.text(node)
    if text in ("true", "false"):
        return Literal(int(text == "true"), BOOL)
    value = cursors.evaluate(node)
    return Literal(int(value) if value is not None else 0, BOOL)
