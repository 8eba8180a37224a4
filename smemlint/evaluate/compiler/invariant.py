"""Accesses that are the same in all iterations of a loop: the compiler makes them once.

    for (int d = 0; d < n; ++d) x += s[t * 33] * in[d];    // one load, before the loop
    for (int d = 0; d < n; ++d) s[t] += in[d];             // and one store, after it

Measured with nvcc 13.0 (docs/dev/joining.md): any number of loads moves, out of all loops around in which the
address stays the same. They stay where the loop waits (a barrier, a shuffle, assembler), where it also stores
elsewhere into the same array, and where a condition inside of the loop decides whether they run.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from smemlint.evaluate.compiler.log import Entry, Log, distance, lie_apart
from smemlint.evaluate.machine.components import Journal
from smemlint.evaluate.machine.state import Barrier, Event, Iterated, Iteration
from smemlint.evaluate.values.lanes import equal_masks

_WAITS = ("barrier", "exchange")
_SITES = 64
"""Of more places that store into one array in a loop it is not asked whether they meet."""


def move_out(log: Log, journal: Journal) -> Log:
    """Keep of each such access the first one, as often as the loop itself is entered: loads in front of it,
    stores behind it."""
    if not journal.loops:
        return log
    entries: list[Entry | None] = [*log.entries]
    places: dict[int, float] = {}
    orders = [e.order for e in log.entries]
    for number, loop in enumerate(journal.loops, 1):
        bounds = [bisect_left(orders, at) for at in (*(i.order for i in loop.iterations), loop.end)]
        rounds = [[at for at in range(a, b) if entries[at] is not None] for a, b in pairwise(bounds)]
        within = _loops_within(journal.loops[: number - 1], loop)
        for kept, others in _moving(entries, rounds, loop, within):
            first = entries[kept]
            assert isinstance(first, Event)
            entries[kept] = replace(
                first, weight=loop.weight, times=loop.times, open=loop.open, turn=loop.turn, region=-number
            )
            places[kept] = (loop.iterations[0].order if first.site.op == "load" else loop.end) - 0.5
            for at in others:
                entries[at] = None
    if not places:
        return log
    order = sorted(range(len(entries)), key=lambda at: places.get(at, orders[at]))
    return Log(e for at in order if (e := entries[at]) is not None)


def _loops_within(ended: Sequence[Iterated], loop: Iterated) -> list[tuple[int, int, int]]:
    """The outermost loops in a loop, of those that ended before it: where each begins and ends, and what
    region its own accesses have that moved out of it."""
    begin = loop.iterations[0].order
    found: list[tuple[int, int, int]] = []
    for number in range(len(ended), 0, -1):
        first, end = ended[number - 1].iterations[0].order, ended[number - 1].end
        if first < begin:
            break
        if not found or end <= found[-1][0]:
            found.append((first, end, -number))
    return found[::-1]


def _remains(e: Event, within: Sequence[tuple[int, int, int]]) -> bool:
    """Whether an access stays in one of the loops within: it cannot move out of the loop around either."""
    at = bisect_right(within, e.order, key=lambda each: each[0]) - 1
    return at >= 0 and e.order < within[at][1] and e.region != within[at][2]


def _moving(
    entries: Sequence[Entry | None],
    rounds: Sequence[Sequence[int]],
    loop: Iterated,
    within: Sequence[tuple[int, int, int]],
) -> Iterator[tuple[int, list[int]]]:
    """Accesses of the first iteration that move, each with the same ones of the others, by position. within:
    the loops in it."""
    by_site: list[dict[int, list[int]]] = []
    unsteady: set[int] = set()
    for positions, iteration in zip(rounds, loop.iterations, strict=True):
        own: dict[int, list[int]] = {}
        for at in positions:
            e = entries[at]
            if isinstance(e, Barrier):
                if e.stop in _WAITS:
                    return
                continue
            assert isinstance(e, Event)
            own.setdefault(id(e.site), []).append(at)
            if e.choice is not None and e.site.op != "load":
                return
            steady_here = _is_movable(e)
            if not steady_here or _remains(e, within) or not _whenever(e, iteration):
                unsteady.add(id(e.site))
        by_site.append(own)
    steady: dict[int, list[tuple[int, list[int]]]] = {}
    for site, kept in by_site[0].items():
        if site in unsteady or any(len(own.get(site, ())) != len(kept) for own in by_site):
            continue
        same_in_all = [(at, [own[site][i] for own in by_site[1:]]) for i, at in enumerate(kept)]
        if all(_is_invariant([entries[o] for o in (at, *others)], loop) for at, others in same_in_all):
            steady[site] = same_in_all
    written = _written(entries, rounds, steady)
    for moves in steady.values():
        e = entries[moves[0][0]]
        if isinstance(e, Event) and id(e.site.object) not in written:
            yield from moves


def _is_movable(e: Event) -> bool:
    return e.site.op in ("load", "store") and not (e.volatile or e.choice is not None or e.worlds)


def _whenever(e: Event, iteration: Iteration) -> bool:
    """Whether an access runs whenever the iteration does."""
    if e.under != iteration.under or e.parted != iteration.parted:
        return False
    return equal_masks(e.must, iteration.must) and equal_masks(e.may, iteration.may)


def _is_invariant(events: Sequence[Entry | None], loop: Iterated) -> bool:
    """Whether the address is the same in all iterations, and the compiler can tell: `(n - 16 * i) & 15` is,
    and it cannot."""
    first = events[0]
    assert isinstance(first, Event)
    if any(s.order > loop.unknowns for mono in first.offset.terms for s in mono):
        return False
    return all(
        isinstance(e, Event) and distance(first, e, e.may) == 0 and _proved(first, e) for e in events[1:]
    )


def _proved(a: Event, b: Event) -> bool:
    x, y = a.offset.form, b.offset.form
    return x is y or (x is not None and y is not None and (x.const, x.terms) == (y.const, y.terms))


def _written(
    entries: Sequence[Entry | None],
    rounds: Sequence[Sequence[int]],
    steady: dict[int, list[tuple[int, list[int]]]],
) -> set[int]:
    """The id() of arrays that the loop stores into where an access that stays in it may meet another."""
    events = {
        id(e.site): e for positions in rounds for at in positions if isinstance(e := entries[at], Event)
    }
    stored = {id(e.site.object) for e in events.values() if e.site.op != "load"}
    found = {id(e.site.object) for site, e in events.items() if site not in steady} & stored
    for array in stored - found:
        firsts = [
            e
            for moves in steady.values()
            for at, _ in moves
            if isinstance(e := entries[at], Event) and id(e.site.object) == array
        ]
        if len(firsts) > _SITES or any(not _known_apart(a, b) for a, b in combinations(firsts, 2)):
            found.add(array)
    return found


def _known_apart(a: Event, b: Event) -> bool:
    """Whether two accesses surely are one, or surely do not meet."""
    d = distance(a, b, b.may)
    return d == 0 or lie_apart(a, b, d)
