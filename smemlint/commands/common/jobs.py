"""From paths to reports: what is to be analysed, and the analysis with its progress."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smemlint.commands.common.from_settings import options_of
from smemlint.commands.common.options import STDIN
from smemlint.commands.common.run import Run, baseline_of, changed_since, tell
from smemlint.commands.common.usage import UsageError
from smemlint.config import TIMEOUT, Settings
from smemlint.configurations import Configurations, matches
from smemlint.system.stopping import Stopped
from smemlint.system.streams import say
from smemlint.system.visible import visible_path

if TYPE_CHECKING:
    from smemlint.commands.common.streaming import Stream
    from smemlint.diagnose.model import FileReport, Report
    from smemlint.running.cache import Cache
    from smemlint.running.jobs import Job
    from smemlint.running.progress import Bar

_FILES_PER_PROCESS = 4
_NAME = 200
"""Characters of a name too long to be one that a message repeats."""
_MOST_PROCESSES = 8


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
        from smemlint.commands.common.sharding import handed_on

        report = replace(report, shard=handed_on(options, run, every, pairs, missing))
    tell(run, report)
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
        excluded = 0
        for file in found:
            key = real.of(file)
            if key in seen:
                continue
            seen.add(key)
            s = configurations.of(str(file))
            if s is None:
                continue
            if s.exclude and matches(s.exclude, os.path.abspath(file)):  # noqa: PTH100
                excluded += 1
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
        if excluded and excluded == len(found) and Path(path).is_dir():
            files = "its only file is" if excluded == 1 else f"all {excluded} files are"
            say(f"warning: {visible_path(path)}: {files} excluded: nothing was analysed there")
    return jobs, missing


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
