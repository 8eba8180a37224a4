"""Many sites of an array scored at once under a layout: one call per kind of access, not one per site."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smemlint.banks.vector import alike
from smemlint.fix.search.candidates import Addresses, Layout, Shape, Swizzle, addresses
from smemlint.fix.search.linear import WORD, wavefronts
from smemlint.fix.search.members import Member, dearest, one_by_one, priced
from smemlint.records import record
from smemlint.score.requests import Access


@record(frozen=True, slots=True)
class Batch:
    """The distinct requests of sites that are alike in operation, width and what is known of them.

    members: which sites, as numbers; ideal: the least wavefronts of all of them; starts: where the requests
    of each begin. parts, part_weights: the classes of each site where all its requests are bit-linear.
    """

    access: Access
    shape: Shape
    members: tuple[int, ...]
    ideal: int
    at: Addresses
    weights: NDArray[np.int64]
    starts: NDArray[np.intp]
    maybe: NDArray[np.bool_] | None = None
    parts: NDArray[np.int64] | None = None
    part_weights: NDArray[np.int64] | None = None
    part_starts: NDArray[np.intp] | None = None
    ways: int = 1
    """Ways that a run-time choice may go, of a batch of one site; the requests are those of each in turn."""
    alone: int = 0
    """The width of the accesses, joined here, that may run one by one; 0 where they do not."""

    def cost(self, layout: Layout) -> list[int] | None:
        """Wavefronts of each site under a layout, None where it cannot be or an access would fault."""
        by_rank = self._by_rank(layout)
        if by_rank is not None:
            return by_rank
        moved = layout.apply(self.at, self.shape)
        if moved is None:
            return None
        alignment = layout.alignment(self.at, self.shape)
        access = Access(self.access.op, self.access.width, self.access.matrices, alignment)
        try:
            found = priced(access, moved, self.maybe, self.alone)
        except ValueError:
            return None
        if self.ways > 1:
            return [dearest(found.high * self.weights, self.ways)]
        return [int(n) for n in np.add.reduceat(found.high * self.weights, self.starts)]

    def _by_rank(self, layout: Layout) -> list[int] | None:
        """The same by rank over F2, for bit-linear sites under a swizzle that is linear as well."""
        pitch = self.shape.dims[-1]
        if self.parts is None or self.part_weights is None or self.part_starts is None:
            return None
        if not isinstance(layout, Swizzle) or pitch & (pitch - 1):
            return None
        moved = layout.apply(addresses(self.parts, 0, self.shape), self.shape)
        if moved is None:
            return None
        each = np.array([wavefronts(row) for row in (moved // WORD).tolist()], dtype=np.int64)
        return [int(n) for n in np.add.reduceat(each * self.part_weights, self.part_starts)]


def batches(members: Sequence[Member], shape: Shape) -> list[Batch]:
    """The sites of one kernel instance in as few batches as their kinds allow."""
    kinds: dict[object, list[int]] = {}
    for n, each in enumerate(members):
        trace, site = each.conflict.trace, each.conflict.site
        alone = n if trace.maybe is not None or trace.ways > 1 else None
        linear = each.linear is not None and not trace.alignment
        single = one_by_one(each.conflict, each.width)
        kind = (site.op, each.width, site.matrices, trace.alignment, linear, alone, single)
        kinds.setdefault(kind, []).append(n)
    return [_batch([members[n] for n in numbers], tuple(numbers), shape) for numbers in kinds.values()]


def _batch(members: Sequence[Member], numbers: tuple[int, ...], shape: Shape) -> Batch:
    first = members[0]
    trace, site = first.conflict.trace, first.conflict.site
    alignment = trace.alignment
    requests = [distinct(m) for m in members]
    offsets = np.concatenate([rows for rows, _, _ in requests])
    batch = Batch(
        Access(site.op, first.width, site.matrices, alignment),
        shape,
        numbers,
        sum(m.ideal for m in members),
        addresses(offsets, alignment, shape),
        np.concatenate([weights for _, weights, _ in requests]),
        _starts([len(rows) for rows, _, _ in requests]),
        requests[0][2],
        ways=trace.ways,
        alone=one_by_one(first.conflict, first.width),
    )
    linear = [m.linear for m in members if m.linear is not None]
    if alignment or len(linear) != len(members):
        return batch
    return Batch(
        batch.access,
        shape,
        numbers,
        batch.ideal,
        batch.at,
        batch.weights,
        batch.starts,
        None,
        np.array([c.parts for each in linear for c in each], dtype=np.int64) * WORD,
        np.array([c.weight for each in linear for c in each], dtype=np.int64),
        _starts([len(each) for each in linear]),
    )


def _starts(lengths: Sequence[int]) -> NDArray[np.intp]:
    return np.concatenate([[0], np.cumsum(lengths[:-1])]).astype(np.intp)


def distinct(
    each: Member,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_] | None]:
    """Requests of a site, each once, how often it runs, and lanes that may be inactive; all requests where
    places are open."""
    trace, offsets = each.conflict.trace, each.offsets
    maybe = trace.maybe
    if trace.ways > 1 or len(offsets) < 2 or (maybe is not None and len(maybe) != len(offsets)):
        return offsets, each.weights, maybe
    first, back = alike(offsets if maybe is None else 2 * offsets + maybe)
    weights = np.zeros(len(first), dtype=np.int64)
    np.add.at(weights, back, each.weights)
    return offsets[first], weights, None if maybe is None else maybe[first]
