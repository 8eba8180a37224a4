"""Statements in order: blocks, declarations, expressions for their effect, launches."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.compiler.sink import hold
from smemlint.evaluate.control_flow.edge_blocks import suppose
from smemlint.evaluate.control_flow.join_points import note_way
from smemlint.evaluate.language.conversions import as_base, truth, type_of
from smemlint.evaluate.language.destructors import discard, end_lives, end_temporaries
from smemlint.evaluate.language.expression_types import deduced_class
from smemlint.evaluate.language.initialisers import initialise, value_for
from smemlint.evaluate.language.lifetimes import begin_life
from smemlint.evaluate.language.names import declare_global, leave_members_to_others
from smemlint.evaluate.language.places import place_of
from smemlint.evaluate.library.host_checks import is_false
from smemlint.evaluate.library.host_runtime import leave_program
from smemlint.evaluate.library.memory import lent
from smemlint.evaluate.machine.dispatch import run, rvalue
from smemlint.evaluate.machine.machine import Machine, Mask
from smemlint.evaluate.run.branches import run_either
from smemlint.evaluate.run.construction import construct
from smemlint.evaluate.run.exceptions import throw
from smemlint.evaluate.types.spelling import type_name
from smemlint.evaluate.values.comparison import truth_of
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.objects import at_home, begin_with
from smemlint.evaluate.values.value import Object, Other, Pointer, RecordValue, Value
from smemlint.ir import (
    SHARED,
    ArrayOf,
    Assign,
    Block,
    Call,
    Construct,
    Continue,
    Declare,
    Evaluate,
    Expr,
    If,
    InitList,
    LaunchStmt,
    Literal,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Return,
    Scalar,
    Stmt,
    Type,
    UnknownExpr,
    UnknownStmt,
    Var,
)
from smemlint.ir.expr import uncast
from smemlint.ir.macros import asserted, is_macro_like
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference
from smemlint.ir.uses import HANDED, last_statement, variables_set
from smemlint.ir.walk import names_in, nodes_of, walk
from smemlint.patterns import pattern
from smemlint.toolkit.table import effect_of

MOST_DEFAULTS = 4096
"""Numbers that an array of objects begins with."""
_INERT_MACRO = pattern(
    r"(?:^|_)(?:ASSERT|CHECK|PRINTF?|LOG|DEBUG|DBG|TRACE|PROFILE|UNUSED|PRAGMA|UNROLL)(?:_|$)"
)


def run_all(m: Machine, body: tuple[Stmt, ...]) -> None:
    seen: Mask | None = None
    skipped = _rest_behind_continue(body)
    frame = m.frames[-1]
    for i, s in enumerate(body):
        if frame.ahead.last:
            if id(s) in frame.slice.trailing and not isinstance(s, Return):
                return
            frame.ahead.ending = id(s) in frame.slice.handing
        if m.may is not seen:
            if not m.anyone():
                return
            seen = m.may
        rest = skipped.get(i)
        if rest is not None and isinstance(s, If):
            run_either(m, s, rest)
            return
        run(m, s)


@by_identity
def _rest_behind_continue(body: tuple[Stmt, ...]) -> dict[int, Block]:
    """What follows each `if (...) continue;`: the other arm of it."""
    return {
        i: Block(body[i + 1 :])
        for i, s in enumerate(body[:-1])
        if isinstance(s, If) and s.otherwise is None and isinstance(last_statement(s.then), Continue)
    }


def run_block(m: Machine, s: Block) -> None:
    """Run what a block holds. Its variables end with it: no branch behind it has to look at them."""
    live = len(m.frame.live)
    run_all(m, s.body)
    if s.scope:
        end_scope(m, s.body, live)


def end_scope(m: Machine, body: tuple[Stmt, ...], live: int) -> None:
    """The variables that some statements declare are gone; those of the whole function stay. live: how many
    variables had destructors before."""
    frame = m.frames[-1]
    if len(frame.live) > live:
        end_lives(m, live)
        del frame.live[live:]
    if frame.function is not None and body is getattr(frame.function.body, "body", None):
        return
    for s in body:
        if isinstance(s, Declare) and s.var.storage == "local":
            frame.variables.pop(s.var.id, None)


def run_declare(m: Machine, s: Declare) -> None:
    lasting = not s.var.const or isinstance(s.var.type, RecordRef)  # an object is one, whoever asks for it
    outlives = m.host and s.var.storage == "static" and lasting
    own = f"{s.var.id} of {m.frame.instance}" if outlives and m.frame.instance else s.var.id
    if outlives and own in m.memory.globals:
        m.frame.variables[s.var.id] = m.memory.globals[own]
        return
    since, guesses, live = len(m.log), m.unknowns.guesses, len(m.frame.live)
    kept = _declare(m, s)
    end_temporaries(m, live, kept)
    if outlives and kept is not None:
        _leave_to_earlier_calls(m, s.var, kept)
        m.memory.globals[own] = kept
        m.memory.begun.note([kept])
    suppose(m, s.var.id, s.var.init, guessed=m.unknowns.guesses != guesses)
    _hold(m, s, since)


def _hold(m: Machine, s: Stmt, since: int) -> None:
    path = m.frame.sinks.get(id(s))
    if path is not None and not m.silent:
        hold(m, path, since)


def _is_unread(m: Machine, callee: Expr) -> bool:
    """Whether a function is called that nobody declares."""
    if not isinstance(callee, Name) or callee.id or m.module.overloaded(callee.name):
        return False
    return effect_of(callee.name) is None


def _declare(m: Machine, s: Declare) -> Object | None:
    """Returns what lives on: the variable, or what a reference binds to."""
    var = s.var
    if var.storage in SHARED:
        t = m.resolve(var.type)
        own = var.id
        o = m.memory.shared.get(own)
        if o is not None and o.type != t:  # another instance of a template has its own
            own = f"{var.id} as {type_name(t)}"
            o = m.memory.shared.get(own)
        if o is None:
            o = Object(own, var.name, t, "shared", var, volatile=var.volatile)
            m.memory.shared[own] = o
        m.frame.variables[var.id] = o
        return None
    if var.storage in ("constant", "global"):
        m.frame.variables[var.id] = declare_global(m, var)
        return None
    t = m.resolve(var.type)
    if is_reference(t) and var.init is not None:
        p = as_base(m, place_of(m, var.init), t)
        o = m.declare(var, t)
        o.cells[0] = p
        if not m.host and isinstance(var.init, Call) and _is_unread(m, var.init.callee):
            lent(m, var.init)
        return p.object
    if var.init is None:
        o = m.declare(var, t)
        if isinstance(t, RecordRef):
            begin_life(m, o)
            o.havoc = True
            made = construct(m, t, [], var.place, quiet=True)
            if isinstance(made, RecordValue):
                o.cells.update(at_home(o, 0, made.cells))
            elif t.name.rsplit("::", 1)[-1] == "dim3":
                o.cells.update({0: Int(1), 4: Int(1), 8: Int(1)})
        elif isinstance(t, ArrayOf) and isinstance(t.element, RecordRef) and not m.host:
            _default_elements(m, o, t, t.element, var)
            begin_life(m, o)
        return o
    if isinstance(t, ArrayOf):
        o = m.declare(var, t)
        initialise(m, o, t, var.init)
        begin_life(m, o)
        return o
    t = deduced_class(m, t, _constructor_arguments(var.init))
    v = value_for(m, t, var.init)
    deduced = _deduced(t, v)
    o = m.declare(var, deduced)
    if isinstance(v, RecordValue):
        begin_life(m, o)
    begin_with(o, v)
    return o


@by_identity
def _stepped(body: Stmt) -> frozenset[str]:
    """Variables that a function changes by what they were: `n *= 2`."""
    return variables_set(n for n in nodes_of(body) if not isinstance(n, Assign) or n.op != "=")


def _leave_to_earlier_calls(m: Machine, var: Var, o: Object) -> None:
    """A variable that outlives the call begins as an earlier one left it; an object, as others set it. Where
    the program is run from its beginning, there was none."""
    if any(f.function is not None and f.function.name == "main" for f in m.frames[:2]):
        return
    f = m.frame.function
    if not isinstance(o.type, Scalar):
        leave_members_to_others(m, o)
    elif f is not None and var.id in _stepped(f.body):
        o.cells[0] = m.unknown(o.type, var.name, uniform=True, rank=3, size=True)


def _default_elements(m: Machine, o: Object, t: ArrayOf, element: RecordRef, var: Var) -> None:
    """What the elements of an array are that nothing is given."""
    size = m.types.size_of(element)
    made = construct(m, element, [], var.place, quiet=True)
    count = t.extent.value if isinstance(t.extent, Literal) else 0
    if isinstance(made, RecordValue) and size is not None and count * len(made.cells) <= MOST_DEFAULTS:
        o.cells.update({i * size + k: x for i in range(count) for k, x in made.cells.items()})


def _constructor_arguments(init: Expr) -> Sequence[Expr]:
    """The arguments of a variable's initialiser."""
    if isinstance(init, Construct):
        return init.arguments
    return init.elements if isinstance(init, InitList) else (init,)


