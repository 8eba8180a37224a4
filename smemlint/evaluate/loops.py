"""Loops: enumerated while the bound is known, else one generic iteration.

In the generic iteration what the loop changes is a closed form of the iteration number (start + delta * k), or
an unknown that is the same for all lanes, or an unknown of each lane; two trial iterations tell which.
"""

from __future__ import annotations

from smemlint.evaluate import arithmetic as ar
from smemlint.evaluate.expressions import rvalue, truth
from smemlint.evaluate.machine import Machine
from smemlint.evaluate.memory import Object
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.statements import Exits, decode, restore, run, snapshot
from smemlint.evaluate.values import (
    Int,
    Other,
    Pointer,
    Symbol,
    Value,
    add,
    bounds,
    gcd_of,
    multiple_of,
    multiply,
    same,
    subtract,
)
from smemlint.ir import Loop
from smemlint.ir.types import INT, LONG


def run_loop(m: Machine, s: Loop) -> None:
    if s.init is not None:
        run(m, s.init)
    entry_must, entry_may = m.must, m.may
    gone_before = m.frame.returned
    exits = Exits(m.nobody, m.nobody)
    m.loops.append(exits)
    left = m.nobody
    trips = 0
    limit = m.budget.iterations if m.steps < m.budget.steps // 2 else 8
    first = s.test_first
    while True:
        if s.condition is not None and (first or trips):
            guesses = m.unknowns.guesses
            c = ar.truth_of(truth(m, rvalue(m, s.condition)), m.unknowns)
            if not c.known or m.unknowns.guesses != guesses:
                _generic(m, s, exits)
                break
            taken = decode(m, c)
            left = left | (m.may & ~taken.may)
            m.must, m.may = taken.must, taken.may
        if not m.may.any():
            break
        if trips >= limit or (exits.uncertain and trips >= 2):
            _generic(m, s, exits)
            break
        _iterate(m, s, exits)
        trips += 1
        if not m.may.any():
            break
    m.loops.pop()
    may = left | exits.broken | m.may
    returned = m.frame.returned
    if returned is not None and returned is not gone_before:
        may = may & entry_may
    m.may = may & entry_may
    m.must = entry_must & m.may
    if exits.uncertain and returned is not None and returned is not gone_before:
        m.must = m.must & ~returned


def _iterate(m: Machine, s: Loop, exits: Exits) -> None:
    """Body and step once."""
    m.region += 1
    must = m.must
    exits.continued = m.nobody
    run(m, s.body)
    m.may = m.may | exits.continued
    m.must = (
        must & m.may & (m.must | exits.continued)
        if not exits.uncertain
        else m.must | (must & exits.continued)
    )
    if s.step is not None and m.may.any():
        rvalue(m, s.step)


def _generic(m: Machine, s: Loop, exits: Exits) -> None:
    """One iteration that stands for all that are left."""
    must, may = m.must, m.may
    start = snapshot(m)
    k = m.unknowns.fresh("iteration", low=0, rank=1)
    first = _trial(m, s, exits)
    restore(start)
    plan: dict[tuple[Object, int], Value] = {}
    kinds: dict[tuple[Object, int], str] = {}
    for (o, at), (old, new) in _changes(start.cells, first).items():
        kinds[o, at] = _kind(old, new)
        plan[o, at] = _form(m, o, old, new, kinds[o, at], k)
    for _ in range(3):
        _set(plan)
        second = _trial(m, s, exits)
        _set(plan)
        changed = False
        for (o, at), before in list(plan.items()):
            after = second.get(o, {}).get(at, before)
            old = start.cells[o].get(at)
            better = _check(old, before, after, kinds[o, at], first[o].get(at))
            if better != kinds[o, at]:
                kinds[o, at] = better
                plan[o, at] = _form(m, o, old, first[o].get(at), better, k, after)
                changed = True
        for o, cells in second.items():
            for at, v in cells.items():
                old = start.cells.get(o, {}).get(at)
                if (o, at) not in plan and old is not None and not same(v, old):
                    kinds[o, at] = _kind(old, v)
                    plan[o, at] = _form(m, o, old, v, kinds[o, at], k)
                    changed = True
        restore(start)
        if not changed:
            break
    _set(plan)
    m.must, m.may = must, may
    if s.condition is not None and (s.test_first or True):
        c = ar.truth_of(truth(m, rvalue(m, s.condition)), m.unknowns)
        if c.known or c.varying:
            taken = decode(m, c)
            if taken.may.any():
                m.must, m.may = taken.must, taken.may
    _iterate(m, s, exits)
    m.must, m.may = must, may


def _trial(m: Machine, s: Loop, exits: Exits) -> dict[Object, dict[int, Value]]:
    """The state after one iteration that leaves no trace."""
    must, may = m.must, m.may
    keep = exits.broken, exits.continued, exits.uncertain
    frame_state = [(f, f.returned, f.result) for f in m.frames]
    region = m.region
    m.silent += 1
    try:
        _iterate(m, s, exits)
        after = snapshot(m)
    finally:
        m.silent -= 1
        exits.broken, exits.continued, exits.uncertain = keep
        for f, returned, result in frame_state:
            f.returned, f.result = returned, result
        m.must, m.may = must, may
        m.region = region
    return after.cells


