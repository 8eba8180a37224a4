"""How late it is: the one place where computing time ends a stage of the analysis.

Counts of work decide what is analysed; the clock comes after them. What it ended on one machine another may
do, so whoever keeps a result asks `ended` first.
"""

from __future__ import annotations

import time

_late: list[float] = []
"""The ends that were reached since `begin`."""


def now() -> float:
    """Return the computing time of this process, in seconds."""
    return time.process_time()


def late(until: float) -> bool:
    """Whether a stage is to end; remembered when it is. until: computing time of the process, in seconds."""
    if time.process_time() <= until:
        return False
    end(until)
    return True


def end(until: float = 0.0) -> None:
    """Remember that time ended something."""
    if not _late:
        _late.append(until)


def begin() -> None:
    """Forget what time has ended: a new file begins."""
    _late.clear()


def ended() -> bool:
    """Whether time has ended anything since `begin`."""
    return bool(_late)
