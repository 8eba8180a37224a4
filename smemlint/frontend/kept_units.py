"""Units that files of one run share: who starts the kernels of many files is parsed once a process.

A unit is given out again where a new parse would read the same: the same text, options, configuration and
healed names to begin with, and the disk as it was. What it cost counts each time, so that budgets end where
they would.
"""

from __future__ import annotations

import atexit
from collections.abc import Hashable
from dataclasses import field
from typing import TYPE_CHECKING

from smemlint.frontend.project.includes import scan_file
from smemlint.frontend.text.healed import HealedNames
from smemlint.frontend.unit import Unit
from smemlint.records import record
from smemlint.system.observed import Facts, note_all, still_holds

if TYPE_CHECKING:
    from smemlint.frontend.lower.module import Kept

MOST_TEXT = 2_500_000
"""Bytes of text, included files too, that the units stand for which are kept; the longest unused go first."""


@record(frozen=True, slots=True, eq=False)
class KeptUnit:
    """A unit and what its parse did. names: what is healed at its end; size: bytes of text that clang read in
    all its rounds; texts: by path, what was read; facts: what it rests on beside these; lowered: the modules
    made of it so far, by what was asked for."""

    unit: Unit
    names: HealedNames
    size: int
    texts: dict[str, bytes]
    facts: Facts = field(default_factory=dict)
    lowered: Kept = field(default_factory=dict)

    def is_current(self) -> bool:
        """Whether the disk would answer the same again."""
        if any(scan_file(path).data != data for path, data in self.texts.items()):
            return False
        return all(still_holds(question, answer) for question, answer in self.facts.items())


class KeptUnits:
    """The units of one process."""

    def __init__(self) -> None:
        self._units: dict[Hashable, KeptUnit] = {}

    def find(self, key: Hashable, most: int) -> KeptUnit | None:
        """Return the unit of that key, if it is current and took less text than `most` bytes."""
        kept = self._units.pop(key, None)
        if kept is None or not kept.is_current():
            return None
        self._units[key] = kept
        if kept.size >= most:
            return None
        note_all(kept.facts)
        return kept

    def keep(self, key: Hashable, kept: KeptUnit) -> None:
        """Keep a unit, and let go of others beyond MOST_TEXT."""
        self._units[key] = kept
        sizes = [sum(map(len, k.texts.values())) for k in self._units.values()]
        for old in list(self._units):
            if sum(sizes) <= MOST_TEXT:
                return
            del self._units[old], sizes[0]

    def clear(self) -> None:
        self._units.clear()

    def lowered_of(self, unit: Unit) -> Kept:
        """Return the modules made of a unit so far, to be added to; of one that is not kept, none."""
        return next((kept.lowered for kept in self._units.values() if kept.unit is unit), {})


KEPT = KeptUnits()
atexit.register(KEPT.clear)  # clang's binding cannot give units back once Python takes itself apart
