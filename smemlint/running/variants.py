"""Launches that differ only in numbers that they pass: evaluated one by one where the numbers matter.

A loop over sizes starts one kernel again and again. What holds for an unknown size holds for each; where that
leaves a range, each of the few sizes has its own answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from smemlint.evaluate import Grade
from smemlint.ir import Function, Index, Launch, Name, PointerTo, Scalar, TypeParam, Unary
from smemlint.ir.walk import names_in, nodes_of
from smemlint.score import Conflict, KernelAnalysis

_SURE = (Grade.EXACT, Grade.ASSUMED)


def told_apart(
    launch: Launch,
    common: KernelAnalysis,
    analyse: Callable[[Launch], KernelAnalysis],
    late: Callable[[Launch], bool],
) -> list[KernelAnalysis]:
    """What all variants of a launch have in common; or the variants whose ways differ, worst first.

    Without an argument a pointer counts as one that leads somewhere. Where some launches pass a null pointer
    this is but one of the variants, and says nothing of the others; where the kernel does nothing with these
    pointers but read and write through them, they change nothing.
    """
    pointers = {p.name for p in common.kernel.parameters if isinstance(p.type, PointerTo)}
    differing = {name for variant in launch.variants for name in variant}
    null = not pointers.isdisjoint(differing)
    if null and differing <= _only_followed(common.kernel):
        return [common]
    if not null and all(c.grade in _SURE for c in common.conflicts):
        return [common]
    found: dict[tuple[object, ...], KernelAnalysis] = {}
    for variant in launch.variants:
        arguments = {**launch.arguments, **variant}
        apart = replace(launch, arguments=arguments, variants=(variant,))
        if late(apart):
            return [common]
        # A variant that sets nothing is what they have in common.
        one = analyse(apart) if variant else replace(common, launch=apart)
        if one.stopped or (not null and not found and _unsure(one) >= _unsure(common)):
            return [common]
        found.setdefault(tuple(map(_cost, one.conflicts)), one)
    if null and len(found) == 1:
        return [common]
    return sorted(found.values(), key=_worst, reverse=True)


def _only_followed(kernel: Function) -> frozenset[str]:
    """The pointers to numbers, or to a type of the template, of which a kernel takes elements, `p[i]`, and
    nothing else: nothing in it can ask whether they lead anywhere."""
    nodes = nodes_of(kernel.body)
    followed: Counter[str] = Counter(
        n.base.id for n in nodes if isinstance(n, Index) and isinstance(n.base, Name)
    )
    named = Counter(n.id for n in nodes if isinstance(n, Name))
    addressed = {id for n in nodes if isinstance(n, Unary) and n.op == "&" for id in names_in(n)}
    return frozenset(
        p.name
        for p in kernel.parameters
        if isinstance(p.type, PointerTo) and isinstance(p.type.to, Scalar | TypeParam)
        if named[p.id] == followed[p.id] and p.id not in addressed
    )


def _unsure(analysis: KernelAnalysis) -> int:
    return sum(c.grade not in _SURE for c in analysis.conflicts)


def _cost(c: Conflict) -> tuple[object, ...]:
    worst = c.worst.ways if c.worst is not None else None
    return (c.site.place.offset, c.site.op, c.ways, c.ways_low, worst, c.grade)


def _worst(analysis: KernelAnalysis) -> float:
    return max((c.ways or 0 for c in analysis.conflicts), default=0)
