"""What a site asks of shared memory in one block, by the loops of unknown length around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import Trace
from smemlint.score.load import Load, nominal
from smemlint.score.requests import Costs
from smemlint.score.totals import running


def loads_of(trace: Trace, cost: Costs) -> tuple[Load, ...]:
    """The upper end of a site's cost: number d is what stands in d loops of unknown length, for one iteration
    of each. Of several ways that a choice may go, the dearest."""
    repeats = trace.repeats
    weights = running(trace, cost)
    runs = weights if repeats is None else weights * repeats.times
    open_ = np.zeros(len(runs), dtype=np.int64) if repeats is None else repeats.depth
    active = (trace.offsets >= 0).any(axis=1) * runs
    columns = (cost.high * runs, cost.ideal * runs, active, open_)
    ways = zip(*(np.asarray(c).reshape(trace.ways, -1) for c in columns), strict=True)
    found = [
        tuple(
            Load(*(_number(c[o == d].sum()) for c in (high, ideal, requests))) for d in range(_deepest(o) + 1)
        )
        for high, ideal, requests, o in ways
    ]
    return max(found, key=lambda loads: nominal(load.wavefronts for load in loads), default=())


def _deepest(open_: NDArray[np.int64]) -> int:
    return int(open_.max()) if len(open_) else -1


def _number(value: float) -> float:
    """Whole where it is whole but for rounding."""
    nearest = round(float(value))
    return float(nearest) if abs(value - nearest) < 1e-6 * max(1.0, abs(value)) else float(value)
