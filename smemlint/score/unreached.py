"""Accesses that the text shows and that no analysed launch reaches: each an unresolved site, none lost.

A line on which any kernel has a site, under any launch and in any configuration, is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from smemlint.evaluate.model import Grade, Site, Trace, Unresolved
from smemlint.ir import (
    SHARED,
    Construct,
    Declare,
    Function,
    Launch,
    Member,
    Module,
    Name,
    Place,
    RecordRef,
    StaticMember,
)
from smemlint.ir.walk import nodes_of
from smemlint.score.mentions import Mention, mentions, shared_globals
from smemlint.score.model import KernelAnalysis
from smemlint.score.site import score

NOT_REACHED = "not-reached"
NOWHERE = Launch((0, 0, 0), origin="")
"""Of a device function that no kernel calls."""

_STOPS = ("budget", "time", "nesting", "internal-error")
"""Why the evaluation of a kernel ends before its end."""

Line = tuple[str, int]


def with_unreached(
    analyses: Sequence[KernelAnalysis], modules: Iterable[Module], path: str
) -> list[KernelAnalysis]:
    """The analyses with what the text of one file shows beyond them.

    An access goes to the first analysis of the kernel that it stands in, or that calls its function; a
    function that no kernel calls gets an analysis of its own, without a launch.
    """
    result = list(analyses)
    seen = _Seen(analyses)
    for module in modules:
        globals_ = shared_globals(module)
        calls: _Calls | None = None
        for function in module.functions.values():
            if function.side == "host" or function.place.path != path:
                continue
            shown = mentions(module, function, globals_)
            left = [m for m in shown if not seen.covers(m) and (not m.opaque or seen.note(m))]
            if not left:
                continue
            calls = calls or _Calls(module)
            at, reason = _cause(function, calls, result)
            if at is None:
                at = len(result)
                result.append(KernelAnalysis(function, NOWHERE, module.configuration, {}, {}, ()))
            result[at] = _with(result[at], left, reason, seen)
            seen.told.update(m.place for m in left)
    return result


def idle_lambdas(
    analyses: Iterable[KernelAnalysis], modules: Iterable[Module]
) -> tuple[tuple[Function, str], ...]:
    """Lambdas for the device that host code makes, of whatever file, with the shared variable that each
    declares, in which no launch gets to an access. A module has those to which the file's host code leads."""
    lines: set[Line] = set()
    for analysis in analyses:
        for site in (c.site for c in analysis.conflicts if c.site.reached):
            lines |= {(p.path, p.line) for p in (site.place, *site.via)}
    found: dict[Place, tuple[Function, str]] = {}
    for f in (f for m in modules for f in m.functions.values()):
        if f.name != "operator()" or not (f.record or "").startswith("(lambda"):
            continue
        nodes = nodes_of(f.body)
        names = [n.var.name for n in nodes if isinstance(n, Declare) and n.var.storage in SHARED]
        places = [p for n in nodes if isinstance(p := getattr(n, "place", None), Place)]
        if names and lines.isdisjoint((p.path, p.line) for p in places):
            found[f.place] = f, names[0]
    return tuple(found.values())


def idle_functions(
    analyses: Iterable[KernelAnalysis], modules: Iterable[Module], path: str
) -> tuple[tuple[Function, str], ...]:
    """Functions for the device in one file that no kernel calls, and of which the text shows no access (all
    that they declare is handed to others), with the shared variable that each declares."""
    shown = {a.kernel.place for a in analyses if a.conflicts}
    found: dict[Place, tuple[Function, str]] = {}
    for module in modules:
        calls: _Calls | None = None
        for f in module.functions.values():
            if f.side != "device" or f.place.path != path or f.place in shown:
                continue
            names = [
                n.var.name for n in nodes_of(f.body) if isinstance(n, Declare) and n.var.storage in SHARED
            ]
            if not names:
                continue
            calls = calls or _Calls(module)
            if not any(g.side == "kernel" for g in calls.callers(f)):
                found.setdefault(f.place, (f, names[0]))
    return tuple(found.values())


