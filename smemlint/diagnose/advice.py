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


def unhelped(fix: Suggestion, place: Place) -> str:
    """Return why the fix of an array does not help one of its accesses, '' where it makes that cheaper.

    The fix may move another part of the array, or make this access dearer and others cheaper by more.
    """
    changes = [c for c in fix.sites if site_of(c.site.place) == site_of(place)]
    before, after = sum(c.before for c in changes), sum(c.after for c in changes)
    if not fix.code or after < before:
        return ""
    return f"{_NONE}: `{fix.code}`, which helps others of `{fix.array.name}`, {_does(changes, before, after)}"


_NONE = "no better layout was found for this access"


def refused(fix: Suggestion, why: str) -> Suggestion:
    """Return what an access is told that the fix of its array does not help. why: `unhelped`."""
    return replace(
        fix,
        kind="layout",
        words=_NONE,
        edits=None,
        refused=Refusal("no-better-layout", why),
        safe=False,
        sites=tuple(replace(c, after=c.before) for c in fix.sites),
        bytes_added=0,
        blocks_per_sm=None,
        unsafe_because="",
        code="",
        kernel=None,
    )


def advised(report: FileReport) -> FileReport:
    """Return the report with each access that the fix of its array does not help saying so.

    Done where the sites of fixes are known: reports that are kept or sent hold no sites.
    """

    def of(access: Access) -> Access:
        cause = access.cause
        if cause is None or cause.suggestion is None:
            return access
        why = unhelped(report.suggestions[cause.suggestion], access.place)
        return replace(access, cause=replace(cause, unhelped=why)) if why else access

    return replace(
        report, kernels=tuple(replace(k, accesses=tuple(map(of, k.accesses))) for k in report.kernels)
    )


def _does(changes: list[SiteChange], before: int, after: int) -> str:
    if not changes:
        return "is not known to change it"
    return f"makes its {before:,} wavefronts {after:,}" if after > before else "leaves its cost as it is"
