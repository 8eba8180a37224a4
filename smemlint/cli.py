"""The command line: the command is chosen, its options are read, its exit status is returned.

Exit status: 0 clean, 1 findings at or above the gate, 2 usage, configuration, or a file that could not be
analysed. Nothing heavy is imported before it is known that files will be analysed.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from smemlint import __version__
from smemlint.commands import CLEAN, COMMANDS, FAILED, command
from smemlint.commands.common.options import EPILOG
from smemlint.commands.common.usage import Parser, UsageError
from smemlint.config import ConfigError
from smemlint.system import streams
from smemlint.system.stopping import Stopped, stopped_by_signals
from smemlint.system.streams import OutputError, say


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
        _refuse_unknown(arguments[0])
        arguments.insert(0, "check")
    known = _parser(arguments[0] if arguments else "")
    if not arguments:
        say(known.format_help(), lines=True)
        return FAILED
    options, left = known.parse_known_args(arguments)
    if left:
        _refuse_left(left, arguments[0])
    return command(options.command).run(options)


def _refuse_left(left: list[str], name: str) -> NoReturn:
    """Raise UsageError for what no option took, with the nearest option of the command."""
    import difflib

    plain = Parser(prog=f"smemlint {name}")
    command(name).options(plain)
    known = sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", plain.format_help())))
    wrong = next((word for word in left if word.startswith("--")), "")
    near = difflib.get_close_matches(wrong.partition("=")[0], known, n=1) if wrong else []
    nearest = f"; the nearest option is `{near[0]}`" if near else ""
    raise UsageError(f"unrecognized arguments: {' '.join(left)}{nearest} (see `smemlint {name} --help`)")


def _refuse_unknown(word: str) -> None:
    """Raise UsageError for a word that is no path and nearly a command."""
    if not re.fullmatch("[a-z][a-z-]*", word) or os.path.lexists(word):
        return
    import difflib

    near = difflib.get_close_matches(word, COMMANDS, n=1)
    if near:
        raise UsageError(f"no command and no path is called `{word}`; the nearest command is `{near[0]}`")


def _parser(chosen: str) -> Parser:
    """All commands; the options of the chosen one."""
    whole = Parser(
        prog="smemlint",
        description="Finds bank conflicts of shared memory in CUDA source.",
        epilog=f"`smemlint PATH...` is `smemlint check PATH...`.\n\n{EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"smemlint {__version__}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, text in COMMANDS.items():
        one = commands.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=EPILOG if name not in ("explain", "rules", "config", "diff") else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name == chosen:
            command(name).options(one)
    return whole
