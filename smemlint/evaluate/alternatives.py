"""Requests of one access that never run together: the cases of a `switch` that call one lambda."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

MOST_WAYS = 1024
MOST_ASKED = 1 << 16
"""Ways that are told apart, and times groups; where there are more, all requests are taken to run."""
Bools: TypeAlias = NDArray[np.bool_]
_Values: TypeAlias = Mapping[int, int]
Seen: TypeAlias = dict[int, tuple[Hashable, frozenset[tuple[str, int]]]]
"""By id() of a condition: itself, and what decides it. Sites of a kernel have most of them in common."""


def alternatives(
    keys: Sequence[Hashable], choices: Mapping[int, int], seen: Seen | None = None
) -> tuple[Bools, ...]:
    """Which groups of requests run on each way, (ways, groups), for each lot of groups whose conditions have
    unknowns in common; nothing of lots that may all run. keys: the conditions on the way to each group;
    choices: by unknown, of which at most one is 1; seen: what was asked for other sites under these."""
    asked = [_all_of(key) for key in keys]
    seen = {} if seen is None else seen
    unknowns = [frozenset().union(*(_unknowns(c, choices, seen) for c in conditions)) for conditions in asked]
    found = []
    for lot in _lots(unknowns):
        ways = _assignments(frozenset().union(*(unknowns[g] for g in lot)), choices)
        if ways is None or len(ways) * len(lot) > MOST_ASKED:
            continue
        values = {order: np.array([way[order] for way in ways], dtype=bool) for order in ways[0]}
        runs, held = np.zeros((len(ways), len(keys)), dtype=bool), dict[int, Bools]()
        for g in lot:
            runs[:, g] = np.logical_and.reduce([_holds(c, values, held) for c in asked[g]])
        # As bits, eight times fewer columns are compared, in the same order.
        told = np.unique(np.packbits(runs, axis=1), axis=0)
        runs = np.unpackbits(told, axis=1, count=len(keys)).astype(bool)
        if not runs[:, lot].all(axis=1).any():
            found.append(runs)
    return tuple(found)


def _all_of(key: Hashable) -> tuple[Hashable, ...]:
    """The conditions that all hold for a group: those of all its warps, and of its own."""
    if isinstance(key, tuple) and key:
        return (*_all_of(key[0]), *key[1:])
    return tuple(key) if isinstance(key, frozenset) else ()


def _unknowns(condition: Hashable, choices: Mapping[int, int], seen: Seen) -> frozenset[tuple[str, int]]:
    """What decides a condition: unknowns, and the choices that they are of. seen: what was asked before, for
    conditions hold the same ones many times over."""
    # Who stayed was asked of others at each access; what they left under is one object.
    stays = isinstance(condition, tuple) and condition[0] == "stayed"
    one: Any = condition[1] if stays else condition  # type: ignore[index]
    known = seen.get(id(one))
    if known is not None:
        return known[1]
    match one:
        case (int() as order, int()):
            orders = {order}
        case (int(), tuple() as terms):
            orders = {order for mono, _ in terms for order in mono}
        case _:
            orders = set()
    found = frozenset(("choice", choices[o]) if o in choices else ("unknown", o) for o in orders)
    if stays:
        found = found.union(*{_unknowns(c, choices, seen) for c in one})
    seen[id(one)] = one, found
    return found


def _lots(unknowns: Sequence[frozenset[tuple[str, int]]]) -> list[list[int]]:
    """Groups, by what they have in common."""
    lots: list[tuple[frozenset[tuple[str, int]], list[int]]] = []
    for group, own in enumerate(unknowns):
        if own:
            meet = [lot for lot in lots if lot[0] & own]
            lots = [lot for lot in lots if not lot[0] & own]
            lots.append((own.union(*(u for u, _ in meet)), [*(g for _, gs in meet for g in gs), group]))
    return [groups for _, groups in lots if len(groups) > 1]


def _assignments(unknowns: frozenset[tuple[str, int]], choices: Mapping[int, int]) -> list[_Values] | None:
    """All values of some unknowns; None: too many."""
    of = {u: [{u[1]: 0}, {u[1]: 1}] if u[0] == "unknown" else _of_choice(u[1], choices) for u in unknowns}
    if prod(map(len, of.values())) > MOST_WAYS:
        return None
    return [{o: n for part in parts for o, n in part.items()} for parts in product(*of.values())]


def _of_choice(choice: int, choices: Mapping[int, int]) -> list[dict[int, int]]:
    """The values of the unknowns of a choice."""
    own = [order for order, of in choices.items() if of == choice]
    return [{o: int(o == one) for o in own} for one in (*own, None)]


def _holds(condition: Hashable, values: Mapping[int, Bools], held: dict[int, Bools]) -> Bools:
    """Return on which ways a condition holds, or may: of one that each lane decides nothing is known. values:
    of each unknown, on all ways; held: by id, what was asked before."""
    found = held.get(id(condition))
    if found is None:
        found = np.ones(len(next(iter(values.values()))), dtype=bool)
        match condition:
            case (int() as order, int() as n):
                found = values[order] == n
            case (int() as const, tuple() as terms):
                # In numbers of any size, as coefficients may have.
                hits = ((by, np.logical_and.reduce([values[o] for o in mono])) for mono, by in terms)
                start = np.full(found.shape, const, dtype=object)
                found = sum((by * hit.astype(object) for by, hit in hits), start) != 0
            case ("stayed", frozenset() as inner):
                for c in inner:
                    found &= _holds(c, values, held) & _is_decided(c)
                found = ~found
        held[id(condition)] = found
    return found


def _is_decided(condition: Hashable) -> bool:
    match condition:
        case (int(), int() | tuple()):
            return True
        case _:
            return False
