"""What lanes of a warp tell each other: shuffles, votes, matches and reductions.

Exact where the inputs are known for every lane and it is known which lanes run; the lanes that take part are
those of the mask in force (the written mask may only name them).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.language.accesses import store
from smemlint.evaluate.language.conversions import truth
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.functions import Arguments, called, known_lanes, lanes_value, named, number
from smemlint.evaluate.machine.machine import Machine, Mask
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import affine
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.number import Int, Lanes, bounds, collapse, formed, multiply
from smemlint.evaluate.values.value import Other, Pointer, Value, is_uniform
from smemlint.ir import Call, Place
from smemlint.ir.types import INT, UINT

Ints = NDArray[np.int64]
ALL = 0xFFFFFFFF


# ---------------------------------------------------------------------- shuffles


@named(
    "__shfl_sync",
    "__shfl",
    "__shfl_down_sync",
    "__shfl_up_sync",
    "__shfl_xor_sync",
    "__shfl_down",
    "__shfl_up",
    "__shfl_xor",
)
def _shuffle(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    name, values = called(e), _behind_mask(m, e)
    if not values:
        return Other()
    width = number(values[2]) if len(values) > 2 else 32
    return shuffled(m, name, values[0], values[1] if len(values) > 1 else Int(0), width, e.place)


def _behind_mask(m: Machine, e: Call) -> list[Value]:
    """What a function of a warp is given, without the mask of those that take part."""
    values = [rvalue(m, a) for a in e.arguments]
    return values[1:] if called(e).endswith("_sync") else values


def shuffled(m: Machine, name: str, v: Value, by: Value, width: int | None, place: Place | None) -> Value:
    """v as each thread receives it. name says how (up, down, xor, else by lane number); width in lanes."""
    if is_uniform(v):
        if isinstance(v, Int) and v.form is not None:
            return formed(v, affine.atom("from another lane", m.unknowns.fresh(name).order))
        return replace(v) if isinstance(v, Other) else v  # the compiler does not know that it is the same
    distance = known_lanes(m, by)
    followed = (isinstance(v, Int) and not v.varying) or (isinstance(v, Other) and v.value is not None)
    if followed and distance is not None and width in (1, 2, 4, 8, 16, 32):
        source = source_lanes(m.threads.linear, name, distance, width)
        source = np.where(source < m.threads.size, source, m.threads.linear)
        form = affine.atom("from another lane", m.unknowns.fresh(name).order)
        if isinstance(v, Other) and isinstance(v.value, np.ndarray):
            return Other(v.type, False, None, v.value[source], made_of=form)
        assert isinstance(v, Int)
        terms = {mono: _gather(c, source) for mono, c in v.terms.items()}
        return Int(_gather(v.const, source), v.type, terms, form)
    reason = Unresolved("data-dependent", "comes from another lane", place)
    if isinstance(v, Int):
        low, high = bounds(v)
        one = width == 32 and is_uniform(by) and not any(way in name for way in ("up", "down", "xor"))
        return m.unknowns.value(
            v.type, "shuffled value", varying=not m.host, low=low, high=high, reason=reason, shared=one
        )
    return Other(getattr(v, "type", None), False, reason)


def source_lanes(linear: Ints, name: str, distance: Ints, width: int) -> Ints:
    """The thread that each thread reads from: its own where the source lies outside its segment."""
    within = linear % width
    if "down" in name:
        return np.where(within + distance < width, linear + distance, linear)
    if "up" in name:
        return np.where(within >= distance, linear - distance, linear)
    if "xor" in name:
        lane = linear % 32
        source = lane ^ distance
        last = lane - within + width - 1
        return np.where((source <= last) & (source >= 0), linear - lane + source, linear)
    return linear - within + distance % width


def _gather(c: Lanes, source: Ints) -> Lanes:
    return c if isinstance(c, int) else collapse(c[source])


# ---------------------------------------------------------------------- votes


@named("__ballot_sync", "__ballot", "__any_sync", "__all_sync", "__activemask", "__any", "__all")
def _vote(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = _behind_mask(m, e)
    return vote(m, called(e), values[0] if values else Int(1))


def vote(m: Machine, name: str, predicate: Value, segments: Ints | None = None) -> Value:
    """A warp's vote; segments numbers the lanes of a group where it is smaller than the warp."""
    everyone, someone = "all" in name and "ballot" not in name, "any" in name
    one = everyone or someone
    holds = ar.truth_of(truth(m, predicate), m.unknowns)
    known = known_lanes(m, holds)
    if known is None or not _certain(m):
        if holds.uniform and _certain(m) and (one or segments is not None):
            return holds if one else multiply(holds, _ballot(m, m.may, segments), UINT)
        return m.unknowns.value(UINT, "vote", low=0, high=1 if one else ALL, **_parted(segments))
    segment = m.threads.linear // 32 if segments is None else segments
    yes = (known != 0) & m.may
    if someone:
        result = _per(segment, yes.astype(np.int64), np.maximum, 0)
    elif everyone:
        result = _per(segment, (yes | ~m.may).astype(np.int64), np.minimum, 1)
    else:
        return _ballot(m, yes, segments)
    return lanes_value(m, result, Int(0, INT))


