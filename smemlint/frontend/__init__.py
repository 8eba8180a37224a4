"""Source text becomes `ir.Module`: the only package that knows clang.

In: a SourceFile and ParseOptions. Out: one module for each preprocessor configuration that shows shared
memory, which shares nothing with clang. May import `source`, `grammar`, `banks` and `ir`, no later stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from smemlint.frontend.kept_units import KEPT
from smemlint.frontend.lower.module import Lowered, lower, lower_named
from smemlint.frontend.parse import Known, glanced, parse_unit
from smemlint.frontend.project.includes import instead_of, read_instead
from smemlint.frontend.project.options import ParseOptions
from smemlint.frontend.text.configurations import (
    configuration_for_cuda,
    configuration_without_errors,
    configurations_that_include,
    configurations_that_use,
    further_configurations,
    left_out,
)
from smemlint.frontend.text.coverage import SkippedText
from smemlint.frontend.text.kernels import lost_kernels, may_matter, possible_kernels, saying_shared
from smemlint.frontend.unit import Unit
from smemlint.ir import Member, Module, Name, StaticMember, Unparsed
from smemlint.ir.walk import nodes_of
from smemlint.patterns import pattern
from smemlint.source import SourceFile
from smemlint.system import clock

_DEVICE = pattern(rb"__global__|__shared__")

__all__ = ["Known", "ParseOptions", "instead_of", "load", "load_again", "load_callers", "read_instead"]


def load(
    source: SourceFile, options: ParseOptions | None = None, known: Known | None = None
) -> tuple[Module, ...]:
    """The file's modules, the default configuration first.

    known: takes in what the file teaches for reading others of its program.

    What the file's text shows and no configuration brought is in the first module's `unparsed`. Raises
    SourceError when the file cannot be parsed at all.
    """
    options, known = options or ParseOptions(), known or Known()
    bare = _without_kernels(source, options)
    if bare is not None:
        return (bare,)
    unit, implied = _default_unit(source, options, known)
    own = _own_files(unit, options)
    texts = [_own_texts(unit, own)]
    read = [tuple(unit.texts())]
    lowered = [_lowered(unit, own=own)]
    for further in further_configurations(unit.texts()):
        if clock.late(known.until):
            break
        unit = parse_unit(source, options, configuration=(*implied, *further), known=known)
        texts.append(_own_texts(unit, own))
        read.append(tuple(unit.texts()))
        lowered.append(_lowered(unit, own=own))
    seen = frozenset().union(*(one.shared_refs for one in lowered))
    modules = [one.module for one in lowered]
    unparsed = left_out(texts, seen)
    modules[0] = replace(
        modules[0],
        unparsed=unparsed,
        lost=tuple(
            kernel for path in sorted(own) for kernel in _lost_in(path, texts, read, modules, unparsed)
        ),
    )
    saying = saying_shared(_of_file(unit.path, texts))
    if saying:
        modules = [replace(m, saying_shared=saying) for m in modules]
    return tuple(modules)


def load_again(
    source: SourceFile,
    options: ParseOptions,
    known: Known,
    *,
    all: bool,
    only: frozenset[str] = frozenset(),
) -> tuple[Module, ...]:
    """The modules of a file that was read before, with another text: what that taught is not learnt again,
    and nothing is held against the text. all: further configurations too. only: names of the file's functions
    that are lowered, with what they call; of none, all that matter. Raises SourceError as load()."""

    def read(configuration: tuple[str, ...] = ()) -> Unit:
        unit = parse_unit(source, options, configuration=configuration, known=known)
        modules.append(
            lower_named(unit, unit.path, unit.configuration, only)
            if only
            else _lowered(unit, own=_own_files(unit, options)).module
        )
        return unit

    modules: list[Module] = []
    first = read()
    implied = _implied(first)
    if implied:
        modules.clear()
        first = read(implied)
    for further in further_configurations(first.texts()) if all else ():
        read((*implied, *further))
    return tuple(modules)


def load_callers(
    source: SourceFile,
    options: ParseOptions,
    wanted: frozenset[str],
    known: Known | None = None,
    of: str = "",
    whole: frozenset[str] | None = None,
) -> Module | None:
    """The file in its default configuration, with the functions that call one of the wanted names: host code
    that starts what another file launches. Where the default leaves all of it out, or the `#include` of the
    file that is asked for (of: its path), in one that does not (`#ifdef USE_CUDA`). None when no more text
    may be read. Raises SourceError as load() does.

    whole: paths of the files whose kernels may be evaluated as they are compiled here, None for all; of other
    kernels it is known how they are called.
    """
    known = known or Known()
    if known.left <= 0:
        return None
    unit, implied = _default_unit(source, options, known, shared=True)
    for further in configurations_that_include(unit.texts(), of.rsplit("/", 1)[-1]) if of else ():
        unit = parse_unit(source, options, configuration=(*implied, *further), known=known, shared=True)
        return _lowered(unit, wanted, whole=whole).module
    module = _lowered(unit, wanted, whole=whole).module
    if known.left <= 0 or _calls_one(module, wanted):
        return module
    for further in configurations_that_use(unit.texts(), wanted):
        unit = parse_unit(source, options, configuration=(*implied, *further), known=known, shared=True)
        return _lowered(unit, wanted, whole=whole).module
    return module


def _without_kernels(source: SourceFile, options: ParseOptions) -> Module | None:
    """The module of a file of which, as its text and that of its includes say, nothing would be lowered: most
    files of a project. Neither functions are read for it, nor names healed."""
    unit = glanced(source, options, may_matter)
    if unit is None or _implied(unit):
        return None
    return Module(
        unit.path,
        "",
        {},
        {},
        {},
        lost=possible_kernels(unit.path, [tuple(unit.texts())], ()),
        files=unit.files,
        missing_includes=unit.missing_includes,
        refused=unit.refused,
    )


def _implied(unit: Unit) -> tuple[str, ...]:
    """Macros without which the default configuration is none that anyone builds."""
    texts = tuple(unit.texts())
    return tuple(dict.fromkeys((*configuration_without_errors(texts), *configuration_for_cuda(texts))))


def _default_unit(
    source: SourceFile, options: ParseOptions, known: Known, *, shared: bool = False
) -> tuple[Unit, tuple[str, ...]]:
    """The file in its default configuration; where that is none (`#error`, or no CUDA), in the one that is,
    and the macros of it."""
    unit = parse_unit(source, options, known=known, shared=shared)
    # Even where this was the last text that may be read: nobody builds what the default makes of it.
    implied = () if clock.late(known.until) else _implied(unit)
    if not implied:
        return unit, ()
    return parse_unit(source, options, configuration=implied, known=known, shared=shared), implied


def _calls_one(module: Module, wanted: frozenset[str]) -> bool:
    """Whether host code of a module names one of these functions or kernels."""
    return any(
        isinstance(n, Name | Member | StaticMember) and n.name.rsplit("::", 1)[-1] in wanted
        for f in module.functions.values()
        if f.side in ("host", "both")
        for n in nodes_of(f.body)
    )


def _own_files(unit: Unit, options: ParseOptions) -> frozenset[str]:
    """The files that a unit stands for: itself alone, unless it only brings together what others hold."""
    if not options.whole or _DEVICE.search(unit.source.bytes):
        return frozenset((unit.path,))
    return frozenset(unit.files)


def _own_texts(unit: Unit, own: frozenset[str]) -> tuple[SkippedText, ...]:
    """These files are checked against their text: others are lowered as far as they are called."""
    return tuple(text for text in unit.texts() if text.path in own)


def _of_file(path: str, texts: Sequence[Sequence[SkippedText]]) -> list[tuple[SkippedText, ...]]:
    return [tuple(text for text in configuration if text.path == path) for configuration in texts]


def _lost_in(
    path: str,
    texts: Sequence[Sequence[SkippedText]],
    read: Sequence[Sequence[SkippedText]],
    modules: Sequence[Module],
    unparsed: Sequence[Unparsed],
) -> tuple[Unparsed, ...]:
    """The kernels of one file that reached no tree as such: behind a word that clang does not know, a
    template is a function of the host."""
    functions = [f for m in modules for f in m.functions.values() if f.side != "host"]
    names = {f.place.offset for f in functions if f.place.path == path}
    lost = lost_kernels(_of_file(path, texts), names, [u for u in unparsed if u.place.path == path])
    return (*lost, *possible_kernels(path, read, names))


def _lowered(
    unit: Unit,
    wanted: frozenset[str] = frozenset(),
    own: frozenset[str] = frozenset(),
    whole: frozenset[str] | None = None,
) -> Lowered:
    kept = KEPT.lowered_of(unit)
    found = lower(unit, unit.path, unit.configuration, wanted, own, whole, kept)
    module = replace(
        found.module, missing_includes=unit.missing_includes, files=unit.files, refused=unit.refused
    )
    return Lowered(module, found.shared_refs)
