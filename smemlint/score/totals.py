"""Totals of a site over all of its requests, where not all of them need to run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import Trace
from smemlint.score.requests import Costs

if TYPE_CHECKING:
    from fractions import Fraction

Ints = NDArray[np.int64]


def sums(trace: Trace, cost: Costs) -> tuple[int, int, int]:
    """Wavefronts at most, at least, and the ideal that both are measured by.

    One of the trace's ways runs, and of its groups of requests any; the ends are those of whatever runs then.
    Iterations that may be repeated tell ends of their own as well: all together, or one by one where some
    request has two ends.
    """
    if trace.ways == 1 and trace.repeats is None and not optional(trace):
        most, least, whole = (int((x * trace.weights).sum()) for x in (cost.high, cost.low, cost.ideal))
        return (most, least, whole) if whole else (0, 0, 0)
    ends = _by_way(trace, cost)
    whole = int((cost.ideal * running(trace, cost)).reshape(trace.ways, -1).sum(axis=1).max())
    runs = [(most, least) for most, least, ideal in ends if ideal]
    if not runs:
        return 0, 0, 0
    high, low = max(m for m, _ in runs) * whole, min(least for _, least in runs) * whole
    return -(-high.numerator // high.denominator), low.numerator // low.denominator, whole


def running(trace: Trace, cost: Costs) -> Ints:
    """How often each request runs at once with others: of requests that never run together (cases of one
    `switch`) those that cost most."""
    if trace.groups is None or not trace.groups.alternatives:
        return trace.weights
    groups, costs = _groups(trace), cost.high * trace.weights
    runs = np.ones(int(groups.max()) + 1, dtype=bool)
    for ways in trace.groups.alternatives:
        of = np.bincount(groups, costs, len(runs))[: ways.shape[1]]
        runs[np.flatnonzero(ways.any(axis=0))] &= ways[(ways @ of).argmax()][ways.any(axis=0)]
    return np.asarray(np.where(runs[groups], trace.weights, 0))


def worst_way(trace: Trace, cost: Costs) -> tuple[float, str] | None:
    """Of several ways, where one condition chooses: the most ways that one of them surely has, and what holds
    on it."""
    if not trace.choice.conditions or trace.dropped:
        return None
    least, condition = max(
        (
            (float(low), c)
            for (_, low, ideal), c in zip(_by_way(trace, cost), trace.choice.conditions, strict=True)
            if ideal
        ),
        default=(0.0, ""),
    )
    return (least, condition) if least > 1 else None


def surely(trace: Trace, cost: Costs) -> float:
    """The most ways of a request that surely runs, as far as they are known; 0 where none is known to run."""
    if trace.ways > 1 or trace.repeats is not None or trace.dropped:
        return 0
    runs = (_groups(trace) == 0) & (trace.weights > 0) & (cost.ideal > 0)
    return float((cost.low[runs] / cost.ideal[runs]).max(initial=0))


def _by_way(trace: Trace, cost: Costs) -> list[tuple[Fraction, Fraction, int]]:
    """By way: what it costs at most and at least, measured by the ideal, which is the third."""
    open_ = np.zeros_like(trace.weights) if trace.repeats is None else trace.repeats.depth
    each = (cost.high, cost.low, cost.ideal, trace.weights, _groups(trace), open_)
    return [
        _by_depth(high * weights, low * weights, ideal * weights, depth)
        if not numbers.any() and not (depth.any() and (low < high).any())
        else _of_groups(high * weights, low * weights, ideal * weights, numbers, depth > 0)
        for high, low, ideal, weights, numbers, depth in zip(
            *(x.reshape(trace.ways, -1) for x in each), strict=True
        )
    ]


def optional(trace: Trace) -> bool:
    """Whether some of the requests need not run."""
    return bool(_groups(trace).any())


def endless(trace: Trace) -> bool:
    """Whether some of the requests stand for any number of iterations."""
    return trace.repeats is not None and bool((trace.repeats.depth > 0).any())


def _groups(trace: Trace) -> Ints:
    """By request, the number of those that run with it, 0: it surely runs. A request that no lane surely
    takes part in runs by itself, or does not."""
    groups = np.zeros(len(trace.weights), dtype=np.int64) if trace.groups is None else trace.groups.numbers
    if trace.maybe is None:
        return groups
    sure = ((trace.offsets >= 0) & ~trace.maybe).any(axis=1)
    alone: Ints = np.where(sure, groups, groups.max(initial=0) + 1 + np.arange(len(groups)))
    return groups if sure.all() else alone


def _ratio(cost: int, ideal: int) -> Fraction:
    from fractions import Fraction  # few files need it

    return Fraction(cost, ideal)


def _by_depth(high: Ints, low: Ints, ideal: Ints, depth: Ints) -> tuple[Fraction, Fraction, int]:
    """Ways at most and at least, and the ideal. depth: loops of unknown length around each request, whose
    rounds may outweigh those around them."""
    whole = int(ideal.sum())
    most, least = [_ratio(int(high.sum()), whole or 1)], [_ratio(int(low.sum()), whole or 1)]
    for d in set(depth.tolist()) if depth.any() else ():
        some = int(ideal[depth == d].sum())
        if some:
            most.append(_ratio(int(high[depth == d].sum()), some))
            least.append(_ratio(int(low[depth == d].sum()), some))
    return max(most), min(least), whole


def _of_groups(
    high: Ints, low: Ints, ideal: Ints, groups: Ints, repeated: NDArray[np.bool_]
) -> tuple[Fraction, Fraction, int]:
    """Ways at most and at least over all choices of groups that run, and the ideal of all requests.

    repeated: requests that stand for any number of iterations, which may outweigh all others.
    """
    numbers, of = np.unique(groups, return_inverse=True)
    by = [[int(n) for n in np.bincount(of, weights=x, minlength=len(numbers))] for x in (high, low, ideal)]
    certain = [bool(g == 0) for g in numbers]
    again = repeated & (ideal > 0)
    most = [_extreme(by[0], by[2], certain, largest=True), *_ratios(high[again], ideal[again])]
    least = [_extreme(by[1], by[2], certain, largest=False), *_ratios(low[again], ideal[again])]
    return max(most), min(least), int(ideal.sum())


def _ratios(costs: Ints, ideals: Ints) -> set[Fraction]:
    """The different ratios: of thousands of requests most are alike."""
    return {_ratio(*pair) for pair in set(zip(costs.tolist(), ideals.tolist(), strict=True))}


def _extreme(costs: list[int], ideals: list[int], certain: list[bool], *, largest: bool) -> Fraction:
    """The largest, or smallest, ratio of sums over all choices of what may run beside what surely does."""
    total = sum(c for c, sure in zip(costs, certain, strict=True) if sure)
    ideal = sum(i for i, sure in zip(ideals, certain, strict=True) if sure)
    free = Counter((c, i) for c, i, sure in zip(costs, ideals, certain, strict=True) if i and not sure)
    # Where one of some alike requests moves the ratio, all of them do.
    for ratio, (c, i) in sorted(((_ratio(*pair), pair) for pair in free), reverse=largest):
        if ideal and (ratio > _ratio(total, ideal)) is not largest:
            break
        total, ideal = total + c * free[c, i], ideal + i * free[c, i]
    return _ratio(total, ideal or 1)
