"""What `--diff` and `--fix` do: the fixes of the findings that are shown, as edited files, checked once more.

In: the report and the jobs that led to it. Out: edited files in memory; only `write` touches the disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from math import inf

from smemlint.api import Job, analyse, shown
from smemlint.diagnose.model import Access, FileReport, KernelReport, Report
from smemlint.fix.deliver import EditedFile, Skipped, plan, summary, together, unsafe_fixes, write
from smemlint.fix.model import Suggestion
from smemlint.records import record
from smemlint.source.text import MAX_BYTES
from smemlint.system.reading import read_regular

__all__ = ["EditedFile", "Look", "Repaired", "Skipped", "repair", "summary", "unsafe_fixes", "write"]

MOST_ROUNDS = 6
"""How often the edited files are looked at again. What does not pay beside a larger conflict may pay once
that is gone; three rounds were the most that public code was seen to take."""


@record(frozen=True, slots=True)
class Look:
    """How files are looked at again. analyse: some of the jobs; collect: the reports of all files become one,
    with texts, by path as shown, in place of what lies on disk."""

    analyse: Callable[[Sequence[Job]], Sequence[FileReport]]
    collect: Callable[[Sequence[FileReport], dict[str, str]], Report]


@record(frozen=True, slots=True)
class Repaired:
    """files: with the fixes done, none of them written. skipped: what was left and why. report, reports: of
    the files as they are edited."""

    files: Sequence[EditedFile]
    skipped: Sequence[Skipped]
    report: Report
    reports: Sequence[FileReport]


def repair(
    report: Report,
    reports: Sequence[FileReport],
    jobs: Sequence[Job],
    *,
    unsafe: bool = False,
    verify: str | None = None,
    look: Look | None = None,
) -> Repaired:
    """The files with the fixes of all shown findings done, and of those that show once these are done.

    unsafe: also fixes that are not safe. verify: a command that compiles each edited file. look: without it
    the findings of the edited files are not asked for.
    """
    done: dict[str, EditedFile] = {}
    left: dict[str, list[Skipped]] = {}
    reports = list(reports)
    for _ in range(MOST_ROUNDS):
        files, skipped = _one_round(report, reports, jobs, done, unsafe=unsafe, verify=verify)
        for each in skipped:
            left.setdefault(each.path, []).append(each)
        for file in files:
            done[file.path] = together(done[file.path], file) if file.path in done else file
        if not files or look is None:
            break
        texts = {path: _text(file.after) for path, file in done.items()}
        touched = _touched(jobs, reports, {file.path for file in files})
        again = look.analyse([_edited(jobs[n], texts) for n in touched])
        known = {r.path: n for n, r in enumerate(reports)}
        for fresh in again:
            reports[known[fresh.path]] = fresh
        report = look.collect(reports, texts)
        for path in {shown(jobs[n].path) for n in touched} | {file.path for file in files}:
            left.pop(path, None)  # what is still left is told by the next round
    return Repaired(list(done.values()), [s for some in left.values() for s in some], report, reports)


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="surrogateescape")


def _edited(job: Job, texts: dict[str, str]) -> Job:
    """The job with the edited files in place of those on disk."""
    own = shown(job.path)
    instead = tuple((os.path.abspath(p), t) for p, t in texts.items() if p != own)  # noqa: PTH100
    return replace(job, text=texts.get(own, job.text), instead=instead)


def _touched(jobs: Sequence[Job], reports: Sequence[FileReport], paths: Collection[str]) -> list[int]:
    """The jobs that read one of these files."""
    read = {r.path: {r.path, *r.files} for r in reports}
    return [n for n, job in enumerate(jobs) if not read.get(shown(job.path), set()).isdisjoint(paths)]


def _one_round(
    report: Report,
    reports: Sequence[FileReport],
    jobs: Sequence[Job],
    done: dict[str, EditedFile],
    *,
    unsafe: bool,
    verify: str | None,
) -> tuple[list[EditedFile], list[Skipped]]:
    """The files with the fixes of a report done, and what was left and why. done: files as they were edited
    before the report was made."""
    suggestions = [d.fix for d in report.diagnostics if d.fix is not None]
    by_path = {shown(job.path): job for job in jobs}
    before = {r.path: r.kernels for r in reports}
    texts = {path: _text(file.after) for path, file in done.items()}

    def read(path: str) -> bytes:
        if path in done:
            return done[path].after
        job = by_path.get(path)
        if job is not None and job.text is not None:
            return job.text.encode("utf-8", errors="surrogateescape")
        return read_regular(path, MAX_BYTES)

    def recheck(path: str, data: bytes, suggestions: Sequence[Suggestion]) -> str | None:
        job = by_path.get(path)
        own = {id(s) for r in reports if r.path == path for s in r.suggestions}
        if job is None or not any(id(s) in own for s in suggestions):
            return None  # an included file: each of its fixes was proved where it is included
        ((_, again),) = analyse([_edited(job, {**texts, path: _text(data)})])
        if again.problems:
            return again.problems[0].message
        fixed = {(c.kernel, s.array.name) for s in suggestions for c in s.sites}
        return worse(before.get(path, ()), again.kernels, fixed)

    return plan(suggestions, read, unsafe=unsafe, verify_with=verify, recheck=recheck)


def worse(
    before: Sequence[KernelReport],
    after: Sequence[KernelReport],
    fixed: Collection[tuple[str, str]] = frozenset(),
) -> str | None:
    """Why one analysis is worse than another of the same kernels, None when it is not.

    fixed: kernel and name of the arrays that were laid out anew; each is compared in the sum of its
    accesses, over all instances and launches of the kernel.
    """
    if len(before) != len(after):
        # Of block shapes that are guesses as many are tried as there is work for.
        before, after = _alike(before, after), _alike(after, before)
    if len(before) != len(after) or not after:
        return f"{len(after)} kernel instances are seen, {len(before)} before"
    sums: dict[tuple[str, str], list[float]] = {}
    for old, new in zip(before, after, strict=True):
        first, second = ([a for a in k.accesses if (k.name, a.array) not in fixed] for k in (old, new))
        if old.name != new.name or len(first) != len(second):
            return f"`{old.name}` shows other accesses than before"
        for array in dict.fromkeys(a.array for a in old.accesses if (old.name, a.array) in fixed):
            both = sums.setdefault((old.name, array), [0, 0])
            both[0] += _wavefronts(old, array)
            both[1] += _wavefronts(new, array)
        for a, b in zip(first, second, strict=True):
            if a.wavefronts is not None and _dearer(a, b):
                return f"an access on line {b.place.line} gets worse"
    for (kernel, array), (was, now) in sums.items():
        if now > was:
            return f"`{array}` gets worse in `{kernel}`"
    return None


def _dearer(before: Access, after: Access) -> bool:
    """Whether an access costs more. Of a long loop, one may have been followed further than the other."""
    old, new = before.wavefronts or 0, after.wavefronts
    if new is None or new <= old:
        return new is None
    further = before.executions != after.executions and before.ideal and after.ideal
    return not further or new * (before.ideal or 0) > old * (after.ideal or 0)


def _alike(kernels: Sequence[KernelReport], others: Sequence[KernelReport]) -> list[KernelReport]:
    """The kernels without those under an assumed block shape that the others do not have."""
    known = {(k.name, k.template_arguments, k.configuration, k.launch.block) for k in others}
    return [
        k
        for k in kernels
        if not k.launch.assumed or (k.name, k.template_arguments, k.configuration, k.launch.block) in known
    ]


def _wavefronts(kernel: KernelReport, array: str) -> float:
    """Of all accesses of an array; without end where one is not resolved."""
    each = [a.wavefronts for a in kernel.accesses if a.array == array]
    return sum(inf if n is None else n for n in each)


def reports_of(
    reports: Sequence[FileReport], jobs: Sequence[Job], paths: Iterable[str], look: Look
) -> list[FileReport]:
    """The reports with those of the jobs that read one of these files made anew, from what lies on disk."""
    fresh = {r.path: r for r in look.analyse([jobs[n] for n in _touched(jobs, reports, set(paths))])}
    return [fresh.get(r.path, r) for r in reports]
