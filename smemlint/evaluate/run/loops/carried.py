"""What a loop carries from iteration to iteration: a function of their number, or an unknown.

Two iterations tell which: a trial from the state before the loop, and one from what that one suggests. The
second is the one that stands for all, where it confirms that; else it is undone, and further trials follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from smemlint.evaluate.analysis.purity import root_of
from smemlint.evaluate.control_flow.masks import restore
from smemlint.evaluate.control_flow.recurrence import (
    closed,
    confirmed,
    difference,
    form_of,
    kind_of,
    late_kind_of,
    moved_by,
)
from smemlint.evaluate.machine.components import Carried
from smemlint.evaluate.machine.machine import Exits, Machine
from smemlint.evaluate.run.loops.iterations import Cell, State, changes_of, trial
from smemlint.evaluate.run.loops.trips import set_by
from smemlint.evaluate.values.number import Int, Symbol, bounds
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.pieces import even
from smemlint.evaluate.values.value import Cells, Object, Other, Pointer, Value, led_to, same
from smemlint.ir import (
    Asm,
    Assign,
    Call,
    Construct,
    Declare,
    Expr,
    Lambda,
    Loop,
    Name,
    Scalar,
    This,
    Unary,
    Var,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference
from smemlint.ir.uses import HANDED, target_of
from smemlint.ir.walk import handed, names_in, walk
from smemlint.records import record

TRIALS = 5
_SETS = ("swap", "std::swap", "exchange", "std::exchange")
"""Functions of the library that set what they are given by reference."""


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


class Draft:
    """A plan in the making. start: the state before the loop; first: the one after its first iteration."""

    def __init__(self, m: Machine, start: Snapshot, first: State, *, earlier: bool = False) -> None:
        self.m = m
        self.start = start
        self.first = first
        self.count = m.unknowns.fresh("iteration", low=0, rank=1)
        self.values: dict[Cell, Value] = {}
        self.carried: dict[Cell, Carried] = {}
        self.earlier = earlier
        """Whether it comes from an earlier visit."""
        self.refuted = False
        """Whether an iteration from it ended otherwise."""
        self.corrected = False
        """Whether one did, and it was corrected after that."""

    def before(self, cell: Cell) -> Value | None:
        """What a variable holds before the loop."""
        return self.start.cells.get(cell[0], {}).get(cell[1])

    def settle(self, cell: Cell, kind: str, new: Value | None, after: Value | None = None) -> None:
        """Decide how a variable changes. new: what it holds after one iteration; after: after one from its
        first form, if that form did not hold."""
        known = self.carried.get(cell)
        again = kind == "uniform" and known is not None and known.kind == kind
        self.take(cell, Carried(kind, self.before(cell), new, after, again))

    def take(self, cell: Cell, c: Carried) -> None:
        """Give a variable the form that goes with how it changes."""
        form = form_of(self.m, cell[0], c.old, c.new, c.kind, self.count, c.after, again=c.again)
        self.carried[cell], self.values[cell] = c, form

    def stepping(self) -> dict[Cell, Value]:
        """The variables that are said to go in equal steps, and what they hold now."""
        cells = [cell for cell, c in self.carried.items() if c.kind == "affine"]
        return {cell: v for cell in cells if (v := cell[0].cells.get(cell[1])) is not None}

    def loosen(self) -> None:
        """Take what no address depends on for a multiple of its step: where its statements are skipped it
        stays as it is."""
        for cell, c in dict(self.carried).items():
            if c.kind == "affine" and cell[0].id in self.m.memo.passed_over:
                self.settle(cell, "uniform", c.new)

    def revise(self, second: State, begun: Mapping[Cell, Value]) -> list[Cell]:
        """Correct the kinds that an iteration did not confirm; returns which. begun: what it began with."""
        changed: list[Cell] = []
        for cell, planned in dict(begun).items():
            o, at = cell
            after, c = second.get(o, {}).get(at, planned), self.carried[cell]
            new = self.first.get(o, {}).get(at)
            better = confirmed(c.old, planned, after, c.kind, new)
            if better != c.kind or (c.kind == "uniform" and not closed(c.old, planned, after)):
                self.settle(cell, better, new, after)
                changed.append(cell)
        for cell, old, v in self._without_form(second):
            self.settle(cell, late_kind_of(old, v), v)
            changed.append(cell)
        return changed

    def holds(self, second: State, begun: Mapping[Cell, Value]) -> bool:
        """Whether an iteration ends as its forms say: where they are those of an earlier visit, also whether
        none is too wide. Else they are corrected, if they can be. begun: what it began with."""
        aside = self.m.memo.passed_over
        second = {o: cells for o, cells in second.items() if o.id not in aside}
        begun = {cell: v for cell, v in begun.items() if cell[0].id not in aside}
        before, unknowns = self.start.cells, self.m.unknowns
        cut = any(even(before.get(o, cells), cells, unknowns) for o, cells in second.items())
        self.refuted = cut or (not self._holds(second, begun) if self.earlier else False)
        self.corrected = not cut and not self.earlier and bool(self.revise(second, begun))
        return not self.refuted and not self.corrected

    def _holds(self, second: State, begun: Mapping[Cell, Value]) -> bool:
        if any(True for _ in self._without_form(second)):
            return False
        for cell, planned in begun.items():
            after, c = second.get(cell[0], {}).get(cell[1], planned), self.carried[cell]
            if confirmed(c.old, planned, after, c.kind, c.new) != c.kind:
                return False
            if c.kind == "uniform" and not closed(c.old, planned, after):
                return False
            if c.kind in ("lost", "varying") and not _like(c.new, after):
                return False
            moved = difference(after, planned)
            if c.kind != "affine" and moved is not None and _is_simpler(c, moved):
                return False
        return True

    def plan(self) -> Plan:
        """What was decided."""
        kinds = {cell: c.kind for cell, c in self.carried.items()}
        ends = {cell: (c.old, self.first.get(cell[0], {}).get(cell[1])) for cell, c in self.carried.items()}
        return Plan(self.values, kinds, ends)

    def _without_form(self, second: State) -> Iterator[tuple[Cell, Value, Value]]:
        """Variables without a form that an iteration changed: what each held and holds."""
        for (o, at), (old, v) in changes_of(self.start.cells, second).items():
            if (o, at) not in self.values and old is not None:
                yield (o, at), old, v


def drafted(m: Machine, start: Snapshot, first: State) -> Draft:
    """A draft by how the first trial left each variable."""
    _even(m, start, first)
    draft = Draft(m, start, first)
    for cell, (old, new) in changes_of(start.cells, first).items():
        draft.settle(cell, kind_of(old, new), new)
    return draft


def is_sure(m: Machine, s: Loop, draft: Draft) -> bool:
    """Whether a draft needs no further iteration to verify it."""
    return _only_counts(m, s, {o.id for o, _ in draft.values})


def revised(m: Machine, s: Loop, exits: Exits, start: Snapshot, draft: Draft) -> Draft:
    """A draft of the first trial that further ones, each from its forms, leave standing."""
    for left in reversed(range(TRIALS)):
        _write_plan(draft.values)
        second = trial(m, s, exits)
        if _even(m, start, second):  # it cut what the first one left whole: begin again
            again = drafted(m, start, trial(m, s, exits))
            return again if is_sure(m, s, again) else revised(m, s, exits, start, again)
        changed = draft.revise(second, draft.values)
        restore(m, start)
        if not changed:
            break
        if not left:
            for o, at in changed:
                draft.settle((o, at), "lost", draft.first.get(o, {}).get(at))
    return draft


def planned(m: Machine, s: Loop, exits: Exits, start: Snapshot, first: State) -> Plan:
    """Plan a generic iteration by how the first trial left each variable, and by a second one from that
    form."""
    draft = drafted(m, start, first)
    if not is_sure(m, s, draft):
        draft = revised(m, s, exits, start, draft)
    keep(m, s, draft)
    return draft.plan()


def keep(m: Machine, s: Loop, draft: Draft) -> None:
    """Remember how a loop changes its variables, for later visits of it."""
    m.memo.carried[id(s), m.frame.instance] = {(o.id, at): c for (o, at), c in draft.carried.items()}


def foreseen(m: Machine, s: Loop, start: Snapshot) -> Draft | None:
    """A draft by how an earlier visit of this loop left each variable; None where there was none, or where
    that says nothing of the present start. An iteration has to verify it.

    Loops in loops would else be tried out anew in each trial of those around them.
    """
    known = m.memo.carried.get((id(s), m.frame.instance))
    if known is None:
        return None
    objects: dict[str, Object] = {}
    names = {name for name, _ in known}
    for o in start.cells:
        if o.id in names and objects.setdefault(o.id, o) is not o:
            return None
    first = {o: dict(cells) for o, cells in start.cells.items() if o.id in names}
    draft = Draft(m, start, first, earlier=True)
    for (name, at), c in known.items():
        if name not in objects:
            return None
        cell = objects[name], at
        old = draft.before(cell)
        if c.old is None and old is None and c.kind == "fresh":
            if m.silent:
                continue  # who reads it before it is set reads nothing that counts
            return None
        now = _now(c, old)
        if now is None:
            return None
        if now.new is not None:
            draft.first[cell[0]][at] = now.new
        draft.take(cell, now)
    return draft


def _now(c: Carried, old: Value | None) -> Carried | None:
    """The same change from another start; None where what was seen says nothing of that."""
    if old is None or c.old is None or type(old) is not type(c.old) or c.kind in ("moved", "roams"):
        return None
    if c.kind in ("affine", "uniform"):
        gap, late = difference(c.new, c.old), difference(c.after, c.old)
        if gap is None or (c.after is not None and late is None):
            return None
        after = None if late is None else moved_by(old, late)
        return Carried(c.kind, old, moved_by(old, gap), after, c.again)
    if c.kind in ("lost", "varying") and not (isinstance(old, Int) and isinstance(c.new, Int)):
        return None
    return Carried(c.kind, old, c.new, c.after, c.again)


def verified(m: Machine, s: Loop, exits: Exits, start: Snapshot, draft: Draft) -> bool:
    """Whether a trial iteration from the forms of an earlier visit ends as they say."""
    _write_plan(draft.values)
    second = trial(m, s, exits)
    restore(m, start)
    return draft.holds(second, draft.values)


def _like(seen: Value | None, after: Value) -> bool:
    """Whether a number is as little known as one that stood for it: in all lanes, and not below zero."""
    if isinstance(seen, Int) and isinstance(after, Other) and after.type == seen.type and not seen.uniform:
        return (bounds(seen)[0] or -1) < 0
    if not isinstance(seen, Int) or not isinstance(after, Int) or (seen.uniform and not after.uniform):
        return False
    low, lowest = bounds(seen)[0], bounds(after)[0]
    return low is None or low < 0 or (lowest is not None and lowest >= 0)


def _is_simpler(c: Carried, moved: Int) -> bool:
    """Whether a variable moves more simply than it did: by a number that is the same each time."""
    if c.kind == "uniform":
        gap = difference(c.new, c.old)
        return gap is not None and same(moved, gap)
    return c.kind in ("lost", "varying") and moved.known


def _even(m: Machine, start: Snapshot, after: State) -> bool:
    """Cut the variables that an iteration sets in parts before it as after it; whether that cut any of those
    before it."""
    changed = False
    for o, cells in after.items():
        before = start.cells.get(o, cells)
        both = even(before, cells, m.unknowns)
        if both is not None:
            changed = changed or both[0].keys() != before.keys()
            start.cells[o], after[o] = both
            o.cells = Cells(both[0])
    return changed


def _only_counts(m: Machine, s: Loop, changed: set[str]) -> bool:
    """Nothing but the loop's own counter changes, by a constant or an invariant each time."""
    e = s.step
    if changed & set_by(s) or any(_holds_number(m, target) for target in _targets(s)):
        return False
    if any(_may_change_arguments(m, call) for call in _calls(s)):
        return False
    if isinstance(e, Unary) and isinstance(e.operand, Name):
        return changed <= {e.operand.id}
    if isinstance(e, Assign) and e.op in ("+=", "-=") and isinstance(e.target, Name):
        invariant = names_in(e.value).isdisjoint(changed)
        return changed <= {e.target.id} and invariant
    return not changed


