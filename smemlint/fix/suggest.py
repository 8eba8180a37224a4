"""One suggestion per array that conflicts: the best layout that can be written into the source and proved.

In: analyses of kernels and the text of their files. Out: a Suggestion for each declared array that pays more
wavefronts than it has to. Reads and writes no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from smemlint.banks import Arch, architecture
from smemlint.evaluate.model import Grade, SharedArray
from smemlint.fix import apply as application
from smemlint.fix import flat
from smemlint.fix.candidates import Exchange, Padding, Shape, Swizzle, Trimmed, addresses
from smemlint.fix.constants import Constants
from smemlint.fix.edits import Declared, Edited, build, declared, swizzle_formula
from smemlint.fix.expressions import plus
from smemlint.fix.members import Instance, members, movable
from smemlint.fix.model import Kind, Refusal, SiteChange, Suggestion
from smemlint.fix.proof import Analyse, check
from smemlint.fix.search import Late, Option, options, order
from smemlint.fix.text import Source
from smemlint.score.model import KernelAnalysis

Key = tuple[str, int, str]
"""Path, byte offset and name of an array's declaration."""

_ARCH = architecture("sm_90")
_TRIES = 4
"""Layouts of one array that are written out and proved before the search gives up."""
_WORTH = 0.9
"""A padding must leave at most this share of the wavefronts to be worth an edit."""
_WORTH_ARITHMETIC = 0.6
"""The same for a swizzle, which costs two or three instructions at every access: it must also save more than
one wavefront a request. Measured, see docs/evaluation.md: what saved less ran at 0.93 to 1.00 times."""


@dataclass(frozen=True, slots=True)
class _Choice:
    option: Option
    shapes: tuple[Shape, ...]
    pitch: str | None


def array_key(array: SharedArray) -> Key:
    """The same for an array in every kernel instance, launch and configuration."""
    return (array.place.path, array.place.offset, array.name)


def suggest(
    analyses: Sequence[KernelAnalysis],
    sources: Mapping[str, bytes],
    analyse: Analyse | None = None,
    arch: Arch = _ARCH,
    late: Late = lambda: False,
) -> dict[Key, Suggestion]:
    """A suggestion for each array with a conflict.

    Args: analyses — every kernel instance and launch of the files. sources — text by path, as analysed.
    analyse — analyses an edited text again; without it no edit is offered, because none is proved.
    arch — whose limits of shared memory hold. late — whether the time is over.
    """
    texts = {path: Source(path, data) for path, data in sources.items()}
    taken = {path: set(source.names()) for path, source in texts.items()}
    result: dict[Key, Suggestion] = {}
    for key, instances in _arrays(analyses):
        if not _conflicted(instances):
            continue
        result[key] = _suggestion(instances, texts, taken, analyse, arch, late)
    return result


def _arrays(analyses: Sequence[KernelAnalysis]) -> Iterator[tuple[Key, list[Instance]]]:
    found: dict[Key, list[Instance]] = {}
    for analysis in analyses:
        for array in analysis.arrays.values():
            instance = Instance(analysis, array, members(analysis, array))
            found.setdefault(array_key(array), []).append(instance)
    yield from found.items()


def _conflicted(instances: Sequence[Instance]) -> bool:
    return any(m.before > m.ideal for i in instances for m in i.members)


def _suggestion(
    instances: list[Instance],
    texts: Mapping[str, Source],
    taken: Mapping[str, set[str]],
    analyse: Analyse | None,
    arch: Arch,
    late: Late,
) -> Suggestion:
    array = instances[0].array
    blocked = _not_understood(instances)
    used = [i for i in instances if i.members]
    choices, refused = _choices(used, texts, arch, late)
    if blocked is not None or refused is not None or not choices:
        why = blocked or refused or Refusal("no-better-layout", _nothing_better(used))
        return _in_words(instances, choices[0] if choices else None, why, texts)
    source = texts.get(array.place.path)
    first_refusal: Refusal | None = None
    for choice in _distinct(choices):
        names = set(taken.get(array.place.path, ()))
        outcome = _write(choice, used, source, names)
        if isinstance(outcome, Edited) and source is not None:
            unproved = _prove(choice, used, outcome, source, analyse)
            if unproved is None:
                taken[source.path].update(names)
                return _offered(choice, instances, used, outcome, source)
            outcome = unproved
        if first_refusal is None and isinstance(outcome, Refusal):
            first_refusal = outcome
    return _in_words(instances, choices[0], first_refusal or Refusal("no-better-layout", ""), texts)


