"""Loads at the head of a branch that are made again right after it: the compiler makes them once, before it.

    if (t < n) { x = s[t]; s[t] = 2 * x; }
    y = s[t];

Those who come from the branch know what `s[t]` holds, the others load it; both ways then begin with one load,
which moves before the branch. It is counted where the load after the branch stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from smemlint.evaluate.compiler.log import Entry, Log, distance, lie_apart
from smemlint.evaluate.machine.components import Journal
from smemlint.evaluate.machine.machine import Barrier, Event
from smemlint.ir import (
    Call,
    Declare,
    Expr,
    If,
    Index,
    Member,
    Name,
    Place,
    Stmt,
    Unary,
)
from smemlint.ir.expr import is_element
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import assignment, statements
from smemlint.ir.walk import walk
from smemlint.toolkit.model import Effect
from smemlint.toolkit.table import effect_of

Where = tuple[str, int]


def lift(log: Log, journal: Journal) -> Log:
    """Drop loads that run where the same load stands after their branch. A site keeps its loads where it
    would be left without any."""
    heads: dict[Where, tuple[Where, ...]] = {}
    for f in {id(s.function): s.function for s in log.sites() if s.function is not None}.values():
        heads |= _heads(f.body)
    if not heads:
        return log
    gone: set[int] = set()
    before = -1
    for at, e in enumerate(log.entries):
        if isinstance(e, Event) and e.region != before and e.site.op == "load":
            head = heads.get((e.site.place.path, e.site.place.offset))
            if head is not None:
                gone |= _made_again(log.entries, at, head)
        before = e.region
    if gone:
        left = {id(e.site) for e in log.events if e.order not in gone}
        gone = {e.order for e in log.events if e.order in gone and id(e.site) in left}
    return log.without(gone)


def _made_again(entries: Sequence[Entry], at: int, head: Sequence[Where]) -> set[int]:
    """Orders of the loads at the head of a branch, which begins at this place, that move before it."""
    arm = _straight_line(entries, at)
    after = _straight_line(entries, at + len(arm))
    found: set[int] = set()
    later = iter(_at_hand(arm, after))
    for where, e in zip(head, arm, strict=False):
        if (e.site.place.path, e.site.place.offset) != where or e.site.op != "load" or e.volatile:
            break
        if e.must is not e.may and not np.array_equal(e.must, e.may):
            break
        y = next(later, None)
        if y is None or not _same_address(e, y) or bool((e.may & ~y.may).any()) or y.turn != e.turn:
            break
        found.add(e.order)
    return found


def _straight_line(entries: Sequence[Entry], at: int) -> list[Event]:
    """The accesses from a place in the log on that stand in one line, up to a barrier."""
    found: list[Event] = []
    for e in entries[at : at + 64]:
        if isinstance(e, Barrier) and e.passable:
            continue
        if not isinstance(e, Event) or (found and e.region != found[0].region):
            break
        found.append(e)
    return found


def _at_hand(arm: Sequence[Event], after: Sequence[Event]) -> Iterator[Event]:
    """The loads after a branch whose value is at hand at its end."""
    loads = [e for e in arm if e.site.op == "load"]
    for i, y in enumerate(after):
        if y.site.op not in ("load", "store") or y.volatile:
            return
        if y.site.op == "store":
            if any(z.site.object is y.site.object for z in after[i:]):
                return
            continue
        held = False
        for e in arm:
            if e.site.object is not y.site.object:
                continue
            if _same_address(e, y) and e.site.op in ("load", "store"):
                held = True
            elif e.site.op != "load" and not (_lie_apart(e, y) and any(_same_address(x, e) for x in loads)):
                held = False  # that a store is elsewhere may be more than the compiler knows
        if held:
            yield y


def _same_address(a: Event, b: Event) -> bool:
    """Whether two accesses have one address in the lanes of the first."""
    if a.site.object is not b.site.object or a.site.width != b.site.width:
        return False
    return distance(a, b, a.may) == 0


def _lie_apart(a: Event, b: Event) -> bool:
    return lie_apart(a, b, distance(a, b, a.may))


@by_identity
def _heads(body: object) -> dict[Where, tuple[Where, ...]]:
    """The loads with which the branches of a function begin, by the first of each."""
    found: dict[Where, tuple[Where, ...]] = {}
    for n in walk(body):
        if isinstance(n, If) and n.otherwise is None:
            places = tuple((p.path, p.offset) for p in _first_loads(n.then))
            if places:
                found[places[0]] = places
    return found


def _first_loads(body: Stmt) -> Iterator[Place]:
    """What a branch reads from memory before it does anything else, in order."""
    for s in statements(body):
        given = assignment(s)
        if given is None and isinstance(s, Declare):
            continue
        reads = None if given is None else _reads(given.value)
        if given is None or reads is None:
            return
        target = _reads(given.target)
        if not target or given.op == "=":
            yield from reads
        elif not reads:
            yield from target
        if target:
            return


def reads_first(arm: Expr | Stmt | None) -> Iterator[Place]:
    """What an arm of a condition reads before it does anything else, in order."""
    if isinstance(arm, Stmt):
        yield from _first_loads(arm)
    elif arm is not None:
        yield from _reads(arm) or ()


def _reads(e: Expr) -> list[Place] | None:
    """Where an expression reads memory, in order; None where a read or a call decides over another.
    Arithmetic functions are computed from what was read."""
    found: list[Place] = []
    within: set[int] = set()
    for n in walk(e):
        if isinstance(n, Call):
            if isinstance(n.callee, Name) and effect_of(n.callee.name) is Effect.ARITHMETIC:
                continue
            return None
        if is_element(n):
            base = n.operand if isinstance(n, Unary) else n.base
            if id(n) in within:
                within.add(id(base))
                continue
            if isinstance(n, Member) and not n.arrow:
                continue
            if isinstance(n, Index) and any(isinstance(x, Index) for x in walk(n.index)):
                return None
            within.add(id(base))
            if n.place is not None:
                found.append(n.place)
    return found
