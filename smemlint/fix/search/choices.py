"""The layouts of one array that pay, over all ways to see rows in it.

Rows are its dimensions; the last of them is one row, or rows of the pitch that its indices have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from smemlint.banks import Arch
from smemlint.evaluate.model import SharedArray
from smemlint.fix.model import Refusal
from smemlint.fix.search.candidates import Shape
from smemlint.fix.search.judge import Option, order, worth
from smemlint.fix.search.layouts import Found, Late, search
from smemlint.fix.search.members import Instance
from smemlint.fix.text import flat
from smemlint.fix.text.constants import Constants
from smemlint.fix.text.declared import Declared, declared, pointed, spelled
from smemlint.fix.text.reached import found_in, terms_of, way_terms
from smemlint.fix.text.source import Source
from smemlint.patterns import pattern
from smemlint.records import record

_MEMBER = pattern(r"(?:\.|->)\s*\w+\s*(?:\[[^\[\]]*\]\s*)*$")
"""The end of an access that names a member."""


@record(frozen=True, slots=True)
class Choice:
    """A layout, and the array's shape in each instance. pitch: the factor in the indices of a flat array."""

    option: Option
    shapes: tuple[Shape, ...]
    pitch: str | None
    pool: SharedArray | None = None
    """The array that is cut into parts, where this is the layout of a part."""

    def of(self, numbers: Sequence[int]) -> Choice:
        """The same for some of the instances."""
        work = tuple(self.option.work[n] for n in numbers) if self.option.work else ()
        option = replace(self.option, after=tuple(self.option.after[n] for n in numbers), work=work)
        return replace(self, option=option, shapes=tuple(self.shapes[n] for n in numbers))


@record(frozen=True, slots=True)
class Choices:
    """What the search for an array came to. pays: the layouts that pay, best first; cheap: the best of those
    that cost less and do not pay; nearest: the best of those that cost no less; tried: how many were
    scored; refused: why there is none that pays, where there is more to say than numbers; unfit: the best of
    those that cost less and do not fit into the shared memory of a block."""

    pays: tuple[Choice, ...] = ()
    cheap: Choice | None = None
    nearest: Choice | None = None
    tried: int = 0
    refused: Refusal | None = None
    rowless: Refusal | None = None
    """Why an array of one dimension was seen as one row only; None where it has rows."""
    unfit: Choice | None = None


def find_choices(
    instances: Sequence[Instance], texts: Mapping[str, Source], arch: Arch, late: Late
) -> Choices:
    """Layouts that pay, best first, over all ways to see rows in the array."""
    found: list[Choice] = []
    nearest: Choice | None = None
    unfit: Choice | None = None
    tried = 0
    rows = pitched = False
    at_some: Refusal | None = None
    for shapes, pitch in shapes_of(instances, texts):
        pool = instances[0].piece.pool if instances[0].piece is not None else None

        def choice(
            option: Option,
            shapes: tuple[Shape, ...] = shapes,
            pitch: str | None = pitch,
            pool: SharedArray | None = pool,
        ) -> Choice:
            return Choice(option, shapes, pitch, pool)

        rows = rows or pitch is not None or len(shapes[0].dims) > 1
        pitched = pitched or pitch is not None
        seen: Found = search(instances, shapes, arch, late)
        tried += seen.tried
        helping = [o for o in seen.options if pitch is None or _helps_at_each_width(o, instances, shapes)]
        if seen.options and not helping:
            widths = ", ".join(str(w) for w in sorted({s.dims[-1] for s in shapes}))
            said = f"rows are as wide as a launch says, and no padding helps at each width ({widths})"
            at_some = at_some or Refusal("run-time-pitch", said)
        found += map(choice, helping)
        if seen.unfit is not None and (unfit is None or seen.unfit.total < unfit.option.total):
            unfit = choice(seen.unfit)
        other = seen.nearest
        if other is not None and (nearest is None or other.total < nearest.option.total):
            nearest = choice(other)
    ordered = [found[n] for n in order([(c.option, c.pitch is not None) for c in found], instances)]
    pays = tuple(c for c in ordered if worth(c.option, instances))
    refused = None
    if not found and instances:
        refused = (
            Refusal("out-of-time", "the work for the fixes of this file was used up")
            if late()
            else at_some or _hopeless(instances)
        )
    flat_one = bool(instances) and len(instances[0].array.dims) == 1
    rowless = _rowless(instances[0], texts) if flat_one and not rows and not pays else None
    if instances and len(instances[0].array.dims) == 2 and not pitched and not pays:
        rowless = _stages(instances, texts)
    return Choices(
        pays, ordered[0] if ordered and not pays else None, nearest, tried, refused, rowless, unfit
    )


