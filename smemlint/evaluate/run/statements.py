"""Statements: branches make masks, and a branch that nobody can decide is taken both ways."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smemlint.evaluate.compiler.selects import gives_element, note, note_stores
from smemlint.evaluate.compiler.sink import hold, move, released
from smemlint.evaluate.language.conversions import truth, type_of
from smemlint.evaluate.language.initialisers import initialise, value_for
from smemlint.evaluate.language.names import declare_global
from smemlint.evaluate.language.places import place_of
from smemlint.evaluate.machine.dispatch import lvalue, run, rvalue
from smemlint.evaluate.machine.edge_blocks import look_aside, supposed
from smemlint.evaluate.machine.join_points import (
    bring,
    joins_of,
    leave,
    left_whole,
    meet,
    merge_at,
    merge_into,
    outer,
    suppose,
    sure,
)
from smemlint.evaluate.machine.launch_choices import (
    Held,
    contents,
    decided_by_launch,
    effects,
    leaves_by_launch,
    meet_ways,
    tried,
)
from smemlint.evaluate.machine.local_memory import here, merge
from smemlint.evaluate.machine.machine import Barrier, Exit, Exits, Machine, Mask, Undecided
from smemlint.evaluate.machine.masks import Branch, decode, restore, snapshot
from smemlint.evaluate.machine.settling import apart, choice_at, is_limit, settle, ways_out
from smemlint.evaluate.run.conditionals import continued
from smemlint.evaluate.run.construction import construct
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.affine import Affine
from smemlint.evaluate.values.choices import taken
from smemlint.evaluate.values.lanes import equal_masks, some
from smemlint.evaluate.values.number import Int, Other, RecordValue, Value, add, collapse, form_of, subtract
from smemlint.evaluate.values.objects import Object
from smemlint.evaluate.values.provenance import following
from smemlint.ir import (
    SHARED,
    ArrayOf,
    Assign,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    Evaluate,
    Expr,
    Goto,
    If,
    Index,
    LaunchStmt,
    Member,
    Name,
    OpaqueType,
    PointerTo,
    RecordRef,
    Return,
    SizeOf,
    Stmt,
    Switch,
    Type,
    Unary,
    UnknownStmt,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.types import BOOL, INT
from smemlint.ir.walk import walk

PREDICATED = 8
"""Up to this many accesses and operations an `if` becomes predicates, and the straight line goes on after
it."""


def run_if(m: Machine, s: If) -> None:
    _run_if(m, s, s.otherwise)


def _run_if(m: Machine, s: If, otherwise: Stmt | None) -> None:
    """otherwise: what runs where the condition does not hold, its own arm and perhaps more."""
    held = released(m, id(s)) if m.context.waiting and not m.silent else []
    guesses = m.unknowns.guesses
    line, m.lines.follows = m.lines.region, None
    c = here(m, ar.truth_of(truth(m, rvalue(m, s.condition)), m.unknowns))
    roots = continued(m, s.condition)
    guessed = m.unknowns.guesses != guesses
    choice = None if c.known and not guessed else choice_at(m, s)
    if choice is not None and m.task.paths is not None:
        if guessed:
            c = _undecided(m, s.condition)
        way = m.task.paths.settled.get(choice)
        if way is not None:
            settle(m, c, way)
            body = s.then if way else otherwise
            if body is not None:
                run(m, body)
            return
    elif id(s) in m.frame.slice.open and not s.constexpr:
        c = m.unknowns.value(BOOL, "either way", low=0, high=1)
    guessed = guessed or (bool(m.context.supposed) and c.known and supposed(m, s.condition))
    if c.known and isinstance(c.const, int) and (m.host or s.constexpr or guessed or not form_of(c).terms):
        if guessed:
            m.arm(roots[not c.const], m.lines.made)
            if not s.constexpr:
                look_aside(m, otherwise if c.const else s.then)
        move(m, held, None)
        move(m, held, bool(c.const))
        if c.const:
            run(m, s.then)
        elif otherwise is not None:
            run(m, otherwise)
        if guessed:
            m.straight()
            m.lines.parents[m.lines.region] = line
        return

    outside = m.unknowns.given

    def arm(taken: bool, body: Stmt | None) -> None:
        move(m, held, taken)
        if body is not None:
            m.unknowns.given = following(c, Int(int(taken)), m.unknowns)
            run(m, body)
            m.unknowns.given = outside

    move(m, held, None)
    either = otherwise is not None or bool(held)
    target = gives_element(s.then)
    chosen = target is not None and target == gives_element(s.otherwise)
    way_out = (lambda: arm(False, otherwise)) if either else None
    left = ways_out(m) if choice is not None else 0
    parted = branch(m, c, lambda: arm(True, s.then), way_out, roots, (s.then, s.otherwise), chosen=chosen)
    if choice is not None and m.task.paths is not None and (parted or ways_out(m) > left):
        m.task.paths.leave_open(choice)


def _undecided(m: Machine, condition: Expr) -> Int:
    """A condition of host code that scale would decide, left open."""
    m.unknowns.certain, certain = True, m.unknowns.certain
    c = here(m, ar.truth_of(truth(m, rvalue(m, condition)), m.unknowns))
    m.unknowns.certain = certain
    return m.unknowns.value(BOOL, "either way", low=0, high=1) if c.known else c


def branch(
    m: Machine,
    c: Int,
    then: Callable[[], None],
    otherwise: Callable[[], None] | None,
    roots: tuple[int, int] | None = None,
    arms: tuple[Stmt | None, Stmt | None] = (None, None),
    *,
    chosen: bool = False,
) -> bool:
    """Both ways of a condition that differs between lanes or is not known. roots: the lines that lead there.
    arms: the code of both; chosen: they give one variable an element. Returns, of host code that is run way
    by way, whether it matters which way is taken."""
    c = ar.one_unknown(c, m.unknowns)
    must, may = m.must, m.may
    m.context.stale = m.context.stale and not equal_masks(may, m.threads.present)
    negated = ar.logical_not(c, m.unknowns)
    yes, no = decode(m, c), decode(m, negated)
    before = None if c.known else snapshot(m)
    launched = _parts_by_launch(m, c, arms)
    m.must, m.may = yes.must, yes.may
    line, work, logged, touched = (
        m.lines.region,
        m.code_size.touched + m.code_size.operations,
        len(m.log),
        m.code_size.touched,
    )
    m.code_size.flow += 1
    condition = form_of(c)
    yes_root, no_root = roots or (line, line)
    m.arm(yes_root, (condition, True))
    way = m.context.way
    if m.anyone():
        _arm(m, c, yes, then)
    yes_must, yes_may, yes_way = m.must, m.may, m.context.way
    after_then = None if before is None else snapshot(m)
    if before is not None:
        restore(before)
    m.must, m.may, m.context.way = no.must, no.may, way
    m.code_size.flow += 1
    m.arm(no_root, (condition, False))
    turned = len(m.log)
    if m.anyone():
        _arm(m, negated, no, otherwise)
        if otherwise is not None:
            note(m, c, logged, turned, arms, chosen)
    ended = len(m.log)
    m.code_size.flow += 1
    m.straight()
    stops = {e.stop for e in m.log[logged:] if isinstance(e, Barrier)}
    if "barrier" not in stops:
        m.lines.parents[m.lines.region] = line
    if m.code_size.touched + m.code_size.operations - work <= PREDICATED and not stops & {"barrier", "call"}:
        m.lines.region = line
        if m.code_size.touched > touched:
            m.stop("fork")
    no_must, no_may = m.must, m.may
    m.may = yes_may | no_may
    if before is None or after_then is None:
        m.must, m.context.way = sure(m, yes_must | no_must), way
        note_stores(m, logged, turned, ended, arms)
        if launched is not None:
            meet_ways(m, *launched)
        return False
    parted = apart(m, after_then) if m.task.paths is not None else []
    # Whoever left for good has taken the state along: the present one is that of the others.
    if not some(yes_may) and some(yes.may):
        pass
    elif not some(no_may) and some(no.may):
        restore(after_then)
        m.context.way = yes_way
    else:
        m.context.way = way
        merge_into(m, c, after_then)
    lost = (yes.may & ~yes_may) | (no.may & ~no_may)
    if some(lost) and m.context.loops:
        m.context.loops[-1].uncertain = True
    if not some(yes_may):
        m.must = no_must & m.may
    elif not some(no_may):
        m.must = yes_must & m.may
    else:
        m.must = sure(m, must & may & ~(m.threads.nobody if yes.together and no.together else lost))
    note_stores(m, logged, turned, ended, arms)
    return any(not is_limit(m, o.cells.get(at)) for o, at in parted)


def _parts_by_launch(
    m: Machine, c: Int, arms: tuple[Stmt | None, Stmt | None]
) -> tuple[Affine, Held, frozenset[str], list[Held | None]] | None:
    """Of a condition that only the launch decides: itself, what its arms set held before, which variables
    these are, and what they hold on the way that is not taken."""
    decision = decided_by_launch(m, c)
    if decision is None:
        return None
    leaves_by_launch(m, decision, arms)
    assigned = frozenset[str]().union(*(effects(s).assigned for s in arms if s is not None))
    if not assigned:
        return None
    other = arms[1] if collapse(c.const, m.may) else arms[0]
    return decision, contents(m, assigned), assigned, [{} if other is None else tried(m, (other,))]


def _arm(m: Machine, c: Int, lanes: Branch, body: Callable[[], None] | None) -> None:
    """Run an arm of a branch where c holds."""
    if c.known:
        if body is not None:
            body()
        return
    suppose(m, c, lanes.together)
    if body is not None:
        strayed = [(j, j.strays) for j in outer(m)]
        body()
        if lanes.together and not m.may.any():
            left_whole(m, strayed, lanes.may)
    m.context.undecided.pop()


def run_switch(m: Machine, s: Switch) -> None:
    value = truth(m, rvalue(m, s.value))
    if id(s) in m.frame.slice.open:
        value = m.unknowns.value(INT, "any case")
    value = here(m, value)
    exits = m.exits(switch=True)
    m.context.loops.append(exits)
    entry_must, way = m.must, m.context.way
    choice = None if value.known else choice_at(m, s)
    settled = m.task.paths.settled.get(choice) if choice is not None and m.task.paths is not None else None
    if choice is not None and m.task.paths is not None and settled is None:
        m.task.paths.leave_open(choice, len(s.cases) + all(case.value is not None for case in s.cases))
    if settled is not None:
        _one_case(m, s, value, settled)
    elif value.known:
        _switch_by_launch(m, s, value)
    else:
        _open_switch(m, s, value)
    meet(m, exits.end)
    m.context.loops.pop()
    m.may, m.context.way = m.may | exits.broken, way
    m.must = sure(m, entry_must)


def _open_switch(m: Machine, s: Switch, value: Int) -> None:
    """A switch on a value that is not known: each label is a way in, beside falling through from before."""
    entry, must, may, way, outside = snapshot(m), m.must, m.may, m.context.way, m.unknowns.given
    labels = [None if case.value is None else truth(m, rvalue(m, case.value)) for case in s.cases]
    hits = {
        i: ar.compare("==", value, label, m.unknowns) for i, label in enumerate(labels) if label is not None
    }
    others = Int(1, BOOL)
    for hit in hits.values():  # no two labels are the same; a product would have two terms for each, in each
        others = subtract(others, hit, BOOL)
    path: Int | None = None
    m.must, m.may = m.threads.nobody, m.threads.nobody
    for i, case in enumerate(s.cases):
        c = ar.one_unknown(hits.get(i, others), m.unknowns)
        fell = m.anyone()
        path = c if not fell else None if path is None else add(path, c, BOOL)
        came = _enter(m, Exit(may, entry, c, together=True), must, fell)
        if not came and not fell:
            continue
        m.context.way = {**way, **taken(c, truth=True)} if came and not fell else way
        label = labels[i]
        m.unknowns.given = outside if label is None else following(value, label, m.unknowns)
        m.context.undecided.append(
            Undecided(c if path is None else path, path is not None and not value.varying)
        )
        m.code_size.flow += 1
        m.straight()
        run_all(m, case.body)
        m.context.undecided.pop()
        m.unknowns.given = outside
    m.code_size.flow += 1
    m.straight()
    if None not in labels:
        _enter(m, Exit(may, entry, ar.one_unknown(others, m.unknowns), together=True), must, m.anyone())


def _one_case(m: Machine, s: Switch, value: Int, at: int) -> None:
    """The case that a choice was settled to be; none where it is beyond the last."""
    if at >= len(s.cases):
        return
    label = s.cases[at].value
    if label is not None:
        m.unknowns.given = following(value, truth(m, rvalue(m, label)), m.unknowns)
    for case in s.cases[at:]:
        run_all(m, case.body)


def _enter(m: Machine, entry: Exit, must: Mask, fell: bool) -> bool:
    """Let lanes that jump to a label join those that fall through to it; whether there may be any."""
    assert entry.condition is not None
    fell_must, fell_may = m.must, m.may
    m.must, m.may = must, entry.may
    came = decode(m, entry.condition)
    m.must, m.may = fell_must, fell_may
    if not some(came.may):
        return False
    if fell:
        merge_at(m, entry, came.may)
    else:
        bring(m, entry, came.may)
    # Those who jump come together, or those who fall through do: only who is among both surely is here.
    m.must, m.may = fell_must & came.must if fell else came.must, fell_may | came.may
    return True


def _switch_by_launch(m: Machine, s: Switch, value: Int) -> None:
    """A switch on a known value; where only the launch tells it, the compiler covers all cases."""
    decision = decided_by_launch(m, value)
    if decision is None:
        _known_switch(m, s, value)
        return
    bodies = _bodies(s)
    leaves_by_launch(m, decision, bodies)
    assigned = frozenset[str]().union(*(effects(b).assigned for b in bodies))
    before = contents(m, assigned)
    others = [tried(m, (b,)) for b in bodies] if assigned else []
    if all(case.value is not None for case in s.cases):
        others.append({})
    _known_switch(m, s, value)
    meet_ways(m, decision, before, assigned, others)


@by_identity
def _bodies(s: Switch) -> tuple[Block, ...]:
    """What each case runs up to its last `break`."""
    return tuple(Block(c.body[:-1] if c.body and isinstance(c.body[-1], Break) else c.body) for c in s.cases)


def _known_switch(m: Machine, s: Switch, value: Int) -> None:
    waiting_must, waiting_may = m.must, m.may
    matched = m.threads.nobody
    labels: list[Mask | None] = []
    for case in s.cases:
        if case.value is None:
            labels.append(None)
            continue
        c = ar.compare("==", value, truth(m, rvalue(m, case.value)), m.unknowns)
        hit = np.broadcast_to(np.asarray(c.const) != 0, (m.threads.size,)) if c.known else m.threads.present
        labels.append(hit & ~matched)
        matched = matched | hit
    m.must, m.may = m.threads.nobody, m.threads.nobody
    apart = not isinstance(value.const, int) or bool(form_of(value).terms)
    for case, label in zip(s.cases, labels, strict=True):
        if apart:
            m.code_size.flow += 1
            m.straight()
        enter = ~matched if label is None else label
        _join_label(m, waiting_must & enter, waiting_may & enter)
        if m.anyone():
            run_all(m, case.body)
    if apart:
        m.code_size.flow += 1
        m.straight()
    default = any(label is None for label in labels)
    if not default:
        _join_label(m, waiting_must & ~matched, waiting_may & ~matched)


def _join_label(m: Machine, must: Mask, may: Mask) -> None:
    """Let lanes that jump to a label join those that fall through to it, of whom some may have left."""
    if some(may):
        m.must = sure(m, m.must)
    m.must, m.may = m.must | must, m.may | may


def run_all(m: Machine, body: tuple[Stmt, ...]) -> None:
    seen: Mask | None = None
    skipped = _skipped(body)
    for i, s in enumerate(body):
        if m.may is not seen:
            if not m.anyone():
                return
            seen = m.may
        rest = skipped.get(i)
        if rest is not None and isinstance(s, If):
            _run_if(m, s, rest)
            return
        run(m, s)


@by_identity
def _skipped(body: tuple[Stmt, ...]) -> dict[int, Block]:
    """What follows each `if (...) continue;`: the other arm of it."""
    return {
        i: Block(body[i + 1 :])
        for i, s in enumerate(body[:-1])
        if isinstance(s, If) and s.otherwise is None and _continues(s.then)
    }


def _continues(s: Stmt) -> bool:
    while isinstance(s, Block) and s.body:
        s = s.body[-1]
    return isinstance(s, Continue)


def run_block(m: Machine, s: Block) -> None:
    run_all(m, s.body)


def run_declare(m: Machine, s: Declare) -> None:
    since, guesses = len(m.log), m.unknowns.guesses
    _declare(m, s)
    if m.unknowns.guesses != guesses:
        m.context.supposed.add(s.var.id)
    _hold(m, s, since)


def _hold(m: Machine, s: Stmt, since: int) -> None:
    path = m.frame.sinks.get(id(s))
    if path is not None and not m.silent:
        hold(m, path, since)


def _declare(m: Machine, s: Declare) -> None:
    var = s.var
    if var.storage in SHARED:
        t = m.resolve(var.type)
        o = m.memory.shared.get(var.id)
        if o is None:
            o = Object(var.id, var.name, t, "shared", var, volatile=var.volatile)
            m.memory.shared[var.id] = o
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


def run_evaluate(m: Machine, s: Evaluate) -> None:
    since, guesses = len(m.log), m.unknowns.guesses
    m.context.discarded = s.expr
    rvalue(m, (m.host and _asserted(s.expr)) or s.expr)
    if m.unknowns.guesses != guesses and isinstance(s.expr, Assign) and isinstance(s.expr.target, Name):
        m.context.supposed.add(s.expr.target.id)
    _hold(m, s, since)


def _asserted(e: Expr) -> Expr | None:
    """The condition of an `assert` that calls something: a program is built with it unless it says not to.
    Kernels are looked at without."""
    of = e.operand.of if isinstance(e, Cast) and isinstance(e.operand, SizeOf) else None
    if not isinstance(of, Conditional) or not any(isinstance(n, Call) for n in walk(of.condition)):
        return None
    return of.condition


def _names_a_place(e: Expr) -> bool:
    return isinstance(e, Name | Index | Member) or (isinstance(e, Unary) and e.op == "*")


def run_return(m: Machine, s: Return) -> None:
    frame = m.frame
    v: Value | None = None
    if s.value is not None:
        if frame.function is not None:
            t = m.resolve(frame.function.returns)
            by_reference = isinstance(t, PointerTo) and t.reference
            v = lvalue(m, s.value) if by_reference else value_for(m, t, s.value)
        else:
            frame.names_place = frame.place and _names_a_place(s.value)
            v = lvalue(m, s.value) if frame.names_place else rvalue(m, s.value)
    frame.returned = m.may if frame.returned is None else frame.returned | m.may
    if frame.end is None:
        m.must, m.may = m.threads.nobody, m.threads.nobody
        return
    decided = len(frame.end.ways)
    may = m.may
    leave(m, frame.end, joins_of(m.context.loops), v)
    if decided == len(frame.end.ways) and v is not None:
        kept = frame.result
        frame.result = v if kept is None else merge(m, Int(may.astype(np.int64)), v, kept)


def run_break(m: Machine, s: Break) -> None:
    _break_out(m, lambda exits: not exits.label)


def _break_out(m: Machine, of: Callable[[Exits], bool]) -> None:
    """Leave the innermost loop, switch or labeled statement of a kind."""
    for i in range(len(m.context.loops) - 1, -1, -1):
        exits = m.context.loops[i]
        if of(exits):
            exits.broken = exits.broken | m.may
            leave(m, exits.end, [exits.next, *joins_of(m.context.loops[i + 1 :])])
            return
    m.must, m.may = m.threads.nobody, m.threads.nobody


def run_continue(m: Machine, s: Continue) -> None:
    _go_on(m, lambda exits: not exits.switch and not exits.label)


def _go_on(m: Machine, of: Callable[[Exits], bool]) -> None:
    """Begin the next iteration of the innermost loop of a kind."""
    for i in range(len(m.context.loops) - 1, -1, -1):
        exits = m.context.loops[i]
        if of(exits):
            exits.continued = exits.continued | m.may
            leave(m, exits.next, joins_of(m.context.loops[i + 1 :]))
            return
    m.must, m.may = m.threads.nobody, m.threads.nobody


def run_goto(m: Machine, s: Goto) -> None:
    around = [exits for exits in m.context.loops if exits.label == s.label]
    if not around:
        m.note("unknown-statement", "goto into a block", s.place)
    elif s.over or not around[-1].again:
        _break_out(m, lambda exits: exits is around[-1])
    else:
        _go_on(m, lambda exits: exits is around[-1])


def run_launch(m: Machine, s: LaunchStmt) -> None:
    if m.task.on_launch is not None and m.silent == m.effort.firsts:
        m.task.on_launch(m, s)


def run_unknown(m: Machine, s: UnknownStmt) -> None:
    m.note("unknown-statement", s.reason, s.place)
    run_all(m, s.parts)