def _changes(
    before: dict[Object, dict[int, Value]], after: dict[Object, dict[int, Value]]
) -> dict[tuple[Object, int], tuple[Value | None, Value]]:
    changes: dict[tuple[Object, int], tuple[Value | None, Value]] = {}
    for o, cells in before.items():
        new = after.get(o, {})
        for at, v in new.items():
            old = cells.get(at)
            if old is None or not same(old, v):
                changes[o, at] = (old, v)
    return changes


def _difference(new: Value | None, old: Value | None) -> Int | None:
    if isinstance(new, Int) and isinstance(old, Int):
        return subtract(new, old, old.type)
    if isinstance(new, Pointer) and isinstance(old, Pointer) and new.object is old.object:
        return subtract(new.offset, old.offset, LONG)
    return None


def _kind(old: Value | None, new: Value) -> str:
    """affine: start + delta * k. uniform: start + unknown. varying: nothing known. fresh: set anew each time."""
    if old is None:
        return "fresh"
    d = _difference(new, old)
    if d is None:
        return "fresh" if isinstance(new, Other) or isinstance(old, Other) else "lost"
    if d.varying:
        return "varying"
    return "affine"


def _check(old: Value | None, before: Value, after: Value, kind: str, first: Value | None) -> str:
    """The kind that the second trial leaves standing."""
    if kind in ("fresh", "lost", "varying"):
        return kind
    d = _difference(after, before)
    if d is None or d.varying:
        return "varying"
    if kind == "affine":
        planned = _difference(first, old)
        if planned is not None and same(d, planned):
            return "affine"
        if isinstance(old, Int) and not old.uniform and not d.uniform:
            return "varying"
        return "uniform" if d.uniform else "varying"
    return "uniform" if d.uniform else "varying"


def _form(
    m: Machine,
    o: Object,
    old: Value | None,
    new: Value | None,
    kind: str,
    k: Symbol,
    after: Value | None = None,
) -> Value:
    """What a changed variable is in the generic iteration."""
    if kind == "fresh" and new is not None:
        return new if old is None else old
    d = _difference(new, old)
    if kind == "affine" and d is not None and old is not None:
        return _plus(old, multiply(d, Int(0, INT, {(k,): 1}), d.type))
    if kind == "uniform" and old is not None and d is not None:
        step = _content(d)
        if after is not None:
            moved = _difference(after, old)
            step = _gcd(step, _content(moved)) if moved is not None else 1
        low = high = None
        if isinstance(old, Int) and isinstance(new, Int) and old.uniform:
            low = 0 if (bounds(old)[0] or -1) >= 0 or old.key() == (0, ()) else None
            if low == 0 and isinstance(after, Int):
                tops = [bounds(v)[1] for v in (old, new, after)]
                known = [t for t in tops if t is not None]
                high = max(known) if len(known) == 3 else None
            if low == 0 and old.known:
                step = _gcd(step, _content(old)) or 1
                s = m.unknowns.fresh(o.name, low=0, high=high, multiple=max(step, 1))
                return Int(0, old.type, {(s,): 1})
        s = m.unknowns.fresh(o.name, multiple=max(step, 1))
        return _plus(old, Int(0, INT, {(s,): 1}))
    reason = Unresolved(
        "loop-carried", f"`{o.name}` changes from iteration to iteration in a way that is not followed"
    )
    template = old if old is not None else new
    if isinstance(template, Int):
        both = [v for v in (old, new) if isinstance(v, Int)]
        lows, highs = [bounds(v)[0] for v in both], [bounds(v)[1] for v in both]
        uniform = all(v.uniform for v in both) and kind != "varying"
        low = 0 if all(x is not None and x >= 0 for x in lows) else None
        del highs
        return m.unknowns.value(template.type, o.name, varying=not uniform, low=low, reason=reason)
    if isinstance(template, Pointer):
        s = m.unknowns.fresh(o.name, varying=True, reason=reason)
        return Pointer(template.object, Int(0, LONG, {(s,): 1}), template.pointee, template.integer)
    return template if template is not None else Other(None, False, reason)


def _content(v: Int | None) -> int:
    """What divides every value of v."""
    if v is None:
        return 1
    g = gcd_of(v.const)
    for mono, c in v.terms.items():
        g = _gcd(g, gcd_of(c) * multiple_of(mono))
    return g


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def _plus(v: Value, d: Int) -> Value:
    if isinstance(v, Int):
        return add(v, d, v.type)
    assert isinstance(v, Pointer)
    return Pointer(v.object, add(v.offset, d, LONG), v.pointee, v.integer)


def _set(plan: dict[tuple[Object, int], Value]) -> None:
    for (o, at), v in plan.items():
        o.cells[at] = v
