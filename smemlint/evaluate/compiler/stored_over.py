"""A store and one to the same place under a condition right behind it: nvcc stores once, what was chosen.

    s[t] = 0; if (t < n) s[t] = in[t];

That takes a condition that reads no memory, for what it reads would stand between the two, and an arm that is
a straight line and stores nothing else to shared memory. In a loop it is sure only of a place that no round
changes, as a statement of the body itself, where barriers keep the rounds apart (tiles); of all else nvcc
makes one store or keeps both. Read from the machine code of some 150 bodies, nvcc 13.0 for sm_90
(docs/dev/joining.md).
"""

from __future__ import annotations

from collections import Counter
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
from smemlint.ir.walk import names_in, nodes_of, walk
from smemlint.records import record


class Over(Enum):
    """Whether one store is made of two."""

    SURELY = auto()
    PERHAPS = auto()


@record(frozen=True, slots=True)
class _Found:
    """A condition that stores again. names: those in the place; loops: those around, in its function."""

    over: Over
    names: frozenset[str]
    loops: int


def note_stored_over(m: Machine, s: If, begin: int) -> None:
    """Remember that the store in an arm and the one in front of the condition run as one. begin: where in the
    log the arm begins; it ends where the log does."""
    f = m.frame.function
    found = None if f is None or m.silent or m.host or m.task.as_written else _stores_over(f).get(id(s))
    if found is None:
        return
    arm = [e for e in m.log[begin:] if isinstance(e, Event)]
    stores = [e for e in arm if e.site.op != "load"]
    if len(stores) != 1 or not all(same(e.offset, stores[0].offset) for e in arm):
        return
    before = next((e for e in reversed(m.log[:begin]) if isinstance(e, Event) or e.stop == "barrier"), None)
    if not isinstance(before, Event) or not alike_accesses(m, before, stores[0], "store"):
        return
    if not same(before.offset, stores[0].offset) or bool((stores[0].may & ~before.must).any()):
        return
    perhaps = found.over is Over.PERHAPS or _may_differ(m, found)
    if not perhaps:
        stores[0].under, stores[0].parted = before.under, before.parted
        m.journal.idle |= {e.order for e in arm if e.site.op == "load"}  # the value is at hand
    m.journal.selected.append(
        Selected(stores[0].order, before.order, stores[0].offset, perhaps, line=before.region)
    )


def _may_differ(m: Machine, found: _Found) -> bool:
    """Whether a loop around gives each round a place of its own, or disappears, or is that of a caller."""
    loops = [exits for exits in m.context.loops if not exits.switch]
    if len(loops) > found.loops:
        return True
    return any(not exits.stays or not found.names.isdisjoint(exits.renewed) for exits in loops)


def _has_barrier(s: Loop) -> bool:
    return any(
        isinstance(n, Call) and isinstance(n.callee, Name) and "sync" in n.callee.name for n in walk(s)
    )


@by_identity
def _stores_over(f: Function) -> Mapping[int, _Found]:
    """By id(): the conditions with an arm that stores where the statement before did."""
    found: dict[int, _Found] = {}
    loops = [n for n in nodes_of(f.body) if isinstance(n, Loop)]
    around = Counter(id(x) for n in loops for x in walk(n) if isinstance(x, If))
    apart = {id(x) for n in loops if _has_barrier(n) for x in statements(n.body)}
    for block in nodes_of(f.body):
        before: Expr | None = None
        body = block.body if isinstance(block, Block) else ()
        for i, s in enumerate(body):
            over = _stored_over(s, show(before)) if isinstance(s, If) and before is not None else None
            if over is not None and before is not None:
                place = show(before)
                again = any(isinstance(n, Index) and show(n) == place for n in walk(body[i + 1 : i + 4]))
                if again or (around[id(s)] and id(s) not in apart):
                    over = Over.PERHAPS
                found[id(s)] = _Found(over, frozenset(names_in(before)), around[id(s)])
            before = _stored(s, before)
    return found


def _stored(s: Stmt, before: Expr | None) -> Expr | None:
    """Where the latest store goes, if nothing reads memory behind it."""
    a = assignment(s)
    if a is not None and is_element(a.target) and a.op == "=":
        return a.target
    return before if isinstance(s, Declare | Evaluate) and not _reads(s) else None


def _stored_over(s: If, before: str) -> Over | None:
    """Whether the arm of a condition stores there. before: the place, as text."""
    if s.otherwise is not None:
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
