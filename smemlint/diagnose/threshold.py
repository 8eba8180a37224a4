"""From which ways on a conflict is worth a word."""

from __future__ import annotations

from smemlint.diagnose.model import Access

SLACK = 0.05
"""How much below the threshold still counts as reaching it: a warp with idle lanes at the edge of a block."""


def matters(worst: float | None, overall: float | None, min_ways: float) -> bool:
    """Whether a conflict is worth a word.

    Its worst visit reaches the threshold, and over all visits it costs at least a quarter of what the
    threshold means: with 2 ways, 1.25 times the ideal. A reduction that passes through 8-way in a few of
    its steps is told; a loop of a hundred visits that conflicts in one of them is not.
    """
    if worst is None or overall is None:
        return False
    return worst >= min_ways - SLACK and overall >= 1 + (min_ways - 1) / 4 - SLACK


def possible(access: Access, min_ways: float) -> bool:
    """Whether the upper end of the ways matters."""
    return matters(access.worst, access.ways, min_ways)


def proved(access: Access, min_ways: float) -> bool:
    """Whether the lower end of the ways matters, or that on one of its ways."""
    on_way = access.on_way[0] if access.on_way is not None else None
    return matters(access.worst_low, access.ways_low, min_ways) or matters(on_way, on_way, min_ways)
