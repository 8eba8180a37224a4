"""From a site's trace to its cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from math import gcd

import numpy as np
from numpy.typing import NDArray

from smemlint.banks import ONE_ROUND, WORD, ideal_of, wavefronts
from smemlint.banks.vector import one_address
from smemlint.evaluate.machine.faults import INTERNAL, fault
from smemlint.evaluate.model import Grade, KernelTrace, Trace, Unresolved
from smemlint.records import record
from smemlint.score.grade import grade_of
from smemlint.score.loads import loads_of
from smemlint.score.model import Conflict, Request, Stride
from smemlint.score.requests import Access, Costs, MisalignedError, aligned, costs, faults, or_apart
from smemlint.score.totals import endless, optional, running, sums, surely, worst_way

Ints = NDArray[np.int64]

_ROUNDS = Unresolved("loop-carried", "how often rounds of different cost run is not known")
MOST_ROWS = 256
"""Requests of one access that are looked at with fewer lanes."""
PROVED = (Grade.EXACT, Grade.ASSUMED)


def score(trace: Trace, *, assumed: bool = False) -> Conflict:
    """Cost of one access site over one block.

    assumed: the block shape is a candidate: an answer that would be exact is graded assumed.

    wavefronts and ideal are sums over all requests, weighted; `wavefronts_low` differs where lanes or
    addresses depend on data (bound) or on a run-time value (parametric), and both ends are over the same
    ideal. A site whose two ends agree for accesses of up to a word is exact, whatever it depends on.
    """
    found = priced(trace)
    if isinstance(found, Unresolved):
        return _unresolved(trace, found)
    return _conflict(trace, found, assumed)


@record(frozen=True, slots=True)
class Priced:
    """What each request of a trace costs. offsets: the addresses that were counted, of a parametric trace at
    a value with the worst residue; low: the least sum over all values of a parameter, else None; ends: what
    each request costs at least and at most over these values, else None."""

    access: Access
    offsets: Ints
    costs: Costs
    stride: Stride | None = None
    low: int | None = None
    ends: Costs | None = None


def priced(trace: Trace) -> Priced | Unresolved:
    """The costs of all requests of a trace, or why there are none."""
    faulty = trace.reason is not None and trace.reason.code == INTERNAL  # no bound is to be had from a fault
    if trace.grade is Grade.UNRESOLVED or faulty:
        return trace.reason or Unresolved("unknown", "nothing is known of the address")
    access = Access(trace.site.op, trace.joined or trace.site.width, trace.site.matrices, _alignment(trace))
    offsets = trace.offsets
    try:
        if trace.ends is not None:
            return Priced(access, offsets, _given(access, trace, *trace.ends))
        if trace.data:
            return Priced(access, offsets, _joined_or_not(trace, access, lambda a: _by_data(a, trace)))
        if trace.parameter is not None and len(offsets):
            from smemlint.score.parametric import by_way  # few files need it

            answer = by_way(access, trace, trace.parameter)
            return Priced(access, answer.offsets, answer.costs, answer.stride, answer.low, answer.ends)
        return Priced(
            access, offsets, _joined_or_not(trace, access, lambda a: costs(a, offsets, trace.maybe))
        )
    except MisalignedError as wrong:
        return Unresolved("misaligned", str(wrong), trace.site.place)
    except ValueError as error:
        return Unresolved("unsupported-width", str(error), trace.site.place)
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # a fault costs this site
        return fault(error, trace.site.place)


def _by_data(access: Access, trace: Trace) -> Costs:
    from smemlint.score.dependent import dependent  # few files need it

    return dependent(access, trace.offsets, trace.data, trace.footprint, trace.maybe)


def _joined_or_not(trace: Trace, access: Access, costs_of: Callable[[Access], Costs]) -> Costs:
    """Return the costs of an access. Where its address or lanes are not quite known, the compiler may not
    join it with its neighbours: the upper end then holds the ways of the accesses one by one."""
    found = costs_of(access)
    if trace.joined is None or trace.grade is not Grade.BOUND:
        return found
    return or_apart(found, costs_of(Access(access.op, trace.site.width, access.matrices, trace.alignment)))


def _alignment(trace: Trace) -> int:
    """What divides the left-out part. Offsets count from the array's start, which for joined accesses need
    not be a multiple of their width: the compiler joins by where the array really lies."""
    if trace.joined is None or trace.parameter is not None:
        return trace.alignment
    return gcd(trace.alignment, trace.site.width)


def score_all(trace: KernelTrace, *, assumed: bool = False) -> tuple[Conflict, ...]:
    """Cost of every site, in the order of the traces.

    Sites that the compiler joins into one access are one access: the site of the group that carries its
    offsets reports it, which is the one whose line nvcc gives to the instruction. The others contribute
    nothing.
    """
    scored = {id(t): score(t, assumed=assumed) for t in trace.traces if t.group is None or len(t.offsets)}
    leaders = {t.group: scored[id(t)] for t in trace.traces if t.group is not None and id(t) in scored}
    found: list[Conflict] = []
    for each in trace.traces:
        leader = leaders.get(each.group) if each.group is not None and id(each) not in scored else None
        if leader is None:
            found.append(scored[id(each)] if id(each) in scored else score(each, assumed=assumed))
        else:
            found.append(_follower(leader, each))
    return tuple(found)


def _follower(leader: Conflict, trace: Trace) -> Conflict:
    same = replace(leader, site=trace.site, trace=trace, loads=())
    if leader.wavefronts is None:
        return same
    return replace(
        same,
        executions=0,
        wavefronts=0,
        wavefronts_low=0,
        ideal=0,
        worst=None,
        ways_by_visit=(),
        lane_stride=None,
        stride=None,
    )


def _unresolved(trace: Trace, reason: Unresolved) -> Conflict:
    return Conflict(
        site=trace.site,
        trace=trace,
        executions=_executions(trace, trace.weights),
        wavefronts=None,
        wavefronts_low=None,
        ideal=None,
        grade=Grade.UNRESOLVED,
        reason=reason,
        joined=trace.joined,
    )


def _executions(trace: Trace, weights: Ints) -> int:
    if not len(trace.offsets):
        return 0
    return int(weights[(trace.offsets >= 0).any(axis=1)].sum()) // trace.ways


def free_in_part(c: Conflict) -> bool:
    """Whether an access has no conflict in any visit, and none either where the last lanes of its warp are
    missing, however many. Of words any lanes may be: what they ask for is asked for without them, too."""
    if any(ways != 1.0 for ways, _ in c.ways_by_visit):
        return False
    trace = c.trace
    if c.wavefronts == 0 or (trace.joined or trace.site.width) <= WORD:  # of none: another access brings it
        return True
    found = priced(trace)
    known = trace.maybe is None and not trace.data and trace.parameter is None and trace.ends is None
    if isinstance(found, Unresolved) or not known or len(trace.offsets) > MOST_ROWS:
        return False
    for lanes in range(1, 32):
        part = found.offsets.copy()
        part[:, lanes:] = -1
        cost = costs(found.access, part[(part >= 0).any(axis=1)], None)
        if (cost.high > cost.ideal).any():
            return False
    return True


def _given(access: Access, trace: Trace, low: Ints, high: Ints) -> Costs:
    aligned(access, trace.offsets)
    ideal = ideal_of(access.op, access.width, (trace.offsets >= 0).sum(axis=1), access.matrices)
    return Costs(low, high, np.minimum(ideal, high))


def _conflict(trace: Trace, found: Priced, assumed: bool) -> Conflict:
    access, offsets, cost, stride, low = found.access, found.offsets, found.costs, found.stride, found.low
    most, least, ideal = sums(trace, cost)
    if found.ends is not None and (optional(trace) or endless(trace)):
        high, least, _ = sums(trace, found.ends)
        most = max(most, high)
    elif low is not None:
        least = min(low, most)
    if trace.dropped:
        least = 0
    known = not trace.data and trace.ends is None
    least_of_all = cost.high <= 1
    if known and stride is None and access.op == "load":
        least_of_all |= one_address(offsets)
    of_any = bool(least_of_all.all())
    grade = grade_of(trace, access, least == most, stride is not None, assumed, of_any=of_any)
    worst = _worst(access, offsets, cost, trace.weights) if known else None
    return Conflict(
        site=trace.site,
        trace=trace,
        executions=_executions(trace, running(trace, cost)),
        wavefronts=most,
        wavefronts_low=least,
        ideal=ideal,
        grade=grade,
        reason=None if grade in PROVED else trace.reason or (_ROUNDS if endless(trace) else None),
        worst=worst,
        ways_by_visit=_visits(trace, cost),
        lane_stride=lane_stride(worst.offsets) if worst is not None else None,
        stride=stride,
        joined=trace.joined,
        loads=loads_of(trace, cost),
        surely=surely(trace, cost),
        on_way=worst_way(trace, cost) if grade not in PROVED and known and low is None else None,
    )


def _worst(access: Access, offsets: Ints, cost: Costs, weights: Ints) -> Request | None:
    """The request with the most ways; of several the one with the most wavefronts, then the first."""
    runs = (cost.ideal > 0) & (weights > 0) & ~faults(access, offsets)
    if not runs.any():
        return None
    ways = np.where(runs, cost.high / np.maximum(cost.ideal, 1), 0.0)
    at = int(np.where(ways == ways.max(), cost.high, -1).argmax())
    row = aligned(access, offsets[at : at + 1])[0]
    lanes = tuple(None if offset < 0 else int(offset) for offset in row)
    op = ONE_ROUND.get(access.op, access.op)
    banks = wavefronts(op, access.width, lanes, matrices=access.matrices).banks
    return Request(lanes, int(cost.high[at]), int(cost.ideal[at]), banks)


def _visits(trace: Trace, cost: Costs) -> tuple[tuple[float, int], ...]:
    """Upper-end ways of each visit, run-length coded; visits without an active warp are left out."""
    firsts, counts = np.array(trace.visited.ranges, dtype=np.int64).reshape(-1, 2).T
    ideal = _sums(cost.ideal * trace.weights, firsts, counts)
    high = _sums(cost.high * trace.weights, firsts, counts)
    share = (high / np.maximum(ideal, 1)).reshape(trace.ways, -1).max(axis=0)
    runs = (ideal > 0).reshape(trace.ways, -1).any(axis=0)
    ways: list[float] = share[runs].tolist()
    return tuple((value, len(list(run))) for value, run in groupby(ways))


def _sums(values: Ints, firsts: Ints, counts: Ints) -> Ints:
    """Sums of the stretches of a vector that start at `firsts`."""
    up_to = np.concatenate([[0], np.cumsum(values)])
    sums: Ints = up_to[firsts + counts] - up_to[firsts]
    return sums


def lane_stride(offsets: Sequence[int | None]) -> int | None:
    """Bytes from each active lane to the next active one, when that is one number."""
    active = [offset for offset in offsets if offset is not None]
    steps = {b - a for a, b in pairwise(active)}
    return steps.pop() if len(steps) == 1 else None