@by_identity
def _targets(s: Loop) -> list[Expr]:
    """The places that the body sets, or whose address it takes."""
    found: list[Expr] = []
    for n in walk(s.body):
        if (target := target_of(n, HANDED)) is not None:
            found.append(target)
        elif isinstance(n, Declare) and n.var.init is not None and is_reference(n.var.type):
            found.append(n.var.init)
        elif isinstance(n, Asm):
            found += n.outputs
    return found


@by_identity
def _calls(s: Loop) -> list[Call | Construct]:
    """What runs code of another function in the body."""
    return [n for n in walk(s.body) if isinstance(n, Call | Construct)]


def _may_change_arguments(m: Machine, call: Call | Construct) -> bool:
    """Whether a call may set a variable from before the loop that it is given, or knows."""
    parameters: Sequence[Var | None] = [None] * len(call.arguments)
    if isinstance(call, Call):
        callee = call.callee
        root = root_of(callee)
        if root is not None and root in m.frame.variables:
            return True  # a method of a variable, or a lambda
        if root is None and any(isinstance(n, This) for n in walk(callee)):
            return True
        if isinstance(callee, Name) and callee.id not in m.module.functions:
            return callee.name in _SETS or any(isinstance(a, Lambda) for a in call.arguments)
        if isinstance(callee, Name):
            parameters = m.module.functions[callee.id].parameters
    for parameter, argument in handed(parameters, call.arguments):
        root = root_of(argument)
        o = None if root is None else m.frame.variables.get(root)
        plain = parameter is not None and isinstance(parameter.type, Scalar)
        if isinstance(argument, Lambda) or (o is not None and not plain and o.storage == "local"):
            return True
    return False


def _holds_number(m: Machine, target: Expr) -> bool:
    """Whether a place may be one of a variable from before the loop that holds a number or a pointer: it may
    change in a later iteration though the first one left it alone."""
    root = root_of(target)
    if root is None:
        return any(isinstance(n, This) for n in walk(target))
    o = m.frame.variables.get(root)
    if o is None or o.storage != "local":
        return False
    held = list(o.cells.values())
    if not isinstance(target, Name) and len(held) == 1 and isinstance(held[0], Pointer):
        return any(at.storage == "local" for at in led_to(held[0].object))
    return any(isinstance(v, Int | Pointer) for v in held)


def _write_plan(plan: dict[Cell, Value]) -> None:
    for (o, at), v in plan.items():
        o.cells[at] = v
