"""Questions about one file that need the trace itself: asked in a worker, answered in plain data.

Beside `pipeline`, which makes findings: the same stages, and then what is to be shown of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from smemlint.api import MEMORY, shown
from smemlint.banks import architecture
from smemlint.diagnose.model import FileReport, Problem
from smemlint.fix.eligible import array_key
from smemlint.records import record
from smemlint.running.exhibits import SECONDS, edited_analyses, matching
from smemlint.running.pipeline import Examined, examine
from smemlint.running.proofs import again
from smemlint.running.schedule import FixWork
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.source.text import MAX_BYTES
from smemlint.system import clock
from smemlint.system.reading import UnreadableError, read_regular
from smemlint.system.workers import Failure, run_isolated
from smemlint.view.choose import Seen, Spot, lines_with_accesses, sites_at, view_of
from smemlint.view.memory import KernelMemory, memory_of, module_alignment
from smemlint.view.requests import NoRequestError
from smemlint.view.site import SiteView, site_view
from smemlint.view.sweep import BLOCK, PAD, Over, Point, SweepError, padded, point, with_constant
from smemlint.view.why import Derivation, derivation

if TYPE_CHECKING:
    from smemlint.running.jobs import Job


@record(frozen=True, slots=True)
class LayoutAnswer:
    """The shared memory of kernels, once for each instance, block shape and dynamic size."""

    kernels: tuple[KernelMemory, ...] = ()
    problems: tuple[Problem, ...] = ()


@record(frozen=True, slots=True)
class WhyAnswer:
    """told: of each access at the spot. The rest as in BanksAnswer."""

    told: tuple[Derivation, ...] = ()
    lines: tuple[int, ...] = ()
    problems: tuple[Problem, ...] = ()


@record(frozen=True, slots=True)
class SweepQuestion:
    """spot: the access; over: what is varied."""

    spot: Spot
    over: Over


@record(frozen=True, slots=True)
class SweepAnswer:
    """series: each access of the spot as it stands, and its cost at every value."""

    series: tuple[tuple[SiteView, tuple[Point, ...]], ...] = ()
    lines: tuple[int, ...] = ()
    problems: tuple[Problem, ...] = ()
    error: str = ""


Question = TypeVar("Question")
Answer = TypeVar("Answer")
THREADS = 1024
"""Of a block, at most."""


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


def why(question: tuple[Job, Spot]) -> WhyAnswer:
    """How the numbers of the accesses at a spot came about."""
    job, spot = question
    found = examine(replace(job, options=replace(job.options, suggest=False)), shown)
    if isinstance(found, FileReport):
        return WhyAnswer(problems=found.problems)
    groups = sites_at(found.analyses, spot, shown)
    if not groups:
        lines = lines_with_accesses(found.analyses, spot.path, shown)
        return WhyAnswer(lines=tuple(lines), problems=found.problems)
    modules = {module.configuration: module for module in found.modules}
    texts = dict(found.texts)
    for path in {file for module in found.modules for file in module.files} - texts.keys():
        with suppress(UnreadableError):
            texts[path] = read_regular(path, MAX_BYTES)
    told = [
        derivation(seen, modules[seen[0].analysis.configuration], texts, shown, spot.path)
        for seen in groups
        if seen[0].analysis.configuration in modules
    ]
    return WhyAnswer(tuple(told), problems=found.problems)


def sweep(question: tuple[Job, SweepQuestion]) -> SweepAnswer:
    """The accesses at a spot of a file, each against a range of values."""
    job, asked = question
    job = replace(job, options=replace(job.options, suggest=False))
    found = examine(job, shown)
    if isinstance(found, FileReport):
        return SweepAnswer(problems=found.problems)
    groups = sites_at(found.analyses, asked.spot, shown)
    if not groups:
        lines = lines_with_accesses(found.analyses, asked.spot.path, shown)
        return SweepAnswer(lines=tuple(lines), problems=found.problems)
    series = []
    try:
        for at, seen in enumerate(groups):
            points = tuple(_swept(found, job, asked, at, seen[0], value) for value in asked.over.values)
            series.append((view_of(seen, asked.spot.path), points))
    except SweepError as error:
        return SweepAnswer(error=str(error), problems=found.problems)
    return SweepAnswer(tuple(series), problems=found.problems)


def _swept(found: Examined, job: Job, asked: SweepQuestion, at: int, seen: Seen, value: int) -> Point:
    """One access with one value. at: its number among those of the spot. Raises SweepError."""
    path = seen.conflict.site.place.path
    text = found.texts[path]
    analysis = seen.analysis
    if asked.over.name == BLOCK:
        block = (value, *analysis.launch.block[1:])
        if value * block[1] * block[2] > THREADS:
            return point(value, None, f"a block has at most {THREADS} threads")
        moved = replace(analysis, launch=replace(analysis.launch, block=block))
        return point(value, _again_at(found, job, path, text, moved, seen))
    if asked.over.name == PAD and with_constant(text, PAD, value) is None:
        array = analysis.arrays.get(seen.conflict.site.array)
        if array is None or len(array.dims) < 2:
            raise SweepError(f"`{array.name if array else seen.conflict.site.expression}` has no rows to pad")
        edited = padded(found.texts[array.place.path], array.place.offset, array.name, value)
        return point(value, _again_at(found, job, array.place.path, edited, analysis, seen))
    data = with_constant(text, asked.over.name, value)
    if data is None:
        raise SweepError(f"`{asked.over.name}` is not one constant of this file (`#define`, `const int`)")
    again = examine(replace(job, text=data.decode("utf-8", errors="surrogateescape")), shown)
    if isinstance(again, FileReport):
        return point(value, None)
    # An edit on an earlier part of the line moves columns: the access is found by its number on the line.
    groups = sites_at(again.analyses, replace(asked.spot, column=0), shown)
    before = sites_at(found.analyses, replace(asked.spot, column=0), shown)
    number = next((n for n, group in enumerate(before) if group[0].conflict is seen.conflict), at)
    return point(value, groups[number][0].conflict if len(groups) == len(before) else None)


def _again_at(
    found: Examined, job: Job, path: str, data: bytes, analysis: KernelAnalysis, seen: Seen
) -> Conflict | None:
    """The access in another text or under another launch."""
    work = FixWork(clock.now() + SECONDS)
    (edited,) = again(found.source, found.modules, job, work)(path, data, [analysis])
    return matching(seen.conflict, seen.analysis, edited)


def layout(question: tuple[Job, str]) -> LayoutAnswer:
    """The shared memory of every kernel of a file. The question: the name of a kernel, or '' for all."""
    job, name = question
    found = examine(replace(job, options=replace(job.options, suggest=False)), shown)
    if isinstance(found, FileReport):
        return LayoutAnswer(problems=found.problems)
    arch = architecture(job.options.arch)
    rounding = module_alignment(a for analysis in found.analyses for a in analysis.arrays.values())
    told = [
        memory_of(a, shown(a.kernel.place.path), arch, rounding)
        for a in found.analyses
        if a.arrays and a.kernel.side == "kernel" and name in ("", a.kernel.name)
    ]
    return LayoutAnswer(tuple(dict.fromkeys(told)), problems=found.problems)


def _after(found: Examined, job: Job, seen: Seen, now: SiteView) -> After | None:
    """The same access in the edited file; the same warp and visit of it."""
    array = seen.analysis.arrays.get(seen.conflict.site.array)
    fix = found.suggestions.get(array_key(array)) if array is not None else None
    if fix is None:
        return None
    edited = edited_analyses(found, job, fix, [seen.analysis], FixWork(clock.now() + SECONDS))
    if isinstance(edited, str):
        return After(fix.words, fix.code, fix.safe, fix.bytes_added, None, edited)
    conflict = matching(seen.conflict, seen.analysis, edited[0])
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


def ask_all(
    task: Callable[[tuple[Job, Question]], Answer],
    jobs: Sequence[Job],
    question: Question,
    processes: int = 1,
) -> list[Answer | Problem]:
    """Put one question about each of some files to workers; a Problem where a file ends its worker."""
    answers: list[Answer | Problem] = [Problem(shown(job.path), "no answer") for job in jobs]
    seconds = max((job.seconds for job in jobs), default=0.0) + SECONDS
    pairs = [(job, question) for job in jobs]
    for at, result in run_isolated(task, pairs, jobs=processes, seconds=seconds, memory=MEMORY):
        answers[at] = Problem(shown(jobs[at].path), result.message) if isinstance(result, Failure) else result
    return answers


def ask(task: Callable[[tuple[Job, Question]], Answer], job: Job, question: Question) -> Answer | Problem:
    """The same for one file."""
    return ask_all(task, [job], question)[0]
