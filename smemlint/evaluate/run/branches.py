"""An `if`: both arms under their masks, and what holds where they join."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from smemlint.evaluate.analysis.arms.leading_addresses import leads
from smemlint.evaluate.analysis.arms.one_arm import in_another_order, one_arm
from smemlint.evaluate.analysis.arms.pointer_selects import moves
from smemlint.evaluate.analysis.guards import choices
from smemlint.evaluate.compiler import sink
from smemlint.evaluate.compiler.selects import alike, note
from smemlint.evaluate.compiler.slow_paths import may_end_the_line
from smemlint.evaluate.compiler.stored_over import note_stored_over
from smemlint.evaluate.control_flow import first_block
from smemlint.evaluate.control_flow.borders import beside_the_edge
from smemlint.evaluate.control_flow.contrary import by_sign, forget
from smemlint.evaluate.control_flow.edge_blocks import log_edge_arm, supposed
from smemlint.evaluate.control_flow.join_points import (
    left_before,
    left_whole,
    merge_into,
    note_way,
    suppose,
    sure,
)
from smemlint.evaluate.control_flow.launch_choices import meet_ways, ways_by_launch
from smemlint.evaluate.control_flow.masks import Branch, decode, in_two, restore, snapshot, without
from smemlint.evaluate.control_flow.settling import (
    apart,
    choice_at,
    is_limit,
    leave_open,
    settle,
    settled_at,
    ways_out,
)
from smemlint.evaluate.language.conversions import truth
from smemlint.evaluate.library.host_checks import checked, ends
from smemlint.evaluate.machine.components import Counts
from smemlint.evaluate.machine.dispatch import run, rvalue, unseen
from smemlint.evaluate.machine.machine import Barrier, Held, Machine
from smemlint.evaluate.memory.local_memory import here
from smemlint.evaluate.run.conditionals import asked, asked_again, chooses_arrays, continued, may_set
from smemlint.evaluate.run.exceptions import note_check
from smemlint.evaluate.run.meeting import (
    PREDICATED,
    Ran,
    chooses_a_place,
    condition_key,
    line_of_arms,
    may_be_several,
    meet,
)
from smemlint.evaluate.run.selected import is_one_for_all, reaches_memory
from smemlint.evaluate.run.speculated import spare, speculate
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.lanes import equal_masks, some
from smemlint.evaluate.values.number import Int, collapse, form_of
from smemlint.evaluate.values.provenance import following
from smemlint.ir import (
    Binary,
    Block,
    Break,
    Conditional,
    Continue,
    Evaluate,
    Expr,
    If,
    Name,
    Return,
    Stmt,
)
from smemlint.ir.jumps import jumps_in
from smemlint.ir.memo import by_identity
from smemlint.ir.types import BOOL
from smemlint.ir.uses import last_statement, statements, target_of
from smemlint.ir.walk import walk
from smemlint.records import record


@by_identity
def _only_sets(s: If) -> bool:
    """Whether the arms of an `if` only set variables."""
    inner = (*statements(s.then), *statements(s.otherwise))
    return bool(inner) and all(isinstance(x, Evaluate) and isinstance(target_of(x.expr), Name) for x in inner)


def run_if(m: Machine, s: If) -> None:
    """Run both arms that lanes may take. In host code a check that ends the program is taken to hold."""
    if m.host and (checks := _one_by_one(s)):
        for check in checks:
            run_if(m, check)
        return
    if m.host and checked(s) is not None:
        c = ar.truth_of(truth(m, rvalue(m, s.condition)), m.unknowns)
        note_check(m, c, s.then)
        if not c.known:
            note_way(m, ar.logical_not(c, m.unknowns))
            return
    if not (m.host or m.silent or m.task.as_written) and _is_one_arm(m, s):
        for one in one_arm(s):
            run(m, one)
        return
    touched, f = m.code_size.touched, m.frame.function
    run_either(m, s, s.otherwise)
    at_hand = 0 if f is None or m.host else choices(f).get(id(s), 0)
    m.code_size.touched = max(m.code_size.touched - at_hand, touched)


@by_identity
def _one_by_one(s: If) -> tuple[If, ...]:
    """`if (a || b) return;` as two: behind it neither holds, and what `b` sets is set."""
    c = s.condition
    if not isinstance(c, Binary) or c.op != "||" or s.otherwise is not None or not may_set(c.right):
        return ()
    last = last_statement(s.then)
    return (replace(s, condition=c.left), replace(s, condition=c.right)) if _always_leaves(last) else ()


def _always_leaves(s: Stmt | None) -> bool:
    """Whether a statement always leads elsewhere than to its end."""
    return isinstance(s, Return | Break | Continue) or (s is not None and ends(s))


def _is_one_arm(m: Machine, s: If) -> bool:
    """Whether both arms run as one, which reads elements of several arrays, or of one in another order, and
    nothing has to be assumed to tell which a lane takes."""
    choices = [n for one in one_arm(s) for n in walk(one) if isinstance(n, Conditional)]
    if not choices or not (in_another_order(s) or any(chooses_arrays(m, n) for n in choices)):
        return False
    guesses = m.unknowns.guesses
    c = here(m, ar.truth_of(truth(m, unseen(m, s.condition)), m.unknowns))
    return not (c.known and c.uniform) and m.unknowns.guesses == guesses


def run_either(m: Machine, s: If, otherwise: Stmt | None) -> None:
    """Run what a condition leads to. Of the arms of an `if constexpr` that nobody can decide one is not
    there: what they hold is assumed."""
    undecided = s.constexpr and not m.host and not truth(m, unseen(m, s.condition)).known
    m.journal.arms += undecided
    try:
        _run_either(m, s, otherwise)
    finally:
        m.journal.arms -= undecided


def _run_either(m: Machine, s: If, otherwise: Stmt | None) -> None:
    """otherwise: what runs where the condition does not hold, its own arm and perhaps more."""
    held = sink.released(m, id(s)) if m.context.waiting and not m.silent else []
    guesses = m.unknowns.guesses
    line, m.lines.follows = m.lines.region, None
    m.context.keeps_out = first_block.keeps_out(m, s)
    m.unknowns.setting = not m.host and _only_sets(s)
    c = asked(m, s.condition, 1 if isinstance(last_statement(s.then), Break) else None)
    m.unknowns.setting, m.context.keeps_out = False, None
    if not (c.uniform or m.host or m.unknowns.certain or _only_sets(s)):
        again = partial(asked_again, m, s.condition)
        c = beside_the_edge(m, s.condition, (s.then, otherwise), again) or c
    roots = continued(m, s.condition)
    guessed = m.unknowns.guesses != guesses
    choice, contrary = None if c.known and not guessed else choice_at(m, s), None
    if choice is not None:
        if guessed:
            c = _undecided(m, s.condition)
        way = settled_at(m, choice, c)
        if way is not None:
            settle(m, c, way)
            body = s.then if way else otherwise
            if body is not None:
                run(m, body)
            return
    elif (
        c.known
        and id(s) in m.frame.slice.open
        and not s.constexpr
        and (m.task.explore or by_sign(m, s.condition))
    ):
        contrary = c.const == 0
        c = m.unknowns.value(BOOL, "either way", low=0, high=1)
    guessed = guessed or (bool(m.context.supposed) and c.known and supposed(m, s.condition))
    early = not s.constexpr and speculate(m, c, (s.then, otherwise), guessed=guessed)
    begun = len(m.log)
    if c.known and isinstance(c.const, int) and (m.host or s.constexpr or guessed or not form_of(c).terms):
        logged = _run_taken(m, s, otherwise, c, held, roots, guessed=guessed)
        if early:
            spare(m, begun)
            m.lines.region = line
        elif logged is not None:
            _go_on(m, s, c, line, logged)
        return

    outside = m.unknowns.given

    def arm(taken: bool, body: Stmt | None) -> None:
        sink.note(m, held, taken)
        if body is not None:
            if taken is contrary:
                forget(m, s.condition)
            asked = ar.truth_of(truth(m, rvalue(m, s.condition)), m.unknowns) if taken is contrary else c
            m.unknowns.given = following(asked, Int(int(taken)), m.unknowns)
            run(m, body)
            m.unknowns.given = outside

    sink.note(m, held, None)
    either = otherwise is not None or bool(held)
    chosen = alike(s)
    way_out = (lambda: arm(False, otherwise)) if either else None
    left = ways_out(m) if choice is not None else 0
    if otherwise is None and not held and not m.host and not m.frame.live and _only_leaves(s.then):
        # who surely goes leaves the others to go together, or not at all
        parts = in_two(m, c)
        if parts is not None:
            branch(m, parts[0], lambda: arm(True, s.then), None, roots, (s.then, None), s)
            c = parts[1]
    around, m.context.moves = m.context.moves, None if m.host else moves(s)
    parted = branch(
        m, c, lambda: arm(True, s.then), way_out, roots, (s.then, s.otherwise), s, chosen=chosen, early=early
    )
    m.context.moves = around
    if early:
        spare(m, begun)
    if choice is not None and (parted or ways_out(m) > left):
        leave_open(m, choice)


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
    at: If | None = None,
    *,
    chosen: bool = False,
    early: bool = False,
) -> bool:
    """Both ways of a condition that differs between lanes or is not known. roots: the lines that lead there.
    arms: the code of both, of the `if` at hand; chosen: they give one variable an element; early: what they
    load is loaded in front. Returns, of host code that is run way by way, whether it matters which is taken.
    """
    c = ar.one_unknown(c, m.unknowns)
    must, may = m.must, m.may
    m.context.stale = m.context.stale and not equal_masks(may, m.threads.present)
    negated = ar.logical_not(c, m.unknowns)
    yes, no = decode(m, c, stays=not _leaves(arms[0])), decode(m, negated, stays=not _leaves(arms[1]))
    yes, no = without(yes, left_before(m, c)), without(no, left_before(m, negated))
    before = None if c.known else snapshot(m)
    known = collapse(c.const, m.may) if c.known else None
    launched = ways_by_launch(m, c, arms, arms[1:] if isinstance(known, int) and known else arms[:1])
    line, work, logged, touched = (
        m.lines.region,
        m.code_size.touched + m.code_size.operations,
        len(m.log),
        m.code_size.touched,
    )
    placed = at is not None and not yes.together and chooses_a_place(at)
    key = None if placed else condition_key(m, at)
    together = yes.together and not c.known
    together = together and (m.host or at is None or is_one_for_all(m, at.condition))
    named = key or (m.lines.made if placed else form_of(c))
    condition, perhaps = line_of_arms(m, None if placed else at, c, named, together=together)
    yes_root, no_root = roots if roots and not (key and may_be_several(m, at)) else (line, line)
    m.must, m.may = yes.must, yes.may
    m.arm(yes_root, (condition, True))
    taken = m.lines.region
    way = m.context.way
    if m.anyone():
        _arm(m, c, yes, then)
    whole = m.lines.goes_on(taken)
    yes_must, yes_may, yes_way = m.must, m.may, m.context.way
    after_then = None if before is None else snapshot(m)
    if before is not None:
        restore(m, before)
    m.must, m.may, m.context.way = no.must, no.may, way
    taken_line = taken, m.lines.region
    m.arm(no_root, (condition, False))
    passed = m.lines.region
    turned = len(m.log)
    if m.anyone():
        _arm(m, negated, no, otherwise)
        if otherwise is not None and not early:
            note(m, c, logged, turned, arms, chosen, at)
    ended = len(m.log)
    passed_line = passed, m.lines.region
    whole = whole and m.lines.goes_on(passed)
    m.straight()
    stops = {e.stop for e in m.log[logged:] if isinstance(e, Barrier) and e.front is None}
    (m.lines.after if "barrier" in stops else m.lines.parents)[m.lines.region] = line
    if not whole:
        m.stop("call")
    aside = _passed_over(arms, yes, no) if c.known else []
    ran = Ran(
        line,
        (taken, passed),
        (slice(logged, turned), slice(turned, ended)),
        m.code_size.touched - touched,
        small=m.code_size.touched + m.code_size.operations - work <= PREDICATED,
        stopped=bool(stops & {"barrier", "call"}) or not whole,
        together=together,
        aside=any(reaches_memory(m, a) for a in aside),
        slow=any(map(may_end_the_line, aside)),
        perhaps=perhaps,
    )
    if yes_root == no_root and turned > logged and ended > turned:
        m.lines.both.setdefault(yes_root, []).append((taken_line, passed_line, ran.small, leads(*arms)))
    no_must, no_may = m.must, m.may
    m.may = yes_may | no_may
    if before is None or after_then is None:
        if some(yes_may):
            m.context.way = way if some(no_may) else yes_way
        m.must = sure(m, yes_must | no_must)
        meet(m, c, ran, arms, at)
        if launched is not None:
            meet_ways(m, *launched)
        return False
    parted = apart(after_then) if m.task.paths is not None else []
    # Whoever left for good has taken the state along: the present one is that of the others.
    if not some(yes_may) and some(yes.may):
        pass
    elif not some(no_may) and some(no.may):
        restore(m, after_then)
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
    meet(m, c, ran, arms, at)
    return any(not is_limit(m, o.cells.get(at)) for o, at in parted)


def _passed_over(arms: tuple[Stmt | None, Stmt | None], yes: Branch, no: Branch) -> list[Stmt]:
    """The arms that nobody takes."""
    lanes = zip(arms, (yes, no), strict=True)
    return [arm for arm, those in lanes if arm is not None and not some(those.may)]


@record(frozen=True, eq=False, slots=True)
class _Taken:
    """A condition of which one arm was taken, since sizes are taken for large. logged: where in the log both
    are; regions: theirs; counts: the code before them; perhaps: as in Ran."""

    logged: tuple[slice, slice]
    regions: tuple[int, int]
    counts: Counts
    perhaps: bool


def _run_taken(
    m: Machine,
    s: If,
    otherwise: Stmt | None,
    c: Int,
    held: list[Held],
    roots: tuple[int, int],
    *,
    guessed: bool,
) -> _Taken | None:
    """Run the arm for which a condition decides; where it was guessed, look at the other one, too."""
    begun, counts = len(m.log), m.code_size.counts
    regions = m.lines.region, m.lines.region
    if guessed:
        named, together = condition_key(m, s) or m.lines.made, is_one_for_all(m, s.condition)
        named, perhaps = line_of_arms(m, None if s.constexpr else s, c, named, together=together)
        m.arm(roots[not c.const], named)
        regions = m.lines.region, m.lines.made + 1
        if not s.constexpr:
            log_edge_arm(m, otherwise if c.const else s.then)
    sink.note(m, held, None)
    sink.note(m, held, bool(c.const))
    turned = len(m.log)
    if c.const:
        run(m, s.then)
        if not guessed:
            note_stored_over(m, s, slice(begun, len(m.log)), together=False)
    elif otherwise is not None:
        run(m, otherwise)
    if not guessed:
        return None
    aside, ran = slice(begun, turned), slice(turned, len(m.log))
    return _Taken((ran, aside) if c.const else (aside, ran), regions, counts, perhaps)


def _go_on(m: Machine, s: If, c: Int, line: int, taken: _Taken) -> None:
    """Go on behind a condition that was guessed. line: the region in front of it."""
    m.straight()
    m.lines.parents[m.lines.region] = line
    if s.constexpr or m.host:
        return
    touched, operations, _ = m.code_size.since(taken.counts)
    entries = (e for part in taken.logged for e in m.log[part])
    stops = {e.stop for e in entries if isinstance(e, Barrier) and e.front is None}
    ran = Ran(
        line,
        taken.regions,
        taken.logged,
        touched,
        small=touched + operations <= PREDICATED,
        stopped=bool(stops & {"barrier", "call"}),
        together=is_one_for_all(m, s.condition),
        perhaps=taken.perhaps,
    )
    meet(m, c, ran, (s.then, s.otherwise), s)


def _only_leaves(arm: Stmt) -> bool:
    """Whether an arm does nothing but leave: `return;`, `break;`, `continue;`."""
    if isinstance(arm, Block):
        return len(arm.body) == 1 and _only_leaves(arm.body[0])
    return isinstance(arm, Break | Continue) or (isinstance(arm, Return) and arm.value is None)


def _leaves(arm: Stmt | None) -> bool:
    """Whether an arm may go elsewhere than to its end."""
    return arm is not None and bool(jumps_in(arm))


def _arm(m: Machine, c: Int, lanes: Branch, body: Callable[[], None] | None) -> None:
    """Run an arm of a branch where c holds."""
    if c.known:
        if body is not None:
            body()
        return
    suppose(m, c, lanes.together)
    if body is not None:
        strayed = [(j, j.strays) for j in m.ahead()]
        body()
        if lanes.together and not some(m.may):
            left_whole(m, strayed, lanes.may)
    m.context.undecided.pop()
