"""The one generator behind the command line, the editors and the tests: paths in, per-file reports out.

Layer by layer: read, parse, infer launches, evaluate, score, explain. Each file is analysed in a process of
its own with a time and memory budget; what goes wrong with one file is a Problem of that file and nothing
else.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from smemlint.diagnose.advice import site_of
from smemlint.diagnose.baseline import Baseline, Entry, compared
from smemlint.diagnose.group import groups, with_groups
from smemlint.diagnose.merge import diagnose, merge_kernels, order
from smemlint.diagnose.model import (
    Access,
    Diagnostic,
    FileReport,
    KernelReport,
    Problem,
    Report,
    Summary,
    UnparsedEntry,
    Unseen,
    Withheld,
)
from smemlint.diagnose.select import UNSEEN, visible, with_own_words
from smemlint.diagnose.suppress import suppress
from smemlint.diagnose.unseen import causes, partial_kernels, unseen_kernels
from smemlint.ir.memo import forget
from smemlint.records import record
from smemlint.rules import Severity
from smemlint.running.cache import Cache, is_kept
from smemlint.running.jobs import Job, Options
from smemlint.source.text import MAX_BYTES
from smemlint.system import observed
from smemlint.system.reading import UnreadableError, read_regular
from smemlint.system.room import with_room

if TYPE_CHECKING:
    from smemlint.system.workers import Failure, Watch

__all__ = ["Job", "Options", "View", "analyse", "analyse_file", "check", "collect", "shown"]

MEMORY = 6 * 2**30
"""Bytes of address space that the analysis of one file may use."""


def shown(path: str) -> str:
    """A path as the user reads it: one name for each file, from here where that is shorter."""
    absolute = os.path.abspath(path)  # noqa: PTH100  links stay as they are
    try:
        relative = os.path.relpath(absolute)
    except ValueError:  # another drive
        return absolute
    return min(relative, absolute, key=len)


def analyse(
    jobs: Sequence[Job],
    *,
    processes: int = 1,
    memory: int = MEMORY,
    cache: Cache | None = None,
    watch: Watch | None = None,
) -> Iterator[tuple[int, FileReport]]:
    """Yields (index of the job, its report) as files are done. Never raises for a bad file.

    cache: where reports are looked for first, and kept. watch: is told which file is in work.
    """
    left: list[int] = []
    if cache is not None:
        cache.look_again()  # a fix may have changed what an earlier call saw
    for index, job in enumerate(jobs):
        if watch is not None:
            watch.tick()
        report = cache.find(job) if cache is not None else None
        if report is not None:
            yield index, report
        else:
            left.append(index)
    if left:
        from smemlint.system.workers import Renumbered  # reports that were kept need no process

        seen = None if watch is None else Renumbered(watch, left)
        done = _analysed([jobs[i] for i in left], processes, memory, cache, seen)
        yield from ((left[n], report) for n, report in done)
        if cache is not None:
            cache.trim()


def _analysed(
    jobs: Sequence[Job], processes: int, memory: int, cache: Cache | None, watch: Watch | None
) -> Iterator[tuple[int, FileReport]]:
    from smemlint.diagnose.asking import STAGE
    from smemlint.running.others import OTHERS
    from smemlint.running.reports import run_stages  # noqa: F401  loaded once, before the workers start
    from smemlint.system.workers import Failure, Renumbered, run_isolated

    seconds = max((job.seconds for job in jobs), default=0.0)
    # What ended the process and is not this file's fault: another file that is read for its launches, an
    # added rule. The file is analysed again without.
    again: list[tuple[int, Job, tuple[Problem, ...]]] = []
    task = partial(analyse_file, cache=cache)
    for index, result in run_isolated(
        task, jobs, jobs=processes, seconds=seconds, memory=memory, watch=watch
    ):
        if not isinstance(result, Failure):
            yield index, result
        elif result.stage == OTHERS:
            job = jobs[index]
            again.append((index, replace(job, options=replace(job.options, others=False)), ()))
        elif result.stage.startswith(STAGE):
            job, path = jobs[index], shown(jobs[index].path)
            said = f"the {result.stage} ended the analysis: {result.message}; added rules are left out"
            without = replace(job, options=replace(job.options, added=False))
            again.append((index, without, (Problem(path, said),)))
        else:
            yield index, _given_up(jobs[index], result)
    rest = [job for _, job, _ in again]
    seen = None if watch is None else Renumbered(watch, [index for index, _, _ in again])
    for n, result in run_isolated(
        analyse_file, rest, jobs=processes, seconds=seconds, memory=memory, watch=seen
    ):
        index, job, told = again[n]
        report = _given_up(job, result) if isinstance(result, Failure) else result
        yield index, replace(report, problems=(*told, *report.problems))


def _given_up(job: Job, failure: Failure) -> FileReport:
    path = shown(job.path)
    return FileReport(path, problems=(Problem(path, failure.message),))


@with_room
def analyse_file(job: Job, cache: Cache | None = None) -> FileReport:
    """The analysis of one file in this process. Raises what the stages raise."""
    with observed.collecting() as facts:
        if job.options.exhibits:
            from smemlint.running.exhibits import run_with_exhibits

            report = run_with_exhibits(job, shown)
        else:
            from smemlint.running.reports import run_stages

            report = run_stages(job, shown)
    forget()
    if cache is not None and is_kept(job, report):
        cache.keep(job, facts, report)
    return report


_TURN = Lock()
"""A process analyses one file at a time: libclang's state, and what is remembered of a file, belong to it."""


