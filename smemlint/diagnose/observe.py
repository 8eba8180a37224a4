"""From one kernel's costs to plain records: each conflict explained once, by the first rule that knows it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from smemlint.diagnose.asking import Asking
from smemlint.diagnose.model import Access, Cause, Declared, KernelReport, Note, SharedEntry, Spread, Started
from smemlint.diagnose.threshold import possible
from smemlint.fix.eligible import Key, array_key
from smemlint.ir import Launch, Place
from smemlint.rules import CONFLICT_RULES, DECLARATION_RULES, Finding, Label, Severity
from smemlint.rules.words import served_apart
from smemlint.score.model import Conflict, KernelAnalysis


def explain(conflict: Conflict, kernel: KernelAnalysis) -> tuple[str, Finding] | None:
    """(code, finding) of the first rule that recognises the cause of a conflict."""
    for rule in CONFLICT_RULES:
        finding = rule.explains(conflict, kernel)
        if finding is not None:
            return rule.code, _light(finding, conflict)
    return None


def _light(finding: Finding, conflict: Conflict) -> Finding:
    """The finding, as a note where the passes would not be fewer together."""
    return replace(finding, severity=Severity.NOTE) if served_apart(conflict) else finding


def observe(
    kernel: KernelAnalysis,
    *,
    min_ways: float,
    shown: Callable[[str], str],
    text: str | None,
    suggestions: Mapping[Key, int] | None = None,
    cheap: Collection[Key] = (),
    shares: str = "",
    asking: Asking | None = None,
) -> KernelReport:
    """The record of one kernel instance.

    shown: how a path is written for the user. text: the source of the kernel's file.
    suggestions: array -> index of the fix that was found for it. cheap: arrays whose conflicts are not worth
    fixing, which makes them notes. shares: as in KernelReport. asking: the added rules.
    """

    def at(place: Place) -> Place:
        return replace(place, path=shown(place.path))

    def moved(finding: Finding) -> Finding:
        return replace(finding, also=tuple(Label(at(label.place), label.text) for label in finding.also))

    accesses = []
    for conflict in kernel.conflicts:
        site = conflict.site
        array = kernel.arrays.get(site.array)
        access = Access(
            place=at(site.place),
            line=site.line,
            calls=tuple(dict.fromkeys((shown(p.path), p.compiled_line) for p in site.via)),
            op=site.op,
            width=site.width,
            array=array.name if array is not None else site.array,
            expression=site.expression,
            executions=conflict.executions,
            wavefronts=conflict.wavefronts,
            wavefronts_low=conflict.wavefronts_low,
            ideal=conflict.ideal,
            grade=conflict.grade.value,
            reason=(conflict.reason.code, conflict.reason.text) if conflict.reason else None,
            spread=Spread(
                conflict.ways_by_visit,
                conflict.worst.ways if conflict.worst is not None else None,
                conflict.loads,
                conflict.surely,
            ),
            joined=conflict.joined,
            reached=site.reached,
            assumptions=tuple(
                (a.kind, a.text, a.place.compiled_line if a.place is not None else 0)
                for a in conflict.trace.assumptions
            ),
            on_way=conflict.on_way,
            any_block=conflict.any_block,
        )
        explained = explain(conflict, kernel) if possible(access, min_ways) else None
        if explained is not None:
            code, finding = explained
            key = array_key(array) if array is not None else None
            fix = (suggestions or {}).get(key) if key is not None else None

            def weighed(finding: Finding, cheap: bool = key in cheap) -> Finding:
                return moved(replace(finding, severity=Severity.NOTE) if cheap else finding)

            cause = Cause(code, weighed(finding), suggestion=fix)
            theirs = asking.explains(conflict, kernel) if asking is not None else None
            if theirs is not None:
                own = (cause.rule, cause.finding)
                cause = Cause(theirs[0], weighed(_light(theirs[1], conflict)), own, fix)
            access = replace(access, cause=cause)
        accesses.append(access)
    return KernelReport(
        name=kernel.kernel.name,
        place=at(kernel.kernel.place),
        template_arguments=tuple(kernel.template_arguments.items()),
        configuration=kernel.configuration,
        launch=_started(kernel.launch),
        shared=tuple(
            SharedEntry(a.name, a.type.split("[", 1)[0].strip(), a.dims, a.bytes, a.place.line, a.dynamic)
            for a in kernel.arrays.values()
        ),
        accesses=tuple(accesses),
        declared=tuple(
            Declared(code, at(place), moved(finding))
            for code, place, finding in _declared(kernel, text, asking)
        ),
        min_ways=min_ways,
        notes=tuple(Note(n.code, n.text, at(n.at or kernel.kernel.place)) for n in kernel.notes),
        shares=shares,
        device=kernel.kernel.side != "kernel",
    )


def _started(launch: Launch) -> Started:
    return Started(
        launch.block,
        launch.grid if any(n is not None for n in launch.grid) else None,
        launch.dynamic,
        launch.origin,
        launch.assumed,
        tuple(launch.arguments.items()),
        tuple(launch.variants[0].items()) if launch.variants else (),
        launch.filled,
        launch.guessed,
        launch.opened,
        launch.beside,
        "block" in launch.defaults,
    )


def _declared(
    kernel: KernelAnalysis, text: str | None, asking: Asking | None
) -> Iterator[tuple[str, Place, Finding]]:
    for rule in DECLARATION_RULES:
        yield from ((rule.code, place, finding) for place, finding in rule.check(kernel, text))
    if asking is not None:
        yield from asking.declares(kernel, text)
