"""The options of the command line, and what they say as Settings."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from smemlint import __version__, config
from smemlint.config import DEFAULTS, FORMATS, RANGES, SEVERITIES, ConfigError, Settings
from smemlint.streams import put

COMMANDS = ("check", "inspect", "explain", "rules")
STDIN = "-"

Read = TypeVar("Read")

_EPILOG = """\
exit status: 0 clean, 1 findings at or above --fail-on, 2 usage, configuration, or a file that could not be
analysed (the others still are). Settings come from the closest smemlint.toml or [tool.smemlint] in
pyproject.toml, up to the root of the repository. Its keys are the options that say how code is read and what
counts; what writes, starts programs or takes more of the machine is said here alone."""


class UsageError(Exception):
    """The command line cannot be followed."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")

    def _print_message(self, message: str, file: object = None) -> None:
        """As argparse does, but a standard output that takes nothing is told."""
        put(message)


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    whole = _Parser(
        prog="smemlint",
        description="Tells shared-memory bank conflicts of CUDA code from the source.",
        epilog=f"`smemlint PATH...` is `smemlint check PATH...`.\n\n{_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"smemlint {__version__}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    check = _command(commands, "check", "find bank conflicts (the default)")
    _source_options(check)
    _check_options(check)
    inspect = _command(commands, "inspect", "list every shared-memory access with its cost")
    _source_options(inspect)
    inspect.add_argument("--output-format", choices=("table", "json"), default="table", help="default: table")
    explain = _command(
        commands,
        "explain",
        "tell what a rule finds, why it matters and what to do; or what a reason for no fix means",
    )
    explain.add_argument("rule", metavar="CODE|NAME|REASON")
    rules = _command(commands, "rules", "list the rules")
    rules.add_argument("--output-format", choices=("table", "json"), default="table", help="default: table")
    return whole


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
        type=_number("timeout"),
        metavar="SECONDS",
        help=f"give a file up after this; analysis ends at about a fifth (default: {DEFAULTS.timeout:g})",
    )
    add(
        "-j",
        type=_whole("jobs"),
        dest="jobs",
        metavar="N",
        help="processes (default: by the number of files and cores)",
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
        type=_number("min-ways"),
        metavar="N",
        help=f"conflicts below are silent (default: {DEFAULTS.min_ways:g})",
    )
    add("--level", choices=SEVERITIES, help=f"findings below are not shown (default: {DEFAULTS.level})")
    add(
        "--fail-on",
        choices=SEVERITIES,
        help=f"findings from here on make exit status 1 (default: {DEFAULTS.fail_on})",
    )
    add(
        "--fail-on-unseen",
        action="store_true",
        default=None,
        help="exit status 1 as well where a kernel shows no access of shared memory (SMEM907)",
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


def _number(name: str) -> Callable[[str], float]:
    """Reads an option that is a number; argparse puts the option's name before what is raised."""

    def read(text: str) -> float:
        try:
            value = float(_plain(text))
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected a number, got `{config.short(text)}`") from None
        if not isfinite(value):
            raise argparse.ArgumentTypeError(f"expected a finite number, got `{config.short(text)}`")
        return _within(name, value)

    return read


def _whole(name: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            return int(_within(name, int(_plain(text))))
        except ValueError:
            said = f"expected a whole number, got `{config.short(text)}`"
            raise argparse.ArgumentTypeError(said) from None

    return read


def _plain(text: str) -> str:
    """The text, where it has nothing in it that only Python takes for a part of a number."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return text


def _within(name: str, value: float) -> float:
    least, most = RANGES[name]
    if value < least:
        least_said = "at least 1 process is needed" if name == "jobs" else f"expected {least:g} or more"
        raise argparse.ArgumentTypeError(least_said)
    if value > most:
        raise argparse.ArgumentTypeError(f"expected {most:g} or less")
    return value


def _read(option: str, read: Callable[[str], Read], text: str) -> Read:
    """Reads the value of an option. Raises UsageError that names it."""
    try:
        return read(text)
    except ConfigError as error:
        raise UsageError(f"argument {option}: {error.message}") from None


def settings_of(options: argparse.Namespace) -> Settings:
    """What the command line says. Raises UsageError."""
    blocks = dict(_read("--block", config.parse_named_block, text) for text in options.block or ())
    said: dict[str, Any] = {
        "blocks": blocks or None,
        "arch": _read("--arch", config.arch, options.arch) if options.arch else None,
        "define": tuple(_read("-D", config.define, text) for text in options.define or ()) or None,
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
            if unknown := config.unknown_selectors(said[name] or ()):
                raise UsageError(f"no rule is called `{config.short(unknown[0])}` (see `smemlint rules`)")
        for name in (
            "min_ways",
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
    return Settings(**said)


def check_fixes(options: argparse.Namespace) -> None:
    """Raises UsageError where the options about fixes do not go together."""
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


def outputs_of(texts: Sequence[str]) -> list[tuple[str, Path]]:
    """Format and file of each `--output`. Raises UsageError."""
    outputs = []
    for text in texts:
        name, equals, file = text.partition("=")
        if not equals or not file:
            raise UsageError(f"--output {text}: expected FORMAT=FILE, such as sarif=smemlint.sarif")
        if name not in FORMATS:
            raise UsageError(f"--output {text}: the formats are {', '.join(FORMATS)}")
        outputs.append((name, Path(file)))
    return outputs
