"""Loads that nvcc puts down to the stores of the same elements, so that neighbours may not join.

`v[c] = s[4 * t + c]` for all c, then `s[4 * t + c] = f(v[c])`: a load whose element is stored in place runs
where its value is first calculated with, or else right before that store, past the stores of the elements
before. Machine code then joins neither the loads nor the stores. What was calculated with before stays in
front, and so does everything with another access of memory between. Read from PTX and machine code of nvcc
13.0 (docs/dev/joining.md); a range is told where the order is not sure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from smemlint.evaluate.analysis.first_uses import is_used_before
from smemlint.evaluate.compiler.joining.join_events import JoinGroup
from smemlint.evaluate.compiler.log import Entry
from smemlint.evaluate.machine.machine import Barrier, Event, SiteLog
from smemlint.evaluate.values.value import same
from smemlint.ir.types import element_type
from smemlint.ir.vectors import is_vector

LOOK = 256
"""Accesses behind a load that are looked at."""


def separated(logged: Sequence[Entry], groups: Sequence[JoinGroup]) -> Iterator[SiteLog]:
    """The sites of joined accesses that may run one by one.

    logged: in program order. groups: what joins if all runs as written; only what machine code joins counts.
    """
    touched: set[int] = set()
    late = [group for group in groups if group.late]
    for group in late:
        members = _events(logged, group)
        if members[0].site.op != "load":
            continue
        stores = _stores_behind(logged, max(group.members), members)
        if _are_of_vectors([*members, *stores]):
            continue
        moved = [e for e in members if _is_stored_later(e, stores)]
        if moved and not all(_stays(e, stores[0], len(members)) for e in moved):
            touched |= {id(e) for e in stores}
            yield _leader(logged, group).site
    for group in late:
        if any(id(e) in touched for e in _events(logged, group)):
            yield _leader(logged, group).site


def _events(logged: Sequence[Entry], group: JoinGroup) -> list[Event]:
    return [e for index in group.members if isinstance(e := logged[index], Event)]


def _leader(logged: Sequence[Entry], group: JoinGroup) -> Event:
    leader = logged[group.leader]
    assert isinstance(leader, Event)
    return leader


def _are_of_vectors(events: Sequence[Event]) -> bool:
    """Whether accesses are of vectors of several words: the optimiser puts these together, where they are
    written."""
    width, t = events[0].site.width, element_type(events[0].site.object.type)
    return width >= 8 and is_vector(t) and all(e.site.width == width for e in events)


def _stores_behind(logged: Sequence[Entry], last: int, members: Sequence[Event]) -> list[Event]:
    """The stores behind joined loads whose distance from them is known, up to any other access."""
    stores: list[Event] = []
    for e in logged[last + 1 : last + 1 + LOOK]:
        if isinstance(e, Barrier) and e.stop in ("call", "predicate", "opaque"):
            continue
        if not isinstance(e, Event) or e.region != members[0].region or e.volatile:
            break
        if e.site.op not in ("load", "store") or not _is_near(e, members[0]):
            break
        if e.site.op == "store":
            stores.append(e)
    return stores


def _is_near(a: Event, b: Event) -> bool:
    """Whether two accesses of an array are the same number of bytes apart in every lane."""
    if a.site.object is not b.site.object or a.offset.terms.keys() != b.offset.terms.keys():
        return False
    if any(not np.array_equal(c, b.offset.terms[k]) for k, c in a.offset.terms.items()):
        return False
    apart = np.asarray(a.offset.const) - np.asarray(b.offset.const)
    return bool((apart == apart.flat[0]).all())


def _is_stored_later(e: Event, stores: Sequence[Event]) -> bool:
    """Whether an element is stored in place behind a store of another one."""
    at = next((at for at, store in enumerate(stores) if same(store.offset, e.offset)), 0)
    return at > 0


def _stays(e: Event, store: Event, parts: int) -> bool:
    """Whether a load surely runs before a store that it could be put behind."""
    f, load, to = e.site.function, e.site.node, store.site.node
    if f is None or f is not store.site.function or load is None or to is None:
        return False
    return is_used_before(f, load, to, parts)
