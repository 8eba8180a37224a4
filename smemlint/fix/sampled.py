"""Pools of tiles whose width is known at the launch only: the same kernel with a width that is typical.

In: instances of a dynamic array that could not be cut into parts, or whose strides are values of the launch.
Out: the same instances with the integer arguments that these depend on set to a sample, and in words what was
set. What is found for them holds for the sample; the edit is a formula of the argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from smemlint.fix.proof.promise import Analyse, same_array
from smemlint.fix.search.members import Instance, members
from smemlint.fix.search.parts import unknown_arguments
from smemlint.fix.text.source import Source
from smemlint.score.model import KernelAnalysis

SAMPLE = 32
"""A width that rows of tiles often have; a multiple of 32 shows the conflicts of all such."""
_OPEN = ("size-elsewhere", "part-start", "run-time-stride", "unresolved-use")


def worth_a_sample(code: str, instances: Sequence[Instance]) -> bool:
    """Whether an array was refused for something that a value of the launch may settle."""
    first = instances[0]
    return (code in _OPEN or first.given is None) and first.array.dynamic and first.piece is None


def sampled(
    instances: Sequence[Instance], texts: Mapping[str, Source], analyse: Analyse | None
) -> tuple[list[Instance], str] | None:
    """The instances with a sample for each argument that is open, and what was set; None where none is."""
    path = instances[0].array.place.path
    source = texts.get(path)
    if source is None or analyse is None:
        return None
    found: list[Instance] = []
    said: dict[str, int] = {}
    asked: dict[int, KernelAnalysis] = {}
    for at, instance in enumerate(instances):
        names = unknown_arguments(instance, source)
        said.update(dict.fromkeys(names, SAMPLE))
        launch = instance.analysis.launch
        if names:  # else it would tell the same again
            arguments = {**launch.arguments, **dict.fromkeys(names, SAMPLE)}
            asked[at] = replace(instance.analysis, launch=replace(launch, arguments=arguments))
    unsized = [i for i in instances if i.given is None]
    if not said and not unsized:
        return None
    told = dict(zip(asked, analyse(path, source.data, [*asked.values()]), strict=True)) if asked else {}
    for at, instance in enumerate(instances):
        again = told.get(at, instance.analysis)
        now = _spelled(again, instance.analysis) if again is not None else None
        array = same_array(instance.analysis, instance.array, now) if now is not None else None
        if now is None or array is None:
            return None
        if now.launch.dynamic is None:
            now = replace(now, launch=replace(now.launch, dynamic=_reached(now, array.id, bool(said))))
        found.append(Instance(now, array, members(now, array)))
    if not said:
        return found, f"how many bytes the launch gives `{unsized[0].array.name}` is not known"
    values = ", ".join(f"`{name}` = {value}" for name, value in said.items())
    return found, f"the layout was looked for with {values}, which the launch gives"


def _spelled(analysis: KernelAnalysis, before: KernelAnalysis) -> KernelAnalysis:
    """An analysis whose sites say the expressions of those at the same places before: rules ask for them."""
    said = {c.site.place: c.site.expression for c in before.conflicts}
    spelled = (
        replace(c, site=replace(c.site, expression=said.get(c.site.place, c.site.expression)))
        for c in analysis.conflicts
    )
    return replace(analysis, conflicts=tuple(spelled))


def _reached(analysis: KernelAnalysis, array: str, rounded: bool) -> int:
    """Bytes of an array up to the last that an access reaches. rounded: as sizes that are formulas are."""
    ends = [
        int(c.trace.offsets.max(initial=-1)) + (c.trace.joined or c.site.width)
        for c in analysis.conflicts
        if c.site.array == array
    ]
    last = max(ends, default=0)
    return -(-last // 16) * 16 if rounded else last
