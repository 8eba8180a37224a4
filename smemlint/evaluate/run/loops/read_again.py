"""Loads of an iteration that read what others have read: `acc[i][j] += a[i][k] * b[k][j]` in inner loops.

Machine code has each element once. The optimiser sizes its copies before that: it has taken a load out of the
loop within whose counter it does not depend on, and still has one in each round of any other. Measured
in docs/dev/joining.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import groupby

from smemlint.evaluate.machine.machine import Barrier, Event, SiteLog
from smemlint.ir import Binary, Cast, Expr, Index, Name
from smemlint.records import record

_ACCESS = 4
"""What the optimiser counts an access for where nothing more is known (`compiler.unroll`)."""
_TAKEN_OUT, _IN_EACH = 2, 3
"""One that stands in no innermost loop after all, and one that does."""
_FLAT = 2
"""The index of an array without rows takes as much, each time or once where a row is computed in front."""


@record(frozen=True, slots=True)
class Again:
    """loads: those that are one with an earlier one; beside: what the optimiser counts beside the others."""

    loads: int = 0
    beside: int = 0


def read_again(log: Sequence[Event | Barrier], counter: str | None) -> Again:
    """Return what one iteration loads again. counter: of the loop, which its addresses may hold."""
    sites: dict[int, tuple[SiteLog, list[Hashable]]] = {}
    written: dict[int, int] = {}
    barriers = 0
    for e in log:
        if isinstance(e, Barrier):
            barriers += 1
        elif e.site.op != "load":
            written[id(e.site.object)] = written.get(id(e.site.object), 0) + 1
        else:
            since = barriers, written.get(id(e.site.object), 0)
            form, c = e.offset.form, e.offset.const
            lanes = c if isinstance(c, int) else c.tobytes()
            address = (lanes, tuple(e.offset.terms)) if form is None else (form.const, form.terms)
            name = id(e.site.object), e.site.width, e.region, since, address
            sites.setdefault(id(e.site), (e.site, []))[1].append(name)
    loads = sum(len(names) for _, names in sites.values())
    once = len({name for _, names in sites.values() for name in names})
    if once == loads:
        return Again()
    written_out = {tuple(names): site for site, names in reversed(sites.values())}
    most = max(map(len, written_out))
    early = sum(_size(site, names, most, counter) for names, site in written_out.items())
    return Again(loads - once, early - 2 - _ACCESS * once)


def _size(site: SiteLog, names: Sequence[Hashable], most: int, counter: str | None) -> int:
    """Return what the optimiser counts the loads of one place for. most: rounds of the innermost loops."""
    rounds = sum(1 for _ in groupby(names))
    size = rounds * (_TAKEN_OUT if rounds < most else _IN_EACH)
    index = _flat_index(site.node)
    if index is None:
        return size
    return size + _FLAT * (rounds if _adds(index, counter) else 1)


def _flat_index(e: Expr | None) -> Expr | None:
    """Return the index of an element of an array without rows."""
    return e.index if isinstance(e, Index) and not isinstance(e.base, Index) else None


def _adds(e: Expr, counter: str | None) -> bool:
    """Return whether a counter is added as it is."""
    while isinstance(e, Cast):
        e = e.operand
    if isinstance(e, Binary) and e.op in ("+", "-"):
        return _adds(e.left, counter) or _adds(e.right, counter)
    return isinstance(e, Name) and e.id == counter
