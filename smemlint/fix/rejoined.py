"""Paddings after which the compiler joins other neighbours: each is written and analysed, not predicted.

A search moves the requests that run today. Behind another pitch nvcc may join more of them, or others: of
rows of 33 numbers every fourth starts aligned, of 36 each does. What that costs, the edited text tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from smemlint.evaluate.model import Grade
from smemlint.fix.edits import apply as application
from smemlint.fix.edits.aligned import aligned
from smemlint.fix.edits.build import build
from smemlint.fix.model import Kind, Refusal, SiteChange, Suggestion, TextEdit
from smemlint.fix.proof.promise import Analyse, others_unharmed, same_addresses, same_array, sites_of
from smemlint.fix.proof.remapped import counts, runs
from smemlint.fix.proof.safety import not_evaluated, open_questions
from smemlint.fix.proof.understood import left_aside, not_understood
from smemlint.fix.search.candidates import CYCLE, Padding, Shape, addresses
from smemlint.fix.search.choices import locate, shapes_of
from smemlint.fix.search.judge import APART, CLEARLY
from smemlint.fix.search.members import Instance, Member, apart, granule, only_source_open, score
from smemlint.fix.text.constants import Constants
from smemlint.fix.text.declared import Declared, Edited, every_use_subscripted
from smemlint.fix.text.source import Source
from smemlint.fix.whole import Program, Tried, offered
from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis

_TRIES = 4
"""Paddings of one array that are written and analysed."""
_ALIGNED = 2
"""Those among them that keep every row aligned for the widest access of today, where there are as many."""
_PROVED = 2
"""Of those that pay, the ones that are proved."""
_WIDEST = 16
_SMALL = 4
"""Bytes of the widest access, and of elements that the compiler joins where their array is aligned."""
_WORTH = ("no-better-layout", "not-proved", "not-worth-it")


@record(frozen=True, slots=True)
class _Trial:
    """A padding that was analysed. cost: wavefronts, and what further requests cost; names: in use then."""

    cost: float
    tried: Tried
    edited: Edited
    padding: Padding
    shapes: tuple[Shape, ...]
    names: frozenset[str]


def worth_a_trial(code: str, instances: Sequence[Instance]) -> bool:
    """Whether an array was refused for a cost that other joins may change: neighbours of it are joined, or
    could be behind another pitch."""
    if code not in _WORTH or any(i.array.dynamic or i.piece is not None for i in instances):
        return False
    return any(m.conflict.trace.joined is not None for i in instances for m in i.members)


def rejoined(
    instances: Sequence[Instance],
    texts: Mapping[str, Source],
    analyse: Analyse,
    program: Program,
    taken: set[str],
) -> Suggestion | None:
    """The best padding of an array, of those that were tried; None where none pays.

    program: the main file, with the analyses of all its kernels.
    """
    used = [i for i in instances if i.members]
    source = texts.get(instances[0].array.place.path)
    at = locate(instances[0], texts)
    if source is None or isinstance(at, Refusal) or not _is_known(instances, at):
        return None
    here, launch = source.code[at.index].offset, instances[0].analysis.launch
    value = Constants([source, *texts.values()], launch, block=False, near=here).value
    found: list[_Trial] = []
    for shapes, pitch in shapes_of(used, texts):
        if len(shapes[0].dims) < 2:
            continue
        for padding in _likely(used, shapes):
            if program.late():
                break
            names = set(taken)
            outcome = build(padding, at, pitch, names, shapes[0], value)
            if isinstance(outcome, Refusal):
                break
            edited = _aligned(outcome, at, used, shapes, padding)
            tried = _tried(edited, used, source, analyse)
            if tried is None or not _pays(tried[0], tried[1].changes):
                continue
            found.append(_Trial(tried[0], tried[1], edited, padding, shapes, frozenset(names)))
            if tried[1].perfect:
                break
    return _best(found, at, instances, used, analyse, program, taken)


def widened(
    instances: Sequence[Instance],
    texts: Mapping[str, Source],
    analyse: Analyse,
    program: Program,
) -> Suggestion | None:
    """A declared alignment, where it alone lets the compiler join neighbours; None where it does not pay.

    Elements of four bytes or more nvcc aligns by itself as far as it joins them.
    """
    used = [i for i in instances if i.members]
    array, at = instances[0].array, locate(instances[0], texts)
    source = texts.get(array.place.path)
    if source is None or isinstance(at, Refusal) or not _is_known(instances, at) or program.late():
        return None
    edited = aligned(Edited((), f"__align__({_WIDEST}) {at.text()}"), at, array.align, _WIDEST)
    tried = _tried(edited, used, source, analyse) if edited.edits else None
    if tried is None or not _pays(tried[0], tried[1].changes):
        return None
    same = Padding(len(array.dims) - 1, 0)
    shapes = tuple(Shape(tuple(d or 1 for d in i.array.dims), array.element) for i in used)
    trial = _Trial(tried[0], tried[1], edited, same, shapes, frozenset())
    return _best([trial], at, instances, used, analyse, program, set(), "align the array")


def may_be_widened(instances: Sequence[Instance]) -> bool:
    """Whether elements of an array are so small, and it is aligned so little, that none are joined."""
    array = instances[0].array
    small = array.element < _SMALL and array.align < _WIDEST and not array.dynamic
    plain = all(i.piece is None and None not in i.array.dims for i in instances)
    members = [m for i in instances for m in i.members]
    return small and plain and any(m.before > m.ideal and m.conflict.trace.joined is None for m in members)


def _best(
    found: Sequence[_Trial],
    at: Declared,
    instances: Sequence[Instance],
    used: Sequence[Instance],
    analyse: Analyse,
    program: Program,
    taken: set[str],
    verb: str = "pad the row",
) -> Suggestion | None:
    """The first of the cheapest trials that is proved and worth it."""
    source = at.source
    for trial in sorted(found, key=lambda t: t.cost)[:_PROVED]:
        if program.late() or not _holds(trial.edited, trial.padding, at, used, trial.shapes, analyse):
            continue
        unseen = trial.edited.unsafe or open_questions(instances, program.analyses, program.source.path)
        unseen = unseen or not_evaluated(instances, source)
        # An alignment alone costs nothing where the compiler joins none.
        moves = trial.padding.extra != 0
        if moves and any(c.apart for c in trial.tried.changes) and not unseen:
            unseen = "the compiler joins other neighbours after the edit"
        own = replace(program, source=source, analyses=tuple(i.analysis for i in used))
        how: tuple[Kind, str] = ("padding", verb)
        said = offered(trial.tried, how, unseen, instances[0].pool, instances, own)
        if isinstance(said, Suggestion):
            taken.update(trial.names)
            return said
    return None


def _pays(cost: float, changes: Sequence[SiteChange]) -> bool:
    """Whether a padding costs less; clearly so, where an access gets worse."""
    before = sum(c.before for c in changes)
    return cost < before * (CLEARLY if any(c.after > c.before for c in changes) else 1)


def _is_known(instances: Sequence[Instance], at: Declared) -> bool:
    """Whether every access is known lane by lane, and stands in the text by the array's own name."""
    if not_understood(instances) is not None or left_aside(instances) is not None:
        return False
    if every_use_subscripted(at, resizes=True) is not None:
        return False
    sites = [c for i in instances for c in sites_of(i.analysis, i.array)]
    return not any(
        c.trace.alignment or c.trace.shifts.steps or c.trace.ways > 1 or only_source_open(c.trace)
        for c in sites
    )


