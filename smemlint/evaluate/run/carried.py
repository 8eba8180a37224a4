"""What a loop carries from iteration to iteration: a function of their number, or an unknown.

Two trial iterations tell which: one from the state before the loop, and one from what that one suggests.
"""

from __future__ import annotations

from collections.abc import Callable

from smemlint.evaluate.analysis.purity import root_of
from smemlint.evaluate.machine.machine import Exits, Machine
from smemlint.evaluate.machine.masks import restore
from smemlint.evaluate.machine.recurrence import closed, confirmed, form_of, kind_of
from smemlint.evaluate.run.iterations import Cell, State, changes_of, trial
from smemlint.evaluate.run.trips import set_by
from smemlint.evaluate.values.number import Int, Pointer, Symbol, Value, same
from smemlint.evaluate.values.objects import Cells, Snapshot, led_to
from smemlint.evaluate.values.pieces import even
from smemlint.ir import Assign, Expr, Loop, Name, Unary
from smemlint.ir.expr import STEPS
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import walk
from smemlint.records import record

TRIALS = 5
_STARTING = {"roams", "uniform"}
"""Kinds whose form depends on the value before the loop."""


@record(frozen=True, slots=True)
class Plan:
    """What each variable that a loop changes is in a generic iteration. values: by variable; kinds: how each
    changes (see recurrence.kind_of); ends: what each is before the loop and after one iteration."""

    values: dict[Cell, Value]
    kinds: dict[Cell, str]
    ends: dict[Cell, tuple[Value | None, Value | None]]

    @property
    def counted(self) -> bool:
        """Whether each is a function of the number of iterations, so that this holds where the loop ends,
        too, if it never ran even."""
        return all(kind == "affine" for kind in self.kinds.values())

    def set(self, m: Machine, count: Symbol) -> None:
        """Make each variable what it is after so many iterations."""
        for (o, at), v in self.values.items():
            if self.kinds[o, at] == "affine":
                old, new = self.ends[o, at]
                v = form_of(m, o, old, new, "affine", count)
            o.cells[at] = v


def planned(m: Machine, s: Loop, exits: Exits, start: Snapshot, first: State) -> Plan:
    """Plan a generic iteration by how the first trial left each variable, and by a second one from that form,
    unless this loop was settled before."""
    k = m.unknowns.fresh("iteration", low=0, rank=1)
    kinds: dict[Cell, str] = {}
    plan: dict[Cell, Value] = {}

    def settle(cell: Cell, kind: str, new: Value | None, after: Value | None = None) -> None:
        o, at = cell
        again = kind == "uniform" and kinds.get(cell) == kind
        kinds[cell] = kind
        plan[cell] = form_of(m, o, start.cells.get(o, {}).get(at), new, kind, k, after, again=again)

    _even(m, start, first)
    for cell, (old, new) in changes_of(start.cells, first).items():
        settle(cell, kind_of(old, new), new)
    known = m.memo.loop_kinds.get((id(s), m.frame.instance))
    names = {(o.id, at) for o, at in kinds}
    if known is not None and names <= known.keys() and not _STARTING & set(known.values()):
        for cell in kinds:
            settle(cell, known[cell[0].id, cell[1]], first[cell[0]].get(cell[1]))
    elif not _only_counts(m, s, {o.id for o, _ in kinds}):
        for left in reversed(range(TRIALS)):
            _set(plan)
            second = trial(m, s, exits)
            if _even(m, start, second):  # it cut what the first one left whole: begin again
                return planned(m, s, exits, start, trial(m, s, exits))
            revised = _revise(start, first, second, dict(plan), kinds, settle)
            restore(start)
            if not revised:
                break
            if not left:
                for o, at in revised:
                    settle((o, at), "lost", first.get(o, {}).get(at))
    m.memo.loop_kinds[id(s), m.frame.instance] = {(o.id, at): kind for (o, at), kind in kinds.items()}
    ends = {(o, at): (start.cells.get(o, {}).get(at), first.get(o, {}).get(at)) for o, at in kinds}
    return Plan(plan, kinds, ends)


def _even(m: Machine, start: Snapshot, after: State) -> bool:
    """Cut the variables that an iteration sets in parts before it as after it; whether there were any."""
    changed = False
    for o, cells in after.items():
        both = even(start.cells.get(o, cells), cells, m.unknowns)
        if both is not None:
            start.cells[o], after[o] = both
            o.cells = Cells(both[0])
            changed = True
    return changed


def _revise(
    start: Snapshot,
    first: State,
    second: State,
    plan: dict[Cell, Value],
    kinds: dict[Cell, str],
    settle: Callable[..., None],
) -> list[Cell]:
    """Correct the kinds that the second trial did not confirm; returns which."""
    changed: list[Cell] = []
    for (o, at), planned in plan.items():
        after = second.get(o, {}).get(at, planned)
        old, new, kind = start.cells.get(o, {}).get(at), first.get(o, {}).get(at), kinds[o, at]
        better = confirmed(old, planned, after, kind, new)
        if better != kind or (kind == "uniform" and not closed(old, planned, after)):
            settle((o, at), better, new, after)
            changed.append((o, at))
    for o, cells in second.items():
        for at, v in cells.items():
            old = start.cells.get(o, {}).get(at)
            if (o, at) not in plan and old is not None and not same(v, old):
                settle((o, at), kind_of(old, v), v)
                changed.append((o, at))
    return changed


def _only_counts(m: Machine, s: Loop, changed: set[str]) -> bool:
    """Nothing but the loop's own counter changes, by a constant or an invariant each time."""
    e = s.step
    if changed & set_by(s) or any(_holds_number(m, target) for target in _targets(s)):
        return False
    if isinstance(e, Unary) and isinstance(e.operand, Name):
        return changed <= {e.operand.id}
    if isinstance(e, Assign) and e.op in ("+=", "-=") and isinstance(e.target, Name):
        invariant = not any(isinstance(n, Name) and n.id in changed for n in walk(e.value))
        return changed <= {e.target.id} and invariant
    return not changed


@by_identity
def _targets(s: Loop) -> list[Expr]:
    """The places that the body sets, or whose address it takes."""
    found: list[Expr] = []
    for n in walk(s.body):
        if isinstance(n, Assign):
            found.append(n.target)
        elif isinstance(n, Unary) and n.op in (*STEPS, "&"):
            found.append(n.operand)
    return found


def _holds_number(m: Machine, target: Expr) -> bool:
    """Whether a place may be one of a variable from before the loop that holds a number or a pointer: it may
    change in a later iteration though the first one left it alone."""
    root = root_of(target)
    o = None if root is None else m.frame.variables.get(root)
    if o is None or o.storage != "local":
        return False
    held = list(o.cells.values())
    if not isinstance(target, Name) and len(held) == 1 and isinstance(held[0], Pointer):
        return any(at.storage == "local" for at in led_to(held[0].object))
    return any(isinstance(v, Int | Pointer) for v in held)


def _set(plan: dict[Cell, Value]) -> None:
    for (o, at), v in plan.items():
        o.cells[at] = v