class _Seen:
    """Where the analyses have sites and notes, by path and line."""

    def __init__(self, analyses: Iterable[KernelAnalysis]) -> None:
        self.lines: set[Line] = set()
        self.calls: set[Place] = set()
        self.notes: dict[Line, Unresolved] = {}
        self.storage: dict[Line, Unresolved] = {}
        self.told: set[Place] = set()
        for analysis in analyses:
            for conflict in analysis.conflicts:
                site = conflict.site
                self.lines |= {(site.place.path, site.place.line), (site.place.path, site.line)}
                self.calls.update(site.via)
                # `view(t) = 4` names the array in one call, and accesses it in the next
                self.lines |= {(p.path, p.line) for p in site.via}
            for note in analysis.notes:
                if note.at is None or note.code in _STOPS:
                    continue
                if note.code == "library-storage":  # says more than that its size is not known
                    self.storage.setdefault((note.at.path, note.at.line), note)
                self.notes.setdefault((note.at.path, note.at.line), note)

    def covers(self, m: Mention) -> bool:
        """Whether a site stands on its line, or is made by the call that it is given to."""
        path = m.place.path
        return (
            m.place in self.told
            or m.call in self.calls
            or (path, m.place.line) in self.lines
            or (path, m.line) in self.lines
        )

    def note(self, m: Mention) -> Unresolved | None:
        """What evaluation said about its line."""
        at = (m.place.path, m.place.line)
        return (None if m.width else self.storage.get(at)) or self.notes.get(at)


class _Calls:
    """Which functions a function is called from, by names alone: too many rather than too few."""

    def __init__(self, module: Module) -> None:
        self.functions = module.functions
        self.naming: dict[str, set[str]] = {}
        for f in module.functions.values():
            for n in nodes_of(f.body):
                if isinstance(n, Name | Member | StaticMember):
                    self.naming.setdefault(n.name.rsplit("::", 1)[-1], set()).add(f.id)
                elif isinstance(n, Construct) and isinstance(n.type, RecordRef):
                    self.naming.setdefault(n.type.name.rsplit("::", 1)[-1], set()).add(f.id)
                elif isinstance(n, Declare) and isinstance(n.var.type, RecordRef):
                    self.naming.setdefault(n.var.type.name.rsplit("::", 1)[-1], set()).add(f.id)

    def callers(self, function: Function) -> list[Function]:
        """Every function from which one may be called, over any number of calls, nearest first."""
        found, queue = {function.id}, [function]
        for f in queue:
            more = sorted(self.naming.get(f.name.rsplit("::", 1)[-1], set()) - found)
            found.update(more)
            queue += [self.functions[id] for id in more]
        return queue[1:]


def _cause(
    function: Function, calls: _Calls, analyses: Sequence[KernelAnalysis]
) -> tuple[int | None, Unresolved]:
    """Index of the analysis that the accesses of a function go to, and why nothing is known of them."""
    kernels = [f for f in (function, *calls.callers(function)) if f.side == "kernel"]
    of = {k.id: [i for i, a in enumerate(analyses) if a.kernel.id == k.id] for k in kernels}
    indices = [i for k in kernels for i in of[k.id]]
    if not indices:
        text = f"no kernel of this file calls `{function.name}`"
        return None, Unresolved(NOT_REACHED, text, function.place)
    for i in indices:
        for note in analyses[i].notes:
            if note.code in _STOPS:
                return indices[0], note
    names = ", ".join(f"`{k.name}`" for k in kernels[:3]) + (", ..." if len(kernels) > 3 else "")
    text = f"no known launch of {names} reaches this line"
    if all(analyses[i].launch.assumed for i in indices):
        text = f"no launch of {names} is known, and no block shape that was tried reaches this line"
    return indices[0], Unresolved(NOT_REACHED, text, function.place)


def _with(
    analysis: KernelAnalysis, found: Iterable[Mention], reason: Unresolved, seen: _Seen
) -> KernelAnalysis:
    """An analysis with sites for accesses that it does not have."""
    arrays = {array.place: id for id, array in analysis.arrays.items()}
    conflicts = []
    for m in found:
        why = seen.note(m) or reason
        array = arrays.get(m.variable.place, m.variable.name)
        for op in m.ops:
            via = () if m.call is None else (m.call,)
            site = Site(m.place, op, m.width, array, "", via=via, line=m.line, reached=False)
            none = np.zeros(0, dtype=np.int64)
            trace = Trace(site, none.reshape(0, 32), none, Grade.UNRESOLVED, reason=why)
            conflicts.append(score(trace))
    both = sorted((*analysis.conflicts, *conflicts), key=lambda c: (c.site.place.path, c.site.place.offset))
    return replace(analysis, conflicts=tuple(both))
