"""The stages in order, for one file: read, parse, infer launches, evaluate, score, look for fixes, explain.

In: a Job. Out: a FileReport. Everything heavy is imported here, and only here.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from smemlint.banks import architecture
from smemlint.diagnose.asking import Asking
from smemlint.diagnose.model import FileReport, Problem, UnparsedEntry, Unseen
from smemlint.diagnose.observe import observe
from smemlint.diagnose.unseen import UNKNOWN_KERNEL
from smemlint.evaluate import Budget, KernelTrace, Unresolved, evaluate
from smemlint.evaluate.machine.faults import INTERNAL, fault
from smemlint.fix.asked import Key, may_conflict
from smemlint.fix.model import Suggestion, renamed
from smemlint.frontend import (
    Known,
    ParseOptions,
    instead_of,
    load,
    load_again,
    load_callers,
    read_instead,
)
from smemlint.ir import Function, FunctionRef, Launch, Module, Place, PointerTo, RecordRef, Scalar
from smemlint.launch import Allowance, Blocks, Program, Started, infer, program_around, program_of
from smemlint.launch.missing import missing_kernels
from smemlint.launch.reach import kernels_with_shared_memory
from smemlint.records import record
from smemlint.rules.added import added
from smemlint.running import schedule
from smemlint.running.schedule import Begun, Ends, FixWork, in_turn, ranked
from smemlint.running.sizes import STAND_INS, UNKNOWN_SIZE, with_sizes
from smemlint.running.variants import stopped
from smemlint.score import Conflict, KernelAnalysis, Sharing, idle_lambdas, score_all, with_unreached
from smemlint.source import REFUSED, SourceError, SourceFile, is_hip, read_source, source_from_bytes, users_of
from smemlint.source.text import MAX_BYTES
from smemlint.system import clock
from smemlint.system.reading import UnreadableError, read_regular
from smemlint.system.workers import OutOfTimeError, at_stage

if TYPE_CHECKING:
    from smemlint.running.jobs import Job, Options

OTHERS = "other files"
"""The stage in which files are read for what they say of launches."""
OTHERS_BYTES = 4_000_000
"""Of text that clang reads for them, whatever the file itself took."""
MOST_INCLUDED = 40
LARGEST_INCLUDED = 200_000
"""Included files in which the constants of a layout are looked for: how many, and of how many bytes."""
_LATE = "the time for this file was over"
_NOT_UTF8 = re.compile("[\udc80-\udcff]")

Numbered: TypeAlias = tuple[str, str, int]
"""Configuration of a kernel, its name, and its number among namesakes."""
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


def run_stages(job: Job, shown: Callable[[str], str]) -> FileReport:
    """The report of one file. A file that cannot be read or parsed at all is a Problem in it."""
    began = clock.now()
    found = examine(job, shown)
    return found if isinstance(found, FileReport) else report_of(found, job, shown, began)


def report_of(found: Examined, job: Job, shown: Callable[[str], str], began: float) -> FileReport:
    """What was found, as plain records. began: when the analysis did, in computing time."""
    numbers = {key: number for number, key in enumerate(found.suggestions)}
    cheap = {key for key, s in found.suggestions.items() if s.refused and s.refused.code == "not-worth-it"}
    shares = _shares(found.analyses, found.modules)
    asking = Asking(added()) if job.options.added else None
    kernels = tuple(
        observe(
            analysis,
            min_ways=job.options.min_ways,
            shown=shown,
            text=_decoded(found.texts.get(analysis.kernel.place.path)),
            suggestions=numbers,
            cheap=cheap,
            shares=shares.get(id(analysis), ""),
            asking=asking,
        )
        for analysis in found.analyses
    )
    failed = tuple(
        Problem(shown(at.path), said, at.line, at.column)
        for said, at in (asking.faults.values() if asking is not None else ())
    )
    return FileReport(
        shown(job.path),
        kernels=kernels,
        unparsed=_unparsed(found.modules, shown),
        problems=(*found.problems, *failed),
        suggestions=tuple(renamed(s, shown) for s in found.suggestions.values()),
        lost=_lost(found.modules, found.analyses, shown),
        files=tuple(dict.fromkeys(shown(f) for module in found.modules for f in module.files)),
        seconds=clock.now() - began,
    )


def examine(job: Job, shown: Callable[[str], str]) -> Examined | FileReport:
    """Everything that is found of one file; the report at once where it cannot be read or parsed, or is
    passed over."""
    with ExitStack() as stack:
        for path, text in job.instead:
            stack.enter_context(read_instead(path, _bytes(text)))
        if job.text is not None:
            # A header is analysed through the files that start its kernels: they include this text as well.
            path = os.path.abspath(job.path)  # noqa: PTH100  links stay as they are
            stack.enter_context(read_instead(path, _bytes(job.text)))
        return _examined(job, shown)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def _examined(job: Job, shown: Callable[[str], str]) -> Examined | FileReport:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEPEST))
    began = clock.now()
    clock.begin()
    ends = Ends.of(began, job.seconds)
    path = shown(job.path)
    known = Known(until=ends.reading)
    try:
        source = _source(job)
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
        from smemlint.fix.suggest import suggest  # files without a conflict need none of it

        work = FixWork(ends.fixes, sum(a.work for a in analyses))
        try:
            suggest(
                analyses,
                texts,
                again(source, modules, job, work, known),
                architecture(job.options.arch),
                late=work.next_layout,
                main=source.path,
                whole=_from_nothing(job, work),
                into=suggestions,
                included=_included(modules, texts),
            )
        except (Exception, OutOfTimeError) as error:
            problems.append(_failed(path, "the search for fixes", error))
    # After the search for fixes, which works with what is known.
    try:
        analyses = [_with_expressions(a, texts) for a in with_unreached(analyses, modules, source.path)]
    except (Exception, OutOfTimeError) as error:
        problems.append(_failed(path, "the search for accesses that no launch reaches", error))
    problems += dict.fromkeys(_faults(path, analyses, shown))
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


def _faults(path: str, analyses: Iterable[KernelAnalysis], shown: Callable[[str], str]) -> Iterator[Problem]:
    """Faults of smemlint's own in single accesses and kernels, one for each place."""
    for analysis in analyses:
        reasons = (*analysis.notes, *(c.reason for c in analysis.conflicts if c.reason))
        for at in [r for r in reasons if r.code == INTERNAL]:
            place = at.at or analysis.kernel.place
            said = f"internal error in `{analysis.kernel.name}`: {at.text}; what depends on it is unresolved"
            yield Problem(shown(place.path), said, place.line, place.column)