def _deduced(t: Type, v: Value) -> Type:
    """The type that `auto`, or `auto *`, stands for."""
    pointing = isinstance(t, PointerTo) and isinstance(t.to, OpaqueType) and isinstance(v, Pointer)
    if (isinstance(t, OpaqueType) or pointing) and not isinstance(v, Other):
        return type_of(v)
    return t


def run_evaluate(m: Machine, s: Evaluate) -> None:
    since, guesses = len(m.log), m.unknowns.guesses
    m.context.discarded = uncast(s.expr)
    if not m.host and (macro := _written_macro(s)) is not None and macro.name not in m.module.overloads:
        text = "is not defined in the files that were read: what it stands for was not analysed"
        m.note("unknown-macro", f"`{macro.name}` {text}", macro.place)
    live = len(m.frame.live)
    holds = asserted(s.expr)
    if not m.host and holds is not None and names_in(holds):
        m.stop("assert")
    if not m.host or holds is None:
        discard(m, s.expr)
        if m.host and isinstance(s.expr, UnknownExpr) and s.expr.reason == "throw":
            throw(m, s.expr)
    elif is_false(holds):
        leave_program(m)
    else:
        note_way(m, truth_of(truth(m, rvalue(m, holds)), m.unknowns))
    end_temporaries(m, live)
    if isinstance(s.expr, Assign) and isinstance(s.expr.target, Name):
        suppose(m, s.expr.target.id, s.expr.value, guessed=m.unknowns.guesses != guesses)
    _hold(m, s, since)


@by_identity
def _written_macro(s: Evaluate) -> Name | None:
    """The name in capitals that a statement consists of, with or without arguments, and that clang knows
    nothing of; None where there is none, or it only checks or prints."""
    called = s.expr.callee if isinstance(s.expr, Call) else s.expr
    if not isinstance(called, Name) or called.id or not is_macro_like(called.name):
        return None
    return None if _INERT_MACRO.search(called.name) else called


def run_launch(m: Machine, s: LaunchStmt) -> None:
    m.effort.reached += m.host
    if m.task.on_launch is not None and m.silent == m.effort.firsts:
        m.task.on_launch(m, s)


def run_unknown(m: Machine, s: UnknownStmt) -> None:
    """Note it. What it may set in device code is not known, in it and behind it, nor who runs its parts."""
    followed = "a statement that is not followed: " if s.code == "unknown-statement" else ""
    m.note(s.code, followed + s.reason, s.place)
    if m.host:
        run_all(m, s.parts)
        return
    changed = variables_set(walk(s.parts), HANDED)
    m.forget(changed)
    sure, m.must = m.must, m.threads.nobody
    run_all(m, s.parts)
    m.must = sure & m.may
    m.forget(changed)
