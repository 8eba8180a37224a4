"""The stages in order, for one file: read, parse, infer launches, evaluate, score, look for fixes.

In: a Job. Out: what was examined, which `reports` makes a report of.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from smemlint.banks import architecture
from smemlint.diagnose.model import FileReport, Problem
from smemlint.evaluate.machine.faults import INTERNAL, fault
from smemlint.fix.eligible import Key, may_conflict
from smemlint.fix.model import Suggestion
from smemlint.frontend import Known, instead_of, load, read_instead
from smemlint.ir import Module, Place
from smemlint.records import record
from smemlint.running.instances import analyse_modules
from smemlint.running.others import as_bytes, parse_options, source_of
from smemlint.running.proofs import again
from smemlint.running.schedule import Ends, FixWork
from smemlint.score import KernelAnalysis, with_unreached
from smemlint.source import REFUSED, SourceError, SourceFile, is_hip
from smemlint.source.text import MAX_BYTES
from smemlint.system import clock
from smemlint.system.reading import UnreadableError, read_regular
from smemlint.system.workers import OutOfTimeError

if TYPE_CHECKING:
    from smemlint.running.jobs import Job

MOST_INCLUDED = 40
LARGEST_INCLUDED = 200_000
"""Included files in which the constants of a layout are looked for: how many, and of how many bytes."""
DEEPEST = 6000
"""Python frames: inlined calls nest some twenty frames each, and templated device code nests deep."""


@record(frozen=True, slots=True)
class Examined:
    """What all stages but the last gave for one file. texts: by path, what kernels, arrays and accesses stand
    in. suggestions: for arrays with a conflict, where they were asked for."""

    source: SourceFile
    modules: Sequence[Module]
    analyses: Sequence[KernelAnalysis]
    texts: Mapping[str, bytes]
    suggestions: Mapping[Key, Suggestion]
    problems: tuple[Problem, ...]


def examine(job: Job, shown: Callable[[str], str], known: Known | None = None) -> Examined | FileReport:
    """Everything that is found of one file; the report at once where it cannot be read or parsed, or is
    passed over.

    known: what reading the file with another text taught.
    """
    if known is None:  # an edit that is tried forgets nothing that time ended in the file as it is
        clock.begin()
    with ExitStack() as stack:
        for path, text in job.instead:
            stack.enter_context(read_instead(path, as_bytes(text)))
        if job.text is not None:
            # A header is analysed through the files that start its kernels: they include this text as well.
            path = os.path.abspath(job.path)  # noqa: PTH100  links stay as they are
            stack.enter_context(read_instead(path, as_bytes(job.text)))
        return _examined(job, shown, known or Known())


def _examined(job: Job, shown: Callable[[str], str], earlier: Known) -> Examined | FileReport:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEPEST))
    began = clock.now()
    ends = Ends.of(began, job.seconds)
    path = shown(job.path)
    known = replace(earlier.fresh(), until=ends.reading)
    try:
        source = source_of(job)
        if is_hip(source.path, source.raw):
            if job.named:
                raise SourceError(source.path, REFUSED)
            return FileReport(path, skipped=REFUSED, seconds=clock.now() - began)
        modules = load(source, parse_options(job.options, whole=job.named), known)
    except SourceError as error:
        problem = Problem(shown(error.path), error.message, error.line, error.column)
        return FileReport(path, problems=(problem,), seconds=clock.now() - began)
    problems: list[Problem] = []

    def tell(error: BaseException) -> None:
        problems.append(_failed(path, "the search for launches", error))

    analyses = analyse_modules(modules, job.options, ends, known, tell)
    texts = _texts(analyses, source)
    analyses = [_with_expressions(analysis, texts) for analysis in analyses]
    refused = dict(pair for module in modules for pair in module.refused)
    problems += [Problem(shown(file), f"is included, and {why}") for file, why in refused.items()]
    suggestions: dict[Key, Suggestion] = {}
    if job.options.suggest and may_conflict(analyses):
        from smemlint.fix.ended import say_what_ended  # files without a conflict need none of it
        from smemlint.fix.suggest import suggest

        interrupted = False
        evaluated = sum(a.work for a in analyses)
        work = FixWork(ends.fixes, evaluated)
        whole = _from_nothing(job, work, evaluated, known)
        try:
            suggest(
                analyses,
                texts,
                again(source, modules, job, work, known, analyses, whole),
                architecture(job.options.arch),
                late=work.next_layout,
                main=source.path,
                whole=whole,
                into=suggestions,
                included=_included(modules, texts),
            )
        except (Exception, OutOfTimeError) as error:
            problems.append(_failed(path, "the search for fixes", error))
            interrupted = isinstance(error, OutOfTimeError)
        say_what_ended(suggestions, work.given, work.left, interrupted or clock.late(work.until))
    # After the search for fixes, which works with what is known.
    try:
        analyses = [_with_expressions(a, texts) for a in with_unreached(analyses, modules, source.path)]
    except (Exception, OutOfTimeError) as error:
        problems.append(_failed(path, "the search for accesses that no launch reaches", error))
    problems += dict.fromkeys(_faults(analyses, shown))
    return Examined(source, modules, analyses, texts, suggestions, tuple(problems))


def _failed(path: str, what: str, error: BaseException) -> Problem:
    """A part of the analysis that failed: told, and the rest of the file goes on."""
    if isinstance(error, OutOfTimeError):
        return Problem(path, f"{what} was left: `time`, the limit of one file was reached")
    if isinstance(error, MemoryError):
        return Problem(path, f"{what} was left: `budget`, the memory limit of one file was reached")
    if isinstance(error, RecursionError):
        return Problem(path, f"{what} was left: `nesting`, something is nested too deeply")
    return Problem(path, f"internal error in {what}: {fault(error, None).text}")


def _faults(analyses: Iterable[KernelAnalysis], shown: Callable[[str], str]) -> Iterator[Problem]:
    """Faults of smemlint's own in single accesses and kernels, one for each place."""
    for analysis in analyses:
        reasons = (*analysis.notes, *(c.reason for c in analysis.conflicts if c.reason))
        for at in [r for r in reasons if r.code == INTERNAL]:
            place = at.at or analysis.kernel.place
            said = f"internal error in `{analysis.kernel.name}`: {at.text}; what depends on it is unresolved"
            yield Problem(shown(place.path), said, place.line, place.column)


