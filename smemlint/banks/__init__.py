"""What one warp request costs: 32 banks of 4 bytes, as silicon counts it.

In: an operation, a width and byte offsets. Out: wavefronts, ideal, ways. Imports nothing of the project but
`records`.

`wavefronts` is the definition, in plain integers, for one request; `cost_of` is the same rule for many
requests at once (numpy); `wavefront_range` and `bounds` prove lower and upper ends where lanes or addresses
depend on data; `architecture` is the table of what an architecture gives a block. How the rule was measured:
docs/dev/banks.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smemlint.banks.arch import ARCHITECTURES, Arch, architecture
from smemlint.banks.request import (
    BANK_CYCLE,
    BANKS,
    CAS_LOOP,
    CAS_LOOP_LOAD,
    CAS_LOOPS,
    LANES,
    ONE_ROUND,
    OPERATIONS,
    WORD,
    check,
)
from smemlint.banks.rule import CasLoop, Cost, cas_loop, wavefronts

if TYPE_CHECKING:
    from smemlint.banks.loops import cas_loop_cost, cas_loop_worst
    from smemlint.banks.passes import Pass, Served, schedule
    from smemlint.banks.ranges import Bounds, Span, bounds, wavefront_range
    from smemlint.banks.vector import cost_of, ideal_of

# numpy takes longer to import than a single request takes to score; it is loaded when a name below is first
# used.
_LATER = {
    "cas_loop_cost": "smemlint.banks.loops",
    "cas_loop_worst": "smemlint.banks.loops",
    "cost_of": "smemlint.banks.vector",
    "ideal_of": "smemlint.banks.vector",
    "Pass": "smemlint.banks.passes",
    "Served": "smemlint.banks.passes",
    "schedule": "smemlint.banks.passes",
    "Bounds": "smemlint.banks.ranges",
    "Span": "smemlint.banks.ranges",
    "bounds": "smemlint.banks.ranges",
    "wavefront_range": "smemlint.banks.ranges",
}

__all__ = [
    "ARCHITECTURES",
    "BANKS",
    "BANK_CYCLE",
    "CAS_LOOP",
    "CAS_LOOPS",
    "CAS_LOOP_LOAD",
    "LANES",
    "ONE_ROUND",
    "OPERATIONS",
    "WORD",
    "Arch",
    "Bounds",
    "CasLoop",
    "Cost",
    "Pass",
    "Served",
    "Span",
    "architecture",
    "bounds",
    "cas_loop",
    "cas_loop_cost",
    "cas_loop_worst",
    "check",
    "cost_of",
    "ideal_of",
    "schedule",
    "wavefront_range",
    "wavefronts",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
