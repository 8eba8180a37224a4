"""What host code throws, and the handlers that meet it.

A handler runs with the state that the `throw` and the destructors on its way left. Where all that may be
thrown is seen and nothing is, no handler runs; where a condition that nobody can decide throws, both ways go
on.
"""

from __future__ import annotations

from dataclasses import replace

from smemlint.evaluate.control_flow.join_points import merge_into, suppose
from smemlint.evaluate.control_flow.masks import restore, snapshot
from smemlint.evaluate.control_flow.settling import choice_at, leave_open, settled_at
from smemlint.evaluate.language.conversions import type_of
from smemlint.evaluate.language.inlining import end_life
from smemlint.evaluate.library.host_checks import ends
from smemlint.evaluate.library.host_runtime import leave_program
from smemlint.evaluate.machine.dispatch import run, rvalue
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.machine.state import CAUGHT, Exit, Join, Mask, Outcome, Thrown, Trying
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.choices import Way
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.objects import Snapshot
from smemlint.evaluate.values.value import Other, Value
from smemlint.ir import (
    Block,
    Construct,
    Declare,
    Evaluate,
    If,
    RecordRef,
    Scalar,
    Stmt,
    Try,
    Type,
    UnknownExpr,
)
from smemlint.ir.types import BOOL, referred
from smemlint.ir.uses import last_statement
from smemlint.records import record

MOST_THROWN = 6
"""Exceptions of one `try` whose states are told apart."""
_ANY = "std::exception"
_BASES = {
    "std::invalid_argument": "std::logic_error",
    "std::domain_error": "std::logic_error",
    "std::length_error": "std::logic_error",
    "std::out_of_range": "std::logic_error",
    "std::range_error": "std::runtime_error",
    "std::overflow_error": "std::runtime_error",
    "std::underflow_error": "std::runtime_error",
    "std::system_error": "std::runtime_error",
}
"""Exceptions of the C++ library that are others; all are `std::exception`."""


def throw(m: Machine, e: UnknownExpr) -> None:
    """Go to the handler around, or end the program where there is none. e: the `throw`, its value run."""
    thrown = m.context.caught if not e.parts else None
    if thrown is None:
        thrown = Thrown(*_thrown(m, e), snapshot(m), m.context.way)
    _raise(m, replace(thrown, state=snapshot(m), way=m.context.way))


def _raise(m: Machine, thrown: Thrown) -> None:
    tries = m.context.tries
    if tries:
        _unwind(m, tries[-1])
        thrown = replace(thrown, state=snapshot(m))
        if _is_undecided(m, tries[-1]):
            _note_thrown(tries[-1], thrown)
        else:
            tries[-1].surely = thrown
    leave_program(m)


def _unwind(m: Machine, trying: Trying) -> None:
    """Run the destructors of what lives between here and a `try`, the innermost first."""
    for i in reversed(range(trying.frames, len(m.frames))):
        for o in reversed(m.frames[i].live[trying.live if i == trying.frames else 0 :]):
            end_life(m, o)


def note_check(m: Machine, c: Int, then: Stmt) -> None:
    """A check that throws where c holds, which is not known or false."""
    s = last_statement(then)
    if not m.context.tries or not isinstance(s, Evaluate) or not _is_throw(s):
        return
    trying = m.context.tries[-1]
    if c.known:
        trying.checks = trying.checks or not c.const
        return
    assert isinstance(s.expr, UnknownExpr)
    thrown, goes_on = _thrown(m, s.expr), snapshot(m)
    _unwind(m, trying)
    _note_thrown(trying, Thrown(*thrown, snapshot(m), m.context.way))
    restore(m, goes_on)


def _is_throw(s: Stmt) -> bool:
    return ends(s) and isinstance(s, Evaluate) and isinstance(s.expr, UnknownExpr)


def _note_thrown(trying: Trying, thrown: Thrown) -> None:
    if len(trying.maybe) < MOST_THROWN:
        trying.maybe.append(thrown)


def _is_undecided(m: Machine, trying: Trying) -> bool:
    """Whether some condition on the way from a `try` to here is not known."""
    ways = any(f.end is not None and f.end.ways for f in m.frames[trying.frames :])
    return ways or len(m.context.undecided) > trying.outside


def _thrown(m: Machine, e: UnknownExpr) -> tuple[Type | None, Value | None]:
    """Type and value of what is thrown."""
    for part in e.parts:
        if isinstance(part, Construct):
            return m.resolve(part.type), None
        v = rvalue(m, part)
        return (None, None) if isinstance(v, Other) and v.type is None else (type_of(v), v)
    return None, None


