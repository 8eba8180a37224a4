"""The command line: options in, text and an exit status out.

Exit status: 0 clean, 1 findings at or above the gate, 2 usage, configuration, or a file that could not be
analysed. Nothing heavy is imported before it is known that files will be analysed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smemlint import streams
from smemlint.arguments import COMMANDS, STDIN, UsageError, check_fixes, outputs_of, parser, settings_of
from smemlint.config import ConfigError, Configurations, Settings
from smemlint.stopping import Stopped, stopped_by_signals
from smemlint.streams import OutputError, put, say
from smemlint.visible import visible_path

if TYPE_CHECKING:
    from smemlint.api import View
    from smemlint.diagnose.model import FileReport, Problem, Report
    from smemlint.jobs import Job
    from smemlint.repair import Skipped

CLEAN, FINDINGS, FAILED = 0, 1, 2

_PROGRESS_AFTER = 20
"""Files from which on a terminal shows a progress bar."""
_FILES_PER_PROCESS = 4
_NAME = 200
"""Characters of a name too long to be one that a message repeats."""
_MOST_PROCESSES = 8


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status. No exception leaves it."""
    streams.open_missing()
    status = _guarded(list(sys.argv[1:] if argv is None else argv))
    try:
        streams.finish()
    except OutputError as error:
        say(f"error: {error}")
        return FAILED
    return status


def _guarded(arguments: list[str]) -> int:
    try:
        with stopped_by_signals():
            return _run(arguments)
    except SystemExit as ended:  # --help and --version
        return ended.code if isinstance(ended.code, int) else CLEAN
    except (UsageError, ConfigError, OutputError) as error:
        say(f"error: {error}")
    except Stopped as stopped:
        say(f"error: ended by {stopped.name}")
        return stopped.status
    except Exception as error:
        if os.environ.get("SMEMLINT_DEBUG"):
            raise
        say(f"error: internal error: {type(error).__name__}: {error}")
    return FAILED


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] not in (*COMMANDS, "-h", "--help", "--version"):
        arguments.insert(0, "check")
    known = parser()
    if not arguments:
        say(known.format_help(), lines=True)
        return FAILED
    options = known.parse_args(arguments)
    if options.command == "rules":
        return _rules(options.output_format)
    if options.command == "explain":
        return _explain(options.rule)
    return _analyse(options)


def _analyse(options: argparse.Namespace) -> int:
    try:
        Path.cwd()
    except OSError as error:
        raise UsageError(f"the working folder is gone: {(error.strerror or str(error)).lower()}") from None
    said = settings_of(options)
    outputs = outputs_of(said.output or ())
    if options.command == "check":
        check_fixes(options)
    configurations = Configurations(said, options.config)
    whole = configurations.shown(".")
    jobs, missing = _jobs(options, configurations)
    from smemlint import api

    texts = {api.shown(job.path): job.text for job in jobs if job.text is not None}
    reports = [r for _, r in sorted(_with_progress(jobs, whole), key=lambda pair: pair[0])] + missing

    def collect(reports: Sequence[FileReport]) -> Report:
        report = api.collect(reports, _view(configurations, whole), texts)
        return replace(report, problems=(*report.problems, *_broken(configurations)))

    report = collect(reports)
    _complain(report.problems)
    for skipped in report.skipped:
        say(f"skipped: {visible_path(skipped.path)}: {skipped.message}")
    if options.command == "inspect":
        from smemlint.render import inspect

        render = inspect.render_json if options.output_format == "json" else inspect.render_table
        put(render(report))
        return FAILED if report.problems else CLEAN
    if options.fix or options.diff:
        return _repair(options, whole, outputs, jobs, reports, report, collect)
    return _write(report, whole, outputs)


def _broken(configurations: Configurations) -> list[Problem]:
    """A problem for each configuration that cannot be followed, which says how many files that costs."""
    from smemlint.api import shown
    from smemlint.diagnose.model import Problem
    from smemlint.render.summary import count

    return [
        Problem(shown(path), f"{error.message}; {count(lost, 'file')} below it not analysed")
        for path, (error, lost) in configurations.broken.items()
    ]


