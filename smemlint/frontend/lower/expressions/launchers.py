"""Functions that nothing defines and that are given a kernel to start:
`gpu::LaunchKernel(kernel, grid, block, 0, stream, x, n)`."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.frontend.clang import cursors
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import PARAMETER
from smemlint.frontend.lower.functions import GLOBAL_ATTRIBUTE
from smemlint.frontend.lower.lowering import Context
from smemlint.ir import Cast, Expr, LaunchStmt, Name, Place, RecordRef, Unary, UnknownExpr

_DIM3 = RecordRef("dim3")


def handed_on(
    c: Context, callee: Expr, nodes: Sequence[Node], arguments: Sequence[Expr], place: Place | None
) -> LaunchStmt | None:
    """The launch that a call stands for, whose arguments are a kernel, two dim3 and what the kernel takes,
    with the dynamic size and a stream between; None for any other call."""
    if place is None or not isinstance(callee, Name) or callee.id:
        return None
    for at in range(min(len(arguments), len(nodes)) - 2):
        kernel = without_casts(arguments[at])
        takes = _parameters_of(c, kernel.name) if isinstance(kernel, Name) else set()
        if not takes or any(c.types.of(nodes[at + i]) != _DIM3 for i in (1, 2)):
            continue
        grid, block, *rest = arguments[at + 1 :]
        between = max(len(rest) - max(takes), 0)
        dynamic = rest[0] if between >= DYNAMIC_AND_STREAM else UnknownExpr("launch", (), place)
        passed = tuple(rest[between:]) if takes == {len(rest) - between} else ()
        return LaunchStmt(kernel, grid, block, dynamic, passed, place)
    return None


DYNAMIC_AND_STREAM = 2
"""What stands between shape and arguments where the size of dynamic memory does."""


def _parameters_of(c: Context, name: str) -> set[int]:
    """How many parameters the kernels of a name have; empty where it is no kernel's."""
    counts: set[int] = set()
    for found in c.declarations.functions_named.get(name.rsplit("::", 1)[-1], ()):
        kids = cursors.children(found.node)
        if any(k.kind == GLOBAL_ATTRIBUTE for k in kids):
            counts.add(sum(k.kind == PARAMETER for k in kids))
    return counts


def without_casts(expr: Expr) -> Expr:
    """Return what a cast, or `&`, is applied to."""
    while isinstance(expr, Cast) or (isinstance(expr, Unary) and expr.op == "&"):
        expr = expr.operand
    return expr