def _helps_at_each_width(option: Option, instances: Sequence[Instance], shapes: Sequence[Shape]) -> bool:
    """Whether a layout helps wherever there are conflicts, where launches of one kernel instance have rows of
    several widths: those that were seen stand for others."""
    widths: dict[object, set[int]] = {}
    for i, shape in zip(instances, shapes, strict=True):
        launch = i.analysis.launch
        same = (i.analysis.kernel.place, launch.block, tuple(sorted(map(str, launch.template.items()))))
        widths.setdefault(same, set()).add(shape.dims[-1])
    if all(len(of) == 1 for of in widths.values()):
        return True
    pairs = [
        (sum(after), sum(m.before for m in i.members), sum(m.ideal for m in i.members))
        for after, i in zip(option.after, instances, strict=True)
    ]
    return all(after < before for after, before, ideal in pairs if before > ideal)


def _rowless(instance: Instance, texts: Mapping[str, Source]) -> Refusal:
    """Why no rows are seen in an array of one dimension."""
    at = locate(instance, texts)
    if isinstance(at, Refusal):
        return at
    for use in at.uses:
        if use.context == "sizeof":
            return Refusal("size-elsewhere", f"`sizeof({at.name})` on line {use.line} would change")
        if use.context != "subscript" and use.viewed is None:
            return Refusal("passed-on", f"`{at.name}` is used as a pointer on line {use.line}")
    _, shared = flat.index_texts(at.source, at.elements, at.scope)
    if shared:
        return Refusal("index-used-elsewhere", shared)
    return Refusal("pitch-not-found", f"no row pitch is seen in all indices of `{at.name}`")


def _stages(instances: Sequence[Instance], texts: Mapping[str, Source]) -> Refusal | None:
    """Why the rows in the last dimension of `as[2][BM * BK]`, which pointers reach, are not seen; None where
    that dimension is no product, or every access is by the array's own name."""
    at = locate(instances[0], texts)
    if isinstance(at, Refusal) or instances[0].piece is not None:
        return None
    if all(use.context == "subscript" for use in at.elements):
        return None
    bracket = at.extents[-1]
    if not any(len(t.factors) > 1 for t in flat.terms(at.source, bracket.open + 1, bracket.close)):
        return None
    own = [(i, i.array.id) for i in instances]
    sites = [c.site for i, array in own for c in i.analysis.conflicts if c.site.array == array]
    seen = found_in(at, spelled(at), sites)
    return seen if isinstance(seen, Refusal) else None


def _is_unsized(instance: Instance) -> bool:
    """Whether the array lies in dynamic memory of which no launch tells the bytes."""
    return instance.array.dynamic and instance.analysis.launch.dynamic is None