def parse_options(options: Options, *, whole: bool = False) -> ParseOptions:
    return ParseOptions(
        include_dirs=options.includes,
        defines=options.defines,
        std=options.std or None,
        compile_commands=options.compile_commands,
        arch=int(options.arch.removeprefix("sm_")),
        whole=whole,
    )


def analyse_modules(
    modules: Iterable[Module],
    options: Options,
    ends: Ends,
    known: Known,
    tell: Callable[[BaseException], None],
) -> list[KernelAnalysis]:
    """Every kernel instance under every launch.

    known: what reading the modules taught. tell: gets what ended the search for launches of a module.
    """
    blocks = Blocks(
        of={name: shape for name, shape in options.blocks.items() if name}, every=options.blocks.get("")
    )
    begun: list[Begun] = []
    searched = clock.now()
    modules = tuple(modules)
    of = modules[0].path if modules else ""
    files = frozenset(path for module in modules for path in (module.path, *module.files))
    read = _reader(options, known, max(ends.reading, searched + ends.share), of, files)
    users = users_of if options.others else _nobody
    own = Allowance(until=max(ends.host, searched + 2 * ends.share))
    theirs = replace(own)
    for module in modules:
        touching = kernels_with_shared_memory(module)
        try:
            project = program_of(module, touching, users, read, own, theirs)
        except (Exception, OutOfTimeError) as error:
            tell(error)
            project = Program(())
        around: dict[str, tuple[Started, ...]] = {}
        for kernel in module.kernels():
            home, seen, started = module, kernel, project.started
            other = project.stand_in(kernel, module) if kernel.id in touching else None
            if other is not None:
                home, seen = other
                if home.path not in around:
                    wanted = [k for k in module.kernels() if k.id in touching]
                    around[home.path] = program_around(home, project.others, wanted, theirs)
                # where no steps were left to run it there, what the whole program told has to do
                started = around[home.path] or project.started
            launches = infer(seen, home, started, blocks)
            if kernel.id not in touching and launches[0].assumed:
                launches = launches[:1]  # nothing is evaluated: other shapes would say the same
            begun += ranked(home, seen, launches, touching=kernel.id in touching)

    def analyse(b: Begun, launch: Launch, budget: Budget) -> KernelAnalysis:
        found = _analysis(b.module, b.kernel, launch, budget=budget)
        # The half of a further launch would take from what the first one tells.
        return replace(found, arrays={}, conflicts=()) if b.rank and stopped(found) else found

    # What was spent on other files is not taken from this one's kernels.
    return in_turn(begun, analyse, _left_out, max(ends.kernels, clock.now() + ends.share))


