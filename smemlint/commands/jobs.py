"""From paths to reports: what is to be analysed, the analysis with its progress, and what went wrong."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smemlint.commands.asked import chosen_of, options_of
from smemlint.commands.options import STDIN, UsageError
from smemlint.config import TIMEOUT, Block, Settings
from smemlint.configurations import Configurations, matches
from smemlint.records import record
from smemlint.system.stopping import Stopped
from smemlint.system.streams import say
from smemlint.system.visible import visible_path

if TYPE_CHECKING:
    from smemlint.api import View
    from smemlint.commands.streaming import Stream
    from smemlint.diagnose.baseline import Baseline
    from smemlint.diagnose.model import FileReport, Problem, Report
    from smemlint.running.cache import Cache
    from smemlint.running.jobs import Job
    from smemlint.running.progress import Bar

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
    stopped: Stopped | None = None
    """The signal that ended it before all files were done."""
    part: tuple[int, int] | None = None
    """(number, count) where it is one shard of several."""
    wrong: Sequence[Problem] | None = None
    """What is wrong with the configurations, where it is known already."""

    def collect(self, reports: Sequence[FileReport]) -> Report:
        """One report of these files: merged, suppressed, selected; with what is wrong with the settings."""
        from smemlint import api

        texts = {api.shown(job.path): job.text for job in self.jobs if job.text is not None}
        report = api.collect(
            reports, _view(self.configurations, self.settings, self.baseline, self.changed), texts
        )
        wrong = list(_broken(self.configurations) if self.wrong is None else self.wrong)
        if self.part is None:
            wrong += _unknown_kernels(self.configurations.said.blocks, report)
        if self.stopped is not None:
            wrong = [_interrupted(self.stopped, len(reports), len(self.jobs))]
        wrong += _unusable_rules()
        return replace(report, problems=(*report.problems, *wrong))


def analysed(
    options: argparse.Namespace,
    said: Settings,
    *,
    suggest: bool = False,
    exhibits: bool = False,
    partial: bool = False,
    stream: Stream | None = None,
    part: tuple[int, int] | None = None,
) -> tuple[Run, Report]:
    """Analyse the paths of `source_options` and tell on stderr what could not be.

    said: what the command line says. suggest: whether fixes are looked for. exhibits: whether maps of
    what conflicts are kept. partial: whether a signal leaves the report of what is done so far; stream:
    writes what is final meanwhile. part: (number, count) of the shard to analyse. Raises UsageError,
    ConfigError, Stopped.
    """
    try:
        Path.cwd()
    except OSError as error:
        raise UsageError(f"the working folder is gone: {(error.strerror or str(error)).lower()}") from None
    configurations = Configurations(said, options.config)
    whole = configurations.shown(".")
    baseline = baseline_of(whole)
    changed = changed_since(getattr(options, "diff_base", None))
    jobs, missing = jobs_of(options, configurations, suggest=suggest, exhibits=exhibits)
    cache = cache_of(options)
    every, numbers = jobs, list(range(len(jobs)))
    if part is not None:
        from smemlint import shards

        numbers = shards.of(every, *part)
        jobs = [every[n] for n in numbers]
    run = Run(configurations, whole, jobs, (), baseline, changed, cache, part=part)
    found: dict[int, FileReport] = {}
    try:
        bar = bar_of(jobs)
        with closing(with_progress(jobs, whole, cache, bar)) as done:
            for index, one in done:
                found[index] = one
                if stream is not None:
                    stream.take(run, index, one, bar.hide if bar is not None else None)
    except Stopped as stopped:
        if not partial or not found:
            raise
        run = replace(run, stopped=stopped)
    run = replace(run, reports=[found[index] for index in sorted(found)] + missing)
    report = run.collect(run.reports)
    if part is not None and run.stopped is None:  # an interrupted part is none to merge
        pairs = [(numbers[index], found[index]) for index in sorted(found)]
        report = replace(report, shard=_shard(options, run, every, pairs, missing))
    tell(run, report)
    return run, report


def _shard(
    options: argparse.Namespace,
    run: Run,
    every: Sequence[Job],
    found: Sequence[tuple[int, FileReport]],
    missing: Sequence[FileReport],
) -> Mapping[str, object]:
    """What a shard's report hands on."""
    from smemlint import shards
    from smemlint.api import shown
    from smemlint.commands.merge import said_of

    assert run.part is not None
    number, count = run.part
    names = [(shown(job.path), job.path, job.text) for job in run.jobs]
    return shards.packed(
        shards.Shard(
            number,
            count,
            shards.list_digest([shown(job.path) for job in every]),
            said_of(options, run.configurations.said),
            tuple(found),
            tuple(missing),
            tuple(_broken(run.configurations)),
            {name: shards.digest(path, text) for name, path, text in names},
            {name: text for name, _, text in names if text is not None},
        )
    )


