"""One suggestion per array that conflicts: the best layout that can be written into the source and proved.

In: analyses of kernels and the text of their files. Out: a Suggestion for each declared array that pays more
wavefronts than it has to. Reads and writes no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from smemlint.banks import Arch, architecture
from smemlint.evaluate.model import Grade, SharedArray
from smemlint.fix import apply as application
from smemlint.fix.candidates import addresses
from smemlint.fix.choices import Choice, find_choices, locate
from smemlint.fix.constants import Constants
from smemlint.fix.edits import Edited, build
from smemlint.fix.members import Instance, members, movable
from smemlint.fix.model import Refusal, SiteChange, Suggestion
from smemlint.fix.proof import Analyse, check
from smemlint.fix.search import Late
from smemlint.fix.text import Source
from smemlint.fix.words import described, kind, nothing_better, words
from smemlint.score.model import KernelAnalysis

Key = tuple[str, int, str]
"""Path, byte offset and name of an array's declaration."""

_ARCH = architecture("sm_90")
_TRIES = 4
"""Layouts of one array that are written out and proved before the search gives up."""


def array_key(array: SharedArray) -> Key:
    """The same for an array in every kernel instance, launch and configuration."""
    return (array.place.path, array.place.offset, array.name)


def suggest(
    analyses: Sequence[KernelAnalysis],
    sources: Mapping[str, bytes],
    analyse: Analyse | None = None,
    arch: Arch = _ARCH,
    late: Late = lambda: False,
    main: str = "",
) -> dict[Key, Suggestion]:
    """A suggestion for each array with a conflict.

    Args: analyses — every kernel instance and launch of the files. sources — text by path, as analysed.
    analyse — analyses an edited text again; without it no edit is offered, because none is proved.
    arch — whose limits of shared memory hold. late — whether the time is over.
    main — the file whose launches are known; other files may start kernels that stand elsewhere.
    """
    texts = {path: Source(path, data) for path, data in sources.items()}
    taken = {path: set(source.names()) for path, source in texts.items()}
    result: dict[Key, Suggestion] = {}
    for key, instances in _arrays(analyses):
        if not _conflicted(instances):
            continue
        result[key] = _suggestion(instances, texts, taken, analyse, arch, late, main)
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
    main: str,
) -> Suggestion:
    array = instances[0].array
    blocked = _not_understood(instances)
    used = [i for i in instances if i.members]
    choices, refused = find_choices(used, texts, arch, late)
    if blocked is not None or refused is not None or not choices:
        why = blocked or refused or Refusal("no-better-layout", nothing_better(used))
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
                return _offered(choice, instances, used, outcome, source, main)
            outcome = unproved
        if first_refusal is None and isinstance(outcome, Refusal):
            first_refusal = outcome
    return _in_words(instances, choices[0], first_refusal or Refusal("no-better-layout", ""), texts)


def _distinct(choices: Sequence[Choice]) -> list[Choice]:
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


def _write(
    choice: Choice, instances: Sequence[Instance], source: Source | None, taken: set[str]
) -> Edited | Refusal:
    array = instances[0].array
    if source is None:
        return Refusal("other-file", f"`{array.name}` is declared in a file that was not given")
    at = locate(instances[0], {source.path: source})
    if isinstance(at, Refusal):
        return at
    value = Constants([source], instances[0].analysis.launch).value
    return build(choice.option.layout, at, choice.pitch, taken, choice.shapes[0], value)


def _prove(
    choice: Choice, instances: Sequence[Instance], edited: Edited, source: Source, analyse: Analyse | None
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


def _changes(choice: Choice | None, instances: Sequence[Instance]) -> tuple[SiteChange, ...]:
    used = [i for i in instances if i.members]
    changes = []
    for n, instance in enumerate(used):
        for m, each in enumerate(instance.members):
            after = choice.option.after[n][m] if choice else each.before
            name = instance.analysis.kernel.name
            changes.append(SiteChange(name, each.conflict.site, each.before, after, each.ideal))
    return tuple(changes)


def _offered(
    choice: Choice,
    instances: Sequence[Instance],
    used: Sequence[Instance],
    edited: Edited,
    source: Source,
    main: str,
) -> Suggestion:
    unsafe = edited.unsafe or _open_questions(instances, main) or _not_evaluated(instances, source)
    changes = _changes(choice, used)
    return Suggestion(
        kind=kind(choice),
        array=instances[0].array,
        words=words(choice, edited.code, changes),
        edits=edited.edits,
        refused=None,
        safe=not unsafe,
        sites=changes,
        bytes_added=choice.option.bytes_added,
        blocks_per_sm=choice.option.blocks,
        unsafe_because=unsafe,
        code=edited.code,
    )


def _open_questions(instances: Sequence[Instance], main: str) -> str:
    """What keeps an edit from being safe, '' when nothing does."""
    for instance in instances:
        array = instance.array
        if array.dynamic:
            return f"the size of `{array.name}` is given at the launch"
        if instance.analysis.launch.assumed:
            return f"the block shape of `{instance.analysis.kernel.name}` is assumed"
        if array.place.path != (main or instance.analysis.kernel.place.path):
            name = array.place.path.rpartition("/")[2]
            return f"`{array.name}` is declared in {name}, which other files may include"
        for each in instance.members:
            site = each.conflict.site
            if each.conflict.grade is not Grade.EXACT or each.conflict.trace.maybe is not None:
                return f"which lanes run `{site.expression}` on line {site.place.line} is not known exactly"
        for note in instance.analysis.notes:
            return note.text
    return ""


def _not_evaluated(instances: Sequence[Instance], source: Source) -> str:
    """The first use of the array that no launch runs, as far as was seen; '' when there is none."""
    at = locate(instances[0], {source.path: source})
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
    instances: Sequence[Instance], choice: Choice | None, why: Refusal, texts: Mapping[str, Source]
) -> Suggestion:
    changes = _changes(choice, instances)
    code = ""
    text = "no layout of this array costs less"
    if choice is not None:
        code = described(choice, instances[0], texts)
        text = words(choice, code, changes)
    elif why.code == "struct-layout":
        text = "split the structure into one array per member"
    elif why.code in ("unresolved-use", "run-time-stride", "data-dependent", "escapes"):
        text = "a better layout cannot be proved"
    return Suggestion(
        kind=kind(choice) if choice else "layout",
        array=instances[0].array,
        words=text,
        edits=None,
        refused=why,
        safe=False,
        sites=changes,
        bytes_added=choice.option.bytes_added if choice else 0,
        blocks_per_sm=choice.option.blocks if choice else None,
        code=code,
    )