def _nobody(path: str, names: Iterable[str]) -> tuple[str, ...]:
    """Stands for `users_of` where a file is analysed alone."""
    return ()


def _left_out(b: Begun, code: str) -> KernelAnalysis:
    """A launch that is not analysed."""
    further = b.rank > 0
    what, most = ("further launches", schedule.WORK) if further else ("further kernels", schedule.FIRST_WORK)
    texts = {
        "time": _LATE,
        "budget": f"{what} were left out after {most:,} evaluation steps in this file",
    }
    notes = [Unresolved(code, texts[code], b.kernel.place)] if code else []
    return _without_evaluation(b.module, b.kernel, b.launch, *notes)


def _reader(
    options: Options, known: Known, until: float, of: str, files: frozenset[str]
) -> Callable[[str, frozenset[str]], Module | None]:
    """Reads another file of the project for what it says of launches in one (of: its path); None where that
    fails or is late. files: paths of those whose kernels may be evaluated there."""

    # The names that are healed are shared, the text that may be read is not.
    known = replace(known, left=max(known.left, OTHERS_BYTES), until=until)

    @cache
    def read(path: str, wanted: frozenset[str]) -> Module | None:
        if clock.late(until):
            return None
        try:
            # Should this end the process, the file is analysed without the others.
            with at_stage(OTHERS, until - clock.now()):
                return load_callers(read_source(path), parse_options(options), wanted, known, of, files)
        except OutOfTimeError:
            clock.end(until)
            return None
        except (SourceError, MemoryError, RecursionError):
            return None

    return read


def _without_evaluation(
    module: Module, kernel: Function, launch: Launch, *notes: Unresolved
) -> KernelAnalysis:
    # As the template names them; what a launch holds is in the order in which it was found.
    order = {p.name: i for i, p in enumerate(kernel.template)}
    template = sorted(launch.template.items(), key=lambda x: order.get(x[0], len(order)))
    arguments = {name: spelled(value) for name, value in template}
    return KernelAnalysis(kernel, launch, module.configuration, arguments, {}, (), notes)


def _analysis(
    module: Module, kernel: Function, launch: Launch, *, budget: Budget | None = None
) -> KernelAnalysis:
    """One instance under one launch. A fault of smemlint's own costs this instance only, and is told."""
    try:
        trace = evaluate(module, kernel, launch, budget)
        conflicts = score_all(trace, assumed=launch.assumed)
        work = trace.work
        notes = trace.notes
        if trace.unsized and not trace.stopped:
            conflicts, work = _whatever_size(module, kernel, launch, budget, trace, conflicts)
            if not any(c.reason is not None and c.reason.code == UNKNOWN_SIZE for c in conflicts):
                notes = tuple(note for note in notes if note.code != UNKNOWN_SIZE)
    except OutOfTimeError:
        return _without_evaluation(module, kernel, launch, Unresolved("time", _LATE, kernel.place))
    except MemoryError:
        memory = Unresolved("budget", "stopped at the memory limit of one file", kernel.place)
        return _without_evaluation(module, kernel, launch, memory)
    except RecursionError:
        nested = Unresolved("nesting", "expressions or calls are nested too deeply", kernel.place)
        return _without_evaluation(module, kernel, launch, nested)
    except Exception as error:
        return _without_evaluation(module, kernel, launch, fault(error, kernel.place))
    bare = _without_evaluation(module, kernel, launch, *notes)
    steps = None if budget is None or budget.steps == Budget().steps else budget.steps
    return replace(
        bare,
        arrays=trace.arrays,
        conflicts=conflicts,
        work=work,
        steps=steps,
        held=trace.held,
        blocks_asked=trace.blocks_asked,
    )


def _whatever_size(
    module: Module,
    kernel: Function,
    launch: Launch,
    budget: Budget | None,
    trace: KernelTrace,
    conflicts: tuple[Conflict, ...],
) -> tuple[tuple[Conflict, ...], int]:
    """The conflicts with what the usual sizes of types tell that no file declares, and what all took."""
    tried = [
        evaluate(module, kernel, replace(launch, taken=dict.fromkeys(trace.unsized, number)), budget)
        for number in STAND_INS
    ]
    told = [() if t.stopped else score_all(t, assumed=launch.assumed) for t in tried]
    return with_sizes(conflicts, told, trace.unsized), trace.work + sum(t.work for t in tried)