def _ballot(m: Machine, yes: Mask, segments: Ints | None) -> Int:
    """The lanes of a warp, or of each of these groups, that say yes, as bits."""
    segment, lane = m.threads.linear // 32 if segments is None else segments, m.threads.linear % 32
    first = 0 if segments is None else _per(segment, lane, np.minimum, 32)
    bits = np.where(yes, np.int64(1) << (lane - first), 0)
    return lanes_value(m, _per(segment, bits, np.add, 0), Int(0, UINT))


@named("__syncthreads_count", "__syncthreads_or", "__syncthreads_and")
def _block_vote(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    m.barrier()
    known = known_lanes(m, ar.truth_of(truth(m, values[0]), m.unknowns)) if values else None
    if known is None or not _certain(m):
        return m.unknowns.value(INT, "vote", low=0)
    yes = int(((known != 0) & m.may).sum())
    count = int(m.may.sum())
    name = called(e)
    return Int(yes if "count" in name else int(yes > 0) if "or" in name else int(yes == count), INT)


def _certain(m: Machine) -> bool:
    """Whether it is known which lanes run."""
    return m.must is m.may or bool((m.must == m.may).all())


def _parted(segments: Ints | None, place: Place | None = None) -> dict[str, object]:
    """What is known of a number that the lanes of each group share: lanes of one warp that are in several
    groups may hold several numbers."""
    starts = np.arange(0 if segments is None else len(segments)) // 32 * 32
    if segments is None or (segments == segments[starts]).all():
        return {}
    reason = Unresolved("data-dependent", "groups of lanes of one warp agree on it each by itself", place)
    return {"varying": True, "reason": reason}


def _per(segment: Ints, lanes: Ints, f: np.ufunc, start: int) -> Ints:
    """Each segment's lanes brought together by f, given back to all its lanes."""
    result = np.full(int(segment.max(initial=0)) + 1, start, dtype=np.int64)
    f.at(result, segment, lanes)
    return result[segment]


# ---------------------------------------------------------------------- reductions and matches

_REDUCE: dict[str, tuple[np.ufunc, int]] = {
    "add": (np.add, 0),
    "plus": (np.add, 0),
    "max": (np.maximum, -(1 << 62)),
    "greater": (np.maximum, -(1 << 62)),
    "min": (np.minimum, 1 << 62),
    "less": (np.minimum, 1 << 62),
    "or": (np.bitwise_or, 0),
    "bit_or": (np.bitwise_or, 0),
    "and": (np.bitwise_and, -1),
    "bit_and": (np.bitwise_and, -1),
    "xor": (np.bitwise_xor, 0),
    "bit_xor": (np.bitwise_xor, 0),
}
_IDEMPOTENT = frozenset(("max", "greater", "min", "less", "or", "bit_or", "and", "bit_and"))


@named(
    "__reduce_add_sync",
    "__reduce_max_sync",
    "__reduce_min_sync",
    "__reduce_or_sync",
    "__reduce_and_sync",
    "__reduce_xor_sync",
)
def _reduce(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    if len(values) < 2:
        return Other()
    return reduced(m, called(e).split("_")[3], values[1], None, e.place)


def reduced(m: Machine, how: str, v: Value, segments: Ints | None, place: Place | None) -> Value:
    """All lanes' values brought together; segments: which group a thread belongs to, None: its warp."""
    found = _REDUCE.get(how)
    if found is None or not isinstance(v, Int):
        return Other(getattr(v, "type", None), False) if not isinstance(v, Pointer) else Other()
    if v.uniform and how in _IDEMPOTENT:
        return v
    lanes = known_lanes(m, v)
    if lanes is not None and _certain(m):
        f, start = found
        segment = m.threads.linear // 32 if segments is None else segments
        return ar.wrapped(lanes_value(m, _per(segment, np.where(m.may, lanes, start), f, start), v))
    low, high = bounds(v)
    keeps = how in _IDEMPOTENT
    return m.unknowns.value(
        v.type,
        "reduced value",
        low=low if keeps or (low is not None and low >= 0) else None,
        high=high if keeps else None,
        **{"reason": Unresolved("data-dependent", "comes from all lanes of a warp", place)}
        | _parted(segments, place),
    )


def scanned(m: Machine, how: str, v: Value, segments: Ints, inclusive: bool, place: Place | None) -> Value:
    """Prefix sums (or other reductions) within segments."""
    found = _REDUCE.get(how)
    lanes = known_lanes(m, v)
    if found is not None and lanes is not None and _certain(m) and isinstance(v, Int):
        f, start = found
        result = np.zeros(m.threads.size, dtype=np.int64)
        for s in np.unique(segments).tolist():
            at = np.flatnonzero((segments == s) & m.may)
            sums = f.accumulate(lanes[at])
            result[at] = sums if inclusive else np.concatenate([[start], sums[:-1]])
        return ar.wrapped(lanes_value(m, result, v))
    reason = Unresolved("data-dependent", "comes from other lanes", place)
    if isinstance(v, Int):
        low, _ = bounds(v)
        return m.unknowns.value(
            v.type,
            "prefix sum",
            varying=not m.host,
            low=0 if low is not None and low >= 0 else None,
            reason=reason,
        )
    return Other(getattr(v, "type", None), False, reason)


@named("__match_any_sync", "__match_all_sync")
def _match(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """The lanes of the warp that hold the same value (all of them or none, for `all`)."""
    values = [rvalue(m, a) for a in e.arguments]
    every = "all" in called(e)
    known = known_lanes(m, values[1]) if len(values) > 1 else None
    if known is None and len(values) > 1 and is_uniform(values[1]):
        known = np.zeros(m.threads.size, dtype=np.int64)
    if known is None or not _certain(m):
        result: Int = m.unknowns.value(
            UINT,
            "matching lanes",
            varying=not every and not m.host,
            low=0,
            high=ALL,
            reason=Unresolved("data-dependent", "which lanes hold the same value depends on data", e.place),
        )
        holds = m.unknowns.value(INT, "match", low=0, high=1)
    else:
        masks = np.zeros(m.threads.size, dtype=np.int64)
        agrees = np.zeros(m.threads.size, dtype=np.int64)
        for first in range(0, m.threads.size, 32):
            warp = slice(first, first + 32)
            same = (known[warp, None] == known[None, warp]) & m.may[warp][None, :]
            mask = (same * (np.int64(1) << np.arange(32))).sum(axis=1)
            whole = int((m.may[warp] * (np.int64(1) << np.arange(32))).sum())
            agrees[warp] = mask == whole
            masks[warp] = np.where(mask == whole, mask, 0) if every else mask
        result = lanes_value(m, masks, Int(0, UINT))
        holds = lanes_value(m, agrees, Int(0, INT))
    if every and len(values) > 2 and isinstance(values[2], Pointer):
        store(m, values[2], holds, e.place)
    return result


@named("__fns")
def _find_set(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """The offset-th set bit of a mask, counted from bit `base` up (down where negative); -1 for none."""
    lanes = [known_lanes(m, rvalue(m, a)) for a in e.arguments[:3]]
    if len(lanes) != 3 or any(x is None for x in lanes):
        return m.unknowns.value(UINT, "bit number", varying=not m.host, low=0, high=ALL)
    mask, base, offset = (x for x in lanes if x is not None)
    result = np.array([_bit(int(k), int(b), int(o)) for k, b, o in zip(mask, base, offset, strict=True)])
    return lanes_value(m, result.astype(np.int64), Int(0, UINT))


def _bit(mask: int, base: int, offset: int) -> int:
    if offset == 0:
        return base if mask >> base & 1 else ALL
    order = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [i for i in order if mask >> i & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else ALL


_LANEMASK: dict[str, Callable[[int], int]] = {
    "eq": lambda lane: 1 << lane,
    "lt": lambda lane: (1 << lane) - 1,
    "le": lambda lane: (2 << lane) - 1,
    "gt": lambda lane: ALL ^ ((2 << lane) - 1),
    "ge": lambda lane: ALL ^ ((1 << lane) - 1),
}


def lane_mask(m: Machine, which: str) -> Int | None:
    """%lanemask_eq, lt, le, gt, ge as a number of every thread."""
    f = _LANEMASK.get(which)
    if f is None:
        return None
    return Int(np.array([f(int(lane)) for lane in m.threads.linear % 32], dtype=np.int64), UINT)


@named("__lanemask_lt", "__lanemask_le", "__lanemask_gt", "__lanemask_ge", "__lanemask_eq")
def _lane_mask(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    return lane_mask(m, called(e)[-2:]) or Other()