def _repair(
    options: argparse.Namespace,
    settings: Settings,
    outputs: Sequence[tuple[str, Path]],
    jobs: Sequence[Job],
    reports: Sequence[FileReport],
    report: Report,
    collect: Callable[[Sequence[FileReport]], Report],
) -> int:
    """`--diff` shows the edits and leaves the files; `--fix` makes them and reports what is left."""
    from smemlint import repair

    unsafe, verify = bool(options.unsafe_fixes), options.verify
    files, skipped = repair.repair(report, reports, jobs, unsafe=unsafe, verify=verify)
    if options.fix:
        failed = repair.write(files, options.paths)
        written = [f for f in files if f.path not in {s.path for s in failed}]
        _tell([*skipped, *failed], repair.summary(written, written=True))
        again = repair.rejoin(
            written, jobs, reports, lambda some: [r for _, r in _with_progress(some, settings)]
        )
        status = _write(collect(again), settings, outputs)
        return FAILED if failed else status
    _tell(skipped, repair.summary(files, written=False))
    # A patch must hold the file's own bytes, whatever the terminal's encoding is.
    streams.put_bytes("".join(f.diff() for f in files).encode("utf-8", "surrogateescape"))
    return _status(report, settings)


def _tell(skipped: Sequence[Skipped], summary: str) -> None:
    for each in skipped:
        say(f"warning: {each.message}", lines=True)
    say(summary)


def _jobs(options: argparse.Namespace, configurations: Configurations) -> tuple[list[Job], list[FileReport]]:
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
                        suggest=options.command == "check",
                    ),
                    text,
                    s.timeout or 40.0,
                    named=path == STDIN or not Path(path).is_dir(),
                )
            )
    return jobs, missing


def _view(configurations: Configurations, whole: Settings) -> View:
    from smemlint.api import View
    from smemlint.rules import Severity

    def chosen(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        settings = configurations.shown(path)
        return settings.select or (), settings.ignore or ()

    level = min((Severity(whole.level), Severity(whole.fail_on)), key=lambda s: s.rank)
    return View(chosen, level, bool(whole.show_unresolved))


def _with_progress(jobs: Sequence[Job], settings: Settings) -> Iterator[tuple[int, FileReport]]:
    from smemlint import api

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processes = settings.jobs or max(1, min(cores, -(-len(jobs) // _FILES_PER_PROCESS), _MOST_PROCESSES))
    done = api.analyse(jobs, processes=processes)
    if len(jobs) < _PROGRESS_AFTER or not sys.stderr.isatty():
        yield from done
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(done, "analysing", len(jobs), console=Console(stderr=True), transient=True)


def _write(report: Report, settings: Settings, outputs: Sequence[tuple[str, Path]]) -> int:
    from smemlint.render import render
    from smemlint.render.summary import statistics

    written = [_write_file(path, render(name, report)) for name, path in outputs]
    form = settings.output_format or "full"
    put(render(form, report, color=_color()))
    if settings.statistics:
        text = statistics(report.summary)
        if form in ("full", "concise"):
            put(text)
        else:
            say(text.rstrip("\n"), lines=True)
    return _status(report, settings) if all(written) else FAILED


def _status(report: Report, settings: Settings) -> int:
    from smemlint.diagnose.select import UNSEEN
    from smemlint.rules import Severity

    if report.problems:
        return FAILED
    gate = Severity(settings.fail_on).rank
    gated = any(d.severity.rank >= gate for d in report.diagnostics)
    if settings.fail_on_unseen:
        gated = gated or any(d.code == UNSEEN for d in report.diagnostics)
    return FINDINGS if gated and not settings.exit_zero else CLEAN


def _write_file(path: Path, text: str) -> bool:
    try:
        streams.write_file(path, text.encode("utf-8", errors="replace"))
    except (OSError, ValueError, OutputError) as error:
        said = error.strerror if isinstance(error, OSError) else None
        say(f"error: {path}: cannot be written: {(said or str(error)).lower()}")
        return False
    return True


def _complain(problems: Sequence[Problem]) -> None:
    for problem in problems:
        say(str(problem))


def _color() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def _rules(form: str) -> int:
    from smemlint.rules import RULES

    if form == "json":
        import json

        rows = [
            {
                "code": r.code,
                "name": r.name,
                "severity": r.severity.value,
                "summary": r.summary(),
                "text": r.markdown(),
            }
            for r in RULES
        ]
        put(json.dumps({"version": 1, "rules": rows}, indent=2) + "\n")
        return CLEAN
    width = max(len(r.name) for r in RULES)
    for rule in RULES:
        put(f"{rule.code}  {rule.name:{width}}  {rule.severity.value:7}  {rule.summary()}\n")
    return CLEAN


def _explain(name: str) -> int:
    from smemlint.fix.refusals import REASONS, explained
    from smemlint.rules import RULES, find_rule

    rule = find_rule(name)
    if rule is None:
        reason = explained(name)
        if reason is not None:
            put(reason)
            return CLEAN
        import difflib

        known = [*(n for r in RULES for n in (r.code, r.name)), *REASONS]
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        raise UsageError(f"no rule is called `{name}`; the nearest one is `{near[0]}`")
    put(rule.markdown())
    return CLEAN
