"""Loads of what the thread stored last, in an earlier round of a loop, where nvcc may see it or not.

    x = s[r & 7]; s[(r + 1) & 7] = x + 1;           // what one round stores the next one loads

nvcc has the value at hand in some of the copies that it makes of the loop, and loads it in others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from smemlint.evaluate.compiler.log import Entry, distance
from smemlint.evaluate.machine.machine import Event, SiteLog


def stored_the_round_before(logged: Sequence[Entry], gone: Collection[int]) -> Iterator[SiteLog]:
    """The sites of such loads. logged: in program order; gone: indices of what surely does not run."""
    last: dict[int, Event] = {}
    found: set[int] = set()
    for n, e in enumerate(logged):
        if not isinstance(e, Event):
            last = last if e.passable else {}
        elif e.site.op != "load":
            last[id(e.site.object)] = e
        elif n not in gone and id(e.site) not in found:
            before = last.get(id(e.site.object))
            if before is not None and before.region == e.region and _left_by(before, e):
                found.add(id(e.site))
                yield e.site


def _left_by(store: Event, e: Event) -> bool:
    """Whether a store of an earlier round leaves what all lanes load."""
    alike = store.site.op == "store" and store.site.width == e.site.width and store.turn != e.turn
    return alike and not (e.may & ~store.must).any() and distance(store, e, e.may) == 0
