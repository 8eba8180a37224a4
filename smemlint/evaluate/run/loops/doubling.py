"""Loops of unknown length in which a number doubles (`for (k = 1; k < n; k *= 2)`), round by round.

However large the size is, such a number has few values before it leaves shared memory: each round is run with
its own. The first ones, while it is smaller than the block, surely run, since a size is at least as large as
a block; of the later ones any may.
"""

from __future__ import annotations

import numpy as np

from smemlint.banks import architecture
from smemlint.evaluate.control_flow.masks import restore, snapshot
from smemlint.evaluate.language.conversions import truth
from smemlint.evaluate.language.destructors import full
from smemlint.evaluate.machine.dispatch import unseen
from smemlint.evaluate.machine.machine import Event, Exits, Machine
from smemlint.evaluate.machine.state import Undecided
from smemlint.evaluate.memory.local_memory import here
from smemlint.evaluate.memory.merging import known_number
from smemlint.evaluate.run.loops.attempts import Attempt, Checkpoint
from smemlint.evaluate.run.loops.generic import pragma_of, run_generic
from smemlint.evaluate.run.loops.iterations import Cell, changes_of, iterate, trial
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.comparison import FEW, LARGE
from smemlint.evaluate.values.lanes import some
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Value
from smemlint.ir import Assign, Binary, Continue, Expr, Loop, Name
from smemlint.ir.expr import uncast
from smemlint.ir.jumps import jumps_in
from smemlint.ir.memo import by_identity
from smemlint.ir.types import BOOL
from smemlint.ir.walk import names_in, walk

_MEMORY = architecture(90).shared_block
"""Bytes of shared memory that a block can have: who would go beyond them does not take part."""
_LARGEST = 1 << 30
"""The last power of two that an `int` holds."""
_LONG = 4
"""How many times the steps of a loop may be spent on its rounds."""
_SIZE = 3
"""The rank of problem sizes."""


def run_doubling(m: Machine, s: Loop, exits: Exits, asked: Int) -> bool:
    """Run a loop as `run_generic` does, and then, if that left addresses open, each of its rounds by itself;
    False, and nothing done, where no number doubles. asked: its condition, which nobody can decide."""
    if m.host or m.silent or asked.known or asked.varying or not _may_double(s):
        return False
    if pragma_of(m, s, None) != 1:
        return False  # the compiler makes copies of it
    start, counters = snapshot(m), _counters(m, s, exits)
    if not counters:
        return False
    attempt, checkpoint, logged = Attempt(m, exits), Checkpoint(m, exits), len(m.log)
    run_generic(m, s, exits, asked)
    if all(e.offset.known for e in m.log[logged:] if isinstance(e, Event)):
        return True
    after, masks, size = snapshot(m), (m.must, m.may, m.context.way), m.code_size.counts
    behind = Attempt(m, exits)
    attempt.undo(m)
    checkpoint.undo(m)
    restore(m, start)
    checkpoint = Checkpoint(m, exits)
    done = _each_round(m, s, exits, counters)
    behind.undo(m)
    if done:
        restore(m, after)
        m.must, m.may, m.context.way = masks
        m.code_size.counts = size
    else:
        checkpoint.undo(m)
        attempt.undo(m)
        restore(m, start)
        run_generic(m, s, exits, asked)
    m.straight()
    return True


def _each_round(m: Machine, s: Loop, exits: Exits, counters: list[Cell]) -> bool:
    """Run the rounds of a loop one by one; False where that takes too many steps."""
    end = m.effort.steps + _LONG * m.effort.budget.loop_steps
    masks, way = (m.must, m.may), m.context.way
    last = 0
    while _largest(counters) <= _LARGEST:
        assert s.condition is not None
        c = here(m, ar.truth_of(truth(m, full(m, s.condition)), m.unknowns))
        if not c.uniform:
            return False
        if c.known and not c.const:
            break
        supposed = not c.known and _largest(counters) < m.threads.size and _is_of_size(m, s.condition)
        if supposed:
            m.assume(LARGE, "a size is at least as large as the block", s.place)
        elif not c.known:
            m.context.undecided.append(Undecided(m.unknowns.value(BOOL, "runs", low=0, high=1), True))
        logged, guesses = len(m.log), len(m.unknowns.guessed)
        m.onward()
        m.next_turn()
        m.turns.lone[m.turns.turn] = False
        m.must, m.may = masks
        iterate(m, s, exits)
        if not c.known and not supposed:
            m.context.undecided.pop()
        m.context.way = way
        # A size that ends the loop is not large beside what doubles in it.
        if not _stays_in_shared(m, logged, guards=LARGE in m.unknowns.guessed[guesses:]):
            del m.log[logged:]
            break
        last = logged if supposed else len(m.log)
        if m.effort.steps > end:
            return False
    _nobody_surely(m, last)  # how often the loop runs is not known, whatever fits
    return True


