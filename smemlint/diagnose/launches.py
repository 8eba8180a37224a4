"""Under which launch and in which instances a conflict is seen, in words that fit on a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from smemlint.diagnose.model import Access, KernelReport
from smemlint.records import record
from smemlint.rules.words import ways_text

_ARGUMENTS = 48
"""Characters of template arguments that are shown; the rest is counted."""
_SHAPES = 6


@record(frozen=True, slots=True)
class Sight:
    """One access as seen under one kernel instance and launch."""

    kernel: KernelReport
    access: Access
    certain: bool


def launch_notes(best: Sight, sights: Sequence[Sight], every: Sequence[Sight], proved: bool) -> list[str]:
    """The launch that is told, and how many others conflict.

    sights: where the conflict is proved, or possible; every: all sights of the place.
    """
    kernel = best.kernel
    same = [s for s in sights if s.kernel.key == kernel.key]
    said = _launch(best, same, proved)
    if kernel.configuration:
        said += f"; in the configuration {kernel.configuration}"
    notes = [said]
    instances = _instances(best, same, [s for s in every if s.kernel.key == kernel.key])
    return [*notes, instances] if instances else notes


def _launch(best: Sight, same: Sequence[Sight], proved: bool) -> str:
    kernel = best.kernel
    if kernel.launch.assumed:
        others = list(dict.fromkeys(shape(s.kernel) for s in same))
        known = kernel.launch.origin if kernel.launch.origin != "candidate" else ""
        why = known or (f"{kernel.launch.opened} leaves it open" if kernel.launch.opened else "")
        why = f" ({why})" if why else ""
        said = f"launch: block {shape(kernel)} is assumed{why}"
        if proved and len(others) > 1:
            more = f" and {len(others) - _SHAPES} more" if len(others) > _SHAPES else ""
            said = f"launch: block assumed; every shape tried conflicts: {', '.join(others[:_SHAPES])}{more}"
    else:
        said = f"launch: block {shape(kernel)}" + (
            f" from {kernel.launch.origin}" if kernel.launch.origin else ""
        )
    named = [
        f"{n} = {v}"
        for n, v in kernel.launch.arguments
        if (n, v) in kernel.launch.variant or re.search(rf"\b{n}\b", best.access.expression)
    ]
    said += f", with {', '.join(named)}" if named else ""
    return f"{said}; `main` without arguments" if best.access.by_default else said


def _instances(best: Sight, same: Sequence[Sight], every: Sequence[Sight]) -> str:
    """`instances: 7 of 12 conflict; worst T = double`, of launches where there are no template arguments."""
    told = arguments(best.kernel)
    if len({s.kernel.template_arguments for s in every}) > 1:
        total, bad = (len({s.kernel.template_arguments for s in some}) for some in (every, same))
        ways = {ways_text(s.access.worst or 0) for s in same}
        worst = (
            f"worst {told} ({ways_text(best.access.worst or 0)}-way)"
            if len(ways) > 1
            else f"for example {told}"
        )
        return f"instances: {bad} of {total} conflict; {worst}"
    known = ([s.kernel for s in some if not s.kernel.launch.assumed] for some in (every, same))
    launches, bad = (len(set(map(_launched, kernels))) for kernels in known)
    if launches > 1 and not best.kernel.launch.assumed:
        said = f"launches: {bad} of {launches} conflict"
        return f"{said}; instance {told}" if told else said
    return f"instance: {told}" if told else ""


def _launched(kernel: KernelReport) -> object:
    return (kernel.launch.block, kernel.launch.grid, kernel.launch.dynamic, kernel.launch.variant)


def shape(kernel: KernelReport) -> str:
    """`(32, 8)`"""
    x, y, z = kernel.launch.block
    return f"({x}, {y}, {z})" if z > 1 else f"({x}, {y})" if y > 1 else f"({x})"


def arguments(kernel: KernelReport) -> str:
    """`T = double, N = 128`, cut between two of them where they are long."""
    parts = [f"{name} = {value}" for name, value in kernel.template_arguments]
    kept = 0
    while kept < len(parts) and (not kept or len(", ".join(parts[: kept + 1])) <= _ARGUMENTS):
        kept += 1
    more = f", ... ({len(parts) - kept} more)" if kept < len(parts) else ""
    return ", ".join(parts[:kept]) + more
