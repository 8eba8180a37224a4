"""`smemlint check`: the findings, in any format; with `--diff` and `--fix` also their edits."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smemlint import config
from smemlint.commands import CLEAN, FAILED, FINDINGS
from smemlint.commands.common.jobs import analysed, jobs_of, with_progress
from smemlint.commands.common.options import STDIN, number, source_options, source_settings, whole
from smemlint.commands.common.run import Run
from smemlint.commands.common.usage import UsageError
from smemlint.commands.common.writing import form_of, outputs_of, printed_look, status_of, write, write_file
from smemlint.config import DEFAULTS, FORMATS, SEVERITIES, Settings
from smemlint.configurations import Configurations
from smemlint.system import streams
from smemlint.system.streams import put, say
from smemlint.system.visible import visible_path

if TYPE_CHECKING:
    from smemlint.diagnose.model import Report
    from smemlint.repair import Skipped


def options(parser: argparse.ArgumentParser) -> None:
    source_options(parser)
    add = parser.add_argument_group("what is reported, and how").add_argument
    add(
        "--output-format",
        choices=FORMATS,
        help=f"what goes to stdout (default: {DEFAULTS.display.output_format})",
    )
    add(
        "-o",
        "--output",
        action="append",
        metavar="[FORMAT=]FILE",
        help="also write this format to a file; without FORMAT by the ending of FILE; repeatable",
    )
    add("--color", choices=("auto", "always", "never"), default="auto", help="colours (default: auto)")
    add("--show-files", action="store_true", help="list the files that would be analysed, and end")
    add(
        "--select",
        action="append",
        metavar="RULES",
        help="only these rules: codes, starts of codes, names, ALL",
    )
    add("--ignore", action="append", metavar="RULES", help="not these rules")
    add(
        "--min-ways",
        type=number("min-ways"),
        metavar="N",
        help=f"report conflicts of N ways or more (default: {DEFAULTS.choice.min_ways:g})",
    )
    add(
        "--level",
        choices=SEVERITIES,
        help=f"show findings of this severity or more (default: {DEFAULTS.choice.level})",
    )
    add(
        "--sort",
        choices=("cost", "path"),
        help="order of findings: the costliest first (on a terminal, with --top), or by path",
    )
    add(
        "--top",
        type=whole("top"),
        metavar="N",
        help="show the N costliest findings; all count for the exit status",
    )
    add(
        "--min-share",
        type=number("min-share"),
        metavar="PERCENT",
        help="leave out conflicts that waste a smaller share of their kernel's wavefronts (default: 0)",
    )
    add(
        "--shard",
        type=_shard,
        metavar="I/N",
        help="analyse part I of N of the files; `smemlint merge` joins the reports",
    )
    add(
        "--statistics",
        action="store_true",
        default=None,
        help="count findings by rule, unresolved accesses by reason",
    )
    add(
        "--show-unresolved",
        action="store_true",
        default=None,
        help="list what could not be resolved, with the reason",
    )
    gates = parser.add_argument_group("what makes exit status 1, and what is accepted")
    add = gates.add_argument
    add(
        "--fail-on",
        choices=SEVERITIES,
        help=f"exit status 1 for findings of this severity or more (default: {DEFAULTS.gate.fail_on})",
    )
    add(
        "--fail-on-unseen",
        action="store_true",
        default=None,
        help="exit status 1 also for kernels that show no access of shared memory (SMEM907)",
    )
    add("--exit-zero", action="store_true", default=None, help="exit status 0 whatever is found")
    baselines = gates.add_mutually_exclusive_group()
    baselines.add_argument("--baseline", metavar="FILE", help="leave out the findings that this file accepts")
    baselines.add_argument(
        "--write-baseline", metavar="FILE", help="accept all present findings: write them to this file"
    )
    add(
        "--diff-base",
        metavar="REV",
        help="only findings on lines or arrays that changed since this revision",
    )
    budgets = gates.add_mutually_exclusive_group()
    budgets.add_argument(
        "--budget",
        metavar="FILE",
        help="exit status 1 for a kernel with more excess wavefronts than in this file",
    )
    budgets.add_argument(
        "--write-budget", metavar="FILE", help="write the excess wavefronts of each kernel to this file"
    )
    edits = parser.add_argument_group("edits")
    add = edits.add_argument
    fixes = edits.add_mutually_exclusive_group()
    fixes.add_argument("--diff", action="store_true", help="show the fixes as a unified diff; change no file")
    fixes.add_argument("--fix", action="store_true", help="apply the safe fixes and report what is left")
    add(
        "--add-ignore",
        metavar="REASON",
        help="write `smemlint: ignore` comments for the findings that are shown; with --diff only show them",
    )
    add("--unsafe-fixes", action="store_true", help="with --diff or --fix: take fixes that are not safe, too")
    add(
        "--verify",
        metavar="COMMAND",
        help="with --diff or --fix: compile each edited file first; {} is its path",
    )


def run(options: argparse.Namespace) -> int:
    said = _settings_of(options)
    if options.write_baseline:
        said = Settings.of(baseline="").over(said)
    outputs = outputs_of(options.output or ())
    _check_fixes(options)
    if options.show_files:
        return show_files(options, said)
    edits, adding = options.fix or options.diff, options.add_ignore is not None
    if options.shard:
        _check_shard(options, outputs, options.output_format or "")
    pictures = "html" in (options.output_format, *(name for name, _ in outputs))
    if not (edits or options.write_baseline or options.budget or options.write_budget or adding):
        return _check(options, said, outputs, exhibits=pictures)
    run, report = analysed(options, said, suggest=True, exhibits=pictures)
    if options.write_budget or options.budget:
        return _budget(options, run, report, outputs)
    if options.write_baseline:
        return _write_baseline(Path(options.write_baseline), report)
    if adding:
        from smemlint.commands.common.adding import add_ignores

        return add_ignores(options, report)
    return _repair(options, run, report, outputs)


def _shard(text: str) -> tuple[int, int]:
    from smemlint.shards import parse

    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _check_shard(options: argparse.Namespace, outputs: Sequence[tuple[str, Path]], form: str) -> None:
    """Raises UsageError where a shard has nothing to hand on, or more is asked for than it knows."""
    for name in ("fix", "diff", "budget", "write_budget", "write_baseline", "add_ignore"):
        if getattr(options, name):
            raise UsageError(f"--{name.replace('_', '-')} needs all files: it does not go with --shard")
    if not {form, *(name for name, _ in outputs)} & {"json", "sarif"}:
        raise UsageError("--shard needs a report that merge reads: --output-format json or sarif")
    if "html" in (form, *(name for name, _ in outputs)):
        raise UsageError("--shard has no html: pictures are for a run over all files")


def _check(
    options: argparse.Namespace, said: Settings, outputs: Sequence[tuple[str, Path]], *, exhibits: bool
) -> int:
    """Findings alone: written as they become final; when a signal ends the run, those that are known."""
    from smemlint.commands.common.streaming import Stream

    stream = Stream(lambda settings: (form_of(settings), printed_look(form_of(settings), settings, options)))
    run, report = analysed(
        options, said, suggest=True, exhibits=exhibits, partial=True, stream=stream, part=options.shard
    )
    if run.stopped is not None:
        for _, path in outputs:
            say(f"warning: {path}: not written, the report is not whole")
        outputs = ()
    status = write(report, run.settings, outputs, options, stream)
    if run.stopped is not None:
        return run.stopped.status
    return CLEAN if options.shard and status == FINDINGS else status


def show_files(options: argparse.Namespace, said: Settings) -> int:
    """List the files that a run would look at; what keeps one from being looked at is told as in a run."""
    from smemlint.api import shown

    jobs, missing = jobs_of(options, Configurations(said, options.config), suggest=False)
    for job in jobs:
        put(visible_path(shown(job.path)) + "\n")
    for report in missing:
        for problem in report.problems:
            say(str(problem))
    return FAILED if missing else CLEAN


def _settings_of(options: argparse.Namespace) -> Settings:
    """What the command line says. Raises UsageError."""
    said: dict[str, Any] = {}
    for name in ("select", "ignore"):
        parts = [p.strip() for text in getattr(options, name) or () for p in text.split(",")]
        said[name] = tuple(p for p in parts if p) or None
        if unknown := config.unknown_selectors(said[name] or ()):
            raise UsageError(f"no rule is called `{config.short(unknown[0])}` (see `smemlint rules`)")
    for name in (
        "min_ways",
        "min_share",
        "baseline",
        "sort",
        "level",
        "fail_on",
        "fail_on_unseen",
        "exit_zero",
        "statistics",
        "show_unresolved",
        "output_format",
    ):
        said[name] = getattr(options, name)
    said["output"] = tuple(options.output) if options.output else None
    return Settings.of(**said).over(source_settings(options))


def _check_fixes(options: argparse.Namespace) -> None:
    """Raises UsageError where the options about edits do not go together."""
    if options.add_ignore is not None:
        _check_adding(options)
    # Only one of them is done in a run.
    tasks = [n for n in ("fix", "diff", "write_baseline", "budget", "write_budget") if getattr(options, n)]
    if len(tasks) > 1 and options.add_ignore is None:
        first, second = (f"--{name.replace('_', '-')}" for name in tasks[:2])
        raise UsageError(f"{first} does not go with {second}")
    if not (options.fix or options.diff):
        for name in ("unsafe_fixes", "verify"):
            if getattr(options, name) not in (None, False):
                raise UsageError(f"--{name.replace('_', '-')} belongs to --diff or --fix")
    if options.fix and STDIN in options.paths:
        raise UsageError("--fix cannot change standard input; use --diff")
    if options.verify is not None:
        try:
            words = shlex.split(options.verify)
        except ValueError as error:
            raise UsageError(f"argument --verify: {str(error).lower()}") from None
        if not words or "{}" in words[0]:
            raise UsageError("argument --verify: expected a command, such as 'nvcc -c -o /dev/null {}'")


def _check_adding(options: argparse.Namespace) -> None:
    from smemlint.diagnose.accept import wrong_reason

    others = ("fix", "verify", "unsafe_fixes", "write_baseline", "budget", "write_budget", "output")
    for name in others:
        if getattr(options, name):
            raise UsageError(f"--add-ignore does not go with --{name.replace('_', '-')}")
    if wrong := wrong_reason(options.add_ignore):
        raise UsageError(f"argument --add-ignore: {wrong}")
    if STDIN in options.paths:
        raise UsageError("--add-ignore cannot change standard input")


def _repair(
    options: argparse.Namespace, run: Run, report: Report, outputs: Sequence[tuple[str, Path]]
) -> int:
    """`--diff` shows the edits and leaves the files; `--fix` makes them and reports what is left."""
    from smemlint import repair

    unsafe = bool(options.unsafe_fixes)
    look = repair.Look(
        lambda some: [r for _, r in sorted(with_progress(some, run.settings), key=itemgetter(0))], run.collect
    )
    # Which lines changed since a revision is known of what lies on disk alone.
    further = look if run.changed is None else None
    done = repair.repair(report, run.reports, run.jobs, unsafe=unsafe, verify=options.verify, look=further)
    offered = [d.fix for d in done.report.diagnostics if d.fix is not None]
    left = 0 if unsafe else repair.unsafe_fixes(offered)
    if options.diff:
        _tell(done.skipped, repair.summary(done.files, written=False, unsafe=left))
        # A patch must hold the file's own bytes, whatever the terminal's encoding is.
        streams.put_bytes("".join(f.diff() for f in done.files).encode("utf-8", "surrogateescape"))
        return status_of(report, run.settings)
    failed = repair.write(done.files, options.paths)
    written = [f for f in done.files if f.path not in {s.path for s in failed}]
    _tell([*done.skipped, *failed], repair.summary(written, written=True, unsafe=left))
    left_over = done.report
    if failed or further is None:
        reports = repair.reports_of(run.reports, run.jobs, [f.path for f in written], look)
        left_over = run.collect(reports)
    status = write(left_over, run.settings, outputs, options)
    return FAILED if failed else status


def _tell(skipped: Sequence[Skipped], summary: str) -> None:
    for each in skipped:
        say(f"warning: {each.message}", lines=True)
    say(summary)


def _write_baseline(path: Path, report: Report) -> int:
    """Accept what is found; findings about what was not looked at are no findings to accept."""
    from smemlint.diagnose.baseline import written
    from smemlint.diagnose.group import groups
    from smemlint.render.summary import places

    if not write_file(path, written(report.diagnostics, path)):
        return FAILED
    found = places(len(groups(report.diagnostics)), len(report.diagnostics))
    say(f"{found} accepted in {path}; check with --baseline {path}")
    return FAILED if report.problems else CLEAN


def _budget(
    options: argparse.Namespace, run: Run, report: Report, outputs: Sequence[tuple[str, Path]]
) -> int:
    """Hold each kernel to what it is allowed, or write what it needs today."""
    from smemlint.diagnose.changes import ReportError, budget_text, exceeded, loaded
    from smemlint.diagnose.cost import number
    from smemlint.diagnose.ranking import ranked

    kernels = ranked(report.kernels)
    if options.write_budget:
        written = write_file(Path(options.write_budget), budget_text(kernels))
        return FAILED if report.problems or not written else CLEAN
    try:
        found = exceeded(kernels, loaded(Path(options.budget)), options.budget)
    except ReportError as error:
        raise UsageError(f"argument --budget: {error}") from None
    status = write(report, run.settings, outputs, options)
    for e in found:
        grown = f"{number(e.excess)} excess wavefronts a block, {number(e.allowed)} allowed"
        say(f"over budget: {visible_path(e.path)}: {e.name}: {grown}")
    return FAILED if status == FAILED else FINDINGS if found else CLEAN
