"""A switch: one case, or each of them with what falls into it."""

from __future__ import annotations

import numpy as np

from smemlint.evaluate.analysis.arms.chosen_values import ladder
from smemlint.evaluate.analysis.arms.pointer_selects import Moves
from smemlint.evaluate.compiler.slow_paths import may_end_the_line
from smemlint.evaluate.control_flow.contrary import forget
from smemlint.evaluate.control_flow.join_points import bring, meet, merge_at, sure
from smemlint.evaluate.control_flow.launch_choices import meet_ways, ways_by_launch
from smemlint.evaluate.control_flow.masks import Branch, decode, snapshot
from smemlint.evaluate.control_flow.settling import choice_at, leave_open, number_settled, settled_at
from smemlint.evaluate.language.conversions import as_int, truth
from smemlint.evaluate.language.destructors import full
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.machine import Barrier, Exit, Machine, Mask, Undecided
from smemlint.evaluate.memory.local_memory import here
from smemlint.evaluate.model import Stop
from smemlint.evaluate.run.branches import run_if
from smemlint.evaluate.run.selected import is_asked_in_front
from smemlint.evaluate.run.statements import run_all
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.choices import taken
from smemlint.evaluate.values.lanes import equal_masks, some
from smemlint.evaluate.values.number import Int, add, form_of, subtract
from smemlint.evaluate.values.provenance import following
from smemlint.ir import Block, Break, Switch
from smemlint.ir.jumps import jumps_in
from smemlint.ir.memo import by_identity
from smemlint.ir.types import BOOL, INT


def run_switch(m: Machine, s: Switch) -> None:
    if not (m.host or m.task.as_written) and (found := ladder(s)) is not None:
        run_if(m, found)
        return
    value = as_int(m, full(m, s.value))
    if value.known and m.task.explore and id(s) in m.frame.slice.open:
        forget(m, s.value)
        value = as_int(m, rvalue(m, s.value))
        value = m.unknowns.value(INT, "any case") if value.known else value
    value = here(m, value)
    exits = m.exits(switch=True)
    m.context.loops.append(exits)
    entry_must, way = m.must, m.context.way
    line, begun = m.lines.region, len(m.log)
    choice = None if value.known else choice_at(m, s)
    settled = settled_at(m, choice)
    if settled is None and choice is not None:
        settled = _case_of(m, s, number_settled(m, value))
    if settled is None:
        leave_open(m, choice, len(s.cases) + all(case.value is not None for case in s.cases))
    whole = False
    if settled is not None:
        _one_case(m, s, value, settled)
    elif value.known and all(c.value is None or truth(m, rvalue(m, c.value)).known for c in s.cases):
        whole = _switch_by_launch(m, s, value)
    else:
        whole = _open_switch(m, s, value)
    around, m.context.moves = m.context.moves, Moves.PERHAPS
    meet(m, exits.end)
    m.context.moves = around
    m.context.loops.pop()
    m.may, m.context.way = m.may | exits.broken, way
    m.must = sure(m, entry_must)
    if whole and not m.host and m.lines.region != line:
        _go_on(m, s, value, line, {e.stop for e in m.log[begun:] if isinstance(e, Barrier)})


def _go_on(m: Machine, s: Switch, value: Int, line: int, stops: set[Stop]) -> None:
    """Go on behind a switch whose cases become predicates, or for each of which a loop goes on in a copy: in
    the line in front of it. stops: what was found in the cases that ran."""
    bodies = _bodies(s)
    in_front = is_asked_in_front(m, s.value, together=False)
    called = "call" in stops and (value.known or not in_front)
    if called or "barrier" in stops or any(map(jumps_in, bodies)):
        return
    slow = value.known and not in_front and any(map(may_end_the_line, bodies))
    m.lines.parents[m.lines.region] = line
    m.lines.region = line
    if not in_front:
        m.stop("fork")
    if in_front or slow:
        m.stop("perhaps", int(slow))