def _hopeless(instances: Sequence[Instance]) -> Refusal | None:
    """Why no layout was found, where there is more to say than that none is better."""
    array = instances[0].array
    conflicted = [(i.array, m.conflict.site) for i in instances for m in i.members if m.before > m.ideal]
    for owner, site in conflicted:
        if site.width < owner.element and not _MEMBER.search(site.expression):
            said = f"`{site.expression}` on line {site.place.line} reaches {site.width}-byte elements"
            return Refusal("passed-on", f"{said}, and elements of `{array.name}` have {owner.element} bytes")
        if site.width < owner.element:
            return Refusal(
                "struct-layout", f"lanes reach {owner.element}-byte elements member by member at any pitch"
            )
    if any(i.given is None or _is_unsized(i) for i in instances):
        if not array.dynamic and None in array.dims:
            said = "what defines its extent was not read (`-D NAME=VALUE` for what the build defines)"
            return Refusal("size-elsewhere", f"the size of `{array.name}` is not known: {said}")
        return Refusal("size-elsewhere", f"the size of `{array.name}` is given at the launch")
    return None


def shapes_of(
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
        extents = instance.dims
        if extents is None:
            return
        shapes.append(Shape(extents, instance.array.element))
    if shapes:
        yield tuple(shapes), None
        yield from _flat_shapes(instances, [s.dims[-1] for s in shapes], texts)


def _flat_shapes(
    instances: Sequence[Instance], lengths: Sequence[int], texts: Mapping[str, Source]
) -> Iterator[tuple[tuple[Shape, ...], str]]:
    """Rows in the last dimension, as `As[2][BM * BK]` has them. lengths: of the last dimension."""
    at = locate(instances[0], texts)
    if isinstance(at, Refusal):
        return
    cut = instances[0].piece is not None
    if cut and not all(i.resizable for i in instances):
        return
    elements = at.elements
    if instances[0].piece is not None and instances[0].piece.strange:
        # No edit is written: the rows that some indices say are weighed for all accesses.
        elements = tuple(use for use in elements if use.context == "subscript")
    if all(use.context == "subscript" for use in elements):
        indices, _ = flat.index_texts(at.source, elements, at.scope)
    else:
        pointed_at = not cut and not instances[0].array.dynamic and len(at.extents) <= 2
        indices = _through_pointers(instances, at) if pointed_at else []
    if not indices:
        return
    size = []
    if not cut:
        bracket = at.extents[-1]
        size = flat.terms(at.source, bracket.open + 1, bracket.close)
    here = at.source.code[at.index].offset
    constants = [
        Constants([at.source, *texts.values()], i.analysis.launch, arguments=cut, near=here)
        for i in instances
    ]
    in_size = {factor.text for term in size for factor in term.factors}

    def value(text: str, of: Constants) -> int | None:
        known = of.value(text)
        # A local variable of the kernel, `int width = blockDim.x + 2;`.
        return of.value(flat.opened(at.source, text, at.scope)) if known is None and cut else known

    for pitch in flat.pitches(indices, size, lambda text: value(text, constants[0]))[:3]:
        # Where rows are a dimension of their own, only an extent that is a product has further ones in it.
        if len(instances[0].array.dims) > 1 and pitch not in in_size:
            continue
        values = [value(pitch, c) for c in constants]
        if any(not v or v > n or (n % v and not cut) for v, n in zip(values, lengths, strict=True)):
            continue
        yield (
            tuple(
                Shape((*_outer(i), -(-n // v), v), i.array.element, flat=True)
                for n, v, i in zip(lengths, values, instances, strict=True)
                if v
            ),
            pitch,
        )


def _outer(instance: Instance) -> list[int]:
    """The dimensions around the last one."""
    return [d for d in instance.array.dims[:-1] if d is not None]


def _through_pointers(instances: Sequence[Instance], at: Declared) -> list[flat.IndexText]:
    """What accesses add to pointers into an array, and pointers to one another; [] where not all are read."""
    own = [(i, i.array.id) for i in instances]
    sites = [c.site for i, array in own for c in i.analysis.conflicts if c.site.array == array]
    seen = found_in(at, spelled(at), sites)
    if isinstance(seen, Refusal):
        return []
    found = [terms_of(at.source, access) for _, _, access in seen[1]] + way_terms(at.source, seen[0])
    return [flat.IndexText(tuple(terms)) for terms in found if terms]


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
