"""Where the pointers of loops start: nvcc keeps one register for addresses that move along together, and
lets it start in the middle of them.

Machine code then knows of such an address only what divides the way from the middle. Where the optimiser
makes copies of the loop's body, the middle is an iteration, half of the copies off; where it makes none, it
is one of the addresses. What the source itself moves from iteration to iteration (`p += 64`) starts as it is
written; so do addresses that are the same in all lanes. Measured in docs/dev/joining.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd

import numpy as np

from smemlint.evaluate.machine.machine import Event, Machine, SiteLog
from smemlint.ir import STEPS, Assign, Binary, Cast, Expr, Function, Index, Member, Name, Unary
from smemlint.ir.walk import walk

WIDEST = 16
"""Bytes a lane of the widest access."""
ENOUGH = 32
"""Iterations after which an address that has always grown by as much does so in all of them."""


def starts_off(m: Machine) -> tuple[dict[int, int], set[int]]:
    """Return by id() of a site what divides its addresses at most, in bytes (others start as they are
    written), and the id() of the sites of which that may hold, or holds in some iterations only."""
    found: dict[int, int] = {}
    doubtful: set[int] = set()
    if not (m.turns.halved or m.turns.lone or m.turns.rest):
        return found, doubtful
    moved: dict[int, frozenset[str]] = {}
    for line, events in _by_line_and_array(m):
        if line in m.turns.halved:
            for site in {id(e.site): e.site for e in events}.values():
                by = _advance(site, events)
                if by:
                    found[id(site)] = gcd(found.get(id(site), 0), by * m.turns.halved[line])
        for group in _together([e for e in _iteration(m, events) if _moves(m, e)]):
            start = _start(group, m.turns.lone.get(group[0].turn, False))
            for site in {id(e.site): e.site for e in group}.values() if start % WIDEST else ():
                if _walks(site, moved):
                    continue
                if _is_own(site) and _surely_moves(m, site):
                    found[id(site)] = gcd(found.get(id(site), 0), start)
                else:
                    doubtful.add(id(site))
    return found, doubtful


def _by_line_and_array(m: Machine) -> list[tuple[int, list[Event]]]:
    """Return the accesses of each line and array, with the line."""
    found: dict[tuple[int, int], list[Event]] = {}
    for site in m.journal.sites.values():
        for e in site.events:
            line = m.turns.lined.get(e.turn, e.turn)
            found.setdefault((line, id(site.object)), []).append(e)
    return [(line, events) for (line, _), events in found.items()]


def _iteration(m: Machine, events: Sequence[Event]) -> list[Event]:
    """Return the accesses of one iteration of which no copies are made, or which is left over by copies,
    whose address differs between lanes."""
    turn = events[0].turn
    varying = [e for e in events if e.turn == turn and not isinstance(e.offset.const, int)]
    if turn in m.turns.lone:
        return varying
    copies = m.turns.rest.get(turn, 0)
    if not copies:
        return []
    of_site: dict[int, list[Event]] = {}
    for e in varying:
        of_site.setdefault(id(e.site), []).append(e)
    return [e for own in of_site.values() for e in own[: -(-len(own) // copies)]]


def _start(group: Sequence[Event], known: bool) -> int:
    """Return where the register of a group starts, in bytes from what lanes and iterations add; 0 where that
    is not known. known: whether the compiler knows the trip count."""
    offsets = sorted({_apart(group[0], e) or 0 for e in group})
    first = _constant(group[0]) + offsets[0]
    if len(offsets) == 1 or first % WIDEST or (known and len(offsets) == 2):
        return 0
    middle = 2 if len(offsets) == 3 else len(offsets) // 2
    return first + offsets[middle] - offsets[0]


def _constant(e: Event) -> int:
    """Return the part of an address that is a number."""
    if e.offset.form is not None:
        return e.offset.form.const
    c = e.offset.const
    return c if isinstance(c, int) else int(c[np.argmax(e.may)])


def _together(events: Sequence[Event]) -> list[list[Event]]:
    """Return the events in groups of addresses that are numbers apart."""
    groups: list[list[Event]] = []
    for e in events:
        group = next((g for g in groups if _apart(g[0], e) is not None), None)
        if group is None:
            groups.append([e])
        else:
            group.append(e)
    return groups


def _moves(m: Machine, e: Event) -> bool:
    """Return whether an address grows by as much from iteration to iteration."""
    if any(s.name == "iteration" and isinstance(c, int) for mono, c in e.offset.terms.items() for s in mono):
        return True
    others = (o for o in e.site.events if o.turn != e.turn and o.turn in m.turns.lone | m.turns.lined)
    other = next(others, None)
    return other is not None and (_apart(e, other) != 0)


def _surely_moves(m: Machine, site: SiteLog) -> bool:
    """Return whether the compiler sees that: `(i & 7) * 64` grows for a while only."""
    if not all(e.turn in m.turns.lone for e in site.events):
        return False
    firsts = list({e.turn: e for e in reversed(site.events)}.values())
    if any(s.name == "iteration" for mono in firsts[0].offset.terms for s in mono):
        return True
    steps = {_apart(a, b) for a, b in pairwise(firsts)}
    return len(firsts) > ENOUGH and len(steps) == 1 and None not in steps


def _is_own(site: SiteLog) -> bool:
    """Return whether all that an address is made of stands in the function of the access."""
    return site.function is not None and _root(site.node) not in {p.id for p in site.function.parameters}


def _walks(site: SiteLog, moved: dict[int, frozenset[str]]) -> bool:
    """Return whether the source itself moves the pointer of an access on."""
    if site.function is None:
        return False
    if id(site.function) not in moved:
        moved[id(site.function)] = _moved_on(site.function)
    return _root(site.node) in moved[id(site.function)]


def _moved_on(f: Function) -> frozenset[str]:
    """Return the variables of a function that are set to what they were before and more."""
    found: set[str] = set()
    for n in walk(f.body):
        if isinstance(n, Unary) and n.op in STEPS and isinstance(n.operand, Name):
            found.add(n.operand.id)
        elif isinstance(n, Assign) and isinstance(n.target, Name):
            id = n.target.id
            if n.op != "=" or any(isinstance(x, Name) and x.id == id for x in walk(n.value)):
                found.add(id)
    return frozenset(found)


def _root(e: Expr | None) -> str | None:
    """Return the variable whose element or target an expression is."""
    while e is not None and not isinstance(e, Name):
        if isinstance(e, Index | Member):
            e = e.base
        elif isinstance(e, Unary | Cast):
            e = e.operand
        elif isinstance(e, Binary):
            e = e.left
        else:
            return None
    return None if e is None else e.id


def _advance(site: SiteLog, events: list[Event]) -> int:
    """Return the bytes by which a pointer of its own advances in an iteration, 0 where it is none. events: of
    one line and array."""
    own = [e for e in events if e.site is site]
    if len(own) < 2 or len({e.turn for e in own}) < len(own) or isinstance(own[0].offset.const, int):
        return 0
    first = own[0].turn
    if any(_apart(own[0], e) is not None for e in events if e.turn == first and e.site is not site):
        return 0
    return abs(_apart(own[0], own[1]) or 0)


def _apart(a: Event, b: Event) -> int | None:
    """Return the bytes between two accesses, where that is one number."""
    if a.offset.terms.keys() != b.offset.terms.keys():
        return None
    d = np.asarray(b.offset.const) - np.asarray(a.offset.const)
    return int(d.flat[0]) if bool((d == d.flat[0]).all()) else None