def tell(run: Run, report: Report) -> None:
    """Say on stderr what could not be analysed, and what of the baseline is stale."""
    for problem in report.problems:
        say(str(problem))
    for skipped in report.skipped:
        say(f"skipped: {visible_path(skipped.path)}: {skipped.message}")
    for entry in report.stale[:_STALE]:
        say(f"warning: stale in {run.settings.baseline}: {entry}")
    if len(report.stale) > _STALE:
        say(f"warning: {len(report.stale) - _STALE} more entries of {run.settings.baseline} are stale")


def jobs_of(
    options: argparse.Namespace,
    configurations: Configurations,
    *,
    suggest: bool,
    exhibits: bool = False,
) -> tuple[list[Job], list[FileReport]]:
    """What is to be analysed, and a report for each path that leads to nothing."""
    from smemlint.diagnose.model import FileReport, Problem
    from smemlint.running.jobs import Job
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
                    options_of(s, suggest=suggest, exhibits=exhibits),
                    text,
                    s.timeout or TIMEOUT,
                    named=path == STDIN or not Path(path).is_dir(),
                )
            )
    return jobs, missing


def changed_since(revision: str | None) -> Callable[[str, int, int], bool] | None:
    """Which lines differ from a revision. Raises UsageError where git does not tell."""
    if revision is None:
        return None
    from smemlint.source import revisions

    try:
        return revisions.changed_since(revision, Path.cwd()).touches
    except revisions.GitError as error:
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
        return chosen_of(configurations.shown(path), kernel)

    level = min((Severity(whole.level), Severity(whole.fail_on)), key=lambda s: s.rank)
    return View(chosen, level, bool(whole.show_unresolved), whole.min_share or 0.0, baseline, changed)


def cache_of(options: argparse.Namespace) -> Cache | None:
    """Where reports are kept, unless the command line says that none is."""
    from smemlint.running.cache import open_cache

    return None if options.no_cache else open_cache()


def bar_of(jobs: Sequence[Job]) -> Bar | None:
    """What shows how far a run is, where somebody looks."""
    from smemlint.running.progress import Bar, wanted

    return Bar([job.path for job in jobs]) if wanted() else None


def with_progress(
    jobs: Sequence[Job], settings: Settings, cache: Cache | None = None, bar: Bar | None = None
) -> Generator[tuple[int, FileReport], None, None]:
    """Yield (index of the job, its report) as files are done. bar: shows how far it is."""
    from smemlint import api

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processes = settings.jobs or max(1, min(cores, -(-len(jobs) // _FILES_PER_PROCESS), _MOST_PROCESSES))
    try:
        for index, report in api.analyse(jobs, processes=processes, cache=cache, watch=bar):
            if bar is not None:
                bar.done(index)
            yield index, report
    finally:
        if bar is not None:
            bar.hide()


def _interrupted(stopped: Stopped, done: int, all_: int) -> Problem:
    from smemlint.diagnose.model import Problem

    return Problem("", f"ended by {stopped.name}: {done} of {all_} files are in this report")


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
