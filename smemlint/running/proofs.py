"""Analyse the same kernels again in an edited text, for the proof of a fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from smemlint.evaluate import Budget
from smemlint.frontend import Known, ParseOptions, load_again
from smemlint.ir import Function, Module
from smemlint.running.instances import analysis_of
from smemlint.running.others import parse_options
from smemlint.running.schedule import FixWork
from smemlint.score import KernelAnalysis
from smemlint.source import SourceError, SourceFile, source_from_bytes

if TYPE_CHECKING:
    from smemlint.running.jobs import Job

Numbered: TypeAlias = tuple[str, str, int]
"""Configuration of a kernel, its name, and its number among namesakes."""


Whole: TypeAlias = Callable[[bytes], Sequence[KernelAnalysis] | None]
"""Analyses the file with another text from nothing, launches and all."""


def again(
    source: SourceFile,
    modules: Sequence[Module],
    job: Job,
    work: FixWork,
    known: Known | None = None,
    analyses: Iterable[KernelAnalysis] = (),
    whole: Whole = lambda data: None,
) -> Callable[[str, bytes, Sequence[KernelAnalysis]], Iterator[KernelAnalysis | None]]:
    """The same kernels under the same launches in the file with other text, for the proof of a fix: each
    when it is asked for, since a proof ends with the first that does not hold.

    work: what the proofs may take. known: what reading the file taught. analyses: of all kernels of the file.
    whole: for those that are compiled where another file includes this one.
    """
    numbered = [pair for module in modules for pair in _numbered(module).items()]
    numbers = {id(kernel): key for key, kernel in numbered}
    by_id = {kernel.id: key for key, kernel in reversed(numbered)}
    elsewhere = {a.kernel.id for a in analyses if id(a.kernel) not in numbers}

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
        if path == source.path and any(a.kernel.id in elsewhere for a in before):
            yield from _same(before, whole(data) or ())
            return
        if any(id(a.kernel) not in numbers and a.kernel.id not in by_id for a in before):
            yield from [None] * len(before)  # only another file compiles it
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
                one = analysis_of(*pair, earlier.launch, budget=budget)
            work.take(one.work if one is not None else 0)
            yield one

    return analyse


def _same(
    before: Sequence[KernelAnalysis], after: Iterable[KernelAnalysis]
) -> Iterator[KernelAnalysis | None]:
    """Each kernel instance and launch among those of the edited file; None where it is not there."""
    found: dict[object, list[KernelAnalysis]] = {}
    for each in after:
        found.setdefault(_told(each), []).append(each)
    for each in before:
        alike = found.get(_told(each))
        yield alike.pop(0) if alike else None


def _told(a: KernelAnalysis) -> object:
    launch, arguments = a.launch, sorted(a.template_arguments.items())
    return a.configuration, a.kernel.name, launch.block, launch.grid, launch.dynamic, str(arguments)


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
