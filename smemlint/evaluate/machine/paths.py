"""Ways through host code that are run one by one: the choices of one run.

`threads = 128; if (n > 128) threads = 256;` of an unknown n gives two shapes, not a value between them. A run
notes where it met such a choice, and is made again with either arm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from smemlint.evaluate.values.number import Int
from smemlint.records import record

Choice: TypeAlias = "tuple[int, int]"
"""id() of what chooses, and how often it was met before in the run."""


@record(slots=True)
class Paths:
    """One run's choices. settled: what they are made to be. open: those that were met besides, in that order,
    and between how many ways."""

    settled: Mapping[Choice, int] = field(default_factory=dict)
    open: dict[Choice, int] = field(default_factory=dict)
    met: dict[int, int] = field(default_factory=dict)
    held: list[tuple[Int, int]] = field(default_factory=list)
    """Conditions that were settled, and what they are."""

    def at(self, node: object) -> Choice:
        """The choice that is met now."""
        count = self.met.get(id(node), 0)
        self.met[id(node)] = count + 1
        return id(node), count

    def copy(self) -> Paths:
        """Return what is noted so far."""
        return Paths(self.settled, {**self.open}, {**self.met}, [*self.held])

    def become(self, earlier: Paths) -> None:
        """Go back to what was noted when the copy was made."""
        self.open, self.met = earlier.open, earlier.met
        self.held = earlier.held

    def leave_open(self, choice: Choice, ways: int = 2) -> None:
        """Note a choice that nothing settles, and between how many ways it is."""
        self.open.setdefault(choice, ways)
        self.met.setdefault(choice[0], 1)

    def outermost_first(self) -> list[tuple[Choice, int]]:
        """Return what was left open, in the order in which it was met: that of an `else if` behind its `if`,
        on the one way of which it matters."""
        begun = {node: i for i, node in enumerate(self.met)}
        return sorted(self.open.items(), key=lambda c: begun.get(c[0][0], len(begun)))
