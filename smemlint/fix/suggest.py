"""One suggestion per array that conflicts: the best layout that can be written into the source and proved.

In: analyses of kernels and the text of their files. Out: a Suggestion for each declared array that pays more
wavefronts than it has to. Reads and writes no file.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from smemlint.banks import Arch, architecture
from smemlint.fix.edits.aligned import ALIGNED, aligned, is_aligned
from smemlint.fix.edits.apply import compatible
from smemlint.fix.edits.build import build
from smemlint.fix.edits.through import through, wider
from smemlint.fix.edits.wrapped import wrapped
from smemlint.fix.eligible import Key, array_key
from smemlint.fix.means import Means
from smemlint.fix.model import Refusal, SiteChange, Suggestion
from smemlint.fix.other_ways import NO_LAYOUT, by_member, by_name, by_trial, with_bytes
from smemlint.fix.proof.loaded_again import with_loads
from smemlint.fix.proof.promise import ELSEWHERE, STRAYED, Analyse, sites_of
from smemlint.fix.proof.proving import Move, blame, growth_of, prove
from smemlint.fix.proof.safety import (
    harmed,
    not_evaluated,
    open_questions,
    rescheduled,
    stale_comment,
    unread_use,
)
from smemlint.fix.proof.understood import left_aside, not_understood
from smemlint.fix.reasons import nothing_found
from smemlint.fix.sampled import sampled, worth_a_sample
from smemlint.fix.search.candidates import Padding, Swizzle
from smemlint.fix.search.choices import Choice, find_choices, locate
from smemlint.fix.search.judge import CLEARLY, kernel_wavefronts, standing, too_little
from smemlint.fix.search.layouts import Late
from smemlint.fix.search.members import Instance, apart, members
from smemlint.fix.search.parts import Part, cut, places_of, pool_of, spelled_type
from smemlint.fix.text.constants import Constants
from smemlint.fix.text.declared import Edited
from smemlint.fix.text.launches.known import told_otherwise, unknown_launch
from smemlint.fix.text.source import Source
from smemlint.fix.whole import Whole
from smemlint.fix.words import described, kind, words
from smemlint.score.model import KernelAnalysis

_ARCH = architecture("sm_90")
_TRIES = 4
"""Layouts of one array that are written out and proved before the search gives up."""
_ALL_TRIED = ("no-better-layout", "not-worth-it")
"""Why there is no edit, where all layouts were looked at."""


def suggest(
    analyses: Sequence[KernelAnalysis],
    sources: Mapping[str, bytes],
    analyse: Analyse | None = None,
    arch: Arch = _ARCH,
    late: Late = lambda: False,
    main: str = "",
    whole: Whole | None = None,
    into: dict[Key, Suggestion] | None = None,
    included: Mapping[str, bytes] = MappingProxyType({}),
) -> dict[Key, Suggestion]:
    """A suggestion for each array with a conflict.

    Args: analyses — every kernel instance and launch of the files. sources — text by path, as analysed.
    included — further files of the program, in which constants may be defined.
    analyse — analyses an edited text again; without it no edit is offered, because none is proved.
    arch — whose limits of shared memory hold. late — whether the time is over.
    main — the file whose launches are known; other files may start kernels that stand elsewhere.
    whole — analyses that file with another text from nothing; without it no named constant is changed.
    into — takes the suggestions as they are found: it holds them, and the reason `out-of-time` for the rest,
    also where the search is interrupted.
    """
    around = tuple(Source(path, data) for path, data in included.items())
    plain = {path: Source(path, data) for path, data in sources.items()}
    texts = {
        path: Source(path, data, (*around, *(other for name, other in plain.items() if name != path)))
        for path, data in sources.items()
    }
    taken = {path: set(source.names()) for path, source in texts.items()}
    means = Means(texts, taken, analyse, arch, late, main, analyses, whole)
    result: dict[Key, Suggestion] = {} if into is None else into
    every = {key: instances for key, instances in _arrays(analyses) if _conflicted(instances)}
    asked = {key: _launched(instances) for key, instances in every.items()}
    asked = {key: instances for key, instances in asked.items() if _conflicted(instances)}
    for key in [key for key, instances in asked.items() if not all(i.array.element for i in instances)]:
        instances = asked.pop(key)
        said = f"the size of an element of `{instances[0].array.name}` is not known (`-I`)"
        result[key] = _in_words(instances, None, Refusal("size-elsewhere", said), texts)
    interrupted = Refusal("out-of-time", "the time for the fixes of this file was over")
    result.update((key, _in_words(instances, None, interrupted, texts)) for key, instances in asked.items())
    proved = _side_by_side(asked, means)
    for key, instances in asked.items():
        found = proved[key] if key in proved else _suggestion(instances, means)
        if found.refused is not None and worth_a_sample(found.refused.code, instances):
            found = _by_sample(found, instances, means)
        found = with_bytes(found, instances, means)
        result[key] = by_member(by_name(found, instances, means), instances, means)
    for key, instances in asked.items():  # afterwards: what a trial takes, another array shall not lack
        result[key] = by_trial(result[key], instances, means)
    for key, instances in asked.items():
        kept = {id(i) for i in instances}  # not by `==`: equal ones may hold arrays of numbers
        guess = next((i for i in every[key] if id(i) not in kept), None)
        if guess is not None and result[key].safe:
            why = f"the block shape of `{guess.analysis.kernel.name}` is assumed in another configuration"
            result[key] = replace(result[key], safe=False, unsafe_because=why)
    every_edit = [e for suggestion in result.values() for e in suggestion.edits or ()]
    for key, suggestion in result.items():
        if suggestion.edits is not None:
            result[key] = replace(suggestion, edits=wrapped(suggestion.edits, texts, every_edit))
    return result


def _launched(instances: list[Instance]) -> list[Instance]:
    """The instances without those under an assumed block shape, of kernels that a launch which was seen
    starts as well: in another configuration of the file there may be none."""
    seen = {_kernel_of(i) for i in instances if not i.analysis.launch.is_supposed}
    return [i for i in instances if not (i.analysis.launch.is_supposed and _kernel_of(i) in seen)]


def _kernel_of(instance: Instance) -> tuple[str, int]:
    place = instance.analysis.kernel.place
    return place.path, place.offset


def _side_by_side(asked: Mapping[Key, list[Instance]], means: Means) -> dict[Key, Suggestion]:
    """The fixes of several arrays of the same kernels by one proof, which evaluates these once for all."""
    groups: dict[object, list[tuple[Key, list[Instance]]]] = {}
    for key, instances in asked.items():
        path = instances[0].array.place.path
        if path in means.texts and not instances[0].array.dynamic and not cut(instances, means.texts):
            kernels = frozenset(id(i.analysis.kernel) for i in instances)
            groups.setdefault((path, kernels), []).append((key, instances))
    result: dict[Key, Suggestion] = {}
    for group in groups.values():
        if len(group) > 1:
            result.update(_group(group, means))
    return result


def _group(group: Sequence[tuple[Key, list[Instance]]], means: Means) -> dict[Key, Suggestion]:
    """Those of the group that hold together; an array that is to blame is left to a proof of its own."""
    path = group[0][1][0].array.place.path
    drafting = means.drafting()
    moves: dict[Key, Move] = {}
    for key, instances in group:
        move = _best(instances, drafting)
        if isinstance(move, Move) and all(
            compatible(move.edited.edits, m.edited.edits) for m in moves.values()
        ):
            moves[key] = move
    while len(moves) > 1:
        edited: dict[int, KernelAnalysis] = {}
        broken = blame(list(moves.values()), means.texts[path], means.analyse, edited=edited)
        if broken is None:
            means.taken[path].update(drafting.taken[path])
            return {key: with_loads(move, edited).suggestion for key, move in moves.items()}
        if not broken[1]:
            break
        blamed = {pool.id for pool in broken[1]}
        moves = {key: move for key, move in moves.items() if move.pool.id not in blamed}
    return {}


def _by_sample(found: Suggestion, instances: list[Instance], means: Means) -> Suggestion:
    """The same array with a sample for what only the launch knows, where that leads to an edit."""
    sample = sampled(instances, means.texts, means.analyse)
    if sample is None or means.late():
        return found
    other = _suggestion(sample[0], means)
    if other.edits is None:
        return found
    return replace(other, safe=False, unsafe_because=sample[1])


def _arrays(analyses: Sequence[KernelAnalysis]) -> Iterator[tuple[Key, list[Instance]]]:
    found: dict[Key, list[Instance]] = {}
    for analysis in analyses:
        for array in analysis.arrays.values():
            instance = Instance(analysis, array, members(analysis, array))
            found.setdefault(array_key(array), []).append(instance)
    yield from found.items()


def _conflicted(instances: Sequence[Instance]) -> bool:
    """Whether some access surely pays more than it has to, be its addresses known one by one or not."""
    if any(m.before > m.ideal for i in instances for m in i.members):
        return True
    sites = (c for i in instances for c in (i.piece.sites if i.piece else sites_of(i.analysis, i.array)))
    return any((c.wavefronts_low or 0) > (c.ideal or 0) for c in sites)


def _suggestion(instances: list[Instance], means: Means) -> Suggestion:
    texts = means.texts
    parts = cut(instances, texts) or []
    conflicted = [p for p in parts if _conflicted(p.instances)]
    if len(conflicted) > 1 and (done := _at_once([p for p in conflicted if p.refused is None], means)):
        return done
    found = [
        _in_words(p.instances, None, p.refused, texts) if p.refused is not None else _best(p.instances, means)
        for p in conflicted
    ]
    moves = [each for each in found if isinstance(each, Move)]
    if moves:
        return _together(moves, texts, means.analyse)
    in_words = [each for each in found if isinstance(each, Suggestion)]
    # Pointers to rows (`&As[r * BK]`) cut no parts: the array is laid out as a whole, of whatever size.
    if not in_words or all(i.length is not None for i in instances):
        whole = _best(instances, means)
        if isinstance(whole, Move):
            return whole.suggestion
        strange = any(i.piece is not None and i.piece.strange for p in conflicted for i in p.instances)
        if not (strange and in_words):  # which access is in the way is known by its part
            in_words.insert(len(in_words) if instances[0].array.dynamic else 0, whole)
    return max(in_words, key=lambda s: (s.refused is not None and s.after < s.before, s.before - s.after))


def _at_once(parts: Sequence[Part], means: Means) -> Suggestion | None:
    """The fixes of several parts of a pool by one proof: the one that saves most, and those that touch other
    text; None where that fails, or where few have one."""
    drafting = means.drafting()
    moves = [_best(part.instances, drafting) for part in parts]
    written = [each for each in moves if isinstance(each, Move)]
    if len(written) < 2:
        return None
    kept: list[Move] = []
    for move in sorted(written, key=lambda m: m.suggestion.after - m.suggestion.before):
        if all(compatible(move.edited.edits, k.edited.edits) for k in kept):
            kept.append(move)
    kept = [move for move in written if any(move is k for k in kept)]
    path = written[0].pool.place.path
    edited: dict[int, KernelAnalysis] = {}
    if prove(kept, means.texts[path], means.analyse, edited=edited) is not None:
        return None
    means.taken[path].update(drafting.taken[path])
    done = [with_loads(move, edited) for move in kept]
    return _joined(done, done)


def _together(moves: Sequence[Move], texts: Mapping[str, Source], analyse: Analyse | None) -> Suggestion:
    """The fixes of the parts of one pool as one: the one that saves most, and those that hold with it."""
    best = max(moves, key=lambda m: m.suggestion.before - m.suggestion.after)
    kept = [best]
    for move in moves:
        if move is best or any(not compatible(move.edited.edits, k.edited.edits) for k in kept):
            continue
        if prove([*kept, move], texts[best.pool.place.path], analyse) is None:
            kept.append(move)
    return _joined(moves, kept)


def _joined(moves: Sequence[Move], kept: Sequence[Move]) -> Suggestion:
    """Moves that hold together as one suggestion."""
    ordered = [m.suggestion for m in moves if m in kept]
    first = max(kept, key=lambda m: m.suggestion.before - m.suggestion.after).suggestion
    return replace(
        first,
        words="; ".join(s.words for s in ordered),
        edits=tuple(
            sorted((e for s in ordered for e in s.edits or ()), key=lambda e: (e.offset, e.end_offset))
        ),
        safe=all(s.safe for s in ordered),
        sites=tuple(change for s in ordered for change in s.sites),
        bytes_added=sum(s.bytes_added for s in ordered),
        unsafe_because=next((s.unsafe_because for s in ordered if not s.safe), ""),
        code="`, `".join(s.code for s in ordered),
        kernel=_summed([s.kernel for s in ordered]),
    )


def _summed(kernels: Sequence[tuple[int, int] | None]) -> tuple[int, int] | None:
    """The kernel with the layouts of all its parts."""
    known = [k for k in kernels if k is not None]
    if not known or len(known) < len(kernels):
        return None
    return known[0][0], known[0][0] - sum(before - after for before, after in known)


def _best(instances: Sequence[Instance], means: Means) -> Move | Suggestion:
    """The best layout that is proved, or the best one in words with the reason why there is no edit."""
    found = _best_of(instances, means)
    joined = any(m.joined for i in instances for m in i.members)
    ideal = sum(m.ideal for i in instances for m in i.members)
    done = isinstance(found, Move) and found.choice.option.total <= ideal
    if done or not joined or not_understood(instances) is not None:
        return found
    # A layout that keeps the compiler from joining neighbours may be a small price.
    separate = [replace(i, members=tuple(map(apart, i.members))) for i in instances]
    other = _best_of(separate, means)
    if not isinstance(other, Move) or not isinstance(found, Move):
        return other if isinstance(other, Move) else found
    return other if other.choice.option.cost < found.choice.option.cost * CLEARLY else found


def _best_of(instances: Sequence[Instance], means: Means) -> Move | Suggestion:
    texts, taken = means.texts, means.taken
    array = instances[0].array
    blocked = not_understood(instances)
    used = tuple(i for i in instances if i.members)
    rows = instances[0].piece.rows if instances[0].piece is not None else ()
    if blocked is not None and not rows:  # whatever is found: nobody knows what it does to that access
        return _in_words(instances, None, blocked, texts)
    found = find_choices(used, texts, means.arch, means.late)
    aside = left_aside(instances) if blocked is None else None
    # A pitch in the text of indices says nothing of those that depend on data; the array's own index does.
    choices = tuple(c for c in found.pays if c.pitch is None) if aside else found.pays
    paid = any(m.before > m.ideal for i in instances for m in i.members)
    if aside is not None and not choices and (found.pays or not paid):
        blocked = aside
    if rows and choices:  # a pointer to a row follows a pitch, and nothing that moves what is in the row
        choices = tuple(c for c in choices if c.pitch is not None)
        name = instances[0].array.name
        blocked = None if choices else Refusal("passed-on", f"`{rows[0]}` is a pointer to a row of `{name}`")
    if blocked is not None or not choices:
        why = blocked or found.refused or nothing_found(found, used, texts)
        # Of an access that is not understood nobody knows what another layout does to it.
        return _in_words(instances, found.cheap if blocked is None else None, why, texts)
    strange = next((i.piece.strange for i in instances if i.piece is not None and i.piece.strange), "")
    if strange:  # no edit of the accesses through the pointer moves this one
        return _in_words(instances, choices[0], Refusal("part-overlaps", strange), texts)
    source = texts.get(array.place.path)
    first_refusal: Refusal | None = None
    strayed: set[tuple[object, ...]] = set()
    for choice in _distinct(choices):
        layout = choice.option.layout
        kind = (type(layout), getattr(layout, "dim", None), choice.pitch)
        if kind in strayed:
            continue
        names = set(taken.get(array.place.path, ()))
        outcome = _aligned(_write(choice, used, source, names, texts), choice, used, source)
        if isinstance(outcome, Edited) and source is not None:
            move = Move(_offered(choice, instances, used, outcome, source, means), choice, used, outcome)
            wrong: set[int] = set()
            edited: dict[int, KernelAnalysis] = {}
            unproved = None if means.draft else prove([move], source, means.analyse, wrong, edited)
            longer = outcome.otherwise
            if unproved is not None and longer is None and _may_be_pointers(unproved, used, source):
                names = set(taken.get(array.place.path, ()))
                longer = _by_pointers(choice, used, source, names)
            if unproved is not None and longer is not None:
                outcome = longer
                move = Move(_offered(choice, instances, used, outcome, source, means), choice, used, outcome)
                unproved = prove([move], source, means.analyse, wrong, edited)
            if unproved is None and wrong:
                move = _without(move, wrong, instances, source, means)
            if unproved is None:
                taken[source.path].update(names)
                return with_loads(move, edited)
            if unproved.text.endswith(STRAYED):  # it does so however many elements are added
                strayed.add(kind)
            outcome = unproved
            if means.late():
                first_refusal = first_refusal or Refusal(
                    "out-of-time",
                    "the work for the fixes of this file was used up before a layout was proved",
                )
                break
        if first_refusal is None and isinstance(outcome, Refusal):
            first_refusal = outcome
    return _in_words(instances, choices[0], first_refusal or Refusal("no-better-layout", ""), texts)


def _may_be_pointers(unproved: Refusal, instances: Sequence[Instance], source: Source) -> bool:
    """Whether an edit at the array's own uses may fail for accesses that start at an element's address."""
    at = locate(instances[0], {source.path: source})
    handed = not isinstance(at, Refusal) and any(use.address for use in at.uses)
    return handed or unproved.text.endswith(ELSEWHERE)


def _by_pointers(
    choice: Choice, instances: Sequence[Instance], source: Source, taken: set[str]
) -> Edited | None:
    """A swizzle at every access, where one at the array's own uses leaves out some: the address of an element
    (`&As(0, n)` of a macro) starts a pointer. None for what is written in no such way."""
    layout, at = choice.option.layout, locate(instances[0], {source.path: source})
    flat = choice.pitch is None and instances[0].piece is None
    if not isinstance(layout, Swizzle) or isinstance(at, Refusal) or not flat:
        return None
    sites = [c.site for i in instances for c in sites_of(i.analysis, i.array)]
    found = through(layout, at, sites, spelled_type(instances[0].array, at), taken, choice.shapes[0])
    return found if isinstance(found, Edited) else None


def _without(
    move: Move, wrong: Container[int], instances: Sequence[Instance], source: Source, means: Means
) -> Move:
    """The same edits for the launches that are left when some guesses are wrong."""
    numbers = [n for n, i in enumerate(move.used) if id(i.analysis) not in wrong]
    choice, used = move.choice.of(numbers), tuple(move.used[n] for n in numbers)
    left = [i for i in instances if id(i.analysis) not in wrong]
    return Move(_offered(choice, left, used, move.edited, source, means), choice, used, move.edited)


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


def _write(
    choice: Choice,
    instances: Sequence[Instance],
    source: Source | None,
    taken: set[str],
    texts: Mapping[str, Source],
) -> Edited | Refusal:
    array = instances[0].array
    if source is None:
        return Refusal("other-file", f"`{array.name}` is declared in a file that was not given")
    at = locate(instances[0], {source.path: source})
    if isinstance(at, Refusal):
        return at
    if growth_of(choice, 0):
        pool = pool_of(instances, source)
        if isinstance(pool, Refusal):
            return pool
        at = replace(
            at,
            pool=replace(
                pool,
                rows=tuple(s.dims[0] for s in choice.shapes),
                elements=tuple(s.element for s in choice.shapes),
            ),
        )
    here, launch = source.code[at.index].offset, instances[0].analysis.launch
    value = Constants([source, *texts.values()], launch, block=False, near=here).value
    layout = choice.option.layout
    sites = [c.site for i in instances for c in sites_of(i.analysis, i.array)]
    if isinstance(layout, Swizzle) and layout.kept > 1 and len(at.extents) == 1:
        # What all threads have in common stays outside of the helper: one address serves a whole loop.
        names = set(taken)
        neighbours = through(layout, at, sites, spelled_type(array, at), names, choice.shapes[0])
        if isinstance(neighbours, Edited):
            taken.update(names)
            return neighbours
    built = build(layout, at, choice.pitch, taken, choice.shapes[0], value)
    pointed = isinstance(built, Refusal) and built.code in ("passed-on", "used-in-macro")
    resized = isinstance(layout, Padding)
    if not pointed or (array.dynamic and resized) or instances[0].piece is not None:
        return built
    found: Edited | Refusal = built
    if isinstance(layout, Padding) and choice.pitch is not None and len(at.extents) <= 2:
        found = wider(layout, at, sites, spelled_type(array, at), choice.pitch, choice.shapes[0])
    elif isinstance(layout, Swizzle) and choice.pitch is None:
        found = through(layout, at, sites, spelled_type(array, at), taken, choice.shapes[0])
    in_macro = isinstance(built, Refusal) and built.code == "used-in-macro"
    return built if in_macro and isinstance(found, Refusal) else found


def _aligned(
    outcome: Edited | Refusal, choice: Choice, instances: Sequence[Instance], source: Source | None
) -> Edited | Refusal:
    """The edits of an array whose neighbours the compiler joins, with the alignment that this needs."""
    if isinstance(outcome, Refusal) or source is None or instances[0].piece is not None:
        return outcome
    at = locate(instances[0], {source.path: source})
    if isinstance(at, Refusal):
        return outcome
    wanted = max((m.conflict.joined or 0 for i in instances for m in i.members if not m.apart), default=0)
    return aligned(outcome, at, instances[0].array.align, wanted)


def _changes(choice: Choice | None, instances: Sequence[Instance]) -> tuple[SiteChange, ...]:
    used = [i for i in instances if i.members]
    changes = []
    for n, instance in enumerate(used):
        for m, each in enumerate(instance.members):
            after = choice.option.after[n][m] if choice else each.before
            name = instance.analysis.kernel.name
            changes.append(SiteChange(name, each.conflict.site, each.before, after, each.ideal, each.apart))
    return tuple(changes)


def _offered(
    choice: Choice,
    instances: Sequence[Instance],
    used: Sequence[Instance],
    edited: Edited,
    source: Source,
    means: Means,
) -> Suggestion:
    unsafe = (
        edited.unsafe or harmed(choice.option, used) or open_questions(instances, means.analyses, means.main)
    )
    unsafe = unsafe or not_evaluated(instances, source) or rescheduled(choice.option, used)
    aside = left_aside(instances)
    if aside is not None and not unsafe:
        unsafe = f"{aside.text}: what it costs after the edit is not known"
    dynamic, kernel = instances[0].array.dynamic, instances[0].analysis.kernel.name
    if dynamic and not unsafe:
        unsafe = unknown_launch(source, kernel, places_of(instances))
    if (dynamic or choice.pitch is not None) and not unsafe:
        unsafe = told_otherwise(source, places_of(instances), kernel, choice.pitch or "", dynamic)
    unsafe = unsafe or too_little(choice.option, used)
    step = choice.option.step.text if choice.option.step is not None else ""
    changes = _changes(choice, used)
    return Suggestion(
        kind=kind(choice),
        array=instances[0].pool,
        words="; ".join(
            filter(
                None,
                (
                    words(
                        choice,
                        edited.code,
                        changes,
                        len(used),
                        unread=unread_use(instances, source) is not None,
                    ),
                    stale_comment(source, edited.edits),
                    ALIGNED if is_aligned(edited) else "",
                    step if unsafe else "",
                ),
            )
        ),
        edits=edited.edits,
        refused=None,
        safe=not (unsafe or step),
        sites=changes,
        bytes_added=choice.option.bytes_added,
        blocks_per_sm=choice.option.blocks,
        unsafe_because=unsafe or step,
        code=edited.code,
        kernel=_kernel(choice, used),
    )


def _in_words(
    instances: Sequence[Instance], choice: Choice | None, why: Refusal, texts: Mapping[str, Source]
) -> Suggestion:
    changes = _changes(choice, instances)
    code = ""
    text = NO_LAYOUT if why.code in _ALL_TRIED else "no better layout was found"
    if choice is not None:
        code = described(choice, instances[0], texts)
        source = texts.get(instances[0].array.place.path)
        unread = source is not None and unread_use(instances, source) is not None
        text = words(choice, code, changes, sum(bool(i.members) for i in instances), unread=unread)
    elif why.code == "struct-layout":
        text = "split the structure into one array per member"
    elif why.code in ("unresolved-use", "run-time-stride", "run-time-choice", "data-dependent", "escapes"):
        text = "a better layout cannot be proved"
    return Suggestion(
        kind=kind(choice) if choice else "layout",
        array=instances[0].pool,
        words=text,
        edits=None,
        refused=why,
        safe=False,
        sites=changes,
        bytes_added=choice.option.bytes_added if choice else 0,
        blocks_per_sm=choice.option.blocks if choice else None,
        code=code,
        kernel=_kernel(choice, [i for i in instances if i.members]) if choice else None,
    )


def _kernel(choice: Choice, used: Sequence[Instance]) -> tuple[int, int] | None:
    """Wavefronts of the kernel as a whole before and after, in the instance and launch that stands for all;
    None where they are not all known."""
    if not used:
        return None
    number = standing([i.analysis for i in used])
    instance = used[number]
    whole = kernel_wavefronts(instance.analysis)
    before = sum(m.before for m in instance.members)
    if whole is None or whole < before:
        return None
    return whole, whole - before + sum(choice.option.after[number])
