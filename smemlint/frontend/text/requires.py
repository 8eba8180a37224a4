"""`requires`: clauses in the heads of templates, and expressions that ask whether something compiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from smemlint.ir import (
    Binary,
    Call,
    Expr,
    Literal,
    Name,
    OpaqueType,
    RecordRef,
    StaticMember,
    TemplateArgument,
    Type,
)
from smemlint.ir.types import BOOL

COMPILES = RecordRef("std::void")
"""Owner of a question: whether its template arguments are types that there are, or of expressions that
compile (`decltype(x.f())`), as of `std::void_t`."""
HOLDS = "value"
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


class Resolver(Protocol):
    """What a scope says about a (possibly qualified) name."""

    def value(self, name: str) -> Expr | None: ...

    def is_variable_template(self, name: str) -> bool: ...

    def type(self, name: str, arguments: tuple[TemplateArgument, ...] | None) -> Type | None: ...

    def fields(self, t: Type) -> tuple[str, ...]: ...


class Parser(Protocol):
    """What reads types and expressions; see `textual.TextParser`."""

    at: int
    resolver: Resolver

    def peek(self, ahead: int = 0) -> str: ...

    def take(self, token: str) -> bool: ...

    def expect(self, token: str) -> None: ...

    def word(self, letters: str = ...) -> str: ...

    def done(self) -> bool: ...

    def type(self, *, strict: bool = False) -> Type: ...

    def expression(self) -> Expr: ...

    def clause(self) -> Expr: ...


def both(found: Sequence[Expr]) -> Expr | None:
    """All of these conditions in one; None without any."""
    result: Expr | None = None
    for one in found:
        result = one if result is None else Binary("&&", result, one)
    return result


def clauses(parser: Parser) -> list[Expr]:
    """The conditions of the `requires` clauses in the head of a function or class, up to its body."""
    found: list[Expr] = []
    depth = 0
    while not parser.done():
        token = parser.peek()
        if not depth and token in ("{", ";", ":"):
            break
        parser.at += 1
        depth += (token in _OPENING) - (token in _CLOSING)
        if token == "requires" and not depth:
            found.append(parser.clause())
    return found


class _Declared:
    """A scope with the parameters of a `requires` expression, each of which is any value of its type."""

    def __init__(self, around: Resolver, parameters: Mapping[str, Type]) -> None:
        self._around = around
        self._parameters = parameters

    def value(self, name: str) -> Expr | None:
        t = self._parameters.get(name)
        return self._around.value(name) if t is None else Call(Name("", "std::declval", None, (t,)), ())

    def is_variable_template(self, name: str) -> bool:
        return self._around.is_variable_template(name)

    def type(self, name: str, arguments: tuple[TemplateArgument, ...] | None) -> Type | None:
        return self._around.type(name, arguments)

    def fields(self, t: Type) -> tuple[str, ...]:
        return self._around.fields(t)


def requirements(parser: Parser) -> Expr:
    """Read `requires (T a) { a.f(); typename T::x; { a.g() } -> C; requires D<T>; }`, behind `requires`."""
    parameters: dict[str, Type] = {}
    if parser.take("("):
        while not parser.take(")"):
            t = parser.type()
            if parser.peek() not in (",", ")"):
                parameters[parser.word()] = t
            parser.take(",")
    parser.expect("{")
    around = parser.resolver
    parser.resolver = _Declared(around, parameters)
    try:
        asked: list[Expr] = []
        while not parser.take("}"):
            asked += _requirement(parser)
            parser.expect(";")
    finally:
        parser.resolver = around
    return both(asked) or Literal(1, BOOL)


def _requirement(parser: Parser) -> list[Expr]:
    if parser.take("requires"):
        return [parser.clause()]
    if parser.peek() == "typename":
        return [_compiles(parser.type(strict=True))]
    if not parser.take("{"):
        return [_compiles(OpaqueType("decltype", parser.expression()))]
    gives = OpaqueType("decltype", parser.expression())
    parser.expect("}")
    parser.take("noexcept")
    if not parser.take("->"):
        return [_compiles(gives)]
    return [_compiles(gives), applied(parser.clause(), gives)]


def _compiles(asked: Type) -> Expr:
    return StaticMember(replace(COMPILES, arguments=(asked,)), HOLDS)


def applied(concept: Expr, to: Type) -> Expr:
    """A concept that is written without its first argument, given it."""
    return replace(concept, arguments=(to, *concept.arguments)) if isinstance(concept, Name) else concept
