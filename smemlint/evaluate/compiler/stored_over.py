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
from collections.abc import Mapping, Sequence
from enum import Enum, auto

from smemlint.evaluate.analysis.parts_read.halves import is_own, loads
from smemlint.evaluate.compiler.selects import alike_accesses
from smemlint.evaluate.compiler.stored_by_both import is_branched
from smemlint.evaluate.machine.machine import Event, Machine
from smemlint.evaluate.machine.state import Selected
from smemlint.evaluate.values.value import same
from smemlint.ir import (
    Assign,
    Binary,
    Block,
    Call,
    Declare,
    Evaluate,
    Expr,
    FloatLiteral,
    Function,
    If,
    Index,
    Literal,
    Loop,
    Name,
    Stmt,
)
from smemlint.ir.expr import is_element, uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.types import held_type
from smemlint.ir.uses import array_of, assignment, holds, only_statement, statements, variables
from smemlint.ir.walk import names_in, nodes_of, walk
from smemlint.records import record


class _Merges(Enum):
    """Whether one store is made of two."""

    SURELY = auto()
    PERHAPS = auto()


@record(frozen=True, slots=True)
class _OverwrittenStore:
    """A condition that stores again. over: whether they are one where no loop disappears; unrolled: in a loop
    that does; loads: the arm reads an element; names: those in the place; loops: those around, here.
    condition, value: what it asks and stores; reads: it asks memory; alike: that may be what is stored, by
    its type."""

    over: _Merges | None
    unrolled: _Merges | None
    loads: bool
    names: frozenset[str]
    loops: int
    condition: Expr
    value: Expr
    reads: bool
    alike: bool


def note_stored_over(m: Machine, s: If, part: slice, *, together: bool) -> bool:
    """Remember that the store in an arm and the one in front of the condition run, or may run, as one; return
    whether they surely do. part: of the log that the arm is; together: all lanes take it, or none."""
    f = m.frame.function
    found = None if f is None or m.silent or m.host or m.task.as_written else _stores_over(f).get(id(s))
    if found is None:
        return False
    arm = [e for e in m.log[part] if isinstance(e, Event)]
    stores = [e for e in arm if e.site.op != "load"]
    if len(stores) != 1 or not all(same(e.offset, stores[0].offset) for e in arm):
        return False
    front = reversed(m.log[: part.start])
    before = next((e for e in front if isinstance(e, Event) or e.stop == "barrier"), None)
    if not isinstance(before, Event) or not alike_accesses(m, before, stores[0], "store"):
        return False
    if not same(before.offset, stores[0].offset) or bool((stores[0].may & ~before.must).any()):
        return False
    over = _kind_in_loops(m, found)
    if together and over is not None and m.context.unrolled and holds(found.value, Index):
        over = _Merges.PERHAPS
    if over is None:
        return False
    called = any(not isinstance(e, Event) and e.stop == "call" and e.front is None for e in m.log[part])
    doubtful = called or (found.loads and _is_stored_to(m, before, part.start))
    sure = over is _Merges.SURELY and not doubtful
    if sure:
        stores[0].under, stores[0].parted = before.under, before.parted
        m.journal.idle |= {e.order for e in arm if e.site.op == "load"}  # the value is at hand
    m.journal.selected.append(
        Selected(stores[0].order, before.order, stores[0].offset, not sure, line=before.region)
    )
    return sure


def _is_stored_to(m: Machine, before: Event, begin: int) -> bool:
    """Whether other elements of the array are stored to in front, so that the first store may join them."""
    for e in reversed(m.log[:begin]):
        if isinstance(e, Event):
            if e is not before and e.site.op == "store" and e.site.object is before.site.object:
                return True
        elif e.stop == "barrier":
            break
    return False


def _kind_in_loops(m: Machine, found: _OverwrittenStore) -> _Merges | None:
    """Whether they are one, in the loops around: one may give each round a place of its own, or be that of a
    caller."""
    loops = [exits for exits in m.context.loops if not exits.switch]
    inner = m.context.unrolled
    if inner and len(loops) <= found.loops and not found.names.isdisjoint(inner[0].changes.variables):
        changes = inner[0].changes
        asked = not found.reads or changes.leave(found.condition)
        if asked or (not found.alike and changes.leave(found.value)):
            return found.unrolled
        return None if found.unrolled is None else _Merges.PERHAPS
    if found.over is None or (not inner and len(loops) <= found.loops and not m.context.renews(found.names)):
        return found.over
    return _Merges.PERHAPS


def _has_barrier(s: Loop) -> bool:
    return any(
        isinstance(n, Call) and isinstance(n.callee, Name) and "sync" in n.callee.name for n in walk(s)
    )


