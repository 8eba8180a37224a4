"""Which variables an address is made of, as far as a compiler has to treat each on its own.

Two addresses that are bent (`x + (x >> 5)`) have a distance that the compiler knows only where both are made
of the same values; that their numbers differ by a constant is more than it sees.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from smemlint.ir import Assign, Declare, Expr, Function, Loop, Name
from smemlint.ir.memo import by_identity
from smemlint.ir.walk import walk


def roots_of(node: Expr | None, function: Function | None) -> frozenset[str]:
    """Variables that are set more than once, but for loop counters; others stand for their value."""
    if node is None or function is None:
        return frozenset()
    values, several = _table(function)
    found: set[str] = set()
    seen: set[str] = set()
    pending = [n.id for n in walk(node) if isinstance(n, Name)]
    while pending:
        id = pending.pop()
        if id in seen:
            continue
        seen.add(id)
        if id in several:
            found.add(id)
        elif id in values:
            pending.extend(n.id for n in walk(values[id]) if isinstance(n, Name))
    return frozenset(found)


@by_identity
def _table(function: Function) -> tuple[dict[str, Expr], frozenset[str]]:
    values: dict[str, Expr] = {}
    times: Counter[str] = Counter()
    counters: set[str] = set()
    for n in walk(function.body):
        if isinstance(n, Declare) and n.var.init is not None:
            values[n.var.id] = n.var.init
            times[n.var.id] += 1
        elif isinstance(n, Assign) and isinstance(n.target, Name):
            values[n.target.id] = n.value
            times[n.target.id] += 1 if n.op == "=" else 2
        elif isinstance(n, Loop) and n.step is not None:
            counters |= {x.id for x in walk(n.step) if isinstance(x, Name)}
    return values, frozenset(id for id, n in times.items() if n > 1 and id not in counters)


def bent(lanes: NDArray[np.int64], active: NDArray[np.bool_], block: tuple[int, int, int]) -> bool:
    """Whether an address does not grow by one step along x, one along y and one along z.

    lanes, active: shape (threads,), the block's first, x fastest.
    """
    shape = block[::-1]
    size = block[0] * block[1] * block[2]
    grid, here = lanes[:size].reshape(shape), active[:size].reshape(shape)
    for axis in range(3):
        steps = np.diff(grid, axis=axis)
        both = np.take(here, range(1, shape[axis]), axis) & np.take(here, range(shape[axis] - 1), axis)
        chosen = steps[both]
        if chosen.size and bool((chosen != chosen[0]).any()):
            return True
    return False
