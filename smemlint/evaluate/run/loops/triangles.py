"""Loops around a loop that goes round another number of times in each of their iterations."""

from __future__ import annotations

from smemlint.evaluate.analysis.purity import root_of
from smemlint.evaluate.analysis.trip_count import bounds_a_loop
from smemlint.evaluate.compiler.unroll import triangle_stays
from smemlint.evaluate.control_flow.masks import restore, snapshot
from smemlint.evaluate.machine.components import Counts
from smemlint.evaluate.machine.machine import Exits, Machine
from smemlint.evaluate.machine.state import WHOLE
from smemlint.evaluate.run.loops.attempts import untraced
from smemlint.evaluate.run.loops.iterations import iterate
from smemlint.ir import ArrayOf, Index, Loop
from smemlint.ir.walk import names_in, walk

_TRIED = 4
"""Iterations that are run to see whether a loop within goes round as often in each."""


def stays_around(m: Machine, s: Loop, trip: int | None, counter: str | None) -> bool | None:
    """Whether such a loop stays one; None for a loop that is none such. Some iterations without a trace
    tell how large it is."""
    if m.host or trip is None or trip < 2 or s.unroll is not None or counter is None:
        return None
    if not bounds_a_loop(s, counter):
        return None
    exits, start = m.context.loops[-1], snapshot(m)
    kept, exits.inner, code = exits.inner, {}, m.frame.slice
    sizes: list[Counts] = []
    try:
        with untraced(m, exits):
            m.frame.slice = WHOLE  # what only accesses is run, too
            m.context.counters |= {counter}
            m.context.constants |= {counter}
            while len(sizes) < min(trip, _TRIED) and m.anyone() and not _varied(exits):
                before = m.code_size.counts
                iterate(m, s, exits)
                sizes.append(m.code_size.since(before))
    finally:  # also where the loop around is only sized up, which ends it in its midst
        restore(m, start)
        m.frame.slice = code
        inner, exits.inner = exits.inner, kept
    trips = [seen for seen in inner.values() if len(seen) == len(sizes)]
    if not trips:
        return triangle_stays(trip, [], [])
    once, then = [seen[0] for seen in trips], [seen[-1] for seen in trips]
    if once == then:
        return None
    return not _fills_an_array(m, s, counter) and triangle_stays(trip, [sizes[0], sizes[-1]], [once, then])


def _varied(exits: Exits) -> bool:
    """Whether a loop within went round another number of times than before."""
    return any(seen[-1] != seen[0] for seen in exits.inner.values())


def _fills_an_array(m: Machine, s: Loop, counter: str) -> bool:
    """Whether a loop indexes an array that each thread has for itself: it is worth more to make it
    disappear."""
    indexed = [n for n in walk(s.body) if isinstance(n, Index) and counter in names_in(n.index)]
    roots = [o for n in indexed if (root := root_of(n.base)) and (o := m.find(root)) is not None]
    return any(o.storage == "local" and isinstance(o.type, ArrayOf) for o in roots)
