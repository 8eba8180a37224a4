"""The cost of requests whose lanes may go to several arrays: exact, or the two ends of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from smemlint.banks import BANK_CYCLE, WORD, ideal_of, wavefront_range
from smemlint.evaluate.machine.machine import Event, Mask, SiteLog, World
from smemlint.evaluate.memory.several import Share
from smemlint.evaluate.values.number import Int, Lanes, add
from smemlint.evaluate.values.value import Object, same
from smemlint.ir.types import LONG

Ints = NDArray[np.int64]


def together(starts: Mapping[int, int], events: list[Event]) -> list[Event]:
    """The events, those whose lanes surely go to arrays of known distance as ones to a single array."""
    return [_together(starts, e) for e in events]


def _together(starts: Mapping[int, int], e: Event) -> Event:
    if e.several is None or len(e.worlds) != 1 or not e.worlds[0].sure:
        return e
    address = _address(starts, e.worlds[0], e.offset)
    return e if address is None else replace(e, offset=address, several=replace(e.several, worlds=()))


def _address(starts: Mapping[int, int], world: World, way: Int) -> Int | None:
    """The addresses of all lanes counted from the first array; None where they are not known."""
    origin = world.shares[0][0]
    const: Lanes = 0
    terms = None
    for o, at, lanes in world.shares:
        distance = _distance(starts, origin, o)
        here = add(at, way, LONG)
        if distance is None or (terms is not None and not same(terms, Int(0, LONG, here.terms))):
            return None
        terms = Int(0, LONG, here.terms)
        const = np.where(lanes, here.const + distance, const)
    return Int(const, LONG, terms.terms if terms is not None else None)


def _distance(starts: Mapping[int, int], origin: Object, o: Object) -> int | None:
    if o is origin:
        return 0
    return starts[id(o)] - starts[id(origin)] if id(o) in starts and id(origin) in starts else None


def cost_ends(starts: Mapping[int, int], log: SiteLog, width: int, e: Event, rows: Mask) -> tuple[Ints, Ints]:
    """Wavefronts of each request of an event, at least and at most, however its lanes are spread."""
    found = [_ends_of(starts, log, width, e, world, rows) for world in e.worlds] or [
        _cost(log, width, e.offset, e.may, e.must, rows)
    ]
    low, high = np.min([f[0] for f in found], axis=0), np.max([f[1] for f in found], axis=0)
    return low, high


def _ends_of(
    starts: Mapping[int, int], log: SiteLog, width: int, e: Event, world: World, rows: Mask
) -> tuple[Ints, Ints]:
    address = _address(starts, world, e.offset) if world.sure else None
    if address is not None:
        lanes: Mask = np.any([s[2] for s in world.shares], axis=0)
        return _cost(log, width, address, e.may & lanes, e.must, rows)
    ideal = _ideal(log, width, e.may, rows)
    low, high = ideal, np.zeros_like(ideal)
    for share in world.shares:
        least, most = _share(log, width, e, share, world.sure, rows)
        # Lanes of one array may merge where all together do not.
        low, high = np.maximum(low, least), high + most * (2 if log.op == "load" and width > WORD else 1)
    return low, np.maximum(np.minimum(high, _one_by_one(log, e.may, rows)), low)


def _share(log: SiteLog, width: int, e: Event, share: Share, sure: bool, rows: Mask) -> tuple[Ints, Ints]:
    _, at, lanes = share
    must = e.must & lanes if sure else np.zeros_like(lanes)
    return _cost(log, width, add(at, e.offset, LONG), e.may & lanes, must, rows)


def _cost(log: SiteLog, width: int, address: Int, may: Mask, must: Mask, rows: Mask) -> tuple[Ints, Ints]:
    """Of requests with one address a lane: between the ideal and all lanes in turn where it is not known."""
    active = may.reshape(-1, 32)[rows]
    ideal = _ideal(log, width, may, rows)
    most = _one_by_one(log, may, rows)
    if any(not isinstance(c, int) or any(s.varying for s in k) for k, c in address.terms.items()):
        return ideal, most
    lanes = np.broadcast_to(np.asarray(address.const, dtype=np.int64), may.shape).reshape(-1, 32)[rows]
    lanes = lanes - lanes % width
    lowest = np.where(active, lanes, 0).min(axis=1, keepdims=True)
    offsets = np.where(active, lanes - lowest // BANK_CYCLE * BANK_CYCLE, -1)
    maybe = active & ~must.reshape(-1, 32)[rows]
    try:
        low, high, _ = wavefront_range(log.op, width, offsets, maybe, log.matrices)
    except ValueError:
        return ideal, most
    return np.maximum(low, np.minimum(ideal, high)), high


def _ideal(log: SiteLog, width: int, may: Mask, rows: Mask) -> Ints:
    found: Ints = ideal_of(log.op, width, may.reshape(-1, 32)[rows].sum(axis=1), log.matrices)
    return found


def _one_by_one(log: SiteLog, may: Mask, rows: Mask) -> Ints:
    """Every lane in its turn."""
    found: Ints = np.maximum(may.reshape(-1, 32)[rows].sum(axis=1), log.matrices)
    return found
