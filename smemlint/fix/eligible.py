"""What a search for fixes is asked for, so that nothing of it is loaded where there is nothing to ask."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smemlint.evaluate.model import SharedArray
    from smemlint.score.model import Conflict, KernelAnalysis

Key = tuple[str, int, str]
"""Path, byte offset and name of an array's declaration."""


def array_key(array: SharedArray) -> Key:
    """The same for an array in every kernel instance, launch and configuration."""
    return (array.place.path, array.place.offset, array.name)


def may_conflict(analyses: Iterable[KernelAnalysis]) -> bool:
    """Whether some access may pay more than it has to; if not, no array gets a suggestion."""
    return any(_may_pay(conflict) for analysis in analyses for conflict in analysis.conflicts)


def may_be_padded(analysis: KernelAnalysis) -> bool:
    """Whether some array has rows that could be padded."""
    return any(len(a.dims) > 1 and not a.dynamic for a in analysis.arrays.values())


def _may_pay(conflict: Conflict) -> bool:
    """What is joined or runs in several ways is scored another way by the search."""
    trace = conflict.trace
    plain = trace.joined is None and trace.groups is None and trace.ways == 1
    return not plain or (conflict.wavefronts or 0) > (conflict.ideal or 0)
