"""A translation unit as the stages behind the parser know it."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import field

from clang.cindex import TranslationUnit

from smemlint.frontend.heal.uses import Problem
from smemlint.frontend.project.includes import scan_file
from smemlint.frontend.text.coverage import SkippedText
from smemlint.frontend.text.healed import VIRTUAL
from smemlint.records import record
from smemlint.source import SourceFile


@record(frozen=True)
class Unit:
    """One translation unit in one configuration.

    path: the main file, absolute, as clang names it. files: project files that were read, the main file
    first, absolute. configuration: '' or the macros that were switched, as the user would write them.
    healed: name -> how it was declared (`type`, `value`, `function`, `namespace`, `macro` ...) for names
    that the text uses and nothing declares. problems: errors that are left.
    """

    tu: TranslationUnit
    source: SourceFile
    path: str
    files: tuple[str, ...]
    missing_includes: tuple[str, ...] = ()
    configuration: str = ""
    healed: dict[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    rounds: int = 1
    skipped: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """Per file, the byte ranges that the preprocessor left out."""
    refused: tuple[tuple[str, str], ...] = ()
    """Included files that are not read, and why."""
    instantiated: Callable[[], TranslationUnit | None] = lambda: None
    """Parses the same once more, and lets clang make the instances of functions that the text asks for. None
    where names are healed: recursions of templates that an unknown constant ends would not end."""

    def texts(self) -> tuple[SkippedText, ...]:
        """The project files with what this configuration skips in them, for counting what the text shows."""
        return tuple(
            SkippedText(
                path, self.source.bytes if path == self.path else read_file(path), self.skipped.get(path, ())
            )
            for path in self.files
        )

    def is_project_file(self, path: str | None) -> bool:
        """False for the prelude and for healed names."""
        return path is not None and not is_virtual(path)


def is_virtual(path: str) -> bool:
    return path.startswith(VIRTUAL) or (
        path.endswith(".cuh") and os.path.basename(path).startswith("prelude-")
    )


def read_file(path: str) -> bytes:
    """The bytes that clang saw of an included file; nothing of one that is virtual, gone or refused."""
    return scan_file(path).data
