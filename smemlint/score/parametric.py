"""Ways as a function of a run-time value that multiplies a lane term."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np
from numpy.typing import NDArray

from smemlint.banks import BANK_CYCLE, WORD
from smemlint.evaluate.model import Parameter, Trace
from smemlint.records import record
from smemlint.score.model import Stride
from smemlint.score.requests import Access, Costs, MisalignedError, costs, faults, positive

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_FAR = 1 << 24
"""Cycles added to a value so that lanes with different coefficients are never on one word by accident."""

_LISTED = 6
"""Residues that a condition lists before it only counts them."""

_TOGETHER = 1 << 15
"""Requests scored at once."""

_MEETINGS = 64
"""Values tried at which lanes meet."""

_MOST = 1 << 19
"""Requests evaluated for small values, which can only be cheaper; beyond, their cost is bounded by one
pass."""


@record(frozen=True, slots=True)
class Parametric:
    """costs: of each request at the worst residue, and `low` the least sum over all values tried.

    offsets: the addresses of all requests at a value with the worst residue. ends: the least and the most
    that each request costs at any value, for sums in which not all of them take part.
    """

    stride: Stride | None
    costs: Costs
    low: int
    offsets: Ints
    ends: Costs


def parametric(
    access: Access, parameter: Parameter, offsets: Ints, weights: Ints, maybe: Bools | None
) -> Parametric:
    """Costs for every residue of the value that can occur.

    Values are tried as residues modulo the number after which all banks repeat, far from 0, where different
    rows never share a word. Small values from 1 on are tried as well: their rows can overlap, which only
    ever helps. A value of 0 is left out where it would be no stride; of data it is tried, and so are those at
    which the lanes that it moves meet the others.

    Raises: MisalignedError when no value keeps the lanes aligned.
    """
    modulus = cycle(access, parameter.coefficient, offsets >= 0)
    rows, back = _distinct(access, parameter, offsets, weights, maybe)
    residues = range(0, modulus, gcd(parameter.multiple_of, modulus))
    far = _costs(access, rows, [residue + modulus * _FAR for residue in residues])
    by_residue = {value % modulus: cost for value, cost in far.items()}
    if not by_residue:
        raise MisalignedError(f"no value of `{parameter.name}` keeps the lanes aligned")
    ways = [0.0] * modulus
    for residue, cost in by_residue.items():
        ideal = int(cost.ideal @ rows.weights)
        ways[residue] = int(cost.high @ rows.weights) / ideal if ideal else 0.0
    worst = max(by_residue, key=lambda residue: (ways[residue], -residue))
    low = min(int(cost.low @ rows.weights) for cost in by_residue.values())
    near = range(parameter.multiple_of, 2 * modulus + 1, parameter.multiple_of)
    small = _small(access, rows, [*near, *(_meetings(rows, parameter) if parameter.data else ())])
    low = min([low, *(int(least @ rows.weights) for least in small)])
    floor = np.minimum.reduce([*(cost.low for cost in by_residue.values()), *small])
    ceiling = np.maximum.reduce([cost.high for cost in by_residue.values()])
    clean = condition(parameter.name, modulus, {r for r in by_residue if ways[r] == 1.0}, set(by_residue))
    most = by_residue[worst]
    return Parametric(
        Stride(parameter.name, modulus, tuple(ways), clean),
        Costs(most.low[back], most.high[back], most.ideal[back]),
        low,
        addresses(
            offsets, parameter.coefficient, _shown(access, rows, most, worst, modulus, parameter.multiple_of)
        ),
        Costs(floor[back], ceiling[back], most.ideal[back]),
    )


@record(frozen=True, slots=True)
class _Rows:
    """Requests that differ by more than a turn of the banks, with the weights of all that are alike."""

    offsets: Ints
    coefficient: Ints
    maybe: Bools | None
    weights: Ints


def _distinct(
    access: Access, parameter: Parameter, offsets: Ints, weights: Ints, maybe: Bools | None
) -> tuple[_Rows, NDArray[np.intp]]:
    """The distinct requests, and where each one went."""
    active = offsets >= 0
    coefficient = np.where(active, parameter.coefficient, 0)
    if access.width >= WORD:
        first = coefficient[np.arange(len(offsets)), active.argmax(axis=1)][:, None]
        coefficient = np.where(active, coefficient - first, 0)
    lowest = np.where(active, offsets, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    moved = np.where(active, offsets - lowest // BANK_CYCLE * BANK_CYCLE, -1)
    unsure = np.zeros_like(active) if maybe is None else maybe & active
    alike = np.concatenate([moved, coefficient, unsure.astype(np.int64)], axis=1)
    _, kept, back = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    back = back.reshape(-1)
    total = np.zeros(len(kept), dtype=np.int64)
    np.add.at(total, back, weights)
    return _Rows(moved[kept], coefficient[kept], unsure[kept] if maybe is not None else None, total), back


def by_way(access: Access, trace: Trace, parameter: Parameter) -> Parametric:
    """Costs of the requests of each way that may run; the stride is told where there is one way."""
    n = len(trace.offsets) // trace.ways
    parts = [slice(i * n, (i + 1) * n) for i in range(trace.ways)]
    found = [
        parametric(
            access,
            Parameter(parameter.name, parameter.coefficient[part], parameter.multiple_of, parameter.data),
            trace.offsets[part],
            trace.weights[part],
            None if trace.maybe is None else trace.maybe[part],
        )
        for part in parts
    ]
    if len(found) == 1:
        return found[0]
    ideals = [int(f.costs.ideal @ trace.weights[part]) for f, part in zip(found, parts, strict=True)]
    whole = max(ideals)
    least = min((f.low * whole // n for f, n in zip(found, ideals, strict=True) if n), default=0)
    return Parametric(
        None,
        _joined([f.costs for f in found]),
        least,
        np.concatenate([f.offsets for f in found]),
        _joined([f.ends for f in found]),
    )


def _joined(parts: Sequence[Costs]) -> Costs:
    """The costs of all requests of several ways."""
    low, high, ideal = (
        np.concatenate([getattr(part, end) for part in parts]) for end in ("low", "high", "ideal")
    )
    return Costs(low, high, ideal)


def cycle(access: Access, coefficient: Ints, active: Bools) -> int:
    """The number after which the value repeats all banks: a power of two, at most 128."""
    first = coefficient[np.arange(len(coefficient)), active.argmax(axis=1)][:, None]
    differences = np.where(active, coefficient - first, 0)
    modulus = BANK_CYCLE // gcd(int(np.gcd.reduce(differences, axis=None)), BANK_CYCLE)
    if access.width < WORD:
        common = int(np.gcd.reduce(np.where(active.any(axis=1), first[:, 0], 0)))
        modulus = max(modulus, WORD // gcd(common, WORD))
    return modulus


def addresses(offsets: Ints, coefficient: Ints, value: int) -> Ints:
    return positive(offsets + coefficient * value, offsets >= 0)


def _costs(access: Access, rows: _Rows, values: Sequence[int]) -> dict[int, Costs]:
    """The cost for each value; values that leave a lane unaligned are left out."""
    found: dict[int, Costs] = {}
    n = len(rows.offsets)
    together = max(1, _TOGETHER // max(1, n))
    for start in range(0, len(values), together):
        part = values[start : start + together]
        moved = [addresses(rows.offsets, rows.coefficient, value) for value in part]
        kept = [i for i, offsets in enumerate(moved) if not faults(access, offsets).any()]
        if not kept:
            continue
        maybe = None if rows.maybe is None else np.concatenate([rows.maybe] * len(kept))
        cost = costs(access, np.concatenate([moved[i] for i in kept]), maybe)
        for k, i in enumerate(kept):
            each = slice(k * n, (k + 1) * n)
            found[part[i]] = Costs(cost.low[each], cost.high[each], cost.ideal[each])
    return found


def _small(access: Access, rows: _Rows, values: Sequence[int]) -> list[Ints]:
    """The least cost of each request for each of some values."""
    if len(values) * len(rows.offsets) > _MOST:
        least: Ints = np.where((rows.offsets >= 0).any(axis=1), 1, 0)
        return [least]
    return [cost.low for cost in _costs(access, rows, values).values()]


def _meetings(rows: _Rows, parameter: Parameter) -> list[int]:
    """0, and values at which a lane that the value moves most is where one is that it moves least."""
    found = {0}
    for offsets, coefficient in zip(rows.offsets, rows.coefficient, strict=True):
        taking = offsets >= 0
        if not taking.any():
            continue
        least, most = coefficient[taking].min(), coefficient[taking].max()
        if least == most:
            continue
        here = offsets[taking & (coefficient == least)]
        ways = here[:, None] - offsets[taking & (coefficient == most)][None, :]
        met = ways[ways % (most - least) == 0] // (most - least)
        found.update(met[met % parameter.multiple_of == 0].tolist())
        if len(found) > _MEETINGS:
            break
    return sorted(found, key=lambda value: (abs(value), value))[:_MEETINGS]


def _shown(access: Access, rows: _Rows, worst: Costs, residue: int, modulus: int, multiple_of: int) -> int:
    """The smallest value that costs as much as the worst residue does."""
    candidates = range(residue or modulus, residue + 4 * modulus, modulus)
    for value, cost in _costs(access, rows, [v for v in candidates if v % multiple_of == 0]).items():
        if np.array_equal(cost.high, worst.high):
            return value
    return residue + modulus * _FAR


def condition(name: str, modulus: int, clean: set[int], possible: set[int]) -> str:
    """When there is no conflict, in words: `n` is odd, `n` % 8 == 4; '' when never."""
    if not clean:
        return ""
    shown = f"`{name}`" if name.isidentifier() else f"`({name})`"
    if clean == possible:
        return f"{shown} has any value"
    for period in (2**i for i in range(1, modulus.bit_length())):
        kept = sorted({residue % period for residue in clean})
        if clean != {residue for residue in possible if residue % period in kept}:
            continue
        if len(kept) == 1:
            return f"{shown} {_residue(kept[0], period)}"
        left = sorted({residue % period for residue in possible} - set(kept))
        if len(left) == 1:
            return f"{shown} {_other_residue(left[0], period)}"
        listed = ", ".join(map(str, kept[:_LISTED]))
        more = f" ... ({len(kept)} of {period} residues)" if len(kept) > _LISTED else ""
        return f"{shown} % {period} is one of {listed}{more}"
    return ""


def _residue(residue: int, period: int) -> str:
    if period == 2:
        return "is even" if residue == 0 else "is odd"
    return f"is a multiple of {period}" if residue == 0 else f"% {period} == {residue}"


def _other_residue(residue: int, period: int) -> str:
    return f"is no multiple of {period}" if residue == 0 else f"% {period} != {residue}"
