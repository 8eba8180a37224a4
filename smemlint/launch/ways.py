"""All ways through a host function that start kernels in different shapes: it is run once for each.

A run tells which choices it met that were not settled; it is replaced by runs with the first of them settled
either way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from smemlint.evaluate.machine.paths import Choice, Paths
from smemlint.launch.model import Started
from smemlint.records import record

MOST_RUNS = 40
"""Runs of one function. What is not settled by then stays merged."""
MOST_WAYS = 16
"""Ways of one choice that are run."""


@record(frozen=True, slots=True)
class _Run:
    settled: dict[Choice, int]
    before: tuple[Started, ...]
    """What was seen when its last choice was open."""


def each_way(run: Callable[[Paths], list[Started] | None]) -> list[Started]:
    """The launches of every way. run: one run with these choices; None where nothing is left to spend."""
    waiting = deque([_Run({}, ())])
    found: list[Started] = []
    runs = 0
    while waiting:
        at = waiting.popleft()
        paths = Paths(at.settled)
        seen = run(paths) if runs < MOST_RUNS else None
        runs += 1
        if seen is None:
            found += at.before
            continue
        choice, count = next(iter(paths.open.items()), (None, 0))
        if choice is None or count > MOST_WAYS:
            found += seen
        else:
            waiting += [_Run({**at.settled, choice: way}, tuple(seen)) for way in range(count)]
    return _hanging_together(found) if runs > 1 else found


def _hanging_together(found: Iterable[Started]) -> list[Started]:
    """Of launches at one place the shape of which is known on some ways only, none is sure."""
    unique = _distinct(found)
    vague = {site(s) for s in unique if None in s.block}
    return [replace(s, guessed=True) if site(s) in vague else s for s in unique]


def _distinct(found: Iterable[Started]) -> list[Started]:
    unique: dict[tuple[object, ...], Started] = {}
    for s in found:
        unique.setdefault(key(s), s)
    return list(unique.values())


def key(s: Started) -> tuple[object, ...]:
    """Equal keys: nothing tells two launches apart."""
    template = tuple(sorted(s.template.items(), key=lambda x: x[0]))
    shapes = tuple(c.block for c in s.likely)
    return (
        s.kernel.id, s.block, shapes, s.grid, s.dynamic, template, tuple(sorted(s.arguments.items())),
        s.place.path, s.place.offset,
    )  # fmt: skip


def site(s: Started) -> tuple[str, int, str]:
    """Where a launch is written, and of what."""
    return s.place.path, s.place.offset, s.kernel.id
