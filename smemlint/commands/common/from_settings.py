"""From settings to what is asked of the analysis, and to which findings are shown: for runs and editors."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from smemlint.config import Settings

if TYPE_CHECKING:
    from smemlint.running.jobs import Options


def options_of(settings: Settings, *, suggest: bool = True, exhibits: bool = False) -> Options:
    """How a file with these settings is analysed."""
    from smemlint.running.jobs import Options

    return Options(
        min_ways=settings.choice.min_ways or 0,
        blocks=settings.reading.blocks or {},
        arch=settings.reading.arch or "",
        defines=settings.reading.define or (),
        includes=settings.reading.include or (),
        std=settings.reading.std or "",
        compile_commands=settings.reading.compile_commands,
        suggest=suggest,
        exhibits=exhibits,
    )


def chosen_of(settings: Settings, kernel: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The (select, ignore) lists that hold for a kernel."""
    theirs = [
        code
        for section in settings.per_kernel or ()
        if any(fnmatchcase(kernel, name) for name in section.kernels)
        for code in section.ignore
    ]
    return settings.choice.select or (), (*(settings.choice.ignore or ()), *theirs)
