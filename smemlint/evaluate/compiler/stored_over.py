"""A store and one to the same place under a condition right behind it: nvcc stores once, what was chosen.

    s[t] = 0; if (t < n) s[t] = in[t];

That takes a condition that reads no memory, for what it reads would stand between the two, and an arm that is
a straight line and stores nothing else to shared memory. A loop's body keeps both, but where barriers keep
its rounds apart; of a loop that disappears, some copies do. Read from the machine code of some 100 bodies,
nvcc 13.0 for sm_90 (docs/dev/joining.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from smemlint.evaluate.analysis.parts_read.halves import is_element
from smemlint.evaluate.compiler.selects import alike_accesses
from smemlint.evaluate.compiler.stored_by_both import is_branched
from smemlint.evaluate.machine.machine import Event, Machine
from smemlint.evaluate.machine.state import Selected
from smemlint.evaluate.values.number import same
from smemlint.ir import (
    Assign,
    Block,
    Call,
    Declare,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Literal,
    Loop,
    Name,
    Stmt,
)
from smemlint.ir.expr import uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.uses import assignment, holds, only_statement, statements
from smemlint.ir.walk import nodes_of, walk


class Over(Enum):
    """Whether one store is made of two."""

    SURELY = auto()
    PERHAPS = auto()


def note_stored_over(m: Machine, s: If, begin: int) -> None:
    """Remember that the store in an arm and the one in front of the condition run as one. begin: where in the
    log the arm begins; it ends where the log does."""
    f = m.frame.function
    over = None if f is None or m.silent or m.host or m.task.as_written else _stores_over(f).get(id(s))
    arm = [e for e in m.log[begin:] if isinstance(e, Event)]
    stores = [e for e in arm if e.site.op != "load"]
    if over is None or len(stores) != 1 or not all(same(e.offset, stores[0].offset) for e in arm):
        return
    before = next((e for e in reversed(m.log[:begin]) if isinstance(e, Event) or e.stop == "barrier"), None)
    if not isinstance(before, Event) or not alike_accesses(m, before, stores[0], "store"):
        return
    if not same(before.offset, stores[0].offset) or bool((stores[0].may & ~before.must).any()):
        return
    perhaps = over is Over.PERHAPS
    if not perhaps:
        stores[0].under, stores[0].parted = before.under, before.parted
        m.journal.idle |= {e.order for e in arm if e.site.op == "load"}  # the value is at hand
    m.journal.selected.append(
        Selected(stores[0].order, before.order, stores[0].offset, perhaps, line=before.region)
    )


def _has_barrier(s: Loop) -> bool:
    return any(
        isinstance(n, Call) and isinstance(n.callee, Name) and "sync" in n.callee.name for n in walk(s)
    )


@by_identity
def _stores_over(f: Function) -> Mapping[int, Over]:
    """By id(): the conditions with an arm that stores where the statement before did."""
    found: dict[int, Over] = {}
    loops = [n for n in nodes_of(f.body) if isinstance(n, Loop)]
    copied = {id(x) for n in loops if not _has_barrier(n) for x in walk(n) if isinstance(x, If)}
    for block in nodes_of(f.body):
        before: str | None = None
        body = block.body if isinstance(block, Block) else ()
        for i, s in enumerate(body):
            if isinstance(s, If) and id(s) not in copied:
                over = _stored_over(s, before)
                if over is not None:
                    again = any(isinstance(n, Index) and show(n) == before for n in walk(body[i + 1 : i + 4]))
                    found[id(s)] = Over.PERHAPS if again else over
            before = _stored(s, before)
    return found


def _stored(s: Stmt, before: str | None) -> str | None:
    """Where the latest store goes, if nothing reads memory behind it; as text."""
    a = assignment(s)
    if a is not None and is_element(a.target) and a.op == "=":
        return show(a.target)
    return before if isinstance(s, Declare | Evaluate) and not _reads(s) else None


def _stored_over(s: If, before: str | None) -> Over | None:
    """Whether the arm of a condition stores there."""
    if s.otherwise is not None or before is None:
        return None
    inner = only_statement(s.then)
    if isinstance(inner, If):
        return None if _reads(s.condition) else _stored_over(inner, before)
    if is_branched(s.then):
        return None
    given = [a for a in map(assignment, statements(s.then)) if a is not None and show(a.target) == before]
    if len(given) != 1:
        return None
    if not _reads(s.condition):
        return Over.SURELY
    return (
        Over.PERHAPS if len(statements(s.then)) == 1 and isinstance(uncast(given[0].value), Literal) else None
    )


def _reads(e: Expr | Stmt) -> bool:
    """Whether code may read or write memory."""
    if isinstance(e, Evaluate) and isinstance(e.expr, Assign) and isinstance(e.expr.target, Name):
        return _reads(e.expr.value)
    return holds(e, (Index, Call), ("*",))