def _source(job: Job) -> SourceFile:
    path = os.path.abspath(job.path)  # noqa: PTH100  links stay as they are
    if job.text is None:
        return read_source(path)
    return source_from_bytes(path, _bytes(job.text))


def _from_nothing(job: Job, work: FixWork) -> Callable[[bytes], Sequence[KernelAnalysis] | None]:
    """The whole file with another text, launches and all, without a search for fixes. work: what that may
    take."""
    bare = replace(job.options, suggest=False)

    def analyse(data: bytes) -> Sequence[KernelAnalysis] | None:
        seconds = work.until - clock.now()
        if work.over() or seconds <= 0:
            return None
        text = data.decode("utf-8", errors="surrogateescape")
        found = examine(replace(job, text=text, options=bare, seconds=seconds), lambda path: path)
        if isinstance(found, FileReport):
            return None
        work.take(sum(a.work for a in found.analyses))
        return found.analyses

    return analyse


def again(
    source: SourceFile, modules: Sequence[Module], job: Job, work: FixWork, known: Known | None = None
) -> Callable[[str, bytes, Sequence[KernelAnalysis]], Iterator[KernelAnalysis | None]]:
    """The same kernels under the same launches in the file with other text, for the proof of a fix: each
    when it is asked for, since a proof ends with the first that does not hold.

    work: what the proofs may take. known: what reading the file taught.
    """
    numbered = [pair for module in modules for pair in _numbered(module).items()]
    numbers = {id(kernel): key for key, kernel in numbered}
    by_id = {kernel.id: key for key, kernel in reversed(numbered)}

    def key_of(a: KernelAnalysis) -> Numbered:
        # A kernel that another file stands in for has the same id in this one.
        return numbers.get(id(a.kernel)) or by_id[a.kernel.id]

    def reread(
        read: SourceFile, parsed: ParseOptions, further: bool, keys: Sequence[Numbered]
    ) -> Sequence[Module]:
        def load_it(only: frozenset[str] = frozenset()) -> Sequence[Module]:
            return load_again(read, parsed, (known or Known()).fresh(), all=further, only=only)

        if read is not source and all(_stands_alone(m, source.path, keys) for m in modules):
            anew = load_it(frozenset(name for _, name, _ in keys))
            old = {module.configuration: module for module in modules}
            whole = [_taken_over(old.get(m.configuration), m) for m in anew]
            if None not in whole:
                return [m for m in whole if m is not None]
        return load_it()

    def analyse(path: str, data: bytes, before: Sequence[KernelAnalysis]) -> Iterator[KernelAnalysis | None]:
        included = any(path in module.files for module in modules)
        if not (path == source.path or included) or work.over():
            yield from [None] * len(before)
            return
        parsed, read = parse_options(job.options, whole=job.named), source
        further = any(a.configuration for a in before)
        try:
            if path == source.path:
                read = source_from_bytes(path, data)
            else:
                parsed = replace(parsed, edited=((path, source_from_bytes(path, data).bytes),))
            edited = reread(read, parsed, further, [key_of(a) for a in before])
        except SourceError:
            yield from [None] * len(before)
            return
        kernels = {key: (module, kernel) for module in edited for key, kernel in _numbered(module).items()}
        found = [kernels.get(key_of(a)) for a in before]
        for pair, earlier in zip(found, before, strict=True):
            budget = Budget() if earlier.steps is None else Budget(steps=earlier.steps)
            one = None
            if pair is not None and not work.over():
                one = _analysis(*pair, earlier.launch, budget=budget)
            work.take(one.work if one is not None else 0)
            yield one

    return analyse


def _stands_alone(module: Module, path: str, keys: Iterable[Numbered]) -> bool:
    """Whether kernels of a module can be lowered without the others: free functions of that file, like all
    their namesakes, and no shared array outside of functions, whose place depends on all kernels."""
    names = {name for configuration, name, _ in keys if configuration == module.configuration}
    return not any(v.storage == "shared" for v in module.globals.values()) and all(
        f.record is None and f.place.path == path and f.specialises is None
        for f in module.functions.values()
        if f.name in names
    )


