"""How often a loop goes round where no formula tells it, found as the compiler finds it: by going round.

nvcc evaluates the loop's one number that makes itself anew in each iteration, from a constant on, until a
condition of constants leaves the loop. Here evaluation goes round without a trace: what nvcc can compute is
what `form_of` proves to be a constant, whatever the code is written as: members, references, flags,
iterators, lambdas. Limits were read off machine code (docs/dev/joining.md).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import pairwise

from smemlint.evaluate.analysis.purity import root_of
from smemlint.evaluate.compiler.unroll import Counts, stays_whole
from smemlint.evaluate.control_flow.masks import restore, snapshot
from smemlint.evaluate.language.conversions import truth
from smemlint.evaluate.language.destructors import full
from smemlint.evaluate.machine.machine import Exits, Machine
from smemlint.evaluate.memory.local_memory import as_seen, here
from smemlint.evaluate.run.loops.attempts import untraced
from smemlint.evaluate.run.loops.iterations import Cell, changes_of, is_endless, iterate
from smemlint.evaluate.run.loops.trips import is_plain
from smemlint.evaluate.values import affine
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.affine import Affine
from smemlint.evaluate.values.lanes import equal_masks
from smemlint.evaluate.values.number import Int, form_of, formed
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.value import Object, Other, Pointer, Value
from smemlint.ir import (
    ArrayOf,
    Assign,
    Binary,
    Break,
    Expr,
    If,
    Index,
    Literal,
    Loop,
    Member,
    Name,
    RecordRef,
    Return,
    Switch,
)
from smemlint.ir.expr import uncast
from smemlint.ir.uses import arms, holds, variables_set
from smemlint.ir.walk import names_in, walk

_BY_TRYING = 100
"""Iterations up to which the compiler goes round."""
_IN_STEPS = 1024
"""The same of a number that goes in equal steps: there a formula tells it."""
_CELLS = 16
"""Numbers that change of which it is asked what they depend on."""
_LONG = 200
"""Steps of a round that is worth a look whether another one could tell more."""


def constant_here(v: Value) -> int | None:
    """The number that the compiler knows a value to be, where all lanes here hold it; None: it does not."""
    if isinstance(v, Int) and v.known and isinstance(v.const, int) and not _proof(v):
        return v.const
    return None


def rounds(m: Machine, s: Loop) -> int | None:
    """Iterations of a loop; None where the compiler does not find them."""
    exits = m.context.loops[-1]
    if s.condition is not None and s.test_first and is_plain(s.condition):
        with untraced(m, exits):
            first = _decided(m, s.condition)
        if first is None:
            return None
    start = snapshot(m)
    trace = _Trace(m, s, exits, start)
    with untraced(m, exits):
        trips = trace.go()
    restore(m, start)
    return trips if trips is None or trips < 2 or trace.is_one_number(trips) else None


def _decided(m: Machine, e: Expr) -> int | None:
    """What a condition is, where the compiler knows it."""
    return constant_here(here(m, ar.truth_of(truth(m, full(m, e)), m.unknowns)))


class _Trace:
    """What a loop that goes round without a trace tells. start: the state before it."""

    def __init__(self, m: Machine, s: Loop, exits: Exits, start: Snapshot) -> None:
        self.m, self.loop, self.exits, self.start = m, s, exits, start
        self.now = start
        self.launched: set[Affine] = set()
        """By what the launch decides that nobody leaves."""
        self.end = m.effort.steps + m.effort.budget.loop_steps
        self.numbers: dict[Cell, list[int]] = {}
        """What changes from iteration to iteration, and what it was before each."""

    def go(self) -> int | None:
        """Go round until the loop ends; returns how often, None where the compiler does not know."""
        m, s, exits = self.m, self.loop, self.exits
        whole = True
        for done in range(_IN_STEPS):
            if s.condition is not None and (s.test_first or done):
                c = _decided(m, s.condition)
                if not c:
                    return c if c is None else done
            exits.round = done
            counts, decisions, may = m.code_size.counts, len(exits.end.decisions), m.may
            began = m.effort.steps
            iterate(m, s, exits)
            launched = {*exits.end.decisions[decisions:]}
            if m.effort.steps > self.end:
                return None
            if not m.anyone():
                left = whole and launched <= self.launched
                return done + (m.code_size.counts != counts) if left else None
            self.launched |= launched
            whole = whole and equal_masks(m.may, may)
            if not whole and is_endless(s):
                return None
            long = m.effort.steps - began > _LONG
            if not self._note_round(done, long) or (long and done and self._is_too_large(counts)):
                return None
        return None

    def _is_too_large(self, before: Counts) -> bool:
        """Whether a loop of two rounds or more stays as it is, known or not. before: what was counted before
        its last round."""
        m, s = self.m, self.loop
        own = m.code.guards(m.frame.function, s)
        accesses, operations, guards = m.code_size.since(before)
        return s.unroll is None and stays_whole(accesses, operations, guards + own)

    def _note_round(self, done: int, long: bool) -> bool:
        """Note what an iteration changed; whether another one may be tried. long: it took many steps, and is
        not tried again where it would find what the last one found."""
        if done < 2 or long:
            before, self.now = self.now, snapshot(self.m)
            changes = changes_of(before.cells, self.now.cells)
            if done and long and not any(_may_tell(*change) for change in changes.values()):
                return False
            for cell, (old, _) in changes.items() if done < 2 else ():
                number = _number(self.m, old) if cell[1] in self.start.cells.get(cell[0], {}) else None
                if number is not None and cell not in self.numbers:
                    self.numbers[cell] = [number] * (done + 1)
        for (o, at), seen in self.numbers.items():
            number = _number(self.m, o.cells.get(at))
            if number is not None:
                seen.append(number)
        return done < _BY_TRYING or any(map(_is_progression, self.numbers.values()))

    def is_one_number(self, trips: int) -> bool:
        """Whether the loop ends by one number that makes itself anew, or by a sum of such as go in steps."""
        cells = list(self.numbers)
        if len(cells) > _CELLS:
            return True
        leads, ends = {}, []
        for cell in cells if len(cells) > 1 else ():
            found = self._depends_on(cell)
            if found is None:
                return True
            leads[cell], asked = found
            ends += [cell] if asked else []
        own = [c for c in cells if c in _led_to(leads, leads.get(c, ())) and _led_to(leads, [c]) & {*ends}]
        if len(cells) == 1:
            own = cells
        if _looked_up(self.m, self.loop, {o.id for o, _ in own}):
            return False
        if any(_in_memory(self.m, o, self.loop) or _chosen(self.loop, o.id) for o, _ in own):
            return False
        steps = all(_is_progression(self.numbers[cell]) for cell in own)
        if trips > _BY_TRYING and not (own and steps):
            return False
        return len(own) < 2 or (steps and self._on_one_side())

    def _on_one_side(self) -> bool:
        """Whether the condition compares a sum with what stays, or asks whether two are equal."""
        c, m = self.loop.condition, self.m
        if not isinstance(c, Binary) or not is_plain(c):
            return False
        if c.op in ("!=", "=="):
            return True
        if c.op not in ("<", "<=", ">", ">="):
            return False
        with untraced(m, self.exits):
            before = [constant_here(full(m, side)) for side in (c.left, c.right)]
            iterate(m, self.loop, self.exits)
            after = [constant_here(full(m, side)) for side in (c.left, c.right)]
        restore(self.m, self.start)
        return any(a is not None and a == b for a, b in zip(before, after, strict=True))

    def _depends_on(self, cell: Cell) -> tuple[list[Cell], bool] | None:
        """The numbers that an iteration makes of one, and whether it is asked for at its end; None where that
        takes too long to find out."""
        m, s, exits = self.m, self.loop, self.exits
        if m.effort.steps > self.end:
            return None
        (o, at), asked, before = cell, False, self.start.cells
        with untraced(m, exits):
            o.cells[at] = _as_unknown(o.cells[at])
            if s.condition is not None and s.test_first:
                asked = _decided(m, s.condition) is None
            decisions = len(exits.end.decisions)
            iterate(m, s, exits)
            asked = asked or not self.launched >= {*exits.end.decisions[decisions:]}
            made = [x for x in self.numbers if _proof(x[0].cells.get(x[1])) != _proof(before[x[0]].get(x[1]))]
            if s.condition is not None and m.anyone():
                asked = asked or _decided(m, s.condition) is None
        restore(self.m, self.start)
        return made, asked


def _in_memory(m: Machine, o: Object, s: Loop) -> bool:
    """Whether an object stays in memory until the loops are gone that count through its arrays."""
    counts = any(
        isinstance(n, Index) and isinstance(n.base, Member) and not isinstance(n.index, Literal)
        for n in walk(s)
    )
    layout = m.types.layout(o.type) if counts else None
    return layout is not None and any(isinstance(t, ArrayOf) for _, t in layout.fields.values())


def _looked_up(m: Machine, s: Loop, own: Set[str]) -> bool:
    """Whether a loop ends by what it looks up in an array of the function, which stays in memory as long as
    what counts through it is no constant: of numbers by name, or where it ends."""
    nodes = [*walk((s.condition, s.step, s.body))]
    given = [n.value for n in nodes if isinstance(n, Assign) and names_in(n.target) & own]
    asked = [
        n.condition for n in nodes if isinstance(n, If) and holds((n.then, n.otherwise), (Break, Return))
    ]
    changed = variables_set(nodes)
    tables = [
        root
        for n in walk((s.condition, *given, *asked))
        if isinstance(n, Index) and names_in(n.index) & changed and (root := root_of(n.base))
    ]
    found = [o for root in tables if (o := m.find(root)) is not None and o.var is not None]
    return any(o.var.storage == "local" and isinstance(o.type, ArrayOf | RecordRef) for o in found if o.var)


def _chosen(s: Loop, name: str) -> bool:
    """Whether a variable is set to one of several constants, as the states of a machine are: the compiler
    makes of each state its own way through the loop, but for a short `switch`."""
    given = [
        value
        for n in walk((s.body, s.step))
        if isinstance(n, Assign) and n.op == "=" and isinstance(n.target, Name) and n.target.id == name
        for value in arms(n.value)
    ]
    return sum(isinstance(uncast(v), Literal) for v in given) > (3 if holds(s.body, Switch) else 2)


def _led_to(leads: dict[Cell, list[Cell]], begin: Sequence[Cell]) -> set[Cell]:
    """All that numbers lead to, these included."""
    found: set[Cell] = set()
    waiting = [*begin]
    while waiting:
        cell = waiting.pop()
        if cell not in found:
            found.add(cell)
            waiting += leads.get(cell, ())
    return found


def _number(m: Machine, v: Value | None) -> int | None:
    """What the compiler knows of a number, of a pointer: how far it has gone."""
    if isinstance(v, Pointer):
        return form_of(v.offset).const if v.offset.known else None
    return constant_here(as_seen(m, v)) if isinstance(v, Int) else None


def _may_tell(old: Value | None, new: Value) -> bool:
    """Whether a change may decide something in a later round: of numbers that are known, or whose difference
    is; not of what each round knows nothing of."""
    if isinstance(old, Pointer) and isinstance(new, Pointer) and old.object is new.object:
        old, new = old.offset, new.offset
    if isinstance(new, Int):
        return new.known or (isinstance(old, Int) and (old.known or old.terms.keys() == new.terms.keys()))
    if isinstance(new, Other):
        known = [v.value is not None or v.bits is not None for v in (old, new) if isinstance(v, Other)]
        return any(known) or not isinstance(old, Other | None)
    return True


def _proof(v: Value | None) -> object:
    """What a value has beside a number."""
    if isinstance(v, Int | Pointer):
        form = form_of(v.offset if isinstance(v, Pointer) else v)
        return (form.terms, form.dropped) if form.terms or form.dropped else ()
    return ()


def _is_progression(numbers: list[int]) -> bool:
    """Whether numbers go in equal steps."""
    return len(numbers) > 1 and len({b - a for a, b in pairwise(numbers)}) == 1


def _as_unknown(v: Value) -> Value:
    """A value that the compiler would not know."""
    if isinstance(v, Pointer):
        offset = formed(v.offset, affine.add(form_of(v.offset), _MARK))
        return Pointer(v.object, offset, v.pointee, v.integer)
    return formed(v, _MARK) if isinstance(v, Int) else v


_MARK = affine.atom("another iteration")