def _distinct(choices: Sequence[_Choice]) -> list[_Choice]:
    """The first few choices, and at least one of each kind of edit."""
    kept = list(choices[:_TRIES])
    kinds = {(type(c.option.layout), c.pitch) for c in kept}
    for choice in choices[_TRIES:]:
        kind = (type(choice.option.layout), choice.pitch)
        if kind not in kinds:
            kinds.add(kind)
            kept.append(choice)
    return kept


def _not_understood(instances: Sequence[Instance]) -> Refusal | None:
    """Why the array may not be touched at all: something about its accesses is not known exactly."""
    for instance in instances:
        array = instance.array
        if array.escapes:
            return Refusal("escapes", f"the address of `{array.name}` goes where analysis cannot follow")
        for conflict in instance.analysis.conflicts:
            if conflict.site.array != array.id:
                continue
            said = f"`{conflict.site.expression}` on line {conflict.site.place.line}"
            if conflict.grade is Grade.UNRESOLVED:
                why = conflict.reason.text if conflict.reason else "its address is not known"
                return Refusal("unresolved-use", f"{said} is not resolved: {why}")
            if conflict.grade is Grade.PARAMETRIC or conflict.trace.parameter is not None:
                return Refusal("run-time-stride", f"{said} depends on a value that the launch gives")
            if conflict.executions and not movable(conflict):
                return Refusal("data-dependent", f"{said} depends on data")
    return None


def _choices(
    instances: Sequence[Instance], texts: Mapping[str, Source], arch: Arch, late: Late
) -> tuple[list[_Choice], Refusal | None]:
    """Layouts that pay, best first, over all ways to see rows in the array."""
    found: list[_Choice] = []
    refused: Refusal | None = None
    for shapes, pitch in _shapes(instances, texts):
        found += [_Choice(option, shapes, pitch) for option in options(instances, shapes, arch, late)]
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
    requests = sum(int(m.weights[(m.offsets >= 0).any(axis=1)].sum()) for m in members)
    saved = before - option.total
    pays = saved > requests if isinstance(option.layout, Swizzle) else saved >= requests
    return pays and option.total <= before * _WORTH_ARITHMETIC