def _open_switch(m: Machine, s: Switch, value: Int) -> bool:
    """A switch on a value that is not known: each label is a way in, beside falling through from before.
    Returns whether no case ends its straight line."""
    whole = True
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
    together = not value.varying
    for i, case in enumerate(s.cases):
        c = ar.one_unknown(hits.get(i, others), m.unknowns)
        fell, fallen = m.anyone(), m.may
        path = c if not fell else None if path is None else add(path, c, BOOL)
        jumped = _enter(m, Exit(may, entry, c, together=True), must, fell)
        came = jumped is not None
        if not came and not fell:
            continue
        # Where fewer fall through than jump here, those who are here left others behind, or did not.
        together = not value.varying and (together or not fell)
        if jumped is not None:
            together = together and jumped.together and (not fell or equal_masks(jumped.may, fallen))
        m.context.way = {**way, **taken(c, truth=True)} if came and not fell else way
        label = labels[i]
        m.unknowns.given = outside if label is None else following(value, label, m.unknowns)
        m.context.undecided.append(Undecided(c if path is None else path, path is not None and together))
        m.straight()
        start = m.lines.region
        run_all(m, case.body)
        whole = whole and m.lines.goes_on(start)
        m.context.undecided.pop()
        m.unknowns.given = outside
    m.straight()
    if None not in labels:
        _enter(m, Exit(may, entry, ar.one_unknown(others, m.unknowns), together=True), must, m.anyone())
    return whole


def _case_of(m: Machine, s: Switch, n: int | None) -> int | None:
    """Where a number that earlier choices settle leads; None where they leave it open."""
    labels = [None if case.value is None else truth(m, rvalue(m, case.value)) for case in s.cases]
    known = [None if x is None else x.const for x in labels]
    if n is None or any(x is not None and not x.known for x in labels):
        return None
    return known.index(n) if n in known else known.index(None) if None in known else len(known)


def _one_case(m: Machine, s: Switch, value: Int, at: int) -> None:
    """The case that a choice was settled to be; none where it is beyond the last."""
    label = s.cases[at].value if at < len(s.cases) else None
    if label is not None:
        m.unknowns.given = following(value, truth(m, rvalue(m, label)), m.unknowns)
    elif m.task.paths is not None:
        labels = [truth(m, rvalue(m, case.value)) for case in s.cases if case.value is not None]
        hits = [ar.compare("==", value, x, m.unknowns) for x in labels]
        m.task.paths.held += [(hit, 0) for hit in hits if not hit.known]
    for case in s.cases[at:]:
        run_all(m, case.body)


def _enter(m: Machine, entry: Exit, must: Mask, fell: bool) -> Branch | None:
    """Let lanes that jump to a label join those that fall through to it; returns who jumps, None: nobody."""
    assert entry.condition is not None
    fell_must, fell_may = m.must, m.may
    m.must, m.may = must, entry.may
    came = decode(m, entry.condition)
    m.must, m.may = fell_must, fell_may
    if not some(came.may):
        return None
    if fell:
        merge_at(m, entry, came.may)
    else:
        bring(m, entry, came.may)
    # Those who jump come together, or those who fall through do: only who is among both surely is here.
    m.must, m.may = fell_must & came.must if fell else came.must, fell_may | came.may
    return came


def _switch_by_launch(m: Machine, s: Switch, value: Int) -> bool:
    """A switch on a known value; where only the launch tells it, the compiler covers all cases. Returns what
    _open_switch() does."""
    bodies = _bodies(s)
    none = (None,) if all(case.value is not None for case in s.cases) else ()
    ways = ways_by_launch(m, value, bodies, (*bodies, *none))
    whole = _known_switch(m, s, value)
    if ways is not None:
        meet_ways(m, *ways)
    return whole


@by_identity
def _bodies(s: Switch) -> tuple[Block, ...]:
    """What each case runs up to its last `break`."""
    return tuple(Block(c.body[:-1] if c.body and isinstance(c.body[-1], Break) else c.body) for c in s.cases)


def _known_switch(m: Machine, s: Switch, value: Int) -> bool:
    waiting_must, waiting_may, way = m.must, m.may, m.context.way
    matched, whole = m.threads.nobody, True
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
            m.straight()
        enter = ~matched if label is None else label
        if some(waiting_may & enter):
            m.context.way = way  # those who jump here know nothing of what those before them met
        _join_label(m, waiting_must & enter, waiting_may & enter)
        start = m.lines.region
        if m.anyone():
            run_all(m, case.body)
            whole = whole and m.lines.goes_on(start)
    if apart:
        m.straight()
    default = any(label is None for label in labels)
    if not default and some(waiting_may & ~matched):
        m.context.way = way
    if not default:
        _join_label(m, waiting_must & ~matched, waiting_may & ~matched)
    return whole


def _join_label(m: Machine, must: Mask, may: Mask) -> None:
    """Let lanes that jump to a label join those that fall through to it, of whom some may have left."""
    if some(may):
        m.must = sure(m, m.must)
    m.must, m.may = m.must | must, m.may | may
