"""Loads that wait for the branches under which the compiler puts them.

While a kernel runs, what only guarded code uses is noted (`hold`, `released`, `note`); `move` is the pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from smemlint.evaluate.analysis.sinkable import Path
from smemlint.evaluate.compiler.log import Log
from smemlint.evaluate.machine.components import Journal
from smemlint.evaluate.machine.machine import Event, Held, Machine
from smemlint.evaluate.machine.state import Sunk


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


def note(m: Machine, held: Sequence[Held], taken: bool | None) -> None:
    """Note where loads run that waited for a branch. taken: the arm whose mask it is; None: for now nobody
    takes either."""
    for h in held:
        for e in h.events:
            if taken is None:
                m.journal.sunk[e.order] = Sunk(m.threads.nobody, m.threads.nobody, e.region)
            elif h.guard.taken is taken:
                region = e.region if h.guard.leaves else m.lines.region
                m.journal.sunk[e.order] = Sunk(m.must & e.must, m.may & e.may, region)


def move(log: Log, journal: Journal) -> Log:
    """Put loads where they run rather than where they are written. A site whose loads are all useless stays
    as it is."""
    if not journal.sunk:
        return log
    useful = {id(e.site) for e in log.events if not nowhere(journal, e)}
    gone: set[int] = set()
    anew: dict[int, Event] = {}
    for e in log.events:
        sunk = journal.sunk.get(e.order)
        if sunk is None or id(e.site) not in useful:
            continue
        if nowhere(journal, e):
            gone.add(e.order)
        else:
            anew[e.order] = replace(e, must=sunk.must, may=sunk.may, region=sunk.region)
    return log.without(gone, anew)


def nowhere(journal: Journal, e: Event) -> bool:
    """Whether the compiler puts a load where no lane runs it."""
    sunk = journal.sunk.get(e.order)
    return sunk is not None and not sunk.may.any()
