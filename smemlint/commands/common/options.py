"""What the options of several commands have in common: declared, read, and turned into Settings."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import TypeVar

from smemlint import config
from smemlint.commands.common.usage import UsageError
from smemlint.config import DEFAULTS, RANGES, ConfigError, Glob, Settings

STDIN = "-"

Read = TypeVar("Read")

EPILOG = """\
exit status: 0 clean; 1 findings at or above --fail-on; 2 wrong usage or configuration, or a file that could
not be analysed (the others still are). Settings come from the closest smemlint.toml or [tool.smemlint] in
pyproject.toml, up to the root of the repository. Options that write files, start programs or take more of the
machine work on the command line only."""


def source_options(parser: argparse.ArgumentParser) -> None:
    """Declare paths and how they are read: for every command that analyses files."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files, folders, or - for standard input")
    reading_options(parser)


def reading_options(parser: argparse.ArgumentParser) -> None:
    """Declare how files are read."""
    add = parser.add_argument_group("how the code is read").add_argument
    add(
        "--stdin-filename",
        metavar="PATH",
        help="name of standard input, whose folder is searched for its includes",
    )
    add(
        "--block",
        action="append",
        metavar="[KERNEL=]X,Y,Z",
        help="block shape of a kernel, or of all; repeatable",
    )
    add(
        "--launches-from",
        metavar="PROFILE",
        help="take block shapes from a profile (`ncu --page raw --csv`)",
    )
    add("--arch", metavar="SM", help=f"architecture (default: {DEFAULTS.reading.arch})")
    add("-D", action="append", dest="define", metavar="NAME[=VALUE]", help="define a macro; repeatable")
    add("-I", action="append", dest="include", metavar="DIR", help="look for includes there; repeatable")
    add("--std", metavar="STANDARD", help="C++ standard (default: what the text needs, c++17 at least)")
    add(
        "-p",
        dest="compile_commands",
        metavar="PATH",
        help="compile_commands.json, or the folder that holds it",
    )
    add(
        "--exclude",
        action="append",
        metavar="PATTERN",
        help="leave out files that match a .gitignore pattern; repeatable",
    )
    add("--config", metavar="FILE", help="read this configuration file and no other")
    add(
        "--timeout",
        type=number("timeout"),
        metavar="SECONDS",
        help=f"give up a file after this much computing time (default: {DEFAULTS.timeout:g})",
    )
    add(
        "-j",
        type=whole("jobs"),
        dest="jobs",
        metavar="N",
        help="processes (default: by the number of files and cores)",
    )
    add("--no-cache", action="store_true", help="analyse unchanged files again, too")


def number(name: str) -> Callable[[str], float]:
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


def whole(name: str) -> Callable[[str], int]:
    """The same for a whole number."""

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


def source_settings(options: argparse.Namespace) -> Settings:
    """What `source_options` say. Raises UsageError."""
    blocks = dict(_read("--block", config.parse_named_block, text) for text in options.block or ())
    if options.launches_from:
        from smemlint.commands.common.profiles import blocks_from

        blocks = {**blocks_from(options.launches_from), **blocks}
    for folder in options.include or ():
        if not Path(folder).is_dir():
            raise UsageError(f"argument -I: no folder is called `{config.short(folder)}`")
    return Settings.of(
        blocks=blocks or None,
        arch=_read("--arch", config.arch, options.arch) if options.arch else None,
        define=tuple(_read("-D", config.define, text) for text in options.define or ()) or None,
        include=tuple(options.include) if options.include else None,
        std=_read("--std", config.standard, options.std) if options.std else None,
        exclude=tuple(Glob(str(Path.cwd()), text) for text in options.exclude or ()) or None,
        compile_commands=options.compile_commands,
        jobs=options.jobs,
        timeout=options.timeout,
    )
