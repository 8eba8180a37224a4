"""The other way of a guard against problem sizes (`else s[t] = 0;`): only blocks at the edge go there.

Evaluation goes on as a block in the middle of the grid does. What one at the edge runs beside it is looked at
for its accesses alone, by lanes that may or may not take part, and leaves nothing behind.
"""

from __future__ import annotations

from smemlint.evaluate.control_flow.masks import restore, snapshot
from smemlint.evaluate.machine.dispatch import run
from smemlint.evaluate.machine.machine import Event, Machine
from smemlint.ir import Asm, Call, Construct, Expr, Index, Member, Stmt, Unary
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import names_in, walk

VISITS = 16
"""How often one guard in loops is looked at the other way."""


def log_edge_arm(m: Machine, body: Stmt | None) -> None:
    """Log the accesses of a branch that the block does not take, and go back to where it was."""
    if body is None or m.host or m.silent or m.context.at_edge or not _may_access(m, body):
        return
    visits = m.memo.edges.get(id(body), 0)
    if visits == VISITS:
        return
    m.memo.edges[id(body)] = visits + 1
    before, must, may, loops = snapshot(m), m.must, m.may, m.context.loops
    left = [(f, f.outcome, f.end) for f in m.frames]
    for f in m.frames:
        f.end = None if f.end is None else m.join()
    way, region = m.context.way, m.lines.region
    since, waiting, certain = len(m.log), m.context.waiting, m.unknowns.certain
    m.must, m.context.loops, m.context.waiting, m.context.at_edge = m.threads.nobody, [m.exits()], {}, True
    # `if (i + blockDim.x < n) ... else if (i + blockDim.x >= n)`: what is asked here again holds at the edge
    m.unknowns.certain = True
    m.straight()
    run(m, body)
    m.lines.region = region
    m.must, m.may, m.context.loops, m.context.waiting, m.context.at_edge = must, may, loops, waiting, False
    m.context.way, m.unknowns.certain = way, certain
    for frame, outcome, end in left:
        frame.outcome, frame.end = outcome, end
    restore(m, before)
    for event in m.log[since:]:
        if isinstance(event, Event):
            event.at_edge = True


def supposed(m: Machine, condition: Expr) -> bool:
    """Whether a condition asks a variable that was decided so (`bool inside = i < n;`)."""
    return not m.context.supposed.isdisjoint(_names(condition))


def suppose(m: Machine, id: str, value: Expr | None, *, guessed: bool) -> None:
    """Note a variable that is decided so itself, or made of one that is."""
    if guessed or (m.context.supposed and value is not None and supposed(m, value)):
        m.context.supposed.add(id)


_names = by_identity(names_in)


def _may_access(m: Machine, body: Stmt) -> bool:
    known = m.memo.reaching.get(id(body))
    if known is None:
        known = any(
            isinstance(n, Index | Call | Construct | Asm)
            or (isinstance(n, Unary) and n.op == "*")
            or (isinstance(n, Member) and n.arrow)
            for n in walk(body)
        )
        m.memo.reaching[id(body)] = known
    return known
