"""Conditions that ask for one place of the grid (`x == 0 || x == width - 1`), as a block in its middle meets
them: an image's border is copied, or left alone, and all lanes of other blocks go on.
"""

from __future__ import annotations

from collections.abc import Callable

from smemlint.evaluate.analysis.purity import root_of
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Pointer
from smemlint.ir import STEPS, Asm, Assign, Binary, Call, Construct, Expr, Index, Member, Stmt, Unary
from smemlint.ir.jumps import jumps_in
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import walk


def beside_the_edge(
    m: Machine, condition: Expr, arms: tuple[Stmt | None, Stmt | None], ask: Callable[[], Int]
) -> Int | None:
    """Return what a condition that asks for one place of the grid (`x == 0`, `x == w - 1`) is in its middle;
    None where the arm that is left out has accesses to shared memory, or alone goes on behind it.

    ask: evaluates the condition once more, unseen."""
    if not _asks_for_a_place(condition):
        return None
    unknowns, assumed = m.unknowns, dict(m.journal.assumptions)
    since = unknowns.guesses
    unknowns.edges = True
    steps = m.effort.steps
    c = ask()
    m.effort.steps = steps  # asked a second time, for nothing in most cases
    unknowns.edges = False
    if c.known and isinstance(c.const, int) and unknowns.guesses > since:
        left_out, taken = arms[bool(c.const)], arms[not c.const]
        goes_on = taken is None or not jumps_in(taken)
        if goes_on and (left_out is None or not _reaches_shared(m, left_out)):
            return c
    del unknowns.guessed[since:]
    m.journal.assumptions = assumed
    return None


@by_identity
def _asks_for_a_place(condition: Expr) -> bool:
    nodes = [*walk(condition)]
    return any(isinstance(n, Binary) and n.op in ("==", "!=") for n in nodes) and not any(
        isinstance(n, Assign | Call | Asm) or (isinstance(n, Unary) and n.op in STEPS) for n in nodes
    )


def _reaches_shared(m: Machine, body: Stmt) -> bool:
    """Whether a statement may access shared memory, or do what its text does not show."""
    for n in walk(body):
        if isinstance(n, Call | Construct | Asm):
            return True
        if (
            isinstance(n, Index)
            or (isinstance(n, Unary) and n.op == "*")
            or (isinstance(n, Member) and n.arrow)
        ):
            root = root_of(n)
            o = None if root is None else m.find(root)
            held = None if o is None else o.cells.get(0)
            if o is None or (held.object if isinstance(held, Pointer) else o).storage == "shared":
                return True
    return False
