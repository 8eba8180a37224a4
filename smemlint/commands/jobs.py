"""From paths to reports: what is to be analysed, the analysis with its progress, and what went wrong."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from smemlint.commands.options import STDIN, UsageError
from smemlint.config import Block, Settings
from smemlint.configurations import Configurations, matches
from smemlint.records import record
from smemlint.streams import say
from smemlint.visible import visible_path

if TYPE_CHECKING:
    from smemlint.api import View
    from smemlint.cache import Cache
    from smemlint.diagnose.baseline import Baseline
    from smemlint.diagnose.model import FileReport, Problem, Report
    from smemlint.jobs import Job

_PROGRESS_AFTER = 20
"""Files from which on a terminal shows a progress bar."""
_FILES_PER_PROCESS = 4
_NAME = 200
"""Characters of a name too long to be one that a message repeats."""
_MOST_PROCESSES = 8
_STALE = 10
"""Stale entries of a baseline that are named one by one."""


@record(frozen=True, slots=True, eq=False)
class Run:
    """All that the analysis of the paths gave, before the files are merged into one report.

    settings: those of the working folder, for what concerns the whole run.
    """

    configurations: Configurations
    settings: Settings
    jobs: Sequence[Job]
    reports: Sequence[FileReport]
    baseline: Baseline | None = None
    changed: Callable[[str, int, int], bool] | None = None
    cache: Cache | None = None

    def collect(self, reports: Sequence[FileReport]) -> Report:
        """One report of these files: merged, suppressed, selected; with what is wrong with the settings."""
        from smemlint import api

        texts = {api.shown(job.path): job.text for job in self.jobs if job.text is not None}
        report = api.collect(
            reports, _view(self.configurations, self.settings, self.baseline, self.changed), texts
        )
        wrong = [
            *_broken(self.configurations),
            *_unknown_kernels(self.configurations.said.blocks, report),
            *_unusable_rules(),
        ]
        return replace(report, problems=(*report.problems, *wrong))


def analysed(
    options: argparse.Namespace, said: Settings, *, suggest: bool = False, exhibits: bool = False
) -> tuple[Run, Report]:
    """Analyse the paths of `source_options` and tell on stderr what could not be.

    said: what the command line says. suggest: whether fixes are looked for. exhibits: whether maps of
    what conflicts are kept. Raises UsageError, ConfigError.
    """
    try:
        Path.cwd()
    except OSError as error:
        raise UsageError(f"the working folder is gone: {(error.strerror or str(error)).lower()}") from None
    configurations = Configurations(said, options.config)
    whole = configurations.shown(".")
    baseline = baseline_of(whole)
    changed = _changed(getattr(options, "diff_base", None))
    jobs, missing = jobs_of(options, configurations, suggest=suggest, exhibits=exhibits)
    cache = cache_of(options)
    found = sorted(with_progress(jobs, whole, cache), key=lambda pair: pair[0])
    reports = [r for _, r in found] + missing
    run = Run(configurations, whole, jobs, reports, baseline, changed, cache)
    report = run.collect(run.reports)
    for problem in report.problems:
        say(str(problem))
    for skipped in report.skipped:
        say(f"skipped: {visible_path(skipped.path)}: {skipped.message}")
    for entry in report.stale[:_STALE]:
        say(f"warning: stale in {run.settings.baseline}: {entry}")
    if len(report.stale) > _STALE:
        say(f"warning: {len(report.stale) - _STALE} more entries of {run.settings.baseline} are stale")
    return run, report


def jobs_of(
    options: argparse.Namespace,
    configurations: Configurations,
    *,
    suggest: bool,
    exhibits: bool = False,
) -> tuple[list[Job], list[FileReport]]:
    """What is to be analysed, and a report for each path that leads to nothing."""
    from smemlint.diagnose.model import FileReport, Problem
    from smemlint.jobs import Job, Options
    from smemlint.source import LeftOut, RealPaths, discover
    from smemlint.source.text import MAX_BYTES

    jobs: list[Job] = []
    missing: list[FileReport] = []
    seen: set[str] = set()
    real = RealPaths()

    def tell(left: LeftOut) -> None:
        if left.lost:
            missing.append(FileReport(left.path, problems=(Problem(left.path, left.message),)))
        else:
            say(f"warning: {visible_path(left.path)}: {left.message}")

    for path in options.paths:
        text = None
        if path == STDIN:
            name = options.stdin_filename or "stdin.cu"
            try:
                text = sys.stdin.buffer.read(MAX_BYTES + 1).decode("utf-8", errors="surrogateescape")
            except (OSError, ValueError) as error:
                missing.append(FileReport(name, problems=(Problem(name, f"cannot be read: {error}"),)))
                continue
            found = [Path(name)]
        else:
            try:
                found = list(discover([path], tell))
            except OSError as error:  # a name that is longer than the system takes
                tell(LeftOut(path[:_NAME], f"cannot be read: {(error.strerror or str(error)).lower()}"))
                continue
        if not found:
            missing.append(FileReport(path, problems=(Problem(path, "no CUDA source in this folder"),)))
        for file in found:
            key = real.of(file)
            if key in seen:
                continue
            seen.add(key)
            s = configurations.of(str(file))
            if s is None:
                continue
            if s.exclude and matches(s.exclude, os.path.abspath(file)):  # noqa: PTH100
                if not Path(path).is_dir():
                    say(f"skipped: {visible_path(str(file))}: excluded by the configuration")
                continue
            jobs.append(
                Job(
                    str(file),
                    Options(
                        min_ways=s.min_ways or 0,
                        blocks=s.blocks or {},
                        arch=s.arch or "",
                        defines=s.define or (),
                        includes=s.include or (),
                        std=s.std or "",
                        compile_commands=s.compile_commands,
                        suggest=suggest,
                        exhibits=exhibits,
                    ),
                    text,
                    s.timeout or 40.0,
                    named=path == STDIN or not Path(path).is_dir(),
                )
            )
    return jobs, missing


def _changed(revision: str | None) -> Callable[[str, int, int], bool] | None:
    """Which lines differ from a revision. Raises UsageError where git does not tell."""
    if revision is None:
        return None
    from smemlint.source.revisions import GitError, changed_since

    try:
        return changed_since(revision, Path.cwd()).touches
    except GitError as error:
        raise UsageError(f"argument --diff-base: {error}") from None


def baseline_of(whole: Settings) -> Baseline | None:
    """The findings that are accepted. Raises UsageError where the file cannot be read."""
    if not whole.baseline:
        return None
    from smemlint.diagnose import baseline

    try:
        return baseline.read(Path(whole.baseline))
    except baseline.BaselineError as error:
        raise UsageError(str(error)) from None


def _view(
    configurations: Configurations,
    whole: Settings,
    baseline: Baseline | None,
    changed: Callable[[str, int, int], bool] | None,
) -> View:
    from smemlint.api import View
    from smemlint.rules import Severity

    def chosen(path: str, kernel: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        settings = configurations.shown(path)
        theirs = [
            code
            for section in settings.per_kernel or ()
            if any(fnmatchcase(kernel, name) for name in section.kernels)
            for code in section.ignore
        ]
        return settings.select or (), (*(settings.ignore or ()), *theirs)

    level = min((Severity(whole.level), Severity(whole.fail_on)), key=lambda s: s.rank)
    return View(chosen, level, bool(whole.show_unresolved), whole.min_share or 0.0, baseline, changed)


def cache_of(options: argparse.Namespace) -> Cache | None:
    """Where reports are kept, unless the command line says that none is."""
    from smemlint.cache import open_cache

    return None if options.no_cache else open_cache()


def with_progress(
    jobs: Sequence[Job], settings: Settings, cache: Cache | None = None
) -> Iterator[tuple[int, FileReport]]:
    """Yield (index of the job, its report) as files are done; a terminal shows how far it is."""
    from smemlint import api

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processes = settings.jobs or max(1, min(cores, -(-len(jobs) // _FILES_PER_PROCESS), _MOST_PROCESSES))
    done = api.analyse(jobs, processes=processes, cache=cache)
    if len(jobs) < _PROGRESS_AFTER or not sys.stderr.isatty():
        yield from done
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(done, "analysing", len(jobs), console=Console(stderr=True), transient=True)


def _broken(configurations: Configurations) -> list[Problem]:
    """A problem for each configuration that cannot be followed, which says how many files that costs."""
    from smemlint.api import shown
    from smemlint.diagnose.model import Problem
    from smemlint.render.summary import count

    return [
        Problem(shown(path), f"{error.message}; {count(lost, 'file')} below it not analysed")
        for path, (error, lost) in configurations.broken.items()
    ]


def _unusable_rules() -> list[Problem]:
    """A problem for each rule that another distribution adds and that cannot be used."""
    from smemlint.diagnose.model import Problem
    from smemlint.rules.added import added

    return [Problem("", fault) for fault in added().faults]


def _unknown_kernels(blocks: Mapping[str, Block] | None, report: Report) -> list[Problem]:
    """A problem for each kernel that `--block` names and no file of the run has."""
    from smemlint.diagnose.model import Problem

    wanted = [name for name in blocks or {} if name]
    known = {k.name for k in report.kernels} | {u.name.strip("`") for u in report.unseen}
    if all(name in known for name in wanted):
        return []
    import difflib

    problems = []
    for name in [n for n in wanted if n not in known]:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        nearest = f"; the nearest one is `{near[0]}`" if near else ""
        problems.append(
            Problem("", f"argument --block: no kernel of these files is called `{name}`{nearest}")
        )
    return problems
