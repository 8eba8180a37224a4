"""Which fix a finding is offered: that of its array, where it makes this access cost less."""

from __future__ import annotations

from dataclasses import replace

from smemlint.diagnose.model import Access, FileReport
from smemlint.fix.model import Refusal, SiteChange, Suggestion
from smemlint.ir import Place

Site = tuple[str, int, int, int, int]
"""Path, line, column, end line, end column: an offset may differ between configurations."""


def site_of(place: Place) -> Site:
    return (place.path, place.line, place.column, place.end_line, place.end_column)


def advice(fix: Suggestion, place: Place) -> Suggestion:
    """Return the fix of an array as one access of it has it.

    A fix may be that of one part of a pool, and it may pay for some accesses with others: what it does not
    make cheaper is told that no better layout was found for it.
    """
    changes = [c for c in fix.sites if site_of(c.site.place) == site_of(place)]
    before, after = sum(c.before for c in changes), sum(c.after for c in changes)
    if not fix.code or after < before:
        return fix
    text = "no better layout was found for this access"
    others = f"`{fix.code}`, which helps others of `{fix.array.name}`, {_does(changes, before, after)}"
    return replace(
        fix,
        kind="layout",
        words=text,
        edits=None,
        refused=Refusal("no-better-layout", f"{text}: {others}"),
        safe=False,
        sites=tuple(replace(c, after=c.before) for c in changes),
        bytes_added=0,
        blocks_per_sm=None,
        unsafe_because="",
        code="",
        kernel=None,
    )


def advised(report: FileReport) -> FileReport:
    """Return the report with the fix of each access as that access has it.

    Done where the sites of fixes are known: reports that are kept or sent hold no sites.
    """
    suggestions = list(report.suggestions)
    own: dict[tuple[int, Site], int] = {}

    def of(access: Access) -> Access:
        cause = access.cause
        if cause is None or cause.suggestion is None:
            return access
        fix = report.suggestions[cause.suggestion]
        mine = advice(fix, access.place)
        if mine is fix:
            return access
        index = own.setdefault((cause.suggestion, site_of(access.place)), len(suggestions))
        if index == len(suggestions):
            suggestions.append(mine)
        return replace(access, cause=replace(cause, suggestion=index))

    kernels = tuple(replace(k, accesses=tuple(map(of, k.accesses))) for k in report.kernels)
    return replace(report, kernels=kernels, suggestions=tuple(suggestions))


def _does(changes: list[SiteChange], before: int, after: int) -> str:
    if not changes:
        return "is not known to change it"
    return f"makes its {before:,} wavefronts {after:,}" if after > before else "leaves its cost as it is"
