"""All ways through a host function that start kernels in different shapes: it is run once for each.

A run tells which choices it met that were not settled; it is replaced by runs with the first of them settled
each way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from smemlint.evaluate.machine.paths import Choice, Paths
from smemlint.launch.model import Started

MOST_RUNS = 100
"""Runs of one function. What is not settled by then stays merged."""
MOST_WAYS = 16
"""Ways of one choice that are run."""


Run: TypeAlias = "Callable[[Paths], list[Started] | None]"
"""One run with some choices settled, which leaves the others open; None where nothing is left to spend."""


class Ways:
    """The runs of one function. A choice that makes no difference where it is met first is left open."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.runs = 0
        self.idle: set[int] = set()
        self.cut = False
        """Whether some ways were left out as nothing was left to spend."""
        self.first = Paths()
        self.seen = self._again(self.first) or []
        """What one run over all ways shows."""

    def all(self) -> list[Started]:
        """The launches of every way."""
        return _hanging_together(self._split({}, self.first, self.seen))

    def _again(self, paths: Paths) -> list[Started] | None:
        self.runs += 1
        return self.run(paths) if self.runs <= MOST_RUNS else None

    def _split(self, settled: dict[Choice, int], paths: Paths, seen: list[Started]) -> list[Started]:
        idle: set[int] = set()  # where nothing is started no choice makes a difference, elsewhere it may
        for choice, count in paths.outermost_first():
            if choice[0] in self.idle or choice[0] in idle or count > MOST_WAYS:
                continue
            ways = [({**settled, choice: n}, Paths({**settled, choice: n})) for n in range(count)]
            found = [self._again(below) for _, below in ways]
            if any(each is None for each in found):
                self.cut = True
                break
            if all(_keys(each or ()) == _keys(seen) for each in found):
                (self.idle if seen else idle).add(choice[0])
                continue
            return [
                s
                for (now, below), each in zip(ways, found, strict=True)
                for s in self._split(now, below, each or [])
            ]
        return seen


def _keys(found: Iterable[Started]) -> set[tuple[object, ...]]:
    return {key(s) for s in found}


def _hanging_together(found: Iterable[Started]) -> list[Started]:
    """Of launches at one place the shape of which is known on some ways only, none is sure."""
    unique = _distinct(found)
    vague = {site(s) for s in unique if not s.shaped}
    cut = {site(s) for s in unique if not s.whole}
    return [
        replace(s, guessed=True, shape_only=not s.guessed, whole=site(s) not in cut)
        if site(s) in vague
        else s
        for s in unique
    ]


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


def instance(s: Started) -> tuple[object, ...]:
    """Where a launch is written, with the template arguments of its kernel."""
    return *site(s), tuple(sorted(s.template.items(), key=lambda x: x[0]))


def site(s: Started) -> tuple[str, int, str]:
    """Where a launch is written, and of what."""
    return s.place.path, s.place.offset, s.kernel.id


def instances_told(found: Iterable[Started]) -> tuple[Started, ...]:
    """The launches without those that leave open of which instance they are, where others of the same place
    tell one: a template that nobody was seen to call has run with parameters that no program has."""
    found = tuple(found)
    at: dict[tuple[str, int, str], list[Started]] = {}
    for s in found:
        at.setdefault(site(s), []).append(s)
    return tuple(s for s in found if not _is_open(s, at[site(s)]))


def _is_open(s: Started, beside: Iterable[Started]) -> bool:
    names = s.kernel.template
    left = [p.name for p in names if not (p.name in s.template or p.pack or p.default is not None)]
    return bool(left) and any(
        f.shaped and all(n in f.template for n in left) and s.template.items() <= f.template.items()
        for f in beside
    )
