"""What host code makes sure of before it goes on: `assert(n <= 256)`, `if (n > 256) throw ...;`."""

from __future__ import annotations

from smemlint.evaluate.library.host_runtime import EXITS
from smemlint.evaluate.machine.functions import called
from smemlint.ir import Block, Call, Evaluate, Expr, If, LaunchStmt, Literal, Name, Stmt, UnknownExpr
from smemlint.ir.macros import asserted
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import walk


@by_identity
def checked(s: Stmt) -> tuple[Expr, bool] | None:
    """Return a condition and what it is wherever the program goes on behind a statement that does nothing
    but see to that; None for any other."""
    if isinstance(s, Evaluate):
        holds = asserted(s.expr)
        return None if holds is None else (holds, True)
    if isinstance(s, If) and s.otherwise is None and ends(s.then) and not any(map(_may_launch, walk(s.then))):
        return s.condition, False
    return None


def ends(s: Stmt) -> bool:
    """Whether a statement ends the program, or throws."""
    if isinstance(s, Block) and s.body:
        return ends(s.body[-1])
    e = s.expr if isinstance(s, Evaluate) else None
    if isinstance(e, UnknownExpr):
        return e.reason == "throw"
    if e is not None and is_false(asserted(e)):
        return True
    return isinstance(e, Call) and isinstance(e.callee, Name) and called(e) in EXITS


def is_false(e: Expr | None) -> bool:
    """Whether a condition is written as one that never holds: `default: assert(false);`."""
    return isinstance(e, Literal) and e.value == 0


def _may_launch(n: object) -> bool:
    """Whether a node of code starts a kernel, or calls what the project defines."""
    return isinstance(n, LaunchStmt) or (
        isinstance(n, Call) and isinstance(n.callee, Name) and bool(n.callee.id)
    )
