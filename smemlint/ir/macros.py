"""Names that are written as macros are, and what macros stand for."""

from __future__ import annotations

from smemlint.ir.nodes import Binary, Call, Cast, Conditional, Expr, Literal, Name, SizeOf, Unary
from smemlint.patterns import pattern

_CHECKS = pattern(
    r"(?:[A-Z0-9]+_)*(?:CHECK|ASSERT|ENFORCE|EXPECTS|REQUIRE)(?:_MSG|_ARG|_(?P<op>EQ|NE|LT|LE|GT|GE))?"
)
_COMPARES = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_LOGICAL = frozenset((*_COMPARES.values(), "&&", "||"))


def is_macro_like(name: str) -> bool:
    """Whether a name is in capitals, or stands between double underscores."""
    return len(name) > 2 and (name.isupper() or (name.startswith("__") and name.endswith("__")))


def is_check(name: str) -> bool:
    """Whether a name reads like that of a macro that checks a condition."""
    return _CHECKS.fullmatch(name) is not None


def asserted(e: Expr) -> Expr | None:
    """The condition of an `assert`: a program is built with it unless it says not to; of a check of a header
    that was not read (`LIB_CHECK(n <= 256, "too many")`, `CHECK_EQ(n % 32, 0)`)."""
    of = e.operand.of if isinstance(e, Cast) and isinstance(e.operand, SizeOf) else None
    return of.condition if isinstance(of, Conditional) else _checked(e)


def _checked(e: Expr) -> Expr | None:
    while isinstance(e, Binary) and e.op == "<<":
        e = e.left
    name = e.callee.name if isinstance(e, Call) and isinstance(e.callee, Name) and not e.callee.id else ""
    found = _CHECKS.fullmatch(name) if name else None
    if found is None or not isinstance(e, Call) or not e.arguments:
        return None
    compares = _COMPARES.get(found["op"] or "")
    if compares is not None:
        return Binary(compares, e.arguments[0], e.arguments[1], e.place) if len(e.arguments) > 1 else None
    first = e.arguments[0]
    if isinstance(first, Literal):
        return first
    said = first.operand if isinstance(first, Unary) and first.op == "!" else first
    return first if isinstance(said, Binary) and said.op in _LOGICAL else None
