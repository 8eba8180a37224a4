"""The command line: options in, text and an exit status out.

Exit status: 0 clean, 1 findings at or above the gate, 2 usage, configuration, or a file that could not be
analysed. Nothing heavy is imported before it is known that files will be analysed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from smemlint import __version__, config
from smemlint.config import DEFAULTS, FORMATS, SEVERITIES, ConfigError, Settings

if TYPE_CHECKING:
    from smemlint.api import View
    from smemlint.diagnose.model import FileReport, Problem, Report
    from smemlint.jobs import Job
    from smemlint.repair import Skipped

CLEAN, FINDINGS, FAILED = 0, 1, 2
COMMANDS = ("check", "inspect", "explain", "rules")
STDIN = "-"

_PROGRESS_AFTER = 20
"""Files from which on a terminal shows a progress bar."""
_FILES_PER_PROCESS = 4
_MOST_PROCESSES = 8

_EPILOG = """\
exit status: 0 clean, 1 findings at or above --fail-on, 2 usage, configuration, or a file that could not be
analysed (the others still are). Settings come from the closest smemlint.toml or [tool.smemlint] in
pyproject.toml; the options
are its keys."""


class UsageError(Exception):
    """The command line cannot be followed."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status. No exception but SystemExit of --help leaves it."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except (UsageError, ConfigError) as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # Who reads has enough. stdout is pointed elsewhere so that its flush at exit does not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if os.environ.get("SMEMLINT_DEBUG"):
            raise
        print(f"error: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        return FAILED


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] not in (*COMMANDS, "-h", "--help", "--version"):
        arguments.insert(0, "check")
    parser = _parser()
    if not arguments:
        parser.print_help(sys.stderr)
        return FAILED
    options = parser.parse_args(arguments)
    if options.command == "rules":
        return _rules(options.output_format)
    if options.command == "explain":
        return _explain(options.rule)
    return _analyse(options)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="smemlint",
        description="Tells shared-memory bank conflicts of CUDA code from the source.",
        epilog=f"`smemlint PATH...` is `smemlint check PATH...`.\n\n{_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"smemlint {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    check = _command(commands, "check", "find bank conflicts (the default)")
    _source_options(check)
    _check_options(check)
    inspect = _command(commands, "inspect", "list every shared-memory access with its cost")
    _source_options(inspect)
    inspect.add_argument("--output-format", choices=("table", "json"), default="table", help="default: table")
    explain = _command(commands, "explain", "tell what a rule finds, why it matters and what to do")
    explain.add_argument("rule", metavar="CODE|NAME")
    rules = _command(commands, "rules", "list the rules")
    rules.add_argument("--output-format", choices=("table", "json"), default="table", help="default: table")
    return parser


def _command(commands: argparse._SubParsersAction[_Parser], name: str, text: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=_EPILOG if name in ("check", "inspect") else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _source_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="files, folders, or - for standard input")
    add(
        "--stdin-filename",
        metavar="PATH",
        help="what standard input is called, and where its includes are looked up",
    )
    add(
        "--block",
        action="append",
        metavar="[KERNEL=]X,Y,Z",
        help="block shape of a kernel, or of all; repeatable",
    )
    add("--arch", metavar="SM", help=f"architecture (default: {DEFAULTS.arch})")
    add("-D", action="append", dest="define", metavar="NAME[=VALUE]", help="define a macro; repeatable")
    add("-I", action="append", dest="include", metavar="DIR", help="look for includes there; repeatable")
    add("--std", metavar="STANDARD", help="C++ standard (default: by the text, c++17 at least)")
    add(
        "-p",
        dest="compile_commands",
        metavar="PATH",
        help="compile_commands.json, or the folder that holds it",
    )
    add("--config", metavar="FILE", help="read this configuration file, and no other")
    add(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help=f"give a file up after this; analysis ends at about a fifth (default: {DEFAULTS.timeout:g})",
    )
    add(
        "-j", type=int, dest="jobs", metavar="N", help="processes (default: by the number of files and cores)"
    )


def _check_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--output-format", choices=FORMATS, help=f"what goes to stdout (default: {DEFAULTS.output_format})")
    add(
        "--output",
        action="append",
        metavar="FORMAT=FILE",
        help="write another format to a file beside; repeatable",
    )
    add(
        "--select",
        action="append",
        metavar="RULES",
        help="only these rules: codes, starts of codes, names, ALL",
    )
    add("--ignore", action="append", metavar="RULES", help="not these rules")
    add(
        "--min-ways",
        type=float,
        metavar="N",
        help=f"conflicts below are silent (default: {DEFAULTS.min_ways:g})",
    )
    add("--level", choices=SEVERITIES, help=f"findings below are not shown (default: {DEFAULTS.level})")
    add(
        "--fail-on",
        choices=SEVERITIES,
        help=f"findings from here on make exit status 1 (default: {DEFAULTS.fail_on})",
    )
    add("--exit-zero", action="store_true", default=None, help="exit status 0 whatever is found")
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
    fixes = parser.add_mutually_exclusive_group()
    fixes.add_argument("--diff", action="store_true", help="show the fixes as a unified diff; change no file")
    fixes.add_argument("--fix", action="store_true", help="apply the safe fixes and report what is left")
    add("--unsafe-fixes", action="store_true", help="with --diff or --fix: take fixes that are not safe, too")
    add(
        "--verify",
        metavar="COMMAND",
        help="with --diff or --fix: compile each edited file first; {} is its path",
    )


def _settings(options: argparse.Namespace) -> Settings:
    """What the command line says. Raises UsageError, ConfigError."""
    blocks = dict(config.parse_named_block(text) for text in options.block or ())
    said = {
        "blocks": blocks or None,
        "arch": config.arch(options.arch) if options.arch else None,
        "define": tuple(options.define) if options.define else None,
        "include": tuple(options.include) if options.include else None,
        "std": options.std,
        "compile_commands": options.compile_commands,
        "jobs": options.jobs,
        "timeout": options.timeout,
    }
    if options.command == "check":
        for name in ("select", "ignore"):
            parts = [p.strip() for text in getattr(options, name) or () for p in text.split(",")]
            said[name] = tuple(p for p in parts if p) or None
        for name in (
            "min_ways",
            "level",
            "fail_on",
            "exit_zero",
            "statistics",
            "show_unresolved",
            "output_format",
        ):
            said[name] = getattr(options, name)
        said["output"] = tuple(options.output) if options.output else None
    settings = Settings(**said)
    if settings.jobs is not None and settings.jobs < 1:
        raise UsageError("argument -j: at least 1 process is needed")
    if settings.timeout is not None and not settings.timeout > 0:
        raise UsageError("argument --timeout: expected more than 0 seconds")
    if settings.min_ways is not None and not settings.min_ways >= 1:
        raise UsageError("argument --min-ways: expected 1 or more")
    return settings


def _near(path: str, chosen: str | None) -> Settings:
    """The configuration that holds for a file or folder, on top of the defaults."""
    if chosen is not None:
        return config.load(Path(chosen)).over(DEFAULTS)
    folder = Path(path).absolute()
    return config.closest(folder if folder.is_dir() else folder.parent).over(DEFAULTS)


def _analyse(options: argparse.Namespace) -> int:
    said = _settings(options)
    whole = said.over(_near(".", options.config))
    if unknown := config.unknown_selectors((*(whole.select or ()), *(whole.ignore or ()))):
        raise UsageError(f"no rule is called `{unknown[0]}` (see `smemlint rules`)")
    outputs = _outputs(whole.output or ())
    if options.command == "check":
        _check_fixes(options)
    jobs, missing = _jobs(options, said)
    from smemlint import api

    texts = {api.shown(job.path): job.text for job in jobs if job.text is not None}
    reports = [r for _, r in sorted(_with_progress(jobs, whole), key=lambda pair: pair[0])] + missing

    def view() -> View:
        return _view(options, said, whole)

    report = api.collect(reports, view(), texts)
    _complain(report.problems)
    if options.command == "inspect":
        from smemlint.render import inspect

        render = inspect.render_json if options.output_format == "json" else inspect.render_table
        sys.stdout.write(render(report))
        return FAILED if report.problems else CLEAN
    if options.fix or options.diff:

        def collect(again: Sequence[FileReport]) -> Report:
            return api.collect(again, view(), texts)

        return _repair(options, whole, outputs, jobs, reports, report, collect)
    return _write(report, whole, outputs)


def _check_fixes(options: argparse.Namespace) -> None:
    """Raises UsageError where the options about fixes do not go together."""
    if not (options.fix or options.diff):
        for name in ("unsafe_fixes", "verify"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} belongs to --diff or --fix")
    if options.fix and STDIN in options.paths:
        raise UsageError("--fix cannot change standard input; use --diff")


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
        failed = repair.write(files)
        written = [f for f in files if f.path not in {s.path for s in failed}]
        _tell([*skipped, *failed], repair.summary(written, written=True))
        again = repair.rejoin(
            written, jobs, reports, lambda some: [r for _, r in _with_progress(some, settings)]
        )
        status = _write(collect(again), settings, outputs)
        return FAILED if failed else status
    _tell(skipped, repair.summary(files, written=False))
    # A patch must hold the file's own bytes, whatever the terminal's encoding is.
    sys.stdout.flush()
    sys.stdout.buffer.write("".join(f.diff() for f in files).encode("utf-8", "surrogateescape"))
    return _status(report, settings)


def _tell(skipped: Sequence[Skipped], summary: str) -> None:
    for each in skipped:
        print(_encodable(f"warning: {each.message}", sys.stderr.encoding), file=sys.stderr)
    print(summary, file=sys.stderr)


def _jobs(options: argparse.Namespace, said: Settings) -> tuple[list[Job], list[FileReport]]:
    """What is to be analysed, and a report for each path that leads to nothing. Raises ConfigError."""
    from smemlint.diagnose.model import FileReport, Problem
    from smemlint.jobs import Job, Options
    from smemlint.source import LeftOut, discover

    jobs: list[Job] = []
    missing: list[FileReport] = []
    seen: set[str] = set()

    def tell(left: LeftOut) -> None:
        if left.lost:
            missing.append(FileReport(left.path, problems=(Problem(left.path, left.message),)))
        else:
            print(_encodable(f"warning: {left.path}: {left.message}", sys.stderr.encoding), file=sys.stderr)

    for path in options.paths:
        text = None
        if path == STDIN:
            text = sys.stdin.buffer.read().decode("utf-8", errors="surrogateescape")
            found = [Path(options.stdin_filename or "stdin.cu")]
        else:
            found = list(discover([path], tell))
        if not found:
            missing.append(FileReport(path, problems=(Problem(path, "no CUDA source in this folder"),)))
        for file in found:
            key = os.path.realpath(file)
            if key in seen:
                continue
            seen.add(key)
            s = said.over(_near(str(file), options.config))
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
                )
            )
    return jobs, missing