def _likely(instances: Sequence[Instance], shapes: Sequence[Shape]) -> list[Padding]:
    """The paddings that may cost least, by what they do to accesses that are not joined, and to joined ones
    as if each request became as many as today."""
    dim = len(shapes[0].dims) - 1
    widest = max((granule(i.members) for i in instances), default=1)
    ranked: list[tuple[float, bool, int]] = []
    for extra in range(1, CYCLE // shapes[0].element + 1):
        padding = Padding(dim, extra)
        costs = [_guess(m, padding, s) for i, s in zip(instances, shapes, strict=True) for m in i.members]
        if None not in costs:
            whole = all(padding.shape(s).dims[-1] * s.element % widest == 0 for s in shapes)
            ranked.append((sum(c or 0 for c in costs), not whole, extra))
    ranked.sort()
    first = [extra for _, ragged, extra in ranked if not ragged][:_ALIGNED]
    rest = [extra for _, _, extra in ranked if extra not in first]
    return [Padding(dim, extra) for extra in (*first, *rest)][:_TRIES]


def _guess(each: Member, padding: Padding, shape: Shape) -> float | None:
    alone = apart(each)
    moved = padding.apply(addresses(alone.offsets, 0, shape), shape)
    if moved is None:
        return None
    try:
        cost, _ = score(
            each.conflict,
            alone.width,
            moved,
            alone.weights,
            0,
            None if alone.apart else each.conflict.trace.maybe,
        )
    except ValueError:
        return None
    return cost / alone.steps


def _aligned(
    outcome: Edited, at: Declared, instances: Sequence[Instance], shapes: Sequence[Shape], padding: Padding
) -> Edited:
    """The edits with the alignment that the rows keep."""
    joined = max((m.conflict.joined or 0 for i in instances for m in i.members), default=0)
    rows = [padding.shape(s).dims[-1] * s.element for s in shapes]
    if not joined or any(row % joined for row in rows):
        return outcome
    return aligned(outcome, at, instances[0].array.align, joined)


def _tried(
    edited: Edited,
    instances: Sequence[Instance],
    source: Source,
    analyse: Analyse,
) -> tuple[float, Tried] | None:
    """What a padding costs in all, with the edits; None where it is not the same kernel any more, or an
    instance pays more."""
    try:
        text = application.apply(edited.edits, source.data)
    except application.EditError:
        return None
    analyses: list[KernelAnalysis] = []
    changes: list[SiteChange] = []
    more = 0
    again = analyse(source.path, text, [i.analysis for i in instances])
    for instance, now in zip(instances, again, strict=True):
        array = instance.array
        moved = same_array(instance.analysis, array, now) if now is not None else None
        if now is None or moved is None or others_unharmed(instance.analysis, now, [array]) is not None:
            return None
        olds, news = sites_of(instance.analysis, array), sites_of(now, moved)
        pairs = _paired(olds, news)
        if pairs is None:
            return None
        mine = [_change(instance.analysis.kernel.name, *pair) for pair in pairs]
        if sum(c.after for c in mine) > sum(c.before for c in mine):
            return None
        changes += mine
        analyses.append(now)
        more += max(_requests(news) - _requests(olds), 0)
    cost = sum(c.after for c in changes) + APART * more
    return cost, Tried(edited.edits, (edited.code,), tuple(changes), tuple(analyses))


def _paired(
    olds: Sequence[Conflict], news: Sequence[Conflict]
) -> list[tuple[list[Conflict], list[Conflict]]] | None:
    """The sites of each place in the text before and after, as many as its accesses have widths; None where
    places do not correspond, or something that was known is lost."""
    before, after = _by_place(olds), _by_place(news)
    reasons = {(r.code, r.text) for c in olds if (r := c.trace.reason) is not None}
    for c in news:
        t = c.trace
        lost = t.reason is not None and (t.reason.code, t.reason.text) not in reasons
        if lost or c.wavefronts is None or t.alignment or t.shifts.steps or t.data or t.ways > 1:
            return None
    if [key[1:] for key in before] != [key[1:] for key in after]:
        return None
    return list(zip(before.values(), after.values(), strict=True))


def _by_place(sites: Sequence[Conflict]) -> dict[tuple[int, str, int], list[Conflict]]:
    """Sites by where they stand, in the order of the text."""
    found: dict[tuple[int, str, int], list[Conflict]] = {}
    for c in sorted(sites, key=lambda c: (c.site.place.offset, c.site.op, c.site.width)):
        found.setdefault((c.site.place.offset, c.site.op, c.site.width), []).append(c)
    return found


def _change(kernel: str, olds: Sequence[Conflict], news: Sequence[Conflict]) -> SiteChange:
    """What one place costs before and after, all its widths together."""
    before, after = ([runs(c) for c in sites if counts(c)] for sites in (olds, news))
    joins = [sorted(c.trace.joined or 0 for c in sites if counts(c)) for sites in (olds, news)]
    return SiteChange(
        kernel,
        olds[0].site,
        sum(wavefronts for wavefronts, _ in before),
        sum(wavefronts for wavefronts, _ in after),
        sum(ideal for _, ideal in after),
        apart=joins[0] != joins[1],
    )


def _holds(
    edited: Edited,
    padding: Padding,
    at: Declared,
    instances: Sequence[Instance],
    shapes: Sequence[Shape],
    analyse: Analyse,
) -> bool:
    """Whether every lane reaches the element that it should, access by access.

    Both texts are analysed with the array `volatile`, so that nothing is joined: which neighbours run
    together differs between them.
    """
    plain = _volatile(at)
    if plain is None:
        return False
    path, data = at.source.path, at.source.data
    asked = [i.analysis for i in instances]
    try:
        texts = [application.apply(_ordered([plain, *edits]), data) for edits in ((), edited.edits)]
    except application.EditError:
        return False
    before, after = (list(analyse(path, text, asked)) for text in texts)
    for instance, shape, old, new in zip(instances, shapes, before, after, strict=True):
        arrays = [
            same_array(instance.analysis, instance.array, k) if k is not None else None for k in (old, new)
        ]
        if old is None or new is None or arrays[0] is None or arrays[1] is None:
            return False
        olds, news = sites_of(old, arrays[0]), sites_of(new, arrays[1])
        if len(olds) != len(news) or not all(
            _moved_alike(a, b, padding, shape) for a, b in zip(olds, news, strict=True)
        ):
            return False
    return True


def _moved_alike(a: Conflict, b: Conflict, padding: Padding, shape: Shape) -> bool:
    s, t = a.trace, b.trace
    if s.joined is not None or t.joined is not None or a.grade is Grade.UNRESOLVED:
        return False
    if s.alignment or s.shifts.steps or t.shifts.steps or s.data or s.ways > 1:
        return False
    moved = padding.apply(addresses(s.offsets, 0, shape), shape)
    return moved is not None and same_addresses(moved, a, b)


def _ordered(edits: Sequence[TextEdit]) -> list[TextEdit]:
    return sorted(edits, key=lambda e: (e.offset, e.end_offset))


def _volatile(at: Declared) -> TextEdit | None:
    """`volatile` behind the `__shared__` of a declaration; None where that does not stand there."""
    code = at.source.code
    i = at.index - 1
    while i >= 0 and code[i].text not in (";", "{", "}", "volatile"):
        if code[i].text == "__shared__":
            return TextEdit(at.source.path, code[i].end, code[i].end, " volatile")
        i -= 1
    return None


def _requests(sites: Sequence[Conflict]) -> int:
    """How often requests of all sites run."""
    return sum(
        int(c.trace.weights[(c.trace.offsets >= 0).any(axis=1)].sum()) for c in sites if c.trace.offsets.size
    )
