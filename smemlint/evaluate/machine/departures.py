"""Who may have left for a join point that is still to come, and what that says of those who stay.

Behind `if (n & 1) break;` the rest of the body runs where the condition does not hold, and so does the next
iteration: it is no more certain than the arm that left.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.values.choices import Way, taken
from smemlint.evaluate.values.lanes import some
from smemlint.evaluate.values.number import Int, Lanes, collapse

Mask: TypeAlias = NDArray[np.bool_]
Departures: TypeAlias = Mapping[Hashable, Mask]
"""By the undecided conditions on the way there: the lanes that left if these hold."""
Parts: TypeAlias = tuple[tuple[Hashable, Mask], ...]
"""Conditions that only some warps ran under, and which warps these are."""
WARP = 32


def together(several: Iterable[Departures]) -> dict[Hashable, Mask]:
    """All that left, for whichever join point."""
    found: dict[Hashable, Mask] = {}
    for departures in several:
        for conditions, lanes in departures.items():
            before = found.get(conditions)
            found[conditions] = lanes if before is None else before | lanes
    return found


def as_met(c: Int, known: Way, lanes: Mask) -> set[Hashable]:
    """What a condition asks of some lanes, beside the unknowns that are known where it holds: equal where it
    is the same, nothing where all of them meet it."""
    if all(s in known for s in c.symbols()):
        return set()
    const, terms = c.const, c.terms
    if not isinstance(const, int) or any(not isinstance(x, int) for x in terms.values()):
        if some(lanes):
            const = collapse(const, lanes)
            terms = {mono: collapse(x, lanes) for mono, x in terms.items()}
        if any(not isinstance(x, int) for x in (const, *terms.values())):
            parts = [(tuple([s.order for s in mono]), _digest(x, lanes)) for mono, x in terms.items()]
            return {(_digest(const, lanes), frozenset(parts))}
        terms = {mono: x for mono, x in terms.items() if x}
    one = Int(const, c.type, terms)
    found = taken(one, truth=True)
    return {(s.order, n) for s, n in found.items()} if found else {one.key()} if terms else set()


def _digest(x: Lanes, lanes: Mask) -> int:
    return x if isinstance(x, int) else hash(x[lanes].tobytes())


def stayed(departures: Departures, known: Set[object], must: Mask) -> tuple[list[Hashable], Parts]:
    """What those who are here did not leave under: all warps of them, and some. known: the conditions that
    hold here, each an unknown and its value; must: lanes that surely run here, if all conditions hold."""
    whole: list[Hashable] = []
    parts: list[tuple[Hashable, Mask]] = []
    refuted = {_contrary(c) for c in known} - {None}
    possible = [c for c in departures if not isinstance(c, frozenset) or refuted.isdisjoint(c)]
    if not possible:
        return whole, ()
    # All at once: behind a search there are dozens, and each access asks.
    left = np.array([departures[c] for c in possible]) & must
    warps: Mask = np.asarray(left.reshape(len(possible), -1, WARP).any(axis=2))
    absent = ~np.asarray(must.reshape(-1, WARP).any(axis=1))
    met = np.asarray(warps.any(axis=1)).tolist()
    everywhere = np.asarray((warps | absent).all(axis=1)).tolist()
    for i, conditions in enumerate(possible):
        key: Hashable = ("stayed", conditions)
        if met[i] and everywhere[i]:
            whole.append(key)
        elif met[i]:
            parts.append((key, warps[i]))
    return whole, tuple(parts)


def _contrary(condition: object) -> tuple[int, int] | None:
    """That an unknown has the other value; None of what is no 0/1 unknown."""
    match condition:
        case (int() as order, 0 | 1 as value):
            return order, 1 - value
    return None
