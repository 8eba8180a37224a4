"""Loads that the compiler left out, and does not behind an edit: it no longer sees that two elements differ.

`t = a[i]; a[j] = a[i + d]; a[i + d] += t` reads `a[i + d]` once; with a function of each index, nvcc may read
it again behind the store. How often is its decision: what is promised counts each of these loads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from smemlint.fix.model import SiteChange
from smemlint.fix.proof.promise import same_array, sites_of
from smemlint.fix.proof.proving import Move
from smemlint.fix.search.members import Instance, member
from smemlint.score.model import Conflict, KernelAnalysis


def with_loads(move: Move, edited: Mapping[int, KernelAnalysis]) -> Move:
    """The same with the loads that run after the edit only. edited: by id() of the analysis before."""
    found = [change for i in move.used for change in _loads(i, edited.get(id(i.analysis)))]
    if not found:
        return move
    suggestion = move.suggestion
    more = sum(change.after for change in found)
    line = found[0].site.place.line
    kernel = suggestion.kernel
    return replace(
        move,
        suggestion=replace(
            suggestion,
            words=f"{suggestion.words}; with {more} more at most, where nvcc reads line {line} again",
            sites=(*suggestion.sites, *found),
            kernel=None if kernel is None else (kernel[0], kernel[1] + more),
        ),
    )


def _loads(instance: Instance, edited: KernelAnalysis | None) -> Iterator[SiteChange]:
    moved = None if edited is None else same_array(instance.analysis, instance.array, edited)
    if edited is None or moved is None or instance.piece is not None:
        return
    before, after = sites_of(instance.analysis, instance.array), sites_of(edited, moved)
    for old, new in zip(before, after, strict=len(before) == len(after)):
        if old.site.op == "load" and not old.executions and new.executions and new.trace.offsets.size:
            most = _most(new, after)
            yield SiteChange(instance.analysis.kernel.name, old.site, 0, most, min(most, new.ideal or 0))


def _most(load: Conflict, sites: Sequence[Conflict]) -> int:
    """Wavefronts of a load at most: as the dearest access of the same element that is written alike."""
    alike = [c for c in sites if c.site.expression == load.site.expression]
    costs = [each.before for c in alike if (each := member(c)) is not None]
    return max(costs, default=load.wavefronts or 0)
