"""The layouts that cost an array less, best first: every candidate is scored over all its sites at once.

In: what evaluation found for one declared array, in every kernel instance and launch that uses it.
Out: options, each with the wavefronts of every site before and after. No option makes any site worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
from numpy.typing import NDArray

from smemlint.banks import Arch
from smemlint.evaluate.model import Grade, SharedArray
from smemlint.fix.candidates import (
    Addresses,
    Exchange,
    Layout,
    Padding,
    Shape,
    Swizzle,
    Trimmed,
    addresses,
    exchanges,
    paddings,
    swizzles,
    trims,
)
from smemlint.fix.linear import WORD, LinearClass, classes, wavefronts
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.score.requests import Access, costs

MATRIX_ROW = 16
"""Bytes of one row of an ldmatrix or stmatrix matrix; its address must be a multiple."""
SMALL_PADDING = 8
"""A padding of at most 1/8 of the array that costs no resident block counts as free."""
_SAMPLE = 64
"""Requests of a site that are scored first; most candidates fall there."""


@dataclass(frozen=True, slots=True)
class Member:
    """One site of the array: its requests as the hardware sees them (joined where the compiler joins)."""

    conflict: Conflict
    width: int
    offsets: NDArray[np.int64]
    weights: NDArray[np.int64]
    before: int
    ideal: int
    linear: tuple[LinearClass, ...] | None = None
    """Its requests as classes that a swizzle treats alike, where they are bit-linear 4-byte ones."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One kernel instance under one launch, as far as this array goes."""

    analysis: KernelAnalysis
    array: SharedArray
    members: tuple[Member, ...]

    @property
    def length(self) -> int | None:
        """Elements, None when unknown."""
        size = self.array.bytes
        if size is None and self.array.dynamic:
            others = [a.bytes for a in self.analysis.arrays.values() if a.dynamic]
            size = self.analysis.launch.dynamic if len(others) == 1 else None
        return None if size is None else size // self.array.element


@dataclass(frozen=True, slots=True)
class Option:
    """One layout and what it does. after: wavefronts per instance and member, as `Instance.members` stand."""

    layout: Layout
    after: tuple[tuple[int, ...], ...]
    bytes_added: int
    blocks: tuple[int, int]

    @property
    def total(self) -> int:
        return sum(map(sum, self.after))


def members(analysis: KernelAnalysis, array: SharedArray) -> tuple[Member, ...]:
    """The sites of an array as their requests run.

    Left out: sites without addresses that a layout could move, and all but the first of those that the
    compiler joins into one access.
    """
    found = []
    groups: set[int] = set()
    for conflict in analysis.conflicts:
        trace = conflict.trace
        if conflict.site.array != array.id or not movable(conflict):
            continue
        if trace.group is not None:
            if trace.group in groups:
                continue
            groups.add(trace.group)
        each = member(conflict)
        if each is not None:
            found.append(each)
    return tuple(found)


def movable(conflict: Conflict) -> bool:
    """Whether a site's addresses are known well enough to say where another layout puts them."""
    trace = conflict.trace
    if trace.offsets.size == 0 or trace.data or trace.parameter is not None or trace.low is not None:
        return False
    return conflict.grade not in (Grade.UNRESOLVED, Grade.PARAMETRIC)


def member(conflict: Conflict) -> Member | None:
    """One site as its requests run, None for an access that the hardware does not have."""
    trace = conflict.trace
    width = trace.joined or trace.site.width
    try:
        before, ideal = score(conflict, width, trace.offsets, trace.weights, trace.alignment, trace.maybe)
    except ValueError:
        return None
    plain = width == WORD and trace.site.op in ("load", "store") and trace.maybe is None
    linear = classes(trace.offsets, trace.weights) if plain else None
    return Member(conflict, width, trace.offsets, trace.weights, before, ideal, linear)


def score(
    conflict: Conflict,
    width: int,
    offsets: NDArray[np.int64],
    weights: NDArray[np.int64],
    alignment: int,
    maybe: NDArray[np.bool_] | None,
) -> tuple[int, int]:
    """Wavefronts (the upper end) and ideal of all requests of a site; negative offsets are inactive lanes.

    Raises: ValueError for an address that would fault.
    """
    site = conflict.site
    found = costs(Access(site.op, width, site.matrices, alignment), offsets, maybe)
    return int(found.high @ weights), int(found.ideal @ weights)


def granule(members: Iterable[Member]) -> int:
    """Bytes that must stay together and aligned: the widest access that runs, 16 for matrix rows."""
    widest = 1
    for each in members:
        matrix = each.conflict.site.op in ("ldmatrix", "stmatrix")
        widest = lcm(widest, MATRIX_ROW if matrix else each.width)
    return widest


def options(instances: Sequence[Instance], shapes: Sequence[Shape], arch: Arch) -> list[Option]:
    """All layouts that lower the sum of wavefronts and raise no site's, best first.

    shapes: one per instance, all with the same number of dimensions. The order is: wavefronts; resident
    blocks lost; then a small padding, the simplest edit; then bytes; then the simplest formula.
    """
    reached = _reach(instances, shapes)
    before = sum(m.before for i in instances for m in i.members)
    found = []
    for layout in _candidates(instances, shapes):
        bytes_added = max(layout.shape(s).bytes - s.bytes for s in shapes)
        blocks = _blocks(instances, shapes, layout, arch)
        if blocks is None:
            continue
        after = _try(instances, shapes, reached, layout)
        if after is None:
            continue
        option = Option(layout, after, bytes_added, blocks)
        if option.total < before:
            found.append(option)
    return sorted(found, key=lambda o: order(o, shapes))