def analyse_alone(job: Job) -> FileReport:
    """Analyse one file in this process, whatever happens to it. For executors; threads take turns."""
    try:
        with _TURN:
            return analyse_file(job)
    except Exception as error:
        path = shown(job.path)
        return FileReport(path, problems=(Problem(path, f"internal error: {type(error).__name__}: {error}"),))


@record(frozen=True, slots=True)
class View:
    """Which findings are shown. chosen: the (select, ignore) lists that hold for a path and a kernel."""

    chosen: Callable[[str, str], tuple[tuple[str, ...], tuple[str, ...]]] = lambda path, kernel: ((), ())
    level: Severity = Severity.WARNING
    show_unresolved: bool = False
    min_share: float = 0.0
    """Percent of its kernel's shared-memory wavefronts below which a conflict's excess is not shown."""
    baseline: Baseline | None = None
    changed: Callable[[str, int, int], bool] | None = None
    """Whether a file's lines from one to another are of interest; None: all are."""


def collect(
    reports: Sequence[FileReport], view: View = View(), texts: Mapping[str, str] | None = None
) -> Report:
    """The findings of all files: merged, suppressed, selected, counted.

    texts: sources that do not lie on disk, by path as shown.
    """
    kernels = with_own_words(merge_kernels(reports), view.chosen)
    unseen = unseen_kernels(kernels, reports)
    found = diagnose(kernels, reports, unseen)
    checked = [r.path for r in reports]
    sources = _texts({d.place.path for d in found} | set(checked), texts or {})
    left, suppressed = suppress(found, sources, [p for p in checked if p in sources])
    by_owner: dict[tuple[str, str], list[Diagnostic]] = {}
    for diagnostic in left:
        by_owner.setdefault((diagnostic.place.path, diagnostic.kernel), []).append(diagnostic)
    diagnostics, hidden = [], 0
    for owner, found in by_owner.items():
        select, ignore = view.chosen(*owner)
        seen, kept = visible(
            found,
            select=select,
            ignore=ignore,
            level=view.level,
            show_unresolved=view.show_unresolved,
        )
        diagnostics += seen
        hidden += kept
    if view.changed is not None:
        diagnostics = [d for d in diagnostics if _touched(d, view.changed)]
    diagnostics = with_groups(sorted(diagnostics, key=order))
    small = {g.id for g in groups(diagnostics) if g.cost and 100 * g.cost.excess_share < view.min_share}
    diagnostics = [d for d in diagnostics if d.group not in small]
    accepted: list[Diagnostic] = []
    stale: Sequence[Entry] = ()
    if view.baseline is not None:
        diagnostics, accepted, _ = compared(diagnostics, view.baseline, checked)
        # What is only not shown (another rule was selected, a line did not change) is not gone.
        _, _, stale = compared(left, view.baseline, checked)
    unparsed = tuple(dict.fromkeys(u for r in reports for u in r.unparsed))
    withheld = Withheld(
        small=len(small),
        accepted=len(accepted),
        accepted_findings=len(groups(accepted)),
        hidden=hidden,
        suppressed=suppressed,
    )
    named = {d.place.path for d in diagnostics} | {label.place.path for d in diagnostics for label in d.also}
    return Report(
        diagnostics=tuple(diagnostics),
        kernels=kernels,
        unseen=unseen,
        unparsed=unparsed,
        problems=tuple(dict.fromkeys(p for r in reports for p in r.problems)),
        skipped=tuple(Problem(r.path, r.skipped) for r in reports if r.skipped),
        summary=_summary(reports, kernels, unseen, diagnostics, unparsed, withheld),
        stale=tuple(f"{e.path}: {e.code} `{e.what}`" for e in stale),
        exhibits=tuple(e for r in reports for e in r.exhibits),
        texts={**_texts(named - sources.keys(), {}), **{p: t for p, t in sources.items() if p in named}},
    )