def run_try(m: Machine, s: Try) -> None:
    """Run what is tried, and the handlers for what it throws."""
    tried, caught = s.body
    assert isinstance(caught, If)
    if not m.host:
        run(m, tried)
        return
    begun = _Begun(m.must, m.may, m.context.way, m.frame.outcome, m.frame.end and replace(m.frame.end))
    trying = Trying(len(m.context.undecided), len(m.frames) - 1, len(m.frame.live))
    m.context.tries.append(trying)
    try:
        run(m, tried)
    finally:
        m.context.tries.pop()
    if trying.surely is not None and not m.anyone():
        m.frame.outcome = replace(m.frame.outcome, exited=begun.outcome.exited)
        trying.maybe.append(trying.surely)
    if trying.maybe:
        _either_way(m, caught, trying, begun)
    elif m.anyone() and not trying.checks:
        run(m, caught)  # where nothing is seen to throw, what was not read may


@record(frozen=True, eq=False, slots=True)
class _Begun:
    """What was so before a `try`."""

    must: Mask
    may: Mask
    way: Way
    outcome: Outcome
    end: Join | None


def _either_way(m: Machine, caught: If, trying: Trying, begun: _Begun) -> None:
    """Go on behind a `try` in which something may have been thrown, or surely was."""
    choice = choice_at(m, caught) if trying.surely is None else None
    settled = settled_at(m, choice)
    if settled == 0:
        return
    c = m.unknowns.value(BOOL, "exception", low=0, high=1)
    goes_on, state = m.anyone(), snapshot(m)
    here = m.must, m.may, m.context.way
    open_ = _returned(m, c, state, begun, kept=settled is None) if not goes_on else settled is None
    if open_:
        leave_open(m, choice)
    first, *others = trying.maybe
    restore(m, first.state)
    for other in others:
        merge_into(m, m.unknowns.value(BOOL, "which exception", low=0, high=1), other.state)
    m.must, m.may, m.context.way = begun.must, begun.may, begun.way if others else first.way
    if open_:
        suppose(m, c, together=True)
    _handle(m, caught, first)
    if open_:
        m.context.undecided.pop()
    if not goes_on or settled:
        return
    if not m.anyone():
        restore(m, state)
    else:
        handled = snapshot(m)
        restore(m, state)
        merge_into(m, c, handled)
    m.must, m.may, m.context.way = here


def _returned(m: Machine, c: Int, state: Snapshot, begun: _Begun, *, kept: bool) -> bool:
    """Make of a `return` at the end of what was tried one that is only taken where nothing is thrown, or none
    (kept). Returns whether there is one that is."""
    end, outcome = m.frame.end, m.frame.outcome
    m.frame.outcome = replace(begun.outcome, returned=outcome.returned)
    if end is None or begun.end is None or end.kept is begun.end.kept:
        return False
    end.kept, end.gone = begun.end.kept, begun.end.gone
    if kept:
        end.ways.append(Exit(begun.may, state, ar.logical_not(c, m.unknowns), True, outcome.result))
    return kept


def _handle(m: Machine, caught: If, thrown: Thrown) -> None:
    """Run the handler that takes what was thrown; without one it goes on to the next `try`."""
    handler: Stmt | None = caught
    while isinstance(handler, If):
        if _takes(m, handler.then, thrown.type):
            before, m.context.caught = m.context.caught, thrown
            run(m, handler.then)
            m.context.caught = before
            return
        handler = handler.otherwise
    _raise(m, thrown)


def _takes(m: Machine, handler: Stmt, thrown: Type | None) -> bool:
    """Whether a handler takes what is of some type: where that is not known, any does."""
    first = handler.body[0] if isinstance(handler, Block) and handler.body else None
    init = first.var.init if isinstance(first, Declare) else None
    if not isinstance(first, Declare) or not isinstance(init, UnknownExpr) or init.reason != CAUGHT:
        return True  # `catch (...)`
    t = m.resolve(first.var.type)
    t = referred(t)
    if not isinstance(t, Scalar | RecordRef) or not isinstance(thrown, Scalar | RecordRef):
        return thrown is None or not isinstance(t, Scalar)
    if isinstance(t, Scalar) or isinstance(thrown, Scalar):
        return t == thrown
    return t.name in _kinds(m, thrown)


def _kinds(m: Machine, t: RecordRef) -> list[str]:
    """The names of a class of exceptions and of its bases."""
    found = [t.name]
    for name in found:
        record = m.module.records.get(name)
        bases = record.written_bases if record is not None else ()
        found += [b.name for b in bases if isinstance(b, RecordRef) and b.name not in found]
        if name.startswith("std::") and name != _ANY:
            found.append(_BASES.get(name, _ANY))
    return found
