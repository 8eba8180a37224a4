"""What the commands that draw have in common: one file or a typed access as a job, a question put to a
worker, and where the picture goes."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from smemlint.commands import FAILED
from smemlint.commands.common.jobs import jobs_of
from smemlint.commands.common.options import reading_options, source_settings
from smemlint.commands.common.usage import UsageError
from smemlint.config import TIMEOUT, short
from smemlint.configurations import Configurations
from smemlint.patterns import pattern
from smemlint.system import streams
from smemlint.system.streams import OutputError, put, say

if TYPE_CHECKING:
    from smemlint.diagnose.model import Problem
    from smemlint.running.jobs import Job
    from smemlint.view.choose import Spot

Question = TypeVar("Question")
Answer = TypeVar("Answer")

_SPOT = pattern(r"(.+?):([0-9]{1,9})(?::([0-9]{1,9}))?$")
DEFAULT_WIDTH = 80


def picture_options(parser: argparse.ArgumentParser, *formats: str) -> None:
    """Declare the format and the file of a picture, and how sources are read."""
    parser.add_argument(
        "--output-format", choices=formats, help=f"default: by the file of -o, else {formats[0]}"
    )
    parser.add_argument("-o", dest="file", metavar="FILE", help="write it to a file, not to stdout")
    reading_options(parser)


def format_of(options: argparse.Namespace, *formats: str) -> str:
    """The format that is asked for, in words or by the file's suffix."""
    suffix = Path(options.file).suffix.lower().removeprefix(".") if options.file else ""
    if options.output_format:
        return str(options.output_format)
    return suffix if suffix in formats else formats[0]


def spot_of(text: str) -> tuple[str, int, int]:
    """File, line and column (0: none) of `FILE:LINE` or `FILE:LINE:COLUMN`. Raises UsageError."""
    found = _SPOT.fullmatch(text)
    if found is None or int(found[2]) == 0:
        raise UsageError(f"`{short(text)}`: expected FILE:LINE or FILE:LINE:COLUMN")
    return found[1], int(found[2]), int(found[3] or 0)


def file_job(options: argparse.Namespace, path: str) -> Job | None:
    """The job for one file; None where it cannot be read, which is told."""
    options.paths = [path]
    configurations = Configurations(source_settings(options), options.config)
    jobs, missing = jobs_of(options, configurations, suggest=False)
    for report in missing:
        for problem in report.problems:
            say(str(problem))
    for broken, (error, _) in configurations.broken.items():
        say(f"error: {broken}: {error.message}")
    if Path(path).is_dir():
        raise UsageError(f"`{short(path)}` is a folder; expected a file")
    return jobs[0] if jobs else None


def access_asked(options: argparse.Namespace, constant: str = "", value: int = 0) -> tuple[Job, Spot] | None:
    """The job and the spot of `what`: `FILE:LINE[:COLUMN]`, or a declaration and an access. None where the
    file cannot be read, which is told. constant, value: what a typed program defines. Raises UsageError."""
    from smemlint.api import shown
    from smemlint.view.choose import Spot

    if len(options.what) > 2:
        raise UsageError("expected FILE:LINE, or a declaration and an access, each in quotes")
    if len(options.what) == 2:
        from smemlint.view.typed import PATH, TypedError, program

        try:
            declaration, access = options.what
            typed = program(declaration, access, constant, value)
        except TypedError as error:
            raise UsageError(str(error)) from None
        return typed_job(options, PATH, typed.text), Spot(PATH, typed.line)
    path, line, column = spot_of(options.what[0])
    found = file_job(options, path)
    return None if found is None else (found, Spot(shown(found.path), line, column, options.kernel or ""))


def nothing(
    options: argparse.Namespace, spot: Spot, lines: Sequence[int], problems: Sequence[Problem]
) -> int:
    """Say that there is no access at the spot, and where the nearest ones are; the exit status."""
    from smemlint.system.visible import visible_path

    if problems:
        return FAILED
    if len(options.what) == 2:
        raise UsageError(f"no shared-memory access was read from `{options.what[1]}`")
    where = f"error: {visible_path(spot.path)}:{spot.line}: no shared-memory access was seen here"
    if not lines:
        say(f"{where}, nor anywhere in this file")
        return FAILED
    near = sorted(sorted(lines, key=lambda n: abs(n - spot.line))[:5])
    say(f"{where}; the nearest lines with one: {', '.join(map(str, near))}")
    return FAILED


def typed_job(options: argparse.Namespace, name: str, text: str) -> Job:
    """The job for a program that was typed."""
    from smemlint.running.jobs import Job, Options

    settings = Configurations(source_settings(options), options.config).shown(".")
    return Job(
        name,
        Options(
            blocks=settings.reading.blocks or {},
            arch=settings.reading.arch or "",
            defines=settings.reading.define or (),
            includes=settings.reading.include or (),
            std=settings.reading.std or "",
            others=False,
        ),
        text,
        settings.timeout or TIMEOUT,
    )


def asked(task: Callable[[tuple[Job, Question]], Answer], job: Job, question: Question) -> Answer | None:
    """The worker's answer; None where there is none, which is told."""
    from smemlint.diagnose.model import Problem
    from smemlint.look import ask

    answer = ask(task, job, question)
    if isinstance(answer, Problem):
        say(str(answer))
        return None
    return answer


def width() -> int:
    """Columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns if _wide() else DEFAULT_WIDTH


def _wide() -> bool:
    return sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()


def color(options: argparse.Namespace) -> bool:
    """Whether stdout takes colours."""
    if options.file or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def deliver(options: argparse.Namespace, text: str) -> bool:
    """Write a picture where it belongs; False where that failed, which is told."""
    if not options.file:
        put(text)
        return True
    try:
        streams.write_file(Path(options.file), text.encode("utf-8", errors="replace"))
    except (OSError, ValueError, OutputError) as error:
        said = error.strerror if isinstance(error, OSError) else None
        say(f"error: {options.file}: cannot be written: {(said or str(error)).lower()}")
        return False
    return True