def _from_nothing(
    job: Job, work: FixWork, expected: int, known: Known
) -> Callable[[bytes], Sequence[KernelAnalysis] | None]:
    """The whole file with another text, launches and all, without a search for fixes. work: what that may
    take; expected: what it took as the file is; known: what reading it taught."""
    bare = replace(job.options, suggest=False)

    def analyse(data: bytes) -> Sequence[KernelAnalysis] | None:
        seconds = work.until - clock.now()
        if work.over() or work.left < expected or seconds <= 0:
            return None  # it would not come to its end
        text = data.decode("utf-8", errors="surrogateescape")
        found = examine(replace(job, text=text, options=bare, seconds=seconds), lambda path: path, known)
        if isinstance(found, FileReport):
            return None
        work.take(sum(a.work for a in found.analyses))
        return found.analyses

    return analyse


def _texts(analyses: Iterable[KernelAnalysis], source: SourceFile) -> dict[str, bytes]:
    """The source of every file that a kernel, an array or an access stands in."""
    others = {p.path for analysis in analyses for p in _places(analysis)} - {source.path}
    read = {path: _read(path) for path in sorted(others)}
    return {source.path: source.raw, **{path: data for path, data in read.items() if data is not None}}


def _included(modules: Iterable[Module], texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Further files of the program, as many as are soon read."""
    paths = dict.fromkeys(path for module in modules for path in module.files if path not in texts)
    read = {path: data for path in list(paths)[:MOST_INCLUDED] if (data := _read(path)) is not None}
    return {path: data for path, data in read.items() if len(data) <= LARGEST_INCLUDED}


def _read(path: str) -> bytes | None:
    given = instead_of(path)
    if given is not None:
        return given
    try:
        return read_regular(path, MAX_BYTES)
    except UnreadableError:
        return None


def _with_expressions(analysis: KernelAnalysis, texts: Mapping[str, bytes]) -> KernelAnalysis:
    """The same with each site's own text, on one line."""
    conflicts = []
    for conflict in analysis.conflicts:
        at = conflict.site.place
        text = texts.get(at.path, b"")[at.offset : at.end_offset].decode("utf-8", errors="replace")
        expression = " ".join(text.split()) or conflict.site.expression
        conflicts.append(replace(conflict, site=replace(conflict.site, expression=expression)))
    return replace(analysis, conflicts=tuple(conflicts))


def _places(analysis: KernelAnalysis) -> list[Place]:
    arrays = [a.place for a in analysis.arrays.values()]
    return [analysis.kernel.place, *arrays, *(c.site.place for c in analysis.conflicts)]
