"""What host code was seen to do: launches, and what may be spent on looking for them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field
from typing import Any

from smemlint.ir import Function, Place, TemplateValue, Type
from smemlint.launch.open import Candidate
from smemlint.records import record

ALL_HOST_STEPS = 80_000
"""Evaluation steps for all runs of host code that one file asks for."""


@record(frozen=True, slots=True)
class Started:
    """One launch that host code was seen to make. block entries None: not known; likely: shapes to try then,
    best first."""

    kernel: Function
    block: tuple[int | None, int | None, int | None]
    likely: tuple[Candidate, ...]
    grid: tuple[int | None, int | None, int | None]
    dynamic: int | None
    template: Mapping[str, TemplateValue]
    arguments: Mapping[str, int]
    place: Place
    packed: tuple[tuple[Type, int | None], ...] = ()
    captures: Mapping[str, tuple[Type, int | None]] = field(default_factory=dict)
    """Both as in Launch."""
    guessed: bool = False
    """It is one of several that may be made here: types that a macro of an unknown header chooses are put in,
    a pointer may lead to other kernels, or other ways through host code have shapes that are not known."""
    shape_only: bool = False
    """Whether that is so for other ways through host code alone."""
    filled: bool = False
    """As in Launch."""
    defaults: frozenset[str] = frozenset()
    """As in Launch."""
    whole: bool = False
    """Whether the threads along x, of unknown number, make whole warps."""

    @property
    def stated(self) -> bool:
        """Whether host code says which shapes it chooses between: as good as a shape that is known."""
        return bool(self.likely) and all(c.stated for c in self.likely)

    @property
    def shaped(self) -> bool:
        return None not in self.block or self.stated or any(c.default for c in self.likely)


@record(slots=True)
class Allowance:
    """Evaluation steps that are left for the host code of a file and of the files that it is linked with.
    short: whether some of it was not run to its end. kept: what runs of host functions showed so far
    (`KeptRuns`)."""

    steps: int = ALL_HOST_STEPS
    until: float = float("inf")
    """Computing time of the process at which no more host code is run."""
    short: bool = False
    kept: dict[Hashable, Any] = field(default_factory=dict)