def _view(options: argparse.Namespace, said: Settings, whole: Settings) -> View:
    from smemlint.api import View
    from smemlint.rules import Severity

    def chosen(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        settings = said.over(_near(path, options.config))
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


def _outputs(texts: Sequence[str]) -> list[tuple[str, Path]]:
    outputs = []
    for text in texts:
        name, equals, file = text.partition("=")
        if not equals or not file:
            raise UsageError(f"--output {text}: expected FORMAT=FILE, such as sarif=smemlint.sarif")
        if name not in FORMATS:
            raise UsageError(f"--output {text}: the formats are {', '.join(FORMATS)}")
        outputs.append((name, Path(file)))
    return outputs


def _write(report: Report, settings: Settings, outputs: Sequence[tuple[str, Path]]) -> int:
    from smemlint.render import render
    from smemlint.render.summary import statistics

    written = [_write_file(path, render(name, report)) for name, path in outputs]
    form = settings.output_format or "full"
    sys.stdout.write(_encodable(render(form, report, color=_color())))
    if settings.statistics:
        print(
            statistics(report.summary), end="", file=sys.stdout if form in ("full", "concise") else sys.stderr
        )
    return _status(report, settings) if all(written) else FAILED


def _status(report: Report, settings: Settings) -> int:
    from smemlint.rules import Severity

    if report.problems:
        return FAILED
    gate = Severity(settings.fail_on).rank
    gated = any(d.severity.rank >= gate for d in report.diagnostics)
    return FINDINGS if gated and not settings.exit_zero else CLEAN


def _write_file(path: Path, text: str) -> bool:
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        print(f"error: {path}: cannot be written: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        return False
    return True


def _complain(problems: Sequence[Problem]) -> None:
    for problem in problems:
        print(_encodable(str(problem), sys.stderr.encoding), file=sys.stderr)


def _encodable(text: str, encoding: str | None = None) -> str:
    """The text with what stdout cannot encode replaced, so that a source comment cannot end the run."""
    encoding = encoding or sys.stdout.encoding or "utf-8"
    return text.encode(encoding, errors="replace").decode(encoding)


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
        print(json.dumps({"version": 1, "rules": rows}, indent=2))
        return CLEAN
    width = max(len(r.name) for r in RULES)
    for rule in RULES:
        print(f"{rule.code}  {rule.name:{width}}  {rule.severity.value:7}  {rule.summary()}")
    return CLEAN


def _explain(name: str) -> int:
    from smemlint.rules import RULES, find_rule

    rule = find_rule(name)
    if rule is None:
        import difflib

        known = [n for r in RULES for n in (r.code, r.name)]
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        raise UsageError(f"no rule is called `{name}`; the nearest one is `{near[0]}`")
    print(rule.markdown(), end="")
    return CLEAN