@by_identity
def _stores_over(f: Function) -> Mapping[int, _OverwrittenStore]:
    """By id(): the conditions with an arm that stores where the statement before did."""
    found: dict[int, _OverwrittenStore] = {}
    loops = [n for n in nodes_of(f.body) if isinstance(n, Loop)]
    around = Counter(id(x) for n in loops for x in walk(n) if isinstance(x, If))
    apart = {id(x) for n in loops if _has_barrier(n) for x in statements(n.body)}
    for block in nodes_of(f.body):
        before: Expr | None = None
        body = block.body if isinstance(block, Block) else ()
        for i, s in enumerate(body):
            given = _stored_over(f, s, show(before)) if isinstance(s, If) and before is not None else None
            if isinstance(s, If) and given is not None and before is not None:
                place = show(before)
                again = any(isinstance(n, Index) and show(n) == place for n in walk(body[i + 1 : i + 4]))
                again = again or _asks(body, s) > 1
                over, unrolled = _kinds(f, s, given, again)
                if over is not None and (again or (around[id(s)] and id(s) not in apart)):
                    over = _Merges.PERHAPS
                if unrolled is not None and again:
                    unrolled = _Merges.PERHAPS
                found[id(s)] = _OverwrittenStore(
                    over,
                    unrolled,
                    loads(f, given.value),
                    frozenset(names_in(before)),
                    around[id(s)],
                    s.condition,
                    given.value,
                    _reads(f, s.condition),
                    _may_alias(f, s.condition, before),
                )
            before = _stored(f, s, before)
    return found


def _asks(body: Sequence[Stmt], s: If) -> int:
    """How many statements ask a condition, and store to the same array: the optimiser may make one `if` of
    them, in part."""
    asked, array = show(s.condition), _array(s)
    return sum(isinstance(x, If) and _array(x) == array and show(x.condition) == asked for x in body)


def _array(s: If) -> str:
    """The array to which the arm of a condition stores first."""
    return next((show(array_of(n.target)) for n in walk(s.then) if isinstance(n, Assign)), "")


def _may_alias(f: Function, condition: Expr, place: Expr) -> bool:
    """Whether a condition reads numbers of the type that is stored, through a pointer that may lead there."""
    known = variables(f)
    stored = known.get(root.id) if isinstance(root := array_of(place), Name) else None
    read = [array_of(n) for n in walk(condition) if is_element(n)]
    of = [known.get(r.id) if isinstance(r, Name) else None for r in read]
    mine = None if stored is None else held_type(stored.type)
    return any(v is None or (not v.restrict and held_type(v.type) == mine) for v in of) or mine is None


def _kinds(f: Function, s: If, given: Assign, again: bool) -> tuple[_Merges | None, _Merges | None]:
    """Whether one store is made of what a condition stores and the one in front; and in the rounds of a loop
    that disappears."""
    loaded = loads(f, given.value)
    plain = isinstance(uncast(given.value), Literal | FloatLiteral | Name) and given is assignment(
        only_statement(s.then)
    )
    unrolled = _Merges.PERHAPS if loaded else _Merges.SURELY
    if _reads(f, s.condition):
        several = any(isinstance(n, Binary) and n.op in ("&&", "||") for n in walk(s.condition))
        if several:
            return None, None
        return (_Merges.PERHAPS if plain or again else None), unrolled
    masked = any(isinstance(n, Binary) and n.op == "&" for n in walk(s.condition))
    return (_Merges.PERHAPS if masked and loaded else _Merges.SURELY), unrolled


def _stored(f: Function, s: Stmt, before: Expr | None) -> Expr | None:
    """Where the latest store goes, if nothing reads memory behind it."""
    a = assignment(s)
    if a is not None and is_element(a.target) and a.op == "=":
        return a.target
    return before if isinstance(s, Declare | Evaluate) and not _reads(f, s) else None


def _stored_over(f: Function, s: If, before: str) -> Assign | None:
    """What the arm of a condition stores there. before: the place, as text."""
    if s.otherwise is not None:
        return None
    inner = only_statement(s.then)
    if isinstance(inner, If):
        return (
            None if _reads(f, s.condition) or _reads(f, inner.condition) else _stored_over(f, inner, before)
        )
    if is_branched(s.then):
        return None
    given = [a for a in map(assignment, statements(s.then)) if a is not None and show(a.target) == before]
    return given[0] if len(given) == 1 else None


def _reads(f: Function, e: Expr | Stmt) -> bool:
    """Whether code may read or write memory."""
    if isinstance(e, Evaluate) and isinstance(e.expr, Assign) and isinstance(e.expr.target, Name):
        return _reads(f, e.expr.value)
    if holds(e, Call, ("*",)):
        return True
    return any(isinstance(n, Index) and not is_own(f, n) for n in walk(e))
