"""What is asked of the analysis: a file, and how to look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from smemlint.records import record


@record(frozen=True, slots=True)
class Options:
    """How one file is analysed. blocks: kernel name -> block shape, '' for every kernel."""

    min_ways: float = 2.0
    blocks: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    arch: str = "sm_90"
    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    std: str = ""
    compile_commands: str | None = None
    suggest: bool = True
    others: bool = True
    """Whether other files are read for what they say of launches."""
    added: bool = True
    """Whether rules of other distributions are asked."""
    exhibits: bool = False
    """Whether the maps of what conflicts are kept, for a report with pictures."""


@record(frozen=True, slots=True)
class Job:
    """One file to analyse.

    text: its content where it is not read from disk (stdin, an editor's buffer). seconds: its time limit.
    named: the user named this very file, and not a folder above it. instead: files that it may include, by
    absolute path, and what is read in place of what lies on disk.
    """

    path: str
    options: Options = Options()
    text: str | None = None
    seconds: float = 600.0
    named: bool = True
    instead: tuple[tuple[str, str], ...] = ()
