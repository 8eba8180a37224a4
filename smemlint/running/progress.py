"""How far a run is, on a terminal: a bar, the number of files that are done, and the one in work.

It begins when a run has lasted for a moment, so that a small one does not pay for it, and leaves nothing
behind. Nothing is shown where standard error is no terminal, nor on a build server.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smemlint.system.visible import visible_path

if TYPE_CHECKING:
    from rich.progress import Progress

AFTER = 0.4
"""Seconds of a run before the bar is drawn."""
_REDRAWN = 0.1


def wanted() -> bool:
    """Whether somebody looks at standard error."""
    return sys.stderr.isatty() and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"


class Bar:
    """The bar of one run. names: of all files, in order of their numbers."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._working: dict[int, None] = {}
        self._last: int | None = None
        self._done = 0
        self._began = time.monotonic()
        self._drawn = 0.0
        self._rich: Progress | None = None

    def given(self, index: int) -> None:
        self._working[index] = None
        self._last = index

    def done(self, index: int) -> None:
        self._working.pop(index, None)
        self._done += 1
        self.tick()

    def tick(self) -> None:
        now = time.monotonic()
        if now - self._began < AFTER or now - self._drawn < _REDRAWN:
            return
        self._drawn = now
        if self._rich is None:
            self._rich = _started(len(self._names))
        # The one that has been in work the longest; between two, the one before.
        first = next(iter(self._working), self._last)
        name = "" if first is None else visible_path(self._names[first])
        more = f" and {len(self._working) - 1} more" if len(self._working) > 1 else ""
        self._rich.update(self._rich.task_ids[0], completed=self._done, name=name, more=more, refresh=True)

    def hide(self) -> None:
        """Take the bar off the terminal, for other text; it comes back with the next tick."""
        if self._rich is not None:
            self._rich.stop()
            self._rich = None


def _started(total: int) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.table import Column

    made = Progress(
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn(
            "{task.fields[name]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")
        ),
        TextColumn("{task.fields[more]}", markup=False, table_column=Column(no_wrap=True)),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    made.add_task("", total=total, name="", more="")
    made.start()
    return made
