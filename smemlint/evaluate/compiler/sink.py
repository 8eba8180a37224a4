"""Loads that wait for the branches under which the compiler puts them, while a kernel is evaluated."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.evaluate.analysis.sinkable import Path
from smemlint.evaluate.machine.machine import Event, Held, Machine


def hold(m: Machine, path: Path, since: int) -> None:
    """A statement has loaded what only guarded code uses. since: position in the log before it."""
    events = [e for e in m.log[since:] if isinstance(e, Event) and e.site.op == "load"]
    loads = len({id(e.site.node) or id(e.site) for e in events})  # of one record, several members
    if len(events) != len(m.log) - since or loads != path.loads or any(e.volatile for e in events):
        return
    for guard in path.guards:
        waiting = m.context.waiting.setdefault(guard.branch, [])
        waiting[:] = [h for h in waiting if h.events[0].site is not events[0].site]
        waiting.append(Held(events, len(m.log), guard))


def released(m: Machine, branch: int) -> list[Held]:
    """The loads that waited for this branch and can move to it: no barrier, no loop and no store that may hit
    the array stands between."""
    return [h for h in m.context.waiting.pop(branch, ()) if not _blocked(m, h)]


def _blocked(m: Machine, held: Held) -> bool:
    objects = [e.site.object for e in held.events]
    return any(
        e.site.op.startswith("cas loop") or (e.site.op != "load" and any(e.site.object is o for o in objects))
        if isinstance(e, Event)
        else not e.passable
        for e in m.log[held.since :]
    )


def move(m: Machine, held: Sequence[Held], taken: bool | None) -> None:
    """The mask is that of an arm; None: for now nobody takes either."""
    for h in held:
        for e in h.events:
            if taken is None:
                e.sunk = (m.threads.nobody, m.threads.nobody, e.region)
            elif h.guard.taken is taken:
                e.sunk = (m.must & e.must, m.may & e.may, e.region if h.guard.leaves else m.lines.region)


def settle(m: Machine) -> None:
    """Let the log say where loads run rather than where they are written. A site whose loads are all
    useless stays as it is."""
    gone: set[int] = set()
    for site in m.journal.sites.values():
        left = [e for e in site.events if e.sunk is None or e.sunk[1].any()]
        if not left:
            continue
        for e in left:
            if e.sunk is not None:
                e.must, e.may, e.region = e.sunk
                e.sunk = None
        if len(left) < len(site.events):
            kept = {id(e) for e in left}
            gone |= {id(e) for e in site.events if id(e) not in kept}
            site.events = left
    if gone:
        m.log = [e for e in m.log if id(e) not in gone]