def _taken_over(old: Module | None, anew: Module) -> Module | None:
    """A module in which some functions were lowered anew, with all others as they were. None where the new
    ones are not told from the old ones."""
    if old is None:
        return None
    names = {f.name for f in old.functions.values()}
    if any(f.name in names for id, f in anew.functions.items() if id not in old.functions):
        return None
    functions = {**old.functions, **anew.functions}
    overloads = {
        name: tuple(dict.fromkeys((*old.overloads.get(name, ()), *anew.overloads.get(name, ()))))
        for name in (*old.overloads, *anew.overloads)
    }
    return replace(
        old,
        functions=functions,
        overloads=overloads,
        records={**old.records, **anew.records},
        globals={**old.globals, **anew.globals},
        specialisations={**old.specialisations, **anew.specialisations},
        variable_templates=anew.variable_templates,
    )


def _numbered(module: Module) -> dict[Numbered, Function]:
    """Kernels by what an edit of their bodies leaves alone: configuration, name, number among namesakes."""
    found: dict[Numbered, Function] = {}
    for kernel in module.kernels():
        n = 0
        while (module.configuration, kernel.name, n) in found:
            n += 1
        found[(module.configuration, kernel.name, n)] = kernel
    return found


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


def _decoded(data: bytes | None) -> str | None:
    """The text with `?` for each byte that is not UTF-8, so that offsets stay."""
    return None if data is None else _NOT_UTF8.sub("?", data.decode("utf-8", errors="surrogateescape"))


def _unparsed(modules: Sequence[Module], shown: Callable[[str], str]) -> tuple[UnparsedEntry, ...]:
    """What no configuration parsed: a place that one of them has seen is not lost."""
    if not modules:
        return ()
    return tuple(
        UnparsedEntry(_moved(u.place, shown), u.text, u.reason, module.configuration)
        for module in modules
        for u in module.unparsed
    )


def _shares(analyses: Sequence[KernelAnalysis], modules: Sequence[Module]) -> dict[int, str]:
    """By id() of an analysis: in what way its kernel has to do with shared memory, where no launch of it gets
    to an access."""
    seen = {a.kernel.place for a in analyses if any(c.site.reached for c in a.conflicts)}
    readers = {m.configuration: Sharing(m) for m in modules}
    found: dict[int, str] = {}
    for a in analyses:
        kernel = a.kernel.side == "kernel" or (a.kernel.record or "").startswith("(lambda")
        if kernel and a.kernel.place not in seen and a.configuration in readers:
            found[id(a)] = readers[a.configuration].of(a.kernel, a.launch)
    return found


def _lost(
    modules: Sequence[Module], analyses: Sequence[KernelAnalysis], shown: Callable[[str], str]
) -> tuple[Unseen, ...]:
    """Kernels that did not reach the syntax tree, lambdas that no launch was seen to run, and kernels that
    are started here and defined nowhere."""
    why = "it declares `{}`; no known launch is seen to run it"
    idle = tuple(
        Unseen("a lambda", _moved(f.place, shown), "not-reached", why.format(name))
        for f, name in idle_lambdas(analyses, modules)
    )
    lost = list(idle)
    lost += [
        Unseen(f"`{u.text}`", _moved(u.place, shown), "unparsed", u.reason) for m in modules for u in m.lost
    ]
    missing = dict(pair for m in reversed(modules) for pair in missing_kernels(m, m.path))
    lost += [
        Unseen(
            f"`{name}`",
            _moved(place, shown),
            UNKNOWN_KERNEL,
            "it is started here, and no file that was read defines it",
        )
        for name, place in missing.items()
    ]
    return tuple(lost)


def _moved(place: Place, shown: Callable[[str], str]) -> Place:
    return replace(place, path=shown(place.path))


def spelled(value: object) -> str:
    """A template argument as a user writes it; all of what a pack stands for."""
    if isinstance(value, tuple):
        return ", ".join(map(spelled, value))
    if isinstance(value, Scalar):
        return value.name
    if isinstance(value, PointerTo):
        return f"{spelled(value.to)} {'&' if value.reference else '*'}"
    if isinstance(value, RecordRef | FunctionRef):
        arguments = ", ".join(spelled(a) for a in value.arguments)
        name = value.name.split("@", 1)[0] if isinstance(value, RecordRef) else f"&{value.name}"
        return f"{name}<{arguments}>" if arguments else name
    return str(
        getattr(value, "spelling", None) or getattr(value, "name", None) or getattr(value, "value", value)
    )
