"""Where the pointers of loops start that only the run ends: half a line of iterations off.

nvcc keeps one register for each pointer of an unrolled loop and counts from the middle of its copies. Machine
code then knows such an address only up to half of what the copies advance. Pointers that two accesses of an
iteration share start at the first; so do addresses that are the same in all lanes.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from smemlint.evaluate.machine.machine import Event, Machine, SiteLog


def halved(m: Machine) -> dict[int, int]:
    """By id() of a site, what divides its addresses at most, in bytes; others start as they are written."""
    if not m.turns.halved:
        return {}
    lines: dict[tuple[int, int], list[Event]] = {}
    """By line and id() of an array: its accesses."""
    for site in m.journal.sites.values():
        for e in site.events:
            line = m.turns.lined.get(e.turn, e.turn)
            if line in m.turns.halved:
                lines.setdefault((line, id(site.object)), []).append(e)
    found: dict[int, int] = {}
    for (line, _), events in lines.items():
        for site in {id(e.site): e.site for e in events}.values():
            by = _advance(site, events)
            if by:
                found[id(site)] = gcd(found.get(id(site), 0), by * m.turns.halved[line])
    return found


def _advance(site: SiteLog, events: list[Event]) -> int:
    """Bytes by which a pointer of its own advances in an iteration, 0 where it is none. events: of one line
    and array."""
    own = [e for e in events if e.site is site]
    if len(own) < 2 or len({e.turn for e in own}) < len(own) or isinstance(own[0].offset.const, int):
        return 0
    first = own[0].turn
    if any(_apart(own[0], e) is not None for e in events if e.turn == first and e.site is not site):
        return 0
    return abs(_apart(own[0], own[1]) or 0)


def _apart(a: Event, b: Event) -> int | None:
    """The bytes between two accesses, where that is one number."""
    if a.offset.terms.keys() != b.offset.terms.keys():
        return None
    d = np.asarray(b.offset.const) - np.asarray(a.offset.const)
    return int(d.flat[0]) if bool((d == d.flat[0]).all()) else None
