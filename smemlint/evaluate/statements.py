"""Statements: branches make masks, and a branch that nobody can decide is taken both ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from smemlint.evaluate import arithmetic as ar
from smemlint.evaluate.expressions import (
    coerce,
    declare_global,
    initialise,
    lvalue,
    place_of,
    rvalue,
    truth,
    type_of,
    value_for,
)
from smemlint.evaluate.machine import Barrier, Machine, Mask
from smemlint.evaluate.memory import Object
from smemlint.evaluate.values import Int, Other, Pointer, RecordValue, Value, same
from smemlint.ir import (
    ArrayOf,
    Binary,
    Block,
    Break,
    Continue,
    Declare,
    Evaluate,
    Expr,
    If,
    Index,
    LaunchStmt,
    Literal,
    Loop,
    Member,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Return,
    Stmt,
    Switch,
    Type,
    Unary,
    UnknownStmt,
)
from smemlint.ir.types import BOOL, INT

PREDICATED = 8
"""Up to this many accesses and operations an `if` becomes predicates, and the straight line goes on after
it."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Lanes that surely and possibly take a branch."""

    must: Mask
    may: Mask


@dataclass(slots=True)
class Exits:
    """Where lanes left a loop or switch. `uncertain`: some left under a condition that nobody can decide."""

    broken: Mask
    continued: Mask
    uncertain: bool = False
    switch: bool = False


@dataclass(slots=True)
class Snapshot:
    """The cells of every followed object."""

    cells: dict[Object, dict[int, Value]] = field(default_factory=dict)
    havoc: dict[Object, bool] = field(default_factory=dict)


def run(m: Machine, s: Stmt) -> None:
    """Run a statement for the lanes of the mask; the mask is then that of the lanes that go on."""
    m.step()
    handler = _RUN.get(type(s))
    if handler is None:
        return
    skippable = m.frame.quiet if m.silent else m.frame.skippable
    if skippable is None or id(s) not in skippable:
        handler(m, s)
        return
    if m.host:
        return
    size = m.sizes.get((id(s), m.frame.instance))
    if size is not None:
        m.touched += size[0]
        m.operations += size[1]
        m.forget(m.frame.sets[id(s)])
        return
    touched, operations = m.touched, m.operations
    handler(m, s)
    m.sizes[id(s), m.frame.instance] = (m.touched - touched, m.operations - operations)


def decode(m: Machine, c: Int) -> Branch:
    """The lanes of the mask for which a 0/1 value is, or may be, 1.

    A condition that is unknown but the same for all lanes keeps them all: when the branch runs at all,
    it runs with the full mask.
    """
    if c.known and isinstance(c.const, int):
        return Branch(m.must, m.may) if c.const else Branch(m.nobody, m.nobody)
    if c.known:
        taken = c.const != 0
        return Branch(m.must & taken, m.may & taken)
    undecided = np.zeros(m.size, dtype=bool)
    varying = np.zeros(m.size, dtype=bool)
    for mono, coefficient in c.terms.items():
        hit = np.broadcast_to(np.asarray(coefficient) != 0, (m.size,))
        undecided |= hit
        if any(s.varying for s in mono):
            varying |= hit
    base = np.broadcast_to(np.asarray(c.const) != 0, (m.size,))
    may = m.may & (base | undecided)
    return Branch(m.must & may & ~varying, may)


def snapshot(m: Machine) -> Snapshot:
    s = Snapshot()
    frames = list(m.frames)
    for f in m.frames:
        parent = f.parent
        while parent is not None:
            frames.append(parent)
            parent = parent.parent
    pending = [o for f in frames for o in f.variables.values()]
    pending += [o for o in m.globals.values() if o.storage == "local"]
    pending += [f.this.object for f in frames if f.this is not None]
    while pending:
        o = pending.pop()
        if o.storage == "local" and o not in s.cells:
            s.cells[o] = dict(o.cells)
            s.havoc[o] = o.havoc
            pending.extend(
                v.object for v in o.cells.values() if isinstance(v, Pointer) and v.object.storage == "local"
            )
    return s


def restore(s: Snapshot) -> None:
    for o, cells in s.cells.items():
        o.cells = dict(cells)
        o.havoc = s.havoc[o]


def merge_into(m: Machine, c: Int, then: Snapshot) -> None:
    """The present state is the one of `else`; make it `c ? then : else`."""
    for o, cells in then.cells.items():
        if o.storage != "local":
            continue
        o.havoc = o.havoc or then.havoc[o]
        for at, v in cells.items():
            old = o.cells.get(at)
            if old is None:
                o.cells[at] = v
            elif not same(v, old):
                o.cells[at] = m.merge(c, v, old)


