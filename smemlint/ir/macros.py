"""Names that are written as macros are, and what macros stand for."""

from __future__ import annotations

from smemlint.ir.expr import Cast, Conditional, Expr, SizeOf


def is_macro_like(name: str) -> bool:
    """Whether a name is in capitals, or stands between double underscores."""
    return len(name) > 2 and (name.isupper() or (name.startswith("__") and name.endswith("__")))


def asserted(e: Expr) -> Expr | None:
    """The condition of an `assert`: a program is built with it unless it says not to."""
    of = e.operand.of if isinstance(e, Cast) and isinstance(e.operand, SizeOf) else None
    return of.condition if isinstance(of, Conditional) else None
