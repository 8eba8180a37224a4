"""The analysis of one file for a report with pictures: findings as ever, and maps of all that conflicts.

Also what an edit makes of an access, for all that shows before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from smemlint.diagnose.model import FileReport
from smemlint.fix.edits.apply import EditError, apply
from smemlint.fix.eligible import Key, array_key
from smemlint.fix.model import Suggestion
from smemlint.fix.proof.promise import same_array, sites_of
from smemlint.running.pipeline import Examined, examine
from smemlint.running.proofs import again
from smemlint.running.reports import report_of
from smemlint.running.schedule import FixWork
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.system import clock
from smemlint.view.gallery import Exhibit, strip

if TYPE_CHECKING:
    from smemlint.running.jobs import Job

SECONDS = 200.0
"""Computing time after which, in any case, no further edit is looked at."""
MOST = 400
"""Exhibits of one file."""
_LEAST_WAYS = 1.05


def run_with_exhibits(job: Job, shown: Callable[[str], str]) -> FileReport:
    """The report of one file with its exhibits."""
    began = clock.now()
    found = examine(job, shown)
    if isinstance(found, FileReport):
        return found
    report = report_of(found, job, shown, began)
    return replace(report, exhibits=exhibits_of(found, job, shown))


def exhibits_of(found: Examined, job: Job, shown: Callable[[str], str]) -> tuple[Exhibit, ...]:
    """One exhibit for each access that conflicts: under the launch that costs the most."""
    worst: dict[tuple[object, ...], tuple[Conflict, KernelAnalysis]] = {}
    for analysis in found.analyses:
        for conflict in analysis.conflicts:
            place = conflict.site.place
            key = (place.path, place.offset, place.end_offset, conflict.site.op)
            if (conflict.ways or 0) < _LEAST_WAYS:
                continue
            held = worst.get(key)
            if held is None or (conflict.ways or 0) > (held[0].ways or 0):
                worst[key] = (conflict, analysis)
    chosen = sorted(worst.values(), key=lambda pair: -_excess(pair[0]))[:MOST]
    edited = _Edited(found, job)
    return tuple(_exhibit(conflict, analysis, edited, shown) for conflict, analysis in chosen)


def _excess(conflict: Conflict) -> int:
    return (conflict.wavefronts or 0) - (conflict.ideal or 0)


def _exhibit(
    conflict: Conflict, analysis: KernelAnalysis, edited: _Edited, shown: Callable[[str], str]
) -> Exhibit:
    path = shown(conflict.site.place.path)
    now = strip(conflict, analysis, path)
    array = analysis.arrays.get(conflict.site.array)
    fix = edited.found.suggestions.get(array_key(array)) if array is not None else None
    if fix is None or array is None:
        return Exhibit(now)
    told = Exhibit(now, None, fix.code, fix.words, fix.bytes_added)
    after = edited.of(array_key(array), fix, analysis)
    moved = matching(conflict, analysis, after)
    if moved is None or after is None:
        return told
    return replace(told, after=strip(moved, after, path))


class _Edited:
    """Kernels in the edited text of each fix, analysed once."""

    def __init__(self, found: Examined, job: Job) -> None:
        self.found = found
        self.job = job
        self.work = FixWork(clock.now() + SECONDS)
        self.known: dict[tuple[Key, int], KernelAnalysis | None] = {}

    def of(self, key: Key, fix: Suggestion, analysis: KernelAnalysis) -> KernelAnalysis | None:
        at = (key, id(analysis))
        if at not in self.known:
            late = self.work.over()
            found = "late" if late else edited_analyses(self.found, self.job, fix, [analysis], self.work)
            self.known[at] = None if isinstance(found, str) else found[0]
        return self.known[at]


def edited_analyses(
    found: Examined, job: Job, fix: Suggestion, analyses: Sequence[KernelAnalysis], work: FixWork
) -> Sequence[KernelAnalysis | None] | str:
    """The same kernels with the edits of a fix done; in words why not."""
    if not fix.edits:
        return fix.refused.text if fix.refused is not None else "no edit is offered"
    paths = {edit.path for edit in fix.edits}
    if len(paths) != 1:
        return "the fix changes several files"
    (path,) = paths
    data = _edited_text(found.texts, path, fix)
    if data is None:
        return "the fix is not for the text that was read"
    return list(again(found.source, found.modules, job, work)(path, data, analyses))


def _edited_text(texts: Mapping[str, bytes], path: str, fix: Suggestion) -> bytes | None:
    try:
        return apply(fix.edits or (), texts[path])
    except (EditError, KeyError):
        return None


def matching(conflict: Conflict, analysis: KernelAnalysis, edited: KernelAnalysis | None) -> Conflict | None:
    """The same access after an edit: by its number among the accesses of its array."""
    array = analysis.arrays.get(conflict.site.array)
    if edited is None or array is None:
        return None
    moved = same_array(analysis, array, edited)
    if moved is None:
        return None
    before, after = sites_of(analysis, array), sites_of(edited, moved)
    at = next(i for i, each in enumerate(before) if each is conflict)
    if len(before) == len(after) and after[at].site.op == conflict.site.op:
        return after[at]
    line = conflict.site.place.line
    same = [c for c in after if c.site.place.line == line and c.site.op == conflict.site.op]
    return same[0] if len(same) == 1 else None