def run_if(m: Machine, s: If) -> None:
    guesses = m.unknowns.guesses
    c = ar.truth_of(truth(m, rvalue(m, s.condition)), m.unknowns)
    if m.frame.open and id(s) in m.frame.open and not s.constexpr:
        c = m.unknowns.value(BOOL, "either way", low=0, high=1)
    if c.known and isinstance(c.const, int):
        guessed = m.unknowns.guesses != guesses
        if guessed:
            m.straight()
        if c.const:
            run(m, s.then)
        elif s.otherwise is not None:
            run(m, s.otherwise)
        if guessed:
            m.straight()
        return
    branch(m, c, lambda: run(m, s.then), None if s.otherwise is None else lambda: run(m, s.otherwise))  # type: ignore[arg-type]


def branch(m: Machine, c: Int, then: Callable[[], None], otherwise: Callable[[], None] | None) -> None:
    """Both ways of a condition that differs between lanes or is not known."""
    c = ar.one_unknown(c, m.unknowns)
    must, may = m.must, m.may
    yes, no = decode(m, c), decode(m, ar.logical_not(c, m.unknowns))
    before = None if c.known else snapshot(m)
    m.must, m.may = yes.must, yes.may
    line, work, logged = m.region, m.touched + m.operations, len(m.log)
    m.flow += 1
    m.straight()
    if m.anyone():
        then()
    yes_must, yes_may = m.must, m.may
    after_then = None if before is None else snapshot(m)
    if before is not None:
        restore(before)
    m.must, m.may = no.must, no.may
    m.flow += 1
    m.straight()
    if otherwise is not None and m.anyone():
        otherwise()
    m.flow += 1
    m.straight()
    if m.touched + m.operations - work <= PREDICATED and not any(
        isinstance(e, Barrier) for e in m.log[logged:]
    ):
        m.region = line
    no_must, no_may = m.must, m.may
    m.may = yes_may | no_may
    if before is None or after_then is None:
        m.must = yes_must | no_must
        return
    if not yes_may.any() and yes.may.any():
        pass  # whoever took the branch left for good: the state is that of the others
    elif not no_may.any() and no.may.any():
        restore(after_then)
    else:
        merge_into(m, c, after_then)
    lost = (yes.may & ~yes_may) | (no.may & ~no_may)
    if lost.any() and m.loops:
        m.loops[-1].uncertain = True  # type: ignore[attr-defined]
    m.must = must & may & m.may & ~(lost if c.varying else m.nobody)


def run_switch(m: Machine, s: Switch) -> None:
    value = truth(m, rvalue(m, s.value))
    if m.frame.open and id(s) in m.frame.open:
        value = m.unknowns.value(INT, "any case")
    exits = Exits(m.nobody, m.nobody, switch=True)
    m.loops.append(exits)
    entry_must, entry_may = m.must, m.may
    if value.known:
        _known_switch(m, s, value)
    else:
        for case in s.cases:
            c = (
                m.unknowns.value(BOOL, "case", low=0, high=1)
                if value.uniform
                else m.unknowns.value(BOOL, "case", low=0, high=1, varying=not m.host)
            )
            m.must, m.may = entry_must, entry_may
            branch(m, c, lambda case=case: _run_all(m, case.body), None)  # type: ignore[misc]
    m.loops.pop()
    if not value.known:
        m.must, m.may = entry_must, entry_may
        gone = m.frame.returned
        if gone is not None and value.varying:
            m.must = m.must & ~gone
        return
    m.may = m.may | exits.broken
    m.must = entry_must & m.may


def _known_switch(m: Machine, s: Switch, value: Int) -> None:
    waiting_must, waiting_may = m.must, m.may
    matched = m.nobody
    labels: list[Mask | None] = []
    for case in s.cases:
        if case.value is None:
            labels.append(None)
            continue
        c = ar.compare("==", value, truth(m, rvalue(m, case.value)), m.unknowns)
        hit = np.broadcast_to(np.asarray(c.const) != 0, (m.size,)) if c.known else m.present
        labels.append(hit & ~matched)
        matched = matched | hit
    m.must, m.may = m.nobody, m.nobody
    for case, label in zip(s.cases, labels, strict=True):
        enter = ~matched if label is None else label
        m.must, m.may = m.must | (waiting_must & enter), m.may | (waiting_may & enter)
        if m.anyone():
            _run_all(m, case.body)
    default = any(label is None for label in labels)
    if not default:
        m.must, m.may = m.must | (waiting_must & ~matched), m.may | (waiting_may & ~matched)


def _run_all(m: Machine, body: tuple[Stmt, ...]) -> None:
    for s in body:
        if not m.anyone():
            return
        run(m, s)


def _block(m: Machine, s: Block) -> None:
    _run_all(m, s.body)


