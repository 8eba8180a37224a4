"""Numbers that launches pass and that may be expected to change nothing, after the example of other launches.

A template is started with each of six types, once with a null pointer and once with another one: what that
pointer changes is not known beforehand, but the first types show it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import TypeAlias

from smemlint.ir import Function, Launch
from smemlint.score import Conflict, KernelAnalysis

EXAMPLES = 3
"""Pairs of launches that told the same, after which a difference is expected to change nothing."""
Passed: TypeAlias = dict[str, str]
Difference: TypeAlias = frozenset[tuple[str, frozenset[str | None]]]
Told: TypeAlias = tuple[Hashable, ...]


class Repeats:
    """What launches of kernels told, and which differences between them changed nothing. By id() of kernels,
    which somebody else keeps."""

    def __init__(self, after: int) -> None:
        """after: steps of evaluation of the file up to which nothing is expected."""
        self._left = after
        self._known: dict[int, list[tuple[Passed, Told]]] = defaultdict(list)
        """What the launches of a kernel passed, and told."""
        self._alike: dict[tuple[int, Difference], int] = defaultdict(int)
        """How many pairs that differ so told the same."""
        self._apart: set[tuple[int, Difference]] = set()
        """Differences that changed something once."""

    def take(self, kernel: Function, analysis: KernelAnalysis) -> None:
        """Note an evaluation that came to its end and told something."""
        self._left -= analysis.work
        if analysis.stopped or not analysis.conflicts:
            return
        passed, told = _passed(analysis.launch), tuple(map(_told, analysis.conflicts))
        for other, earlier in self._known[id(kernel)]:
            key = id(kernel), _difference(passed, other)
            if earlier == told:
                self._alike[key] += 1
            else:
                self._apart.add(key)
        self._known[id(kernel)].append((passed, told))

    def expects(self, kernel: Function, launch: Launch) -> bool:
        """Whether a launch differs from one that was evaluated only as others did that told the same, in a
        file that takes long."""
        if self._left > 0:
            return False
        passed = _passed(launch)
        keys = [(id(kernel), _difference(passed, other)) for other, _ in self._known.get(id(kernel), ())]
        return any(self._alike.get(key, 0) >= EXAMPLES and key not in self._apart for key in keys if key[1])


def _passed(launch: Launch) -> Passed:
    """What a launch says, by name."""
    shape = (launch.block, launch.grid, launch.dynamic, launch.assumed, launch.warp, launch.packed)
    told = {"": str((*shape, launch.captures, launch.taken))}
    told |= {f"<{name}>": str(value) for name, value in launch.template.items()}
    return told | {name: str(value) for name, value in launch.arguments.items()}


def _difference(a: Passed, b: Passed) -> Difference:
    """What two launches do not say alike: names, with both values."""
    names = a.keys() | b.keys()
    return frozenset((n, frozenset((a.get(n), b.get(n)))) for n in names if a.get(n) != b.get(n))


def _told(c: Conflict) -> Hashable:
    """What a launch tells of an access."""
    worst = c.worst.ways if c.worst is not None else None
    reason = c.reason.code if c.reason is not None else ""
    cost = c.wavefronts, c.wavefronts_low, c.ideal, c.executions, worst
    return c.site.place, c.site.op, c.site.width, c.joined, c.grade, reason, cost