def _touched(d: Diagnostic, changed: Callable[[str, int, int], bool]) -> bool:
    """Whether the lines of a finding changed, or those of its array's declaration."""
    places = (d.place, *(label.place for label in d.also))
    return any(changed(p.path, p.line, max(p.line, p.end_line)) for p in places)


def _texts(paths: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
    result = {}
    for path in paths:
        if path in given:
            result[path] = given[path]
            continue
        with contextlib.suppress(UnreadableError):
            result[path] = read_regular(path, MAX_BYTES).decode("utf-8", errors="replace")
    return result


def _summary(
    reports: Sequence[FileReport],
    kernels: Sequence[KernelReport],
    unseen: Sequence[Unseen],
    diagnostics: Sequence[Diagnostic],
    unparsed: Sequence[UnparsedEntry],
    withheld: Withheld,
) -> Summary:
    """Counts over distinct access sites, and what was not looked at."""
    sites: dict[object, list[tuple[KernelReport, Access]]] = {}
    for kernel in kernels:
        for access in kernel.accesses:
            sites.setdefault((site_of(access.place), access.op), []).append((kernel, access))
    kinds = [_kind(seen) for seen in sites.values()]
    reasons = Counter(reason for kind, reason in kinds if kind == "unresolved")
    partial = partial_kernels(kernels, unseen)
    places = [d for d in diagnostics if d.code != UNSEEN]
    findings = groups(places)
    edits = [g.lead.fix for g in findings if g.lead.fix is not None and g.lead.fix.edits is not None]
    return Summary(
        files=len(reports),
        files_with_findings=len({d.place.path for d in places}),
        findings=len(findings),
        lines=len(places),
        fixable=sum(fix.safe for fix in edits),
        fixable_unsafe=sum(not fix.safe for fix in edits),
        withheld=withheld,
        kernels=len({k.key for k in kernels if not k.device}),
        accesses=len(sites),
        resolved=sum(kind == "resolved" for kind, _ in kinds),
        ranges=sum(kind == "range" for kind, _ in kinds),
        unresolved=reasons.total(),
        unparsed=len(unparsed),
        skipped=sum(bool(r.skipped) for r in reports),
        reasons=dict(reasons.most_common()),
        unseen_reasons=causes(u.code for u in unseen),
        partial_reasons=causes(partial.values()),
        missing_headers=causes(name for r in reports for name in r.missing_headers),
        rules=dict(sorted(Counter(d.code for d in diagnostics).items())),
    )


def _kind(seen: Sequence[tuple[KernelReport, Access]]) -> tuple[str, str]:
    """`resolved` where every instance and launch of a site has one number, and all assumed block shapes the
    same; `range` where some have; `unresolved`, with the reason, where none has a number."""
    known = [(k, a) for k, a in seen if a.wavefronts is not None]
    if not known:
        reason = seen[0][1].reason
        return "unresolved", reason[0] if reason else "unknown"
    single = all(a.wavefronts == a.wavefronts_low for _, a in known)
    assumed = {round(a.ways or 0, 3) for k, a in known if k.launch.assumed}
    return ("resolved" if single and len(known) == len(seen) and len(assumed) < 2 else "range"), ""


def check(jobs: Sequence[Job], view: View = View(), *, processes: int = 1) -> Report:
    """Everything at once: the findings of some files."""
    reports = dict(analyse(jobs, processes=processes))
    texts = {shown(job.path): job.text for job in jobs if job.text is not None}
    return collect([reports[i] for i in sorted(reports)], view, texts)
