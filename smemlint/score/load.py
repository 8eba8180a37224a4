"""Costs of one block by the loops of unknown length around a site, as plain numbers."""

from __future__ import annotations

from collections.abc import Iterable

from smemlint.records import record

NOMINAL = 32
"""Iterations that a loop of unknown length stands for where numbers must be compared."""


@record(frozen=True, slots=True)
class Load:
    """Wavefronts, the ideal, and requests (of warps) of one block."""

    wavefronts: float = 0.0
    ideal: float = 0.0
    requests: float = 0.0


def nominal(by_depth: Iterable[float]) -> float:
    """One number, with NOMINAL iterations for each loop of unknown length."""
    return sum(value * float(NOMINAL) ** depth for depth, value in enumerate(by_depth))