def _stays_in_shared(m: Machine, since: int, *, guards: bool) -> bool:
    """Whether a round can run, since no lane leaves shared memory, and anyone accesses it. Lanes that would
    leave it do not take part, where they need not. since: position in the log; guards: a size decides who
    does."""
    events = [e for e in m.log[since:] if isinstance(e, Event)]
    if guards:
        _nobody_surely(m, since)
    for e in events:
        inside = np.asarray(e.offset.const < _MEMORY if e.offset.known else True)
        if some(e.must & ~inside):
            return False
        e.may = e.may & inside
    return not events or any(some(e.may) for e in events)


def _nobody_surely(m: Machine, since: int) -> None:
    """Whoever accesses memory need not. since: position in the log."""
    for e in m.log[since:]:
        if isinstance(e, Event):
            e.must = m.threads.nobody


def _largest(counters: list[Cell]) -> int:
    """What doubles, now."""
    held = [o.cells.get(at) for o, at in counters]
    return max(
        (v.const for v in held if isinstance(v, Int) and isinstance(v.const, int)), default=_LARGEST + 1
    )


def _counters(m: Machine, s: Loop, exits: Exits) -> list[Cell]:
    """The numbers, the same for all lanes, that a round multiplies by a power of two."""
    start = snapshot(m)
    size = m.code_size.counts
    after = trial(m, s, exits)
    restore(m, start)
    m.code_size.counts = size
    changes = changes_of(start.cells, after)
    return [cell for cell, (old, new) in changes.items() if _doubles(_number(old), _number(new))]


def _number(v: Value | None) -> int:
    """A known number that all lanes hold, else 0."""
    return v.const if isinstance(v, Int) and isinstance(v.const, int) and known_number(v) else 0


def _doubles(old: int, new: int) -> bool:
    return 0 < old < new and new % old == 0 and (new // old).bit_count() == 1


@by_identity
def _may_double(s: Loop) -> bool:
    """Whether a loop that nothing leaves in its midst shifts or multiplies a variable by itself."""
    if s.condition is None or not s.test_first or not jumps_in(s.body) <= {Continue}:
        return False
    return any(map(_grows, walk((s.step, s.body))))


def _grows(n: object) -> bool:
    """Whether a statement multiplies a variable: `k *= 2`, `k = k << 1`."""
    if not isinstance(n, Assign) or not isinstance(n.target, Name):
        return False
    value = uncast(n.value)
    own = n.op == "=" and isinstance(value, Binary) and value.op in ("*", "<<")
    return n.op in ("*=", "<<=") or (own and n.target.id in names_in(value))


def _is_of_size(m: Machine, condition: Expr) -> bool:
    """Whether a condition holds where a problem size that the launch gives is no smaller than the block: it
    compares the size, or some half of it, with a number below that."""
    sides = (condition.left, condition.right) if isinstance(condition, Binary) else ()
    values = [v for side in sides if isinstance(v := unseen(m, side), Int)]
    known = [v.const for v in values if v.known]
    sizes = [v for v in values if not v.known]
    if not all(isinstance(c, int) and abs(c) < m.threads.size for c in known) or len(sizes) != 1:
        return False
    (size,) = sizes
    symbols = [s for mono in size.terms for s in mono]
    return _is_at_least(size, -1) and all(
        s.rank >= _SIZE and s.high is None and s.cut < FEW and s.reason is None and "[" not in s.name
        for s in symbols
    )


def _is_at_least(size: Int, least: int) -> bool:
    """Whether a sum of sizes takes no more than a number off them."""
    times = [c for c in size.terms.values() if isinstance(c, int) and c > 0]
    return isinstance(size.const, int) and size.const >= least and len(times) == len(size.terms)
