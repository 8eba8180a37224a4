"""The log as the passes see it: what ran, in order, and the accesses of each site. No pass changes one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias

import numpy as np

from smemlint.evaluate.machine.state import Barrier, Event, Mask, SiteLog
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import same

Entry: TypeAlias = "Event | Barrier"


class Log:
    """Accesses and what keeps them apart, in the order of the run. `order` tells entries apart."""

    __slots__ = ("_of", "entries")

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries: tuple[Entry, ...] = tuple(entries)
        self._of: dict[int, list[Event]] | None = None

    @property
    def events(self) -> Iterator[Event]:
        """The accesses alone."""
        return (e for e in self.entries if isinstance(e, Event))

    def of(self, site: SiteLog) -> Sequence[Event]:
        """Return the accesses of a site, none where passes have left it without any."""
        if self._of is None:
            self._of = {}
            for e in self.events:
                self._of.setdefault(id(e.site), []).append(e)
        return self._of.get(id(site), ())

    def sites(self) -> list[SiteLog]:
        """Return the sites that run, by their first access."""
        return list({id(e.site): e.site for e in self.events}.values())

    def without(self, gone: Set[int], anew: Mapping[int, Event] | None = None) -> Log:
        """Return the log less the accesses of some orders, with others in their places."""
        if not gone and not anew:
            return self
        anew = anew or {}
        return Log(
            anew.get(e.order, e) if isinstance(e, Event) else e
            for e in self.entries
            if not isinstance(e, Event) or e.order not in gone
        )


def distance(a: Event, b: Event, lanes: Mask) -> int | None:
    """Bytes from one access to the other, where that is one number for some lanes."""
    x, y = a.offset, b.offset
    if not same(Int(0, x.type, x.terms), Int(0, x.type, y.terms)):
        return None
    apart = np.broadcast_to(np.asarray(y.const) - np.asarray(x.const), lanes.shape)[lanes]
    return int(apart[0]) if apart.size and bool((apart == apart[0]).all()) else None


def lie_apart(a: Event, b: Event, d: int | None) -> bool:
    """Whether accesses that are so far from each other surely do not meet."""
    return d is not None and (d >= a.site.width or -d >= b.site.width)
