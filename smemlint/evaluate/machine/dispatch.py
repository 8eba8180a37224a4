"""The questions that the evaluator asks again and again, answered by the type of what is asked about.

Expressions hold calls, calls run statements, statements hold expressions: the modules that evaluate them
would import each other in a ring. They ask here instead, and `evaluators.py`, above all, says who answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from smemlint.evaluate.machine.callbacks import EVALUATOR
from smemlint.evaluate.machine.components import StatementSize
from smemlint.evaluate.machine.faults import contained
from smemlint.evaluate.machine.machine import EndedError, Machine, SizedUpError
from smemlint.evaluate.machine.state import Ended, made_copies, note_stays
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.value import Other, Pointer, RecordValue, Value
from smemlint.ir import Expr, Place, Stmt, Type

ENOUGH = 5_000
"""Evaluation steps after which a statement is larger than anything that the compiler unrolls."""

VALUES: dict[type, Callable[[Machine, Any], Value]] = {}
PLACES: dict[type, Callable[[Machine, Any], Pointer | Value]] = {}
RUNNERS: dict[type, Callable[[Machine, Any], None]] = {}
BUILDERS: dict[type, Callable[[Machine, Any, tuple[Expr, ...], Place | None], Value]] = {}
"""Which function answers for which type of expression, statement and (for `{...}`) type."""

_PASSED = (EndedError, RecursionError, MemoryError)
"""What an evaluation may end with; anything else is a fault."""


def rvalue(m: Machine, e: Expr) -> Value:
    """The value of an expression for every lane of the mask. Reading a shared place is an access."""
    effort = m.effort
    effort.steps += 1
    if effort.steps > effort.limit:
        m.look_up()
    evaluate = VALUES.get(type(e))
    if evaluate is None:
        return Other(reason=Unresolved("unknown-expression", type(e).__name__))
    may, depth = m.may, len(m.frames)
    try:
        return evaluate(m, e)
    except _PASSED:
        raise
    except Exception as error:
        return contained(m, e, error, m.may is may and len(m.frames) == depth)


def lvalue(m: Machine, e: Expr) -> Pointer | Value:
    """Where an expression's value lies, or its value if it has no place."""
    effort = m.effort
    effort.steps += 1
    if effort.steps > effort.limit:
        m.look_up()
    locate = PLACES.get(type(e))
    if locate is None:
        return rvalue(m, e)
    may, depth = m.may, len(m.frames)
    try:
        return locate(m, e)
    except _PASSED:
        raise
    except Exception as error:
        return contained(m, e, error, m.may is may and len(m.frames) == depth)


def unseen(m: Machine, e: Expr, ask: Callable[[Machine, Expr], Value] = rvalue) -> Value:
    """What an expression gives, where it is no access of the program to read it."""
    m.silent += 1
    size = m.code_size.counts
    try:
        return ask(m, e)
    finally:
        m.silent -= 1
        m.code_size.counts = size


def build(m: Machine, t: Type, elements: tuple[Expr, ...], place: Place | None) -> Value:
    """`t{elements}` for a resolved type."""
    return BUILDERS[type(t)](m, t, elements, place)


def converted(m: Machine, v: RecordValue | Pointer, t: Type | None) -> Value | None:
    """What a record, or the one at an address, becomes by its own conversion function as a t (None: as a
    pointer); None where it has none."""
    return EVALUATOR.converted(m, v, t)


def begun(m: Machine, e: Expr) -> Value:
    """What an object begins as that is made of an expression: its value, or what a copy or move constructor
    of the program makes of the object that it names."""
    return EVALUATOR.begun(m, e)


def run(m: Machine, s: Stmt) -> None:
    """Run a statement for the lanes of the mask; the mask is then that of the lanes that go on."""
    effort = m.effort
    effort.steps += 1
    if effort.steps > effort.limit:
        m.look_up()
    execute = RUNNERS.get(type(s))
    if execute is None:
        return
    frame = m.frames[-1]
    skippable = frame.slice.quiet if m.silent else frame.slice.skippable
    if id(s) not in skippable or id(s) in m.context.waiting:
        execute(m, s)
        return
    if m.host:
        return
    size = m.memo.sizes.get((id(s), m.frame.instance))
    if size is not None:
        m.code_size.touched += size.accesses
        m.code_size.operations += size.operations
        m.code_size.special += size.special
        if size.parts:
            m.straight()
        for stop, at, in_front in size.stops:
            m.stop_again(stop, at, in_front=in_front)
        if size.copies:
            made_copies(m.context.loops)
        if size.stays:
            note_stays(m.context.loops)
        m.forget(m.frame.slice.sets[id(s)])
        return
    before, region, stops = replace(m.code_size), m.lines.region, len(m.journal.stops)
    around = m.context.loops[-1].ended if m.context.loops else Ended()
    copies, holds = around.copies, around.holds
    around.copies = around.holds = False
    _size_up(m, s, execute)
    made, held = around.copies, around.holds
    if copies:
        made_copies(m.context.loops)
    if holds:
        note_stays(m.context.loops)
    m.memo.sizes[id(s), m.frame.instance] = StatementSize(
        m.code_size.touched - before.touched,
        m.code_size.operations - before.operations,
        m.code_size.special - before.special,
        m.lines.region != region,
        tuple(dict.fromkeys(m.journal.stops[stops:])),
        made,
        held,
    )


def _size_up(m: Machine, s: Stmt, execute: Callable[[Machine, Stmt], None]) -> None:
    """Run a statement that nothing depends on: only how large it is matters, and only up to ENOUGH steps."""
    if m.effort.patience is not None:
        execute(m, s)
        return
    effort, unknowns = m.effort, m.unknowns
    must, may, turn, silent, frames, context = m.must, m.may, m.turns.turn, m.silent, len(m.frames), m.context
    interior, certain, limit = unknowns.interior, unknowns.certain, effort.limit
    size, follows = m.code_size, m.lines.follows
    effort.patience = effort.steps + ENOUGH
    effort.limit = min(limit, effort.patience)
    m.context = context.copy()
    try:
        execute(m, s)
    except SizedUpError:
        if any(inner.ended.copied for inner in m.context.loops[len(context.loops) :]):
            made_copies(context.loops)
        m.must, m.may, m.turns.turn, m.silent, m.context = must, may, turn, silent, context
        unknowns.interior, unknowns.certain = interior, certain
        m.code_size, m.lines.follows = size, follows
        del m.frames[frames:]
        m.forget(m.frame.slice.sets[id(s)])
    finally:
        effort.limit, effort.patience = limit, None


EVALUATOR.value = rvalue
