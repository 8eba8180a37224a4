"""The layouts of one array that pay, over all ways to see rows in it.

Rows are its dimensions; a one-dimensional array is one row, or rows of the pitch that its indices have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from smemlint.banks import Arch
from smemlint.evaluate.model import SharedArray
from smemlint.fix import flat
from smemlint.fix.candidates import Exchange, Padding, Shape, Trimmed
from smemlint.fix.constants import Constants
from smemlint.fix.edits import Declared, declared, pointed
from smemlint.fix.members import Instance
from smemlint.fix.model import Refusal
from smemlint.fix.search import Late, Option, options, order
from smemlint.fix.text import Source
from smemlint.records import record

_WORTH = 0.9
"""A padding must leave at most this share of the wavefronts to be worth an edit."""
_WORTH_ARITHMETIC = 0.6
"""The same for a swizzle, which takes the constant offsets away from accesses that share an address."""
_SAVED = 2
"""Wavefronts a request that a swizzle must save besides. Measured, see docs/evaluation.md: one that saved a
little more than 1 in the inner loop of a matrix product ran at 0.80 times its speed."""
_FEW = 8
"""Requests a warp and site up to which a padding may be traded for a swizzle that saves 1 a request."""


@record(frozen=True, slots=True)
class Choice:
    """A layout, and the array's shape in each instance. pitch: the factor in the indices of a flat array."""

    option: Option
    shapes: tuple[Shape, ...]
    pitch: str | None
    pool: SharedArray | None = None
    """The array that is cut into parts, where this is the layout of a part."""


def find_choices(
    instances: Sequence[Instance], texts: Mapping[str, Source], arch: Arch, late: Late
) -> tuple[list[Choice], Refusal | None]:
    """Layouts that pay, best first, over all ways to see rows in the array."""
    found: list[Choice] = []
    refused: Refusal | None = None
    for shapes, pitch in _shapes(instances, texts):
        pool = instances[0].piece.pool if instances[0].piece is not None else None
        found += [Choice(option, shapes, pitch, pool) for option in options(instances, shapes, arch, late)]
    if not found and instances:
        refused = (
            Refusal("out-of-time", "the time for this file was over") if late() else _hopeless(instances)
        )
    worth = [c for c in found if _worth(c.option, instances)]
    if found and not worth:
        refused = Refusal("not-worth-it", "it would cost about as much at run time as it saves")
    found = worth or found
    found.sort(key=lambda c: order(c.option, c.shapes))
    return found, refused


def _worth(option: Option, instances: Sequence[Instance]) -> bool:
    """Whether a layout pays for what it costs at run time."""
    members = [m for i in instances for m in i.members]
    before = sum(m.before for m in members)
    if isinstance(option.layout, (Padding, Exchange)):
        return option.total <= before * _WORTH
    runs = [int(m.weights[(m.offsets >= 0).any(axis=1)].sum()) for m in members]
    warps = max(-(-i.analysis.launch.threads // 32) for i in instances)
    traded = isinstance(option.layout, Trimmed) and max(runs) <= _FEW * warps
    pays = before - option.total >= sum(runs) * (1 if traded else _SAVED)
    return pays and option.total <= before * _WORTH_ARITHMETIC


def _hopeless(instances: Sequence[Instance]) -> Refusal | None:
    """Why no layout was found, where there is more to say than that none is better."""
    array = instances[0].array
    conflicted = [(i.array, m.conflict.site) for i in instances for m in i.members if m.before > m.ideal]
    if any(i.length is None for i in instances) or (array.dynamic and instances[0].piece is None):
        return Refusal("size-elsewhere", f"the size of `{array.name}` is given at the launch")
    for owner, site in conflicted:
        if site.width < owner.element:
            return Refusal(
                "struct-layout", f"lanes reach {owner.element}-byte elements member by member at any pitch"
            )
    return None


def _shapes(
    instances: Sequence[Instance], texts: Mapping[str, Source]
) -> Iterator[tuple[tuple[Shape, ...], str | None]]:
    dims = {len(i.array.dims) for i in instances}
    if len(dims) != 1 or dims == {0}:
        return
    if dims == {1}:
        lengths = [i.length for i in instances]
        if all(lengths):
            yield (
                tuple(Shape((n,), i.array.element) for n, i in zip(lengths, instances, strict=True) if n),
                None,
            )
            yield from _flat_shapes(instances, [n or 0 for n in lengths], texts)
        return
    shapes = []
    for instance in instances:
        known = [d for d in instance.array.dims if d is not None]
        if len(known) != len(instance.array.dims):
            return
        shapes.append(Shape(tuple(known), instance.array.element))
    if shapes:
        yield tuple(shapes), None


def _flat_shapes(
    instances: Sequence[Instance], lengths: Sequence[int], texts: Mapping[str, Source]
) -> Iterator[tuple[tuple[Shape, ...], str]]:
    at = locate(instances[0], texts)
    if isinstance(at, Refusal) or any(use.context != "subscript" for use in at.uses):
        return
    cut = instances[0].piece is not None
    if cut and not all(i.resizable for i in instances):
        return
    indices = flat.index_texts(at.source, at.uses, at.scope)
    if isinstance(indices, str):
        return
    size = []
    if not cut:
        bracket = at.extents[0]
        size = flat.terms(at.source, bracket.open + 1, bracket.close)
    constants = [Constants([at.source, *texts.values()], i.analysis.launch, arguments=cut) for i in instances]
    for pitch in flat.pitches(indices, size, constants[0].value)[:3]:
        values = [c.value(pitch) for c in constants]
        if any(not v or v > n or (n % v and not cut) for v, n in zip(values, lengths, strict=True)):
            continue
        yield (
            tuple(
                Shape((-(-n // v), v), i.array.element, flat=True)
                for n, v, i in zip(lengths, values, instances, strict=True)
                if v
            ),
            pitch,
        )


def locate(instance: Instance, texts: Mapping[str, Source]) -> Declared | Refusal:
    array = instance.array
    source = texts.get(array.place.path)
    if source is None:
        return Refusal("other-file", f"`{array.name}` is declared in a file that was not given")
    if array.place.macro is not None:
        return Refusal("declared-in-macro", f"`{array.name}` is declared by the macro `{array.place.macro}`")
    others = frozenset(a.name for a in instance.analysis.arrays.values() if a.name != array.name)
    place = array.place
    if instance.piece is not None and instance.piece.pointer is not None:
        starts = frozenset(pointer.used for pointer in instance.piece.pointers)
        return pointed(source, instance.piece.pointer, starts, others)
    return declared(source, array.name, place.offset, place.end_offset, len(array.dims), others)
