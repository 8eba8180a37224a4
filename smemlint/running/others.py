"""Read files for a run: the job's own, and others of its project that may tell launches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from smemlint.frontend import Known, ParseOptions, load_callers
from smemlint.ir import Module
from smemlint.source import SourceError, SourceFile, read_source, source_from_bytes
from smemlint.system import clock
from smemlint.system.workers import OutOfTimeError, at_stage

if TYPE_CHECKING:
    from smemlint.running.jobs import Job, Options

OTHERS = "other files"
"""The stage in which files are read for what they say of launches."""
OTHERS_BYTES = 4_000_000
"""Of text that clang reads for them, whatever the file itself took."""


def source_of(job: Job) -> SourceFile:
    path = os.path.abspath(job.path)  # noqa: PTH100  links stay as they are
    if job.text is None:
        return read_source(path)
    return source_from_bytes(path, as_bytes(job.text))


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def parse_options(options: Options, *, whole: bool = False) -> ParseOptions:
    return ParseOptions(
        include_dirs=options.includes,
        defines=options.defines,
        std=options.std or None,
        compile_commands=options.compile_commands,
        arch=int(options.arch.removeprefix("sm_")),
        whole=whole,
    )


def reader(
    options: Options, known: Known, until: float, of: str, files: frozenset[str]
) -> Callable[[str, frozenset[str]], Module | None]:
    """Reads another file of the project for what it says of launches in one (of: its path); None where that
    fails or is late. files: paths of those whose kernels may be evaluated there."""

    # The text that may be read is theirs together.
    known = replace(known, left=max(known.left, OTHERS_BYTES), until=until)

    @cache
    def read(path: str, wanted: frozenset[str]) -> Module | None:
        if clock.late(until):
            return None
        known.forget()  # what others lack does not make another unit of it: many files ask for the same
        try:
            # Should this end the process, the file is analysed without the others.
            with at_stage(OTHERS, until - clock.now()):
                return load_callers(read_source(path), parse_options(options), wanted, known, of, files)
        except OutOfTimeError:
            clock.end(until)
            return None
        except (SourceError, MemoryError, RecursionError):
            return None

    return read


def nobody(path: str, names: Iterable[str], far: bool = True) -> tuple[str, ...]:
    """Stands for `users_of` where a file is analysed alone."""
    return ()
