"""Ways out: return, break, continue and goto take masks and state along."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smemlint.evaluate.control_flow.join_points import leave
from smemlint.evaluate.language.conversions import coerce
from smemlint.evaluate.language.destructors import end_lives
from smemlint.evaluate.language.initialisers import value_for
from smemlint.evaluate.machine.dispatch import lvalue
from smemlint.evaluate.machine.machine import Exits, Machine, joins_of
from smemlint.evaluate.machine.state import Outcome
from smemlint.evaluate.memory.merging import merge
from smemlint.evaluate.run.copies import returned
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Value
from smemlint.ir import (
    Break,
    Continue,
    Goto,
    InitList,
    Name,
    Return,
    Scalar,
)
from smemlint.ir.expr import is_lvalue
from smemlint.ir.types import is_reference


def run_return(m: Machine, s: Return) -> None:
    frame = m.frame
    v: Value | None = None
    live = len(frame.live)
    ahead = frame.ahead
    ended = ahead.last and id(s) in frame.slice.trailing  # nobody asks what the value is
    ahead.ending = ahead.last and id(s) in frame.slice.handing
    if s.value is not None and not ended:
        t = frame.returns if frame.function is None else m.resolve(frame.function.returns)
        if is_reference(t):
            frame.names_place = True
            v = lvalue(m, s.value)
        elif frame.function is not None or isinstance(t, Scalar):
            assert t is not None
            braced = isinstance(s.value, InitList)
            v = value_for(m, t, s.value) if braced else coerce(m, returned(m, s.value), t)
        else:
            frame.names_place = frame.place and is_lvalue(s.value)
            v = lvalue(m, s.value) if frame.names_place else returned(m, s.value)
    ahead.ending = False
    end_lives(m, 0, frame.variables.get(s.value.id) if isinstance(s.value, Name) else None)
    del frame.live[live:]
    before = frame.outcome
    returned_by = m.may if before.returned is None else before.returned | m.may
    frame.outcome = Outcome(returned_by, before.result, before.exited)
    if frame.end is None:
        m.must, m.may = m.threads.nobody, m.threads.nobody
        return
    decided = len(frame.end.ways)
    may = m.may
    leave(m, frame.end, joins_of(m.context.loops), v)
    if decided == len(frame.end.ways) and v is not None:
        kept = frame.outcome.result
        result = v if kept is None else merge(m, Int(may.astype(np.int64)), v, kept)
        frame.outcome = Outcome(frame.outcome.returned, result, frame.outcome.exited)


def run_break(m: Machine, s: Break) -> None:
    _leave(m, lambda exits: not exits.label, again=False)


def run_continue(m: Machine, s: Continue) -> None:
    _leave(m, lambda exits: not exits.switch and not exits.label, again=True)


def _leave(m: Machine, of: Callable[[Exits], bool], *, again: bool) -> None:
    """Leave the innermost loop, switch or labeled statement of a kind, or begin its next iteration."""
    for i in range(len(m.context.loops) - 1, -1, -1):
        exits = m.context.loops[i]
        if of(exits):
            end_lives(m, exits.live)
            inner = joins_of(m.context.loops[i + 1 :])
            if again:
                exits.continued = exits.continued | m.may
                leave(m, exits.next, inner)
            else:
                exits.broken = exits.broken | m.may
                leave(m, exits.end, [exits.next, *inner])
            return
    m.must, m.may = m.threads.nobody, m.threads.nobody


def run_goto(m: Machine, s: Goto) -> None:
    around = [exits for exits in m.context.loops if exits.label == s.label]
    if not around:
        m.note("unknown-statement", "goto into a block", s.place)
    else:
        _leave(m, lambda exits: exits is around[-1], again=around[-1].again and not s.over)
