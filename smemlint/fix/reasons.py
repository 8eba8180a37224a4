"""Why an array gets no edit, in numbers: the best layout that was seen, and the access that it costs.

In: what the search for an array came to. Out: a Refusal; its code is one of docs/fixes.md's names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smemlint.fix.model import Refusal
from smemlint.fix.search.candidates import Trimmed
from smemlint.fix.search.choices import Choice, Choices
from smemlint.fix.search.judge import SHARE, base, kernel_wavefronts, worse
from smemlint.fix.search.members import Instance, Member, granule
from smemlint.fix.text.source import Source
from smemlint.fix.words import described

_ATOMICS = ("atomic", "cas", "cas loop", "cas loop load", "increment")
_TOLD = 2
"""Accesses that get worse and are named."""


def nothing_found(choices: Choices, instances: Sequence[Instance], texts: Mapping[str, Source]) -> Refusal:
    """Why no layout was chosen: none costs less, or none pays."""
    if choices.cheap is not None:
        cheap = _cheap(choices.cheap, instances, texts)
        if choices.rowless is None or len(instances[0].array.dims) < 2:
            return cheap
        return Refusal(cheap.code, f"{cheap.text}; no row was padded: {choices.rowless.text}")
    small = _small(instances)
    if small is not None:
        return small
    conflicted = [m for i in instances for m in i.members if m.before > m.ideal]
    if conflicted and all(m.conflict.site.op in _ATOMICS for m in conflicted):
        line = conflicted[0].conflict.site.place.line
        return Refusal(
            "no-better-layout", f"lanes that update the same word on line {line} take turns in any layout"
        )
    copy = next((m.conflict for i in instances for m in i.members if _by_source(m)), None)
    if copy is not None and not conflicted:
        line = copy.site.place.line
        text = f"what the copy on line {line} costs follows from where it reads, in any layout"
        return Refusal("no-better-layout", text)
    if choices.unfit is not None:
        return _no_room(choices.unfit, instances, texts)
    if choices.nearest is None:
        return _untried(choices, instances)
    option = choices.nearest.option
    before = sum(m.before for i in instances for m in i.members)
    text = f"the best of {choices.tried} other layouts, {_named(choices.nearest, instances, texts)}, "
    text += f"makes {before} wavefronts {option.total}" if option.total != before else "costs as much"
    text += _accesses(worse(option, instances))
    if choices.rowless is not None:
        text += f"; no row was padded: {choices.rowless.text}"
    return Refusal("no-better-layout", text)


def _by_source(member: Member) -> bool:
    """Whether a copy's place in shared memory is free of conflicts, and its reads make it cost more."""
    conflict = member.conflict
    more = (conflict.wavefronts_low or 0) > (conflict.ideal or 0)
    return conflict.site.op == "cp.async" and more and member.before <= member.ideal


def _small(instances: Sequence[Instance]) -> Refusal | None:
    """Of conflicts that take so little of the kernel that no layout could pay, whatever it cost."""
    wasted = [sum(m.before - m.ideal for m in i.members) for i in instances]
    whole = [base(i) for i in instances]
    if not any(wasted) or any(n >= SHARE * w for n, w in zip(wasted, whole, strict=True)):
        return None
    text = f"its conflicts cost {sum(wasted)} of the kernel's {sum(whole)} wavefronts"
    return Refusal("not-worth-it", f"{text}, and no layout that was tried costs less")


def _cheap(choice: Choice, instances: Sequence[Instance], texts: Mapping[str, Source]) -> Refusal:
    """Of a layout that costs less and does not pay: what it saves, of how much, for what."""
    option = choice.option
    before = sum(m.before for i in instances for m in i.members)
    known = all(kernel_wavefronts(i.analysis) is not None for i in instances)
    whole = sum(base(i) for i in instances)
    of = f" of the kernel's {whole}" if known and whole > before else ""
    text = f"{_named(choice, instances, texts)} saves {before - option.total}{of} wavefronts"
    work = sum(option.work)
    if work:
        text += f" and costs index arithmetic worth about {work}"
    lost = option.blocks[0] - option.blocks[1]
    if lost:
        text += f" and {'' if work else 'costs '}{lost} of {option.blocks[0]} resident blocks per SM"
    if option.step is not None:
        text += f"; {option.step.text}"
    return Refusal("not-worth-it", text + _accesses(worse(option, instances)))


def _no_room(choice: Choice, instances: Sequence[Instance], texts: Mapping[str, Source]) -> Refusal:
    """Of a layout that costs less and needs more shared memory than there is."""
    before = sum(m.before for i in instances for m in i.members)
    most = max(_bytes(i) for i in instances)
    text = (
        f"{_named(choice, instances, texts)} would make {before} wavefronts {choice.option.total}; it takes "
    )
    text += f"{choice.option.bytes_added} B more than the {most} B that a block has already"
    return Refusal("no-room", text)


def _bytes(instance: Instance) -> int:
    """Shared memory of a block, static and dynamic."""
    static = sum(a.bytes or 0 for a in instance.analysis.arrays.values() if not a.dynamic)
    return static + (instance.analysis.launch.dynamic or 0)


def _named(choice: Choice, instances: Sequence[Instance], texts: Mapping[str, Source]) -> str:
    named = f"`{described(choice, instances[0], texts)}`"
    if isinstance(choice.option.layout, Trimmed):
        return f"{named} without the padding"
    return named if choice.pitch is None else f"a row pitch of {named}"


def _accesses(losses: Sequence[tuple[Member, int]]) -> str:
    told: dict[int, tuple[int, int]] = {}
    for member, after in losses:
        line = member.conflict.site.place.line
        old, new = told.get(line, (0, 0))
        told[line] = (old + member.before, new + after)
    named = [f"line {line} from {old} to {new}" for line, (old, new) in list(told.items())[:_TOLD]]
    return f": {', '.join(named)}" if named else ""


def _untried(choices: Choices, instances: Sequence[Instance]) -> Refusal:
    """Of an array of which no layout could be weighed against today's."""
    array = instances[0].array
    rowless = choices.rowless
    if not all(i.resizable for i in instances):
        text = f"no swizzle fits, and the size of `{array.name}` cannot be changed"
        return Refusal("no-better-layout", text)
    widest = max((granule(i.members) for i in instances), default=1)
    if choices.tried:
        text = f"each of {choices.tried} other layouts costs more"
        if any(m.joined for i in instances for m in i.members):
            text = (
                f"each of {choices.tried} other layouts takes {widest}-byte accesses apart, into which the "
            )
            text += "compiler joins neighbours, and costs more so"
        return Refusal("no-better-layout", text + (f"; {rowless.text}" if rowless is not None else ""))
    if rowless is not None:
        if any(m.joined for i in instances for m in i.members):
            apart = f"; a swizzle would take its {widest}-byte accesses apart"
            return Refusal(rowless.code, rowless.text + apart)
        return rowless
    kept = f" and keeps its {widest}-byte accesses" if widest > array.element else ""
    return Refusal("no-better-layout", f"no other layout fits into the shared memory of a block{kept}")
