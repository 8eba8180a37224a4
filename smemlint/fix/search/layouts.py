"""The layouts that cost an array less, best first: every candidate is scored over all its sites at once.

In: what evaluation found for one declared array, in every kernel instance and launch that uses it.
Out: options, each with the wavefronts of every site before and after. What counts is their sum.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from smemlint.banks import Arch
from smemlint.fix.search.batch import Batch, batches
from smemlint.fix.search.candidates import (
    Exchange,
    Layout,
    Padding,
    Shape,
    Skew,
    Swizzle,
    Trimmed,
    addresses,
    exchanges,
    paddings,
    skews,
    swizzles,
    trims,
    unpadding,
)
from smemlint.fix.search.judge import Option, integer_work, order
from smemlint.fix.search.members import MATRIX_ROW, Instance, Member, by_pitch, granule
from smemlint.fix.search.registers import first_step
from smemlint.records import record

Late: TypeAlias = Callable[[], bool]
_ALL = 1 << 62
_NAMED = 64
"""Layouts of an array that only gets worse among which the best is looked for."""
_WEIGHED = 24
"""Layouts with the fewest wavefronts whose integer work is looked at closely."""


@record(frozen=True, slots=True)
class Found:
    """What a search saw. options: the layouts that lower the sum of wavefronts, best first; nearest: the best
    of those that do not; tried: how many were scored; unfit: the best of those that lower it and need more
    shared memory than a block can have."""

    options: tuple[Option, ...] = ()
    nearest: Option | None = None
    tried: int = 0
    unfit: Option | None = None


def options(
    instances: Sequence[Instance], shapes: Sequence[Shape], arch: Arch, late: Late = lambda: False
) -> list[Option]:
    """All layouts that lower the sum of wavefronts over all sites, instances and launches, best first.

    shapes: one per instance, all with the same number of dimensions. late: when to stop.
    """
    return list(search(instances, shapes, arch, late).options)


def search(
    instances: Sequence[Instance], shapes: Sequence[Shape], arch: Arch, late: Late = lambda: False
) -> Found:
    """The same with what was tried in vain. A site may get worse where the sum gets better; see `judge`."""
    groups = [batches(i.members, s) for i, s in zip(instances, shapes, strict=True)]
    before = sum(m.before for i in instances for m in i.members)
    ideal = sum(m.ideal for i in instances for m in i.members)
    if before <= ideal:
        return Found()
    found: list[Option] = []
    nearest: Option | None = None
    perfect: set[type] = set()
    unfit: Option | None = None
    tried = 0
    step = first_step([i.analysis for i in instances], arch)
    for layout in _candidates(instances, shapes):
        # Candidates of a kind come simplest first: after one that leaves nothing, the rest only costs more.
        if type(layout) in perfect:
            continue
        if late():
            break
        blocks = _blocks(instances, shapes, layout, arch)
        if blocks is None:
            if all(i.analysis.launch.dynamic is not None or not i.array.dynamic for i in instances):
                unfit = _better(unfit, _unfit(groups, layout, shapes, before))
            continue
        tried += 1
        after = _try(groups, layout, before if nearest is None else max(before, nearest.total))
        if after is None:
            continue
        bytes_added = max(layout.shape(s).bytes - s.bytes for s in shapes)
        option = Option(layout, after, bytes_added, blocks, step=step)
        if option.total < before:
            found.append(option)
        elif nearest is None or option.total < nearest.total:
            nearest = option
        if option.total <= ideal:
            perfect.add(type(layout))
    if tried and not found and nearest is None and not late():
        nearest = _nearest(groups, instances, shapes, arch)
    found = _weighed(found, instances, shapes)
    ordered = order([(o, False) for o in found], instances)
    return Found(tuple(found[n] for n in ordered), nearest, tried, unfit)


def _nearest(
    groups: Sequence[Sequence[Batch]], instances: Sequence[Instance], shapes: Sequence[Shape], arch: Arch
) -> Option | None:
    """Of layouts that all cost more than today's the one that costs least, to be told with its numbers."""
    best: Option | None = None
    for layout in itertools.islice(_candidates(instances, shapes), _NAMED):
        blocks = _blocks(instances, shapes, layout, arch)
        after = None if blocks is None else _try(groups, layout, best.total - 1 if best is not None else _ALL)
        if after is not None and blocks is not None:
            best = Option(layout, after, max(layout.shape(s).bytes - s.bytes for s in shapes), blocks)
    return best


def _unfit(
    groups: Sequence[Sequence[Batch]], layout: Layout, shapes: Sequence[Shape], before: int
) -> Option | None:
    """A layout for which a block has no room, where it would lower the sum of wavefronts."""
    after = _try(groups, layout, before - 1)
    if after is None:
        return None
    return Option(layout, after, max(layout.shape(s).bytes - s.bytes for s in shapes), (0, 0))


def _better(one: Option | None, other: Option | None) -> Option | None:
    """The one with fewer wavefronts; of two that are alike the first."""
    if one is None or other is None:
        return one or other
    return other if other.total < one.total else one


