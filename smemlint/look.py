"""Questions about one file that need the trace itself: asked in a worker, answered in plain data.

Beside `pipeline`, which makes findings: the same stages, and then what is to be shown of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from smemlint.api import MEMORY, shown
from smemlint.diagnose.model import FileReport, Problem
from smemlint.fix.apply import EditError, apply
from smemlint.fix.model import Suggestion
from smemlint.fix.proof import same_array, sites_of
from smemlint.fix.suggest import array_key
from smemlint.pipeline import Examined, again, examine
from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.view.choose import Seen, Spot, lines_with_accesses, sites_at, view_of
from smemlint.view.requests import NoRequestError
from smemlint.view.site import SiteView, site_view
from smemlint.workers import Failure, run_isolated

if TYPE_CHECKING:
    from smemlint.jobs import Job

Question = TypeVar("Question")
Answer = TypeVar("Answer")
SECONDS = 20.0
"""Computing time for what comes after the analysis."""


@record(frozen=True, slots=True)
class After:
    """An access with the fix that is offered for its array. code: the new declaration or expression. view:
    None where the fix cannot be shown, for the reason `why`. bytes_added: of shared memory."""

    words: str
    code: str
    safe: bool
    bytes_added: int
    view: SiteView | None
    why: str = ""


@record(frozen=True, slots=True)
class Picture:
    """An access now, and with the fix of its array where there is one."""

    now: SiteView
    after: After | None


@record(frozen=True, slots=True)
class BanksQuestion:
    """warp, visit: whose request is drawn; None: of those the one with the most ways. after: whether the fix
    is looked for."""

    spot: Spot
    warp: int | None = None
    visit: int | None = None
    after: bool = True


@record(frozen=True, slots=True)
class BanksAnswer:
    """pictures: of each access at the spot. lines: with an access, where the spot has none. problems: with
    the file; error: with the question."""

    pictures: tuple[Picture, ...] = ()
    lines: tuple[int, ...] = ()
    problems: tuple[Problem, ...] = ()
    error: str = ""


def banks(question: tuple[Job, BanksQuestion]) -> BanksAnswer:
    """The accesses at a spot of a file, each with the map of one request."""
    job, asked = question
    found = examine(replace(job, options=replace(job.options, suggest=asked.after)), shown)
    if isinstance(found, FileReport):
        return BanksAnswer(problems=found.problems)
    groups = sites_at(found.analyses, asked.spot, shown)
    if not groups:
        lines = lines_with_accesses(found.analyses, asked.spot.path, shown)
        return BanksAnswer(lines=tuple(lines), problems=found.problems)
    pictures = []
    try:
        for seen in groups:
            now = view_of(seen, asked.spot.path, warp=asked.warp, visit=asked.visit)
            pictures.append(Picture(now, _after(found, job, seen[0], now) if asked.after else None))
    except NoRequestError as error:
        return BanksAnswer(error=str(error), problems=found.problems)
    return BanksAnswer(tuple(pictures), problems=found.problems)


def _after(found: Examined, job: Job, seen: Seen, now: SiteView) -> After | None:
    """The same access in the edited file; the same warp and visit of it."""
    array = seen.analysis.arrays.get(seen.conflict.site.array)
    fix = found.suggestions.get(array_key(array)) if array is not None else None
    if fix is None:
        return None
    edited = edited_analyses(found, job, fix, [seen.analysis])
    if isinstance(edited, str):
        return After(fix.words, fix.code, fix.safe, fix.bytes_added, None, edited)
    conflict = matching(seen, edited[0])
    if conflict is None or edited[0] is None:
        return After(
            fix.words, fix.code, fix.safe, fix.bytes_added, None, "it is not found in the edited file"
        )
    warp, visit = (now.map.warp, now.map.visit) if now.map is not None else (None, None)
    try:
        view = site_view(conflict, edited[0], now.path, warp=warp, visit=visit)
    except NoRequestError as error:
        return After(fix.words, fix.code, fix.safe, fix.bytes_added, None, str(error))
    return After(fix.words, fix.code, fix.safe, fix.bytes_added, view)


def edited_analyses(
    found: Examined, job: Job, fix: Suggestion, analyses: Sequence[KernelAnalysis]
) -> Sequence[KernelAnalysis | None] | str:
    """The same kernels with the edits of a fix done; in words why not."""
    if not fix.edits:
        return fix.refused.text if fix.refused is not None else "no edit is offered"
    paths = {edit.path for edit in fix.edits}
    if len(paths) != 1:
        return "the fix changes several files"
    (path,) = paths
    try:
        data = apply(fix.edits, found.texts[path])
    except (EditError, KeyError) as error:
        return str(error)
    until = time.process_time() + SECONDS
    return again(found.source, found.modules, job.options, until)(path, data, analyses)


def matching(seen: Seen, edited: KernelAnalysis | None) -> Conflict | None:
    """The same access after an edit: by its number among the accesses of its array."""
    array = seen.analysis.arrays.get(seen.conflict.site.array)
    if edited is None or array is None:
        return None
    moved = same_array(seen.analysis, array, edited)
    if moved is None:
        return None
    before, after = sites_of(seen.analysis, array), sites_of(edited, moved)
    at = next(i for i, conflict in enumerate(before) if conflict is seen.conflict)
    if len(before) == len(after) and after[at].site.op == seen.conflict.site.op:
        return after[at]
    line = seen.conflict.site.place.line
    same = [c for c in after if c.site.place.line == line and c.site.op == seen.conflict.site.op]
    return same[0] if len(same) == 1 else None


def ask(task: Callable[[tuple[Job, Question]], Answer], job: Job, question: Question) -> Answer | Problem:
    """Put one question about one file to a worker of its own; a Problem where the file ends it."""
    for _, result in run_isolated(
        task, [(job, question)], jobs=1, seconds=job.seconds + SECONDS, memory=MEMORY
    ):
        if isinstance(result, Failure):
            return Problem(shown(job.path), result.message)
        return result
    return Problem(shown(job.path), "no answer")
