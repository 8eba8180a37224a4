"""The commands, one module each: `options` declares what it accepts, `run` does it and gives the exit status.

In: parsed arguments. Out: text on the streams and CLEAN, FINDINGS or FAILED. A module imports what is heavy
inside of `run`, so that `--help` and mistakes are told at once; `common/` holds what several commands accept,
and how they turn paths into reports.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast

CLEAN, FINDINGS, FAILED = 0, 1, 2

COMMANDS: Mapping[str, str] = {
    "check": "find bank conflicts (the default)",
    "merge": "join the reports of shards (check --shard I/N) into the one of a single run",
    "rank": "list kernels and lines by the wavefronts that they waste",
    "inspect": "list every shared-memory access with its cost",
    "banks": "draw which lane accesses which bank, for an access of a file or a typed one",
    "sweep": "show what an access costs over strides, paddings, constants or block widths",
    "why": "show how the number of an access is derived, or where certainty was lost",
    "layout": "show where the shared memory of each kernel lies, and how many blocks fit",
    "compare": "compare what Nsight Compute measured with what is predicted, line by line",
    "diff": "show what became better, worse and new between two revisions or reports",
    "explain": "explain a rule or a reason: what it means and what to do",
    "config": "show the settings that hold for a path, and where each was set",
    "rules": "list the rules",
    "clean": "remove the cache",
    "lsp": "serve an editor: findings, hovers, hints and fixes while a file is typed",
}
"""Every command and what it does, in the order of `--help`. The module has the command's name."""


class Command(Protocol):
    """What the module of a command holds."""

    def options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of the command."""

    def run(self, options: argparse.Namespace) -> int:
        """Do it; return the exit status. Raises UsageError, ConfigError, OutputError."""


def command(name: str) -> Command:
    """The module of one of COMMANDS."""
    return cast("Command", import_module(f"smemlint.commands.{name.replace('-', '_')}"))