def _weighed(found: Sequence[Option], instances: Sequence[Instance], shapes: Sequence[Shape]) -> list[Option]:
    """The options that may be the best, with their integer work."""
    kept: list[Option] = []
    for of in (Padding, Exchange, Swizzle, Skew, Trimmed):
        kept += sorted((o for o in found if isinstance(o.layout, of)), key=lambda o: o.total)[:_WEIGHED]
    return [
        replace(o, work=tuple(integer_work(o.layout, i, s) for i, s in zip(instances, shapes, strict=True)))
        for o in kept
    ]


def _candidates(instances: Sequence[Instance], shapes: Sequence[Shape]) -> Iterator[Layout]:
    first = shapes[0]
    together = [granule(i.members) for i in instances]
    unit = max(bytes_ // s.element for bytes_, s in zip(together, shapes, strict=True))
    sized = all(i.resizable for i in instances)
    bare = _bare(instances, shapes) if sized else None
    if bare is not None:
        yield bare
    if len(first.dims) > 1 and sized:
        for padding in paddings(min(shapes, key=lambda s: s.element), 1):
            inner = padding.dim == len(first.dims) - 1 or not first.flat
            if inner and all(_aligned(padding, s, g) for s, g in zip(shapes, together, strict=True)):
                yield padding
    if first.flat:
        return
    kept = max(unit, 1) * first.element
    # A fragment is loaded by the address of its first element and one pitch.
    if any(by_pitch(m) for i in instances for m in i.members):
        return
    fitting = (s for s in swizzles(first, kept) if all(s.fits(shape) for shape in shapes))
    # The compiler joins neighbours only where it sees that they are neighbours: where what tells them apart
    # is added behind the xor. Through a skew's sum it does in some kernels and not in others (measured).
    if any(m.joined for i in instances for m in i.members):
        yield from (replace(s, kept=max(unit, 1)) for s in fitting)
        if sized:
            yield from (
                replace(t, swizzle=replace(t.swizzle, kept=max(unit, 1))) for t in _trims(shapes, kept)
            )
        return
    yield from fitting
    if sized:
        yield from _trims(shapes, kept)
        yield from (
            s
            for s in skews(max(shapes, key=lambda s: s.dims[-1]), kept)
            if all(_aligned(s, x, g) for x, g in zip(shapes, together, strict=True))
        )
    if unit <= 1 and sized:
        yield from exchanges(first)


def _trims(shapes: Sequence[Shape], kept: int) -> Iterator[Trimmed]:
    return (t for t in trims(shapes[0], kept) if all(t.swizzle.fits(t.shape(x)) for x in shapes))


def _bare(instances: Sequence[Instance], shapes: Sequence[Shape]) -> Padding | None:
    """The padding taken back: to the columns that are reached, else to the power of two below."""
    reached = {
        max((last_column(m, s) for m in i.members), default=0) + 1
        for i, s in zip(instances, shapes, strict=True)
    }
    columns = reached.pop() if len(reached) == 1 else None
    for to in (columns, None):
        bare = unpadding(shapes[0], to)
        if bare is not None and all(unpadding(s, to) == bare for s in shapes):
            return bare
    return None


def last_column(each: Member, shape: Shape) -> int:
    """The last column that a site reaches, the rest of a wide access included."""
    at = addresses(each.offsets, 0, shape)
    wide = MATRIX_ROW if each.conflict.site.op in ("ldmatrix", "stmatrix") else each.width
    last = np.where(at.active, at.indices[:, -1, :], 0).max(initial=0)
    return int(last) + max(wide // shape.element, 1) - 1


def _aligned(layout: Padding | Skew, shape: Shape, together: int) -> bool:
    """Whether every row starts at a multiple of the widest access that runs."""
    wider = layout.shape(shape)
    dim = layout.dim if isinstance(layout, Padding) else len(shape.dims) - 1
    return dim == 0 or wider.strides()[dim - 1] * shape.element % together == 0


def _try(groups: Sequence[Sequence[Batch]], layout: Layout, limit: int) -> tuple[tuple[int, ...], ...] | None:
    """Wavefronts of every site under a layout, None as soon as they surely come to more than a limit."""
    result = []
    least = sum(batch.ideal for group in groups for batch in group)
    for group in groups:
        costs: dict[int, int] = {}
        for batch in group:
            found = batch.cost(layout)
            if found is None:
                return None
            least += sum(found) - batch.ideal
            if least > limit:
                return None
            costs.update(zip(batch.members, found, strict=True))
        result.append(tuple(costs[n] for n in sorted(costs)))
    return tuple(result)


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
        if added > 0 and instance.array.dynamic and analysis.launch.dynamic is None:
            return None
        # A launch that asks for more than that has been allowed to, and may be allowed more.
        most = arch.shared_block if dynamic > arch.shared_static else arch.shared_static
        if added > 0 and static + (dynamic if instance.array.dynamic else 0) + added > most:
            return None
        before = arch.resident_blocks(threads, static + dynamic)
        after = arch.resident_blocks(threads, static + dynamic + added)
        if worst is None or before - after > worst[0] - worst[1]:
            worst = (before, after)
    return worst