def _hopeless(instances: Sequence[Instance]) -> Refusal | None:
    """Why no layout was found, where there is more to say than that none is better."""
    array = instances[0].array
    conflicted = [(i.array, m.conflict.site) for i in instances for m in i.members if m.before > m.ideal]
    if any(i.length is None for i in instances) or array.dynamic:
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
    at = _declared(instances[0], texts)
    if isinstance(at, Refusal) or any(use.context != "subscript" for use in at.uses):
        return
    indices = flat.index_texts(at.source, at.uses, at.scope)
    if isinstance(indices, str):
        return
    bracket = at.extents[0]
    size = flat.terms(at.source, bracket.open + 1, bracket.close)
    constants = [Constants([at.source, *texts.values()], i.analysis.launch) for i in instances]
    for pitch in flat.pitches(indices, size, constants[0].value)[:3]:
        values = [c.value(pitch) for c in constants]
        if any(not v or n % v for v, n in zip(values, lengths, strict=True)):
            continue
        yield (
            tuple(
                Shape((n // v, v), i.array.element, flat=True)
                for n, v, i in zip(lengths, values, instances, strict=True)
                if v
            ),
            pitch,
        )


def _declared(instance: Instance, texts: Mapping[str, Source]) -> Declared | Refusal:
    array = instance.array
    source = texts.get(array.place.path)
    if source is None:
        return Refusal("other-file", f"`{array.name}` is declared in a file that was not given")
    if array.place.macro is not None:
        return Refusal("declared-in-macro", f"`{array.name}` is declared by the macro `{array.place.macro}`")
    others = frozenset(a.name for a in instance.analysis.arrays.values() if a.name != array.name)
    place = array.place
    return declared(source, array.name, place.offset, place.end_offset, len(array.dims), others)


def _write(
    choice: _Choice, instances: Sequence[Instance], source: Source | None, taken: set[str]
) -> Edited | Refusal:
    array = instances[0].array
    if source is None:
        return Refusal("other-file", f"`{array.name}` is declared in a file that was not given")
    at = _declared(instances[0], {source.path: source})
    if isinstance(at, Refusal):
        return at
    value = Constants([source], instances[0].analysis.launch).value
    return build(choice.option.layout, at, choice.pitch, taken, choice.shapes[0], value)


def _prove(
    choice: _Choice, instances: Sequence[Instance], edited: Edited, source: Source, analyse: Analyse | None
) -> Refusal | None:
    if analyse is None:
        return Refusal("not-proved", "the edited file was not analysed again")
    try:
        text = application.apply(edited.edits, source.data)
    except application.EditError as error:
        return Refusal("not-proved", str(error))
    again = analyse(source.path, text, [i.analysis for i in instances])
    for instance, shape, now in zip(instances, choice.shapes, again, strict=True):
        if now is None:
            name = instance.analysis.kernel.name
            why = "the time was over, or it stands in a file that the analysed one includes"
            return Refusal("not-proved", f"`{name}` was not analysed again: {why}")
        promised = []
        for each in instance.members:
            at = addresses(each.offsets, each.conflict.trace.alignment, shape)
            moved = choice.option.layout.apply(at, shape)
            if moved is None:
                return Refusal("not-proved", "part of an address is not known")
            promised.append((each.conflict, moved))
        broken = check(instance.analysis, instance.array, promised, now)
        if broken is not None:
            return Refusal("not-proved", broken)
    return None


def _changes(choice: _Choice | None, instances: Sequence[Instance]) -> tuple[SiteChange, ...]:
    used = [i for i in instances if i.members]
    changes = []
    for n, instance in enumerate(used):
        for m, each in enumerate(instance.members):
            after = choice.option.after[n][m] if choice else each.before
            name = instance.analysis.kernel.name
            changes.append(SiteChange(name, each.conflict.site, each.before, after, each.ideal))
    return tuple(changes)


def _offered(
    choice: _Choice, instances: Sequence[Instance], used: Sequence[Instance], edited: Edited, source: Source
) -> Suggestion:
    unsafe = edited.unsafe or _open_questions(instances) or _not_evaluated(instances, source)
    changes = _changes(choice, used)
    return Suggestion(
        kind=_kind(choice),
        array=instances[0].array,
        words=_words(choice, edited.code, changes),
        edits=edited.edits,
        refused=None,
        safe=not unsafe,
        sites=changes,
        bytes_added=choice.option.bytes_added,
        blocks_per_sm=choice.option.blocks,
        unsafe_because=unsafe,
        code=edited.code,
    )


def _open_questions(instances: Sequence[Instance]) -> str:
    """What keeps an edit from being safe, '' when nothing does."""
    for instance in instances:
        array = instance.array
        if array.dynamic:
            return f"the size of `{array.name}` is given at the launch"
        if instance.analysis.launch.assumed:
            return f"the block shape of `{instance.analysis.kernel.name}` is assumed"
        if array.place.path != instance.analysis.kernel.place.path:
            return f"`{array.name}` is declared in {array.place.path}, which other files may include"
        for each in instance.members:
            site = each.conflict.site
            if each.conflict.grade is not Grade.EXACT or each.conflict.trace.maybe is not None:
                return f"which lanes run `{site.expression}` on line {site.place.line} is not known exactly"
        for note in instance.analysis.notes:
            return note.text
    return ""


def _not_evaluated(instances: Sequence[Instance], source: Source) -> str:
    """The first use of the array that no launch runs, as far as was seen; '' when there is none."""
    at = _declared(instances[0], {source.path: source})
    if isinstance(at, Refusal):
        return ""
    places = [
        place
        for instance in instances
        for conflict in instance.analysis.conflicts
        if conflict.site.array == instance.array.id
        for place in (conflict.site.place, *conflict.site.via)
        if place.path == source.path
    ]
    for use in at.uses:
        if use.context != "subscript" or use.address:
            continue
        if not any(p.offset < use.end and use.offset < p.end_offset for p in places):
            return f"no launch that was seen runs the use of `{at.name}` on line {use.line}"
    return ""


def _in_words(
    instances: Sequence[Instance], choice: _Choice | None, why: Refusal, texts: Mapping[str, Source]
) -> Suggestion:
    changes = _changes(choice, instances)
    code = ""
    words = "no layout of this array costs less"
    if choice is not None:
        code = _described(choice, instances[0], texts)
        words = _words(choice, code, changes)
    elif why.code == "struct-layout":
        words = "split the structure into one array per member"
    elif why.code in ("unresolved-use", "run-time-stride", "data-dependent", "escapes"):
        words = "a better layout cannot be proved"
    return Suggestion(
        kind=_kind(choice) if choice else "layout",
        array=instances[0].array,
        words=words,
        edits=None,
        refused=why,
        safe=False,
        sites=changes,
        bytes_added=choice.option.bytes_added if choice else 0,
        blocks_per_sm=choice.option.blocks if choice else None,
        code=code,
    )


def _kind(choice: _Choice) -> Kind:
    layout = choice.option.layout
    if isinstance(layout, Padding):
        return "pitch" if choice.pitch is not None else "padding"
    return "exchange" if isinstance(layout, Exchange) else "swizzle"


def _described(choice: _Choice, instance: Instance, texts: Mapping[str, Source]) -> str:
    """The layout as code that no edit writes."""
    layout = choice.option.layout
    if isinstance(layout, Trimmed):
        layout = layout.swizzle
    if isinstance(layout, Swizzle):
        return swizzle_formula(layout)
    if choice.pitch is not None and isinstance(layout, Padding):
        return plus(choice.pitch, layout.extra) or f"{choice.pitch} + {layout.extra}"
    shape = choice.shapes[0]
    at = _declared(instance, texts)
    if isinstance(at, Declared) and isinstance(layout, Padding):
        new = plus(at.extent(layout.dim), layout.extra)
        if new is not None:
            return at.text({layout.dim: new})
    return instance.array.name + "".join(f"[{d}]" for d in layout.shape(shape).dims)


def _words(choice: _Choice, code: str, changes: Sequence[SiteChange]) -> str:
    layout = choice.option.layout
    if isinstance(layout, Padding):
        what = f"pad the row: `{code}`" if choice.pitch is None else f"pad the row pitch: `{code}`"
    elif isinstance(layout, Exchange):
        what = f"exchange the dimensions: `{code}`"
    elif isinstance(layout, Trimmed):
        what = f"take the padding back and swizzle the column: `{code}`"
    else:
        what = f"swizzle the {'index' if layout.linear else 'column'}: `{code}`"
    return f"{what}; {_effect(changes)}, {_price(choice.option)}"


def _effect(changes: Sequence[SiteChange]) -> str:
    sites = {(c.site.place, c.site.op) for c in changes}
    left = {(c.site.place, c.site.op) for c in changes if c.after > c.ideal}
    if not left:
        return (
            "its only access becomes conflict-free"
            if len(sites) == 1
            else (f"all {len(sites)} accesses become conflict-free")
        )
    before, after = sum(c.before for c in changes), sum(c.after for c in changes)
    return f"{before} wavefronts become {after}, {len(left)} of {len(sites)} accesses keep a conflict"


def _price(option: Option) -> str:
    price = f"+{option.bytes_added} B" if option.bytes_added >= 0 else f"-{-option.bytes_added} B"
    before, after = option.blocks
    return f"{price}, resident blocks per SM {before} -> {after}" if after < before else price


def _nothing_better(instances: Sequence[Instance]) -> str:
    if any(m.conflict.site.op in ("atomic", "cas", "increment") for i in instances for m in i.members):
        return "lanes that update the same word take turns in any layout"
    if any(m.conflict.trace.joined for i in instances for m in i.members):
        return "every other layout makes an access worse or takes its wide loads away"
    return "every other layout that was tried makes an access worse"
