"""Which accesses a place of the source means: `FILE:LINE` or `FILE:LINE:COLUMN`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.view.site import SiteView, kernel_name, site_view


@record(frozen=True, slots=True)
class Spot:
    """What is asked for. path: as the user reads it. column: 0, the whole line. kernel: only kernels of this
    name, '' for all."""

    path: str
    line: int
    column: int = 0
    kernel: str = ""


@record(frozen=True, slots=True)
class Seen:
    """An access under one launch."""

    conflict: Conflict
    analysis: KernelAnalysis


def sites_at(analyses: Sequence[KernelAnalysis], spot: Spot, shown: Callable[[str], str]) -> list[list[Seen]]:
    """The accesses at a spot, in source order; of each all instances and launches, the costliest first."""
    groups: dict[tuple[object, ...], list[Seen]] = {}
    for analysis in analyses:
        if spot.kernel and analysis.kernel.name != spot.kernel:
            continue
        for conflict in analysis.conflicts:
            place = conflict.site.place
            if shown(place.path) == spot.path and _covers(conflict, spot):
                key = (place.offset, place.end_offset, conflict.site.op)
                groups.setdefault(key, []).append(Seen(conflict, analysis))
    ordered = [groups[key] for key in sorted(groups, key=str)]
    ordered.sort(key=lambda seen: (seen[0].conflict.site.place.line, seen[0].conflict.site.place.column))
    if spot.column:
        ordered = _narrowest(ordered)
    for seen in ordered:
        seen.sort(key=_cost, reverse=True)
    return ordered


def _covers(conflict: Conflict, spot: Spot) -> bool:
    place = conflict.site.place
    if not spot.column:
        return spot.line in (place.line, conflict.site.line) or place.line <= spot.line <= place.end_line
    start, end = (place.line, place.column), (place.end_line, place.end_column)
    return start <= (spot.line, spot.column) < end


def _narrowest(groups: list[list[Seen]]) -> list[list[Seen]]:
    """Those that begin last: of `a[b[i]]` at `b` the inner one."""
    least = max((seen[0].conflict.site.place.offset for seen in groups), default=0)
    return [seen for seen in groups if seen[0].conflict.site.place.offset == least]


def _cost(seen: Seen) -> tuple[bool, float, int]:
    conflict = seen.conflict
    return (bool(len(conflict.trace.offsets)), conflict.ways or 0.0, conflict.wavefronts or 0)


def lines_with_accesses(
    analyses: Sequence[KernelAnalysis], path: str, shown: Callable[[str], str]
) -> list[int]:
    """Lines of a file on which there is an access."""
    places = (c.site.place for a in analyses for c in a.conflicts)
    return sorted({p.line for p in places if shown(p.path) == path})


def view_of(
    seen: Sequence[Seen], path: str, *, warp: int | None = None, visit: int | None = None
) -> SiteView:
    """The first of some instances and launches; the others in a few words. Raises NoRequestError."""
    first = seen[0]
    others = tuple(dict.fromkeys(_in_words(s) for s in seen[1:]))
    return site_view(first.conflict, first.analysis, path, warp=warp, visit=visit, others=others)


def _in_words(seen: Seen) -> str:
    block = ", ".join(map(str, seen.analysis.launch.block))
    ways = seen.conflict.ways
    told = "no number" if ways is None else f"{ways:.3g}-way"
    return f"{kernel_name(seen.analysis)}, block ({block}): {told}"
