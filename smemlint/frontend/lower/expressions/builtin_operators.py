"""Operator calls that mean what the built-in operator means."""

from __future__ import annotations

from smemlint.ir import Assign, Binary, Call, Expr, Index, Member, Name, Place, Unary, UnknownExpr

_UNARY_OPERATORS = ("-", "+", "!", "~", "*", "&", "++", "--")
_COMPOUND = ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=")
_BINARY_OPERATORS = (
    "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||", ",",
)  # fmt: skip


def builtin_operator(operator: str, operands: list[Expr], place: Place | None, resolved: bool) -> Expr:
    """An operator of the library or one left to instantiation, as if it were built in."""
    first, rest = operands[0], operands[1:]
    if operator == "()":
        callee: Expr = Member(first, "operator()", False, place) if resolved else first
        return Call(callee, tuple(rest), place)
    if operator == "[]" and len(rest) == 1:
        if resolved:
            return Call(Member(first, "operator[]", False, place), tuple(rest), place)
        return Index(first, rest[0], place)
    if operator == "->":
        return Call(Member(first, "operator->", False, place), (), place)
    if operator in ("++", "--"):
        return Unary(f"x{operator}" if rest else f"{operator}x", first, place)
    if operator in _COMPOUND and len(rest) == 1:
        return Assign(operator, first, rest[0], place)
    if operator in _BINARY_OPERATORS and len(rest) == 1:
        return Binary(operator, first, rest[0], place)
    if operator in _UNARY_OPERATORS and not rest:
        return Unary(operator, first, place)
    return Call(Member(first, f"operator{operator}", False, place), tuple(rest), place)


def read_value(stream: Expr, target: Expr, place: Place | None) -> Expr:
    """`in >> a` anywhere in an expression: a is set, the value is the stream."""
    if not isinstance(target, Name | Index | Member):
        return Binary(">>", stream, target, place)
    given = Assign("=", target, UnknownExpr("read from a stream"), place)
    return Binary(",", given, stream, place)


def read_from_stream(e: Expr) -> Expr:
    """A statement `in >> a >> b;`: nobody shifts a number only to throw it away, so a and b are set."""
    targets: list[Expr] = []
    left = e
    while isinstance(left, Binary) and left.op == ">>" and isinstance(left.right, Name | Index | Member):
        targets.append(left.right)
        left = left.left
    result: Expr | None = None
    for target in reversed(targets):
        given = Assign("=", target, UnknownExpr("read from a stream"), getattr(e, "place", None))
        result = given if result is None else Binary(",", result, given, getattr(e, "place", None))
    return e if result is None else result
