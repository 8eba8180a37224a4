"""The layouts that cost an array less, best first: every candidate is scored over all its sites at once.

In: what evaluation found for one declared array, in every kernel instance and launch that uses it.
Out: options, each with the wavefronts of every site before and after. No option makes any site worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from smemlint.banks import Arch
from smemlint.fix.batch import Batch, batches
from smemlint.fix.candidates import (
    Exchange,
    Layout,
    Padding,
    Shape,
    Swizzle,
    Trimmed,
    exchanges,
    paddings,
    swizzles,
    trims,
    unpadding,
)
from smemlint.fix.members import Instance, granule
from smemlint.records import record

Late: TypeAlias = Callable[[], bool]
LARGEST_PADDING = 4
"""A padding of more than 1/4 of the array is not offered."""
SMALL_PADDING = 8
"""A padding of at most 1/8 of the array that costs no resident block counts as free."""


@record(frozen=True, slots=True)
class Option:
    """One layout and what it does. after: wavefronts per instance and member, as `Instance.members` stand."""

    layout: Layout
    after: tuple[tuple[int, ...], ...]
    bytes_added: int
    blocks: tuple[int, int]

    @property
    def total(self) -> int:
        return sum(map(sum, self.after))


def options(
    instances: Sequence[Instance], shapes: Sequence[Shape], arch: Arch, late: Late = lambda: False
) -> list[Option]:
    """All layouts that lower the sum of wavefronts and raise no site's, best first.

    shapes: one per instance, all with the same number of dimensions. late: when to stop.
    The order is: wavefronts; resident
    blocks lost; then a small padding, the simplest edit; then bytes; then the simplest formula.
    """
    groups = [batches(i.members, s) for i, s in zip(instances, shapes, strict=True)]
    before = sum(m.before for i in instances for m in i.members)
    ideal = sum(m.ideal for i in instances for m in i.members)
    if before <= ideal:
        return []
    found: list[Option] = []
    perfect: set[type] = set()
    for layout in _candidates(instances, shapes):
        # Candidates of a kind come simplest first: after one that leaves nothing, the rest only costs more.
        if type(layout) in perfect:
            continue
        if late():
            break
        blocks = _blocks(instances, shapes, layout, arch)
        after = _try(groups, layout) if blocks is not None else None
        if after is None or blocks is None:
            continue
        bytes_added = max(layout.shape(s).bytes - s.bytes for s in shapes)
        option = Option(layout, after, bytes_added, blocks)
        if option.total < before:
            found.append(option)
        if option.total <= ideal:
            perfect.add(type(layout))
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
    first = shapes[0]
    together = [granule(i.members) for i in instances]
    unit = max(bytes_ // s.element for bytes_, s in zip(together, shapes, strict=True))
    sized = all(i.resizable for i in instances)
    bare = unpadding(first)
    if bare is not None and sized and all(unpadding(s) == bare for s in shapes):
        yield bare
    if len(first.dims) > 1 and sized:
        for padding in paddings(min(shapes, key=lambda s: s.element), 1):
            if all(_affordable(padding, s, g) for s, g in zip(shapes, together, strict=True)):
                yield padding
    if first.flat:
        return
    joined = any(m.joined for i in instances for m in i.members)
    if not joined:
        # The compiler joins neighbours only where it sees that they are neighbours.
        kept = max(unit, 1) * first.element
        yield from (s for s in swizzles(first, kept) if all(s.fits(shape) for shape in shapes))
        if sized:
            yield from (t for t in trims(first, kept) if all(t.swizzle.fits(t.shape(x)) for x in shapes))
    if unit <= 1 and sized:
        yield from exchanges(first)


def _affordable(padding: Padding, shape: Shape, together: int) -> bool:
    """Whether a padding keeps the alignment in every instance and costs at most a quarter of the array."""
    padded = padding.shape(shape)
    pitch = padded.strides()[padding.dim - 1] * shape.element
    return pitch % together == 0 and (padded.bytes - shape.bytes) * LARGEST_PADDING <= shape.bytes


def _try(groups: Sequence[Sequence[Batch]], layout: Layout) -> tuple[tuple[int, ...], ...] | None:
    """Wavefronts of every site under a layout, None as soon as one is worse than before."""
    result = []
    for group in groups:
        costs: dict[int, int] = {}
        for batch in group:
            found = batch.cost(layout)
            if found is None or any(new > old for new, old in zip(found, batch.most, strict=True)):
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
        if added > 0 and static + (dynamic if instance.array.dynamic else 0) + added > arch.shared_static:
            return None
        before = arch.resident_blocks(threads, static + dynamic)
        after = arch.resident_blocks(threads, static + dynamic + added)
        if worst is None or before - after > worst[0] - worst[1]:
            worst = (before, after)
    return worst