def _declare(m: Machine, s: Declare) -> None:
    var = s.var
    if var.storage in ("shared", "extern_shared"):
        t = m.resolve(var.type)
        o = m.shared.get(var.id)
        if o is None:
            o = Object(var.id, var.name, t, "shared", var, volatile=var.volatile)
            m.shared[var.id] = o
        m.frame.variables[var.id] = o
        return
    if var.storage in ("constant", "global"):
        m.frame.variables[var.id] = declare_global(m, var)
        return
    t = m.resolve(var.type)
    if isinstance(t, PointerTo) and t.reference and var.init is not None:
        p = place_of(m, var.init)
        o = m.declare(var, t)
        o.cells[0] = p
        return
    if var.init is None:
        o = m.declare(var, t)
        if isinstance(t, RecordRef):
            o.havoc = True
            from smemlint.evaluate.calls import construct

            made = construct(m, t, [], var.place, quiet=True)
            if isinstance(made, RecordValue):
                o.cells.update(made.cells)
            elif t.name.rsplit("::", 1)[-1] == "dim3":
                o.cells.update({0: Int(1), 4: Int(1), 8: Int(1)})
        return
    if isinstance(t, ArrayOf):
        o = m.declare(var, t)
        initialise(m, o, t, var.init)
        return
    v = value_for(m, t, var.init)
    deduced = _deduced(t, v)
    o = m.declare(var, deduced)
    if isinstance(v, RecordValue):
        o.havoc = not v.cells
        o.cells.update(v.cells)
    else:
        o.cells[0] = v


def _deduced(t: Type, v: Value) -> Type:
    """The type that `auto` stands for."""
    if isinstance(t, OpaqueType) and not isinstance(v, Other):
        return type_of(v)
    return t


def _evaluate(m: Machine, s: Evaluate) -> None:
    m.discarded = s.expr
    rvalue(m, s.expr)


def _names_a_place(e: Expr) -> bool:
    return isinstance(e, Name | Index | Member) or (isinstance(e, Unary) and e.op == "*")


def _return(m: Machine, s: Return) -> None:
    frame = m.frame
    if s.value is not None:
        v: Value
        if frame.function is not None:
            t = m.resolve(frame.function.returns)
            by_reference = isinstance(t, PointerTo) and t.reference
            v = lvalue(m, s.value) if by_reference else value_for(m, t, s.value)
        else:
            frame.names_place = frame.place and _names_a_place(s.value)
            v = lvalue(m, s.value) if frame.names_place else rvalue(m, s.value)
        if frame.result is None:
            frame.result = v
        else:
            again = frame.returned is not None and bool((frame.returned & m.may).any())
            if again:
                which = m.unknowns.fresh("which return", low=0, high=1, varying=not m.host)
                frame.result = m.merge(Int(0, INT, {(which,): 1}), v, frame.result)
            else:
                frame.result = m.merge(Int(m.may.astype(np.int64)), v, frame.result)
    frame.returned = m.may if frame.returned is None else frame.returned | m.may
    m.must, m.may = m.nobody, m.nobody


def _break(m: Machine, s: Stmt) -> None:
    if m.loops:
        exits = m.loops[-1]
        exits.broken = exits.broken | m.may  # type: ignore[attr-defined]
    m.must, m.may = m.nobody, m.nobody


def _continue(m: Machine, s: Stmt) -> None:
    for exits in reversed(m.loops):
        if not exits.switch:  # type: ignore[attr-defined]
            exits.continued = exits.continued | m.may  # type: ignore[attr-defined]
            break
    m.must, m.may = m.nobody, m.nobody


def _launch(m: Machine, s: LaunchStmt) -> None:
    if m.on_launch is not None and not m.silent:
        m.on_launch(m, s)


def _unknown(m: Machine, s: UnknownStmt) -> None:
    m.note("unknown-statement", s.reason, s.place)
    _run_all(m, s.parts)


def _loop(m: Machine, s: Loop) -> None:
    from smemlint.evaluate.loops import run_loop

    run_loop(m, s)


Runner: TypeAlias = "Callable[[Machine, object], None]"
_RUN: dict[type, Callable[[Machine, object], None]] = {
    Block: _block,  # type: ignore[dict-item]
    Declare: _declare,  # type: ignore[dict-item]
    Evaluate: _evaluate,  # type: ignore[dict-item]
    If: run_if,  # type: ignore[dict-item]
    Loop: _loop,  # type: ignore[dict-item]
    Switch: run_switch,  # type: ignore[dict-item]
    Return: _return,  # type: ignore[dict-item]
    Break: _break,  # type: ignore[dict-item]
    Continue: _continue,  # type: ignore[dict-item]
    LaunchStmt: _launch,  # type: ignore[dict-item]
    UnknownStmt: _unknown,  # type: ignore[dict-item]
}

__all__ = [
    "Binary",
    "Branch",
    "Exits",
    "Literal",
    "branch",
    "coerce",
    "decode",
    "merge_into",
    "restore",
    "run",
    "snapshot",
]
