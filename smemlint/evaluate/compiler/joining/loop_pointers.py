"""Where the pointers of loops start: nvcc keeps one register for addresses that move along together, and
lets it start in the middle of them.

Machine code then knows of such an address only what divides the way from the middle. Where the optimiser
makes copies of the loop's body, the middle is an iteration, half of the copies off; where it makes none, it
is one of the addresses. What the source itself moves from iteration to iteration (`p += 64`) starts as it is
written; so do addresses that are the same in all lanes. Measured in docs/dev/joining.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import gcd

import numpy as np

from smemlint.evaluate.analysis.purity import innermost, root_of
from smemlint.evaluate.compiler.joining.join_events import WIDEST
from smemlint.evaluate.compiler.log import Log
from smemlint.evaluate.machine.machine import Event, Machine, SiteLog
from smemlint.ir import Assign, Binary, Expr, Function, Member, Name
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import target_of
from smemlint.ir.walk import names_in, nodes_of

FEW = 4
"""Copies of which none is in the middle."""
ENOUGH = 32
"""Iterations after which an address that has always grown by as much does so in all of them."""


def starts_off(m: Machine, log: Log) -> tuple[dict[int, int], set[int]]:
    """Return by id() of a site what divides its addresses at most, in bytes (others start as they are
    written), and the id() of the sites of which that may hold, or holds in some iterations only."""
    found: dict[int, int] = {}
    doubtful: set[int] = set()
    if not (m.turns.halved or m.turns.lone or m.turns.rest):
        return found, doubtful
    moves = _Moves(m, log)
    for line, events in _by_line_and_array(m, log):
        if line in m.turns.halved:
            copies = _unrolled(m, log, events, 2 * m.turns.halved[line])
            for group in _together(copies):
                alone = len(group) == len(copies) == 2 * m.turns.halved[line] * m.turns.touches.get(line, 0)
                start, sure = _start_of_copies(log, group, alone=alone)
                sites = {id(e.site): e.site for e in group}
                if not sure or line in m.turns.perhaps_halved:
                    doubtful |= sites.keys() if start % WIDEST or not sure else set()
                    continue
                for at, site in sites.items():
                    found[at] = gcd(found.get(at, 0), start)
                    doubtful |= _beginning_at_one(site, events) if len(sites) == 1 else set()
        for group in _together([e for e in _iteration(m, events) if moves.perhaps(e)]):
            start = _start(group, m.turns.lone.get(group[0].turn, False))
            for site in {id(e.site): e.site for e in group}.values() if start % WIDEST else ():
                if moves.as_written(site):
                    continue
                if moves.surely(site):
                    found[id(site)] = gcd(found.get(id(site), 0), start)
                else:
                    doubtful.add(id(site))
    return found, doubtful


class _Moves:
    """How addresses move from iteration to iteration, worked out once a site."""

    def __init__(self, m: Machine, log: Log) -> None:
        self._log = log
        self._lone = m.turns.lone
        self._turns = m.turns.lone.keys() | m.turns.lined.keys()
        self._sure: dict[int, bool] = {}

    def perhaps(self, e: Event) -> bool:
        """Return whether an address is another one in another iteration, by as much in all lanes."""
        if _counts_iterations(e):
            return True
        other = next((o for o in self._log.of(e.site) if o.turn != e.turn and o.turn in self._turns), None)
        return other is not None and _distance(e, other) != 0

    def surely(self, site: SiteLog) -> bool:
        """Return whether the compiler sees that it grows by as much each time, in iterations of which no
        copies are made."""
        if id(site) not in self._sure:
            self._sure[id(site)] = _is_own(site) and self._grows(site)
        return self._sure[id(site)]

    def as_written(self, site: SiteLog) -> bool:
        """Return whether the source itself moves the pointer on."""
        return site.function is not None and _root(site.node) in _moved_on(site.function)[0]

    def _grows(self, site: SiteLog) -> bool:
        if any(e.turn not in self._lone for e in self._log.of(site)):
            return False
        firsts = list({e.turn: e for e in reversed(self._log.of(site))}.values())
        if _counts_iterations(firsts[0]):
            return True
        steps = {_distance(a, b) for a, b in pairwise(firsts)}
        # `(i & 7) * 64` grows by as much for a while only
        return len(firsts) > ENOUGH and len(steps) == 1 and None not in steps


def _counts_iterations(e: Event) -> bool:
    """Return whether an address holds the number of the iteration, as often for all lanes."""
    return any(
        s.name == "iteration" and isinstance(c, int) for mono, c in e.offset.terms.items() for s in mono
    )


def _by_line_and_array(m: Machine, log: Log) -> list[tuple[int, list[Event]]]:
    """Return the accesses of each line and array, with the line."""
    found: dict[tuple[int, int], list[Event]] = {}
    for site in m.journal.sites.values():
        for e in log.of(site):
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
    offsets = sorted({_distance(group[0], e) or 0 for e in group})
    first = _constant(group[0]) + offsets[0]
    if len(offsets) == 1 or first % WIDEST or (known and len(offsets) == 2):
        return 0
    middle = 2 if len(offsets) == 3 else len(offsets) // 2
    return first + offsets[middle] - offsets[0]


def _unrolled(m: Machine, log: Log, events: Sequence[Event], copies: int) -> list[Event]:
    """Return the accesses of so many iterations, the first of their line, whose address differs between
    lanes and moves on from there."""
    turns = list(dict.fromkeys(e.turn for e in events))
    of_site: dict[int, list[Event]] = {}
    for e in events:
        of_site.setdefault(id(e.site), []).append(e)
    found: list[Event] = []
    for own in of_site.values() if len(turns) == 1 or len(turns) >= copies else ():
        if isinstance(own[0].offset.const, int):
            continue
        if len(turns) > 1:
            first = [e for e in own if e.turn in turns[:copies]]
        else:
            each = len(own) // m.turns.copied.get(own[0].turn, 1)
            first = own[: each * copies]
        each = max(len(first) // copies, 1)
        if len(first) <= each:
            continue
        after = next((e for e in log.of(own[0].site) if e.order > first[-1].order), None)
        goes_on = after is None or _distance(first[0], after) != 0
        if goes_on and _distance(first[0], first[each]):
            found += first
    return found


def _start_of_copies(log: Log, group: Sequence[Event], *, alone: bool) -> tuple[int, bool]:
    """Return where the register of some copies starts, in bytes from what lanes add, and whether it is sure.
    alone: the loop accesses nothing else, in the source one place.

    It is the address in the middle between the least and the greatest. Where they do not begin at 0, the way
    from there counts, too: the middle lies nearer to it, and of few it is the last. What else the loop goes
    through counts as well then: nobody knows.
    """
    first = group[0]
    before = _constant(log.of(first.site)[0])
    offsets = sorted({before + (_distance(first, e) or 0) for e in group})
    between = min(offsets[0], 0) + max(offsets[-1], 0)
    middle = next((o for o in offsets if 2 * o >= between), offsets[-1])
    if offsets[0] == 0:
        return middle, True
    alone &= all(e.site is first.site for e in group)
    return offsets[-1] if len(offsets) <= FEW else middle, alone


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
        group = next((g for g in groups if _distance(g[0], e) is not None), None)
        if group is None:
            groups.append([e])
        else:
            group.append(e)
    return groups


def _is_own(site: SiteLog) -> bool:
    """Return whether all that an address is made of stands in the function of the access: it does not come
    with a parameter, nor from an object whose members are moved on."""
    if site.function is None:
        return False
    elsewhere = {p.id for p in site.function.parameters} | _moved_on(site.function)[1]
    return _root(site.node) not in elsewhere


@by_identity
def _moved_on(f: Function) -> tuple[frozenset[str], frozenset[str]]:
    """Return the variables of a function that are set to what they were before and more, and those that have
    such a member."""
    own: set[str] = set()
    members: set[str] = set()
    for n in nodes_of(f.body):
        target = target_of(n)
        if isinstance(n, Assign) and n.op == "=" and root_of(n.target) not in names_in(n.value):
            continue
        if isinstance(target, Name):
            own.add(target.id)
        elif isinstance(target, Member) and (root := root_of(target)) is not None:
            members.add(root)
    return frozenset(own), frozenset(members)


def _root(e: Expr | None) -> str | None:
    """Return the variable that an address comes from, also behind `*(p + i)`."""
    inner = None if e is None else innermost(e)
    while isinstance(inner, Binary):
        inner = innermost(inner.left)
    return inner.id if isinstance(inner, Name) else None


def adrift(m: Machine, log: Log) -> dict[int, int]:
    """Return by id() of a site the bytes from one iteration to the next, where a line may begin at any."""
    return _ways_to_the_next(m, log, dict.fromkeys(m.turns.adrift, 1))


def begun(m: Machine, log: Log) -> dict[int, int]:
    """Return by id() of a site the bytes that copies of a loop go before their first iteration, where it does
    not count from 0: the optimiser does not see that `i`, from 1 on by fours, is odd."""
    return _ways_to_the_next(m, log, m.turns.begun)


def _ways_to_the_next(m: Machine, log: Log, times: Mapping[int, int]) -> dict[int, int]:
    """By id() of a site, so many times the bytes from one iteration to the next. times: by line."""
    found: dict[int, int] = {}
    for line, events in _by_line_and_array(m, log) if any(times.values()) else ():
        for site in {id(e.site): e.site for e in events}.values() if times.get(line) else ():
            own = [e for e in events if e.site is site]
            copies = m.turns.copied.get(line, len({e.turn for e in own}))
            once = len(own) // copies
            if once and len(own) == once * copies and copies > 1:
                apart = _distance(own[0], own[once]) or 0
                found[id(site)] = gcd(found.get(id(site), 0), times[line] * apart)
    return found


def _beginning_at_one(site: SiteLog, events: list[Event]) -> set[int]:
    """Return the id() of a stream of lanes and of one that all lanes share, where they begin at one address
    (`s[64 * t + k] * s[k]`): one of the two pointers is written with the help of the other, and starts at the
    last of the copies."""
    first = next(e for e in events if e.site is site)
    others = [e for e in events if e.turn == first.turn and e.site is not site]
    shared = {
        id(e.site) for e in others if isinstance(e.offset.const, int) and _constant(e) == _constant(first)
    }
    return shared | {id(site)} if shared else shared


def _distance(a: Event, b: Event) -> int | None:
    """Return the bytes between two accesses, where that is one number."""
    if a.offset.terms.keys() != b.offset.terms.keys():
        return None
    d = np.asarray(b.offset.const) - np.asarray(a.offset.const)
    return int(d.flat[0]) if bool((d == d.flat[0]).all()) else None