def order(option: Option, shapes: Sequence[Shape]) -> tuple[int, ...]:
    """What makes one option better than another, the smaller the better; see `options`."""
    layout = option.layout
    small = isinstance(layout, Padding) and all(
        option.bytes_added * SMALL_PADDING <= shape.bytes for shape in shapes
    )
    kind = next(n for n, of in enumerate((Padding, Swizzle, Trimmed, Exchange)) if isinstance(layout, of))
    swizzle = layout.swizzle if isinstance(layout, Trimmed) else layout
    size = (swizzle.bits, swizzle.base, swizzle.shift) if isinstance(swizzle, Swizzle) else (0, 0, 0)
    mixed = int(isinstance(swizzle, Swizzle) and swizzle.shift != swizzle.base and not swizzle.linear)
    lost = option.blocks[0] - option.blocks[1]
    return (option.total, lost, not small, option.bytes_added, kind, mixed, *size)


def _candidates(instances: Sequence[Instance], shapes: Sequence[Shape]) -> Iterator[Layout]:
    together = granule(m for i in instances for m in i.members)
    first = shapes[0]
    sized = all(not i.array.dynamic for i in instances)
    if len(first.dims) > 1 and sized:
        per_instance = [set(paddings(shape, together)) for shape in shapes]
        yield from (p for p in paddings(first, together) if all(p in each for each in per_instance))
    if first.flat:
        return
    joined = any(m.conflict.trace.joined for i in instances for m in i.members)
    if not joined:
        # The compiler joins neighbours only where it sees that they are neighbours.
        yield from (s for s in swizzles(first, together) if all(s.fits(shape) for shape in shapes))
        if sized:
            yield from (t for t in trims(first, together) if all(t.swizzle.fits(t.shape(x)) for x in shapes))
    if together <= first.element and sized:
        yield from exchanges(first)


def _reach(instances: Sequence[Instance], shapes: Sequence[Shape]) -> list[list[Addresses]]:
    return [
        [addresses(each.offsets, each.conflict.trace.alignment, shape) for each in instance.members]
        for instance, shape in zip(instances, shapes, strict=True)
    ]


def _try(
    instances: Sequence[Instance],
    shapes: Sequence[Shape],
    reached: list[list[Addresses]],
    layout: Layout,
) -> tuple[tuple[int, ...], ...] | None:
    """Wavefronts of every site under a layout, None as soon as one is worse than before."""
    result = []
    for instance, shape, sites in zip(instances, shapes, reached, strict=True):
        costs = []
        for each, at in zip(instance.members, sites, strict=True):
            cost = _by_rank(each, at, shape, layout)
            if cost is not None:
                if cost > each.before:
                    return None
                costs.append(cost)
                continue
            moved = layout.apply(at, shape)
            if moved is None:
                return None
            try:
                alignment, maybe = layout.alignment(at, shape), each.conflict.trace.maybe
                if len(moved) > _SAMPLE and _worse_sample(each, moved, alignment):
                    return None
                cost, _ = score(each.conflict, each.width, moved, each.weights, alignment, maybe)
            except ValueError:  # the new address would fault
                return None
            if cost > each.before:
                return None
            costs.append(cost)
        result.append(tuple(costs))
    return tuple(result)


def _by_rank(each: Member, at: Addresses, shape: Shape, layout: Layout) -> int | None:
    """Wavefronts of a bit-linear site under a swizzle that is linear too, None where either is not."""
    pitch = shape.dims[-1]
    if each.linear is None or at.alignment or not isinstance(layout, Swizzle) or pitch & (pitch - 1):
        return None
    parts = np.array([c.parts for c in each.linear], dtype=np.int64) * WORD
    moved = layout.apply(addresses(parts, 0, shape), shape)
    if moved is None:
        return None
    return sum(
        wavefronts((row // WORD).tolist()) * c.weight for row, c in zip(moved, each.linear, strict=True)
    )


def _worse_sample(each: Member, moved: NDArray[np.int64], alignment: int) -> bool:
    """Whether the first requests, and one wavefront for each other, already cost more than the site does."""
    weights = each.weights[:_SAMPLE]
    maybe = each.conflict.trace.maybe
    unsure = maybe[:_SAMPLE] if maybe is not None else None
    cost, _ = score(each.conflict, each.width, moved[:_SAMPLE], weights, alignment, unsure)
    rest = each.weights[_SAMPLE:][(moved[_SAMPLE:] >= 0).any(axis=1)]
    return cost + int(rest.sum()) > each.before


def _blocks(
    instances: Sequence[Instance], shapes: Sequence[Shape], layout: Layout, arch: Arch
) -> tuple[int, int] | None:
    """Least resident blocks before and after over the instances; None when a block no longer fits."""
    worst: tuple[int, int] | None = None
    for instance, shape in zip(instances, shapes, strict=True):
        analysis = instance.analysis
        static = sum(a.bytes or 0 for a in analysis.arrays.values() if not a.dynamic)
        dynamic = analysis.launch.dynamic or 0
        threads = analysis.launch.threads
        added = layout.shape(shape).bytes - shape.bytes
        if added > 0 and static + added > arch.shared_static:
            return None
        before = arch.resident_blocks(threads, static + dynamic)
        after = arch.resident_blocks(threads, static + dynamic + added)
        if worst is None or before - after > worst[0] - worst[1]:
            worst = (before, after)
    return worst
