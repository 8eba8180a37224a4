"""Text to a clang translation unit that holds as much of the program as clang can be talked into keeping."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH100, PTH117, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from functools import partial

from clang.cindex import Diagnostic, TranslationUnit, TranslationUnitLoadError

from smemlint.frontend.clang.cursors import skipped_ranges
from smemlint.frontend.clang.overlay import only_seeing
from smemlint.frontend.heal.heal import Healing
from smemlint.frontend.heal.uses import Problem
from smemlint.frontend.kept_units import KEPT, KeptUnit
from smemlint.frontend.prelude.precompiled import (
    BASE_ARGUMENTS,
    PLACEMENT,
    TU_INCOMPLETE,
    TU_KEEP_GOING,
    TU_RECORD,
    TU_SKIP_BODIES,
    clang_index,
    forget_prelude,
    prelude_arguments,
    prelude_text,
)
from smemlint.frontend.project.compile_commands import CompileCommandsError
from smemlint.frontend.project.includes import IncludePlan, is_answered, plan_includes, scan_file
from smemlint.frontend.project.options import (
    ParseOptions,
    configuration_text,
    is_modern,
    options_for,
    standard,
)
from smemlint.frontend.text.configurations import drop_defines
from smemlint.frontend.text.healed import VIRTUAL, HealedNames
from smemlint.frontend.text.nvcc_only import in_parentheses, with_commas
from smemlint.frontend.unit import Unit, is_virtual, read_file
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source import SourceError, SourceFile
from smemlint.source.blank import blanked
from smemlint.source.build_macros import build_macro
from smemlint.source.per_text import per_text
from smemlint.system import clock
from smemlint.system.observed import collecting

HEALED = f"{VIRTUAL}/healed.cuh"
STOOD_IN = f"{VIRTUAL}/answered"

_OF_PREPROCESSOR = 1
"""clang's category of complaints about includes and macros."""
MAX_PROBLEMS = 3000
"""Errors looked at in one round, those in included files first; healing them uncovers the others."""
MAX_ROUNDS = 7
IDLE = 1
"""A round from the third on that changes the number of errors by no more, and told nothing about the main
file, is the last."""
MAX_BYTES = 12_000_000
"""No further healing round starts after clang has read this much text, included files counted in every round;
what is parsed by then is what there is. Text and not time, so that a busy machine changes nothing."""


@record
class Known:
    """What reading one file of a program taught for the others: they lack the same headers.

    names: what was healed so far. left: bytes of text that clang may still read for all of them together.
    until: computing time of the process at which no further healing round or configuration begins, where
    clang is far slower than its some 0.5 s per million bytes.
    """

    names: HealedNames = field(default_factory=HealedNames)
    left: int = MAX_BYTES
    until: float = float("inf")

    def fresh(self) -> Known:
        """Return the same names with an allowance of its own, and nothing that this one shares."""
        return Known(HealedNames(self.names.root.copied()))

    def forget(self) -> None:
        """Forget the names; what may still be read stays."""
        self.names = HealedNames()


def parse_unit(
    source: SourceFile,
    options: ParseOptions,
    *,
    configuration: tuple[str, ...] = (),
    known: Known | None = None,
    shared: bool = False,
) -> Unit:
    """Parse one file, heal unknown names, parse again until nothing new turns up.

    known: what other configurations and files of the program taught, to begin with; this unit adds to it.
    shared: whether other files of the run may ask for the same.

    Raises SourceError when clang gives no translation unit, or the compilation database cannot be read.
    """
    main = os.path.abspath(source.path)
    options = _options(source, main, options)
    asked: tuple[tuple[str, str], ...] = tuple((main, name) for name in options.forced)
    plan = _planned(source, main, options, asked)
    given = {**dict(options.edited), main: source.bytes}

    def read(path: str) -> bytes:
        return given[path] if path in given else read_file(path)

    known = known or Known()
    names = known.names.carried(map(read, (main, *plan.files)))
    key = (main, source.bytes, options, configuration, plan, repr(names))
    kept = KEPT.find(key, min(MAX_BYTES, known.left)) if shared else None
    if kept is None:
        root = options.project_root or os.path.dirname(main)
        healing = Healing(read, names, partial(build_macro, source=main, root=root))
        with collecting() as facts:
            kept, spent = _healed(_Attempt(source, main, options, plan, configuration), healing, asked, known)
        if shared and not spent:
            KEPT.keep(key, replace(kept, facts=facts))
    known.left -= kept.size
    known.names.join(kept.names)
    return kept.unit


def _healed(
    attempt: _Attempt, healing: Healing, asked: tuple[tuple[str, str], ...], known: Known
) -> tuple[KeptUnit, bool]:
    """Parse until healing comes to its end; the unit, and whether it ended for lack of text or time."""
    source, main, options = attempt.source, attempt.main, attempt.options
    rounds, size = 0, 0
    told: frozenset[str] = frozenset()
    before: list[int] = []
    while True:
        plan = attempt.plan
        tu = _parsed(attempt, healing)
        rounds += 1
        size += len(source.bytes) + sum(
            scan_file(path).size for path in _included(tu) if path not in plan.blanked
        )
        if not options.std and any(_NEEDS_MODERN in d.spelling for d in tu.diagnostics):
            options = replace(options, std="c++20")
            attempt = replace(attempt, options=options)
            continue
        problems = _problems(tu)
        spent = size >= min(MAX_BYTES, known.left) or clock.late(known.until)
        before.append(len(problems))
        if rounds >= MAX_ROUNDS or spent or _is_idle(before, main in told):
            break
        asked, earlier = tuple(dict.fromkeys((*asked, *_asked(problems)))), asked
        if asked != earlier:
            attempt = replace(attempt, plan=_planned(source, main, options, asked))
            if attempt.plan.files != plan.files:  # what they declare needs no healing
                continue
        told = healing.learn(problems)
        if not told:
            break
    files = _files(tu, main)
    unit = Unit(
        tu,
        source,
        main,
        files,
        _missing(problems),
        " ".join(item if not item.startswith("-") else f"!{item[1:]}" for item in attempt.configuration),
        healing.names(),
        tuple(problem for problem in problems if problem.kind != "include"),
        rounds,
        skipped_ranges(tu),
        attempt.plan.refused,
        partial(attempt.parse, healing.text(), 0) if not healing.names() else lambda: None,
    )
    texts = {path: read_file(path) for path in (*files[1:], *attempt.plan.files)}
    return KeptUnit(unit, healing.tree, size, texts), spent


def glanced(source: SourceFile, options: ParseOptions, says: Callable[[bytes], bool]) -> Unit | None:
    """The unit as far as the preprocessor tells, with no function's body and nothing healed; None where a
    file that may be read, or a macro of the user, says what is looked for, whichever branch it stands in.

    Raises SourceError as parse_unit() does.
    """
    main = os.path.abspath(source.path)
    options = _options(source, main, options)
    asked: tuple[tuple[str, str], ...] = tuple((main, name) for name in options.forced)
    if options.edited or says(source.bytes) or says(configuration_text(options, ()).encode()):
        return None
    plan = _planned(source, main, options, asked)
    for _ in range(MAX_ROUNDS):
        if any(says(read_file(path)) for path in plan.files):
            return None
        tu = _Attempt(source, main, options, plan, ()).parse("", TU_INCOMPLETE | TU_SKIP_BODIES)
        if tu is None:
            return None
        told = [d for d in tu.diagnostics if d.category_number == _OF_PREPROCESSOR]
        problems = [p for p in map(Problem.from_diagnostic, told) if not is_virtual(p.path)]
        asked = tuple(dict.fromkeys((*asked, *_asked(problems))))
        before, plan = plan, _planned(source, main, options, asked) if problems else plan
        if plan.files == before.files:
            files, missing = _files(tu, main), _missing(problems)
            return Unit(tu, source, main, files, missing, skipped=skipped_ranges(tu), refused=plan.refused)
    return None


def _options(source: SourceFile, main: str, options: ParseOptions) -> ParseOptions:
    """The options of a file; a compilation database that cannot be read is an error of the file."""
    try:
        return options_for(main, options)
    except CompileCommandsError as error:
        raise SourceError(source.path, str(error)) from error


def _missing(problems: list[Problem]) -> tuple[str, ...]:
    """Headers that were looked for in vain."""
    return tuple(dict.fromkeys(p.name for p in problems if p.kind == "include" and not is_answered(p.name)))


def _files(tu: TranslationUnit, main: str) -> tuple[str, ...]:
    """The files of the project that were read, the main file first."""
    return (main, *(path for path in dict.fromkeys(_included(tu)) if path != main and not is_virtual(path)))


def _asked(problems: list[Problem]) -> Iterator[tuple[str, str]]:
    """(file that includes, name) of what clang looked for in vain."""
    for p in problems:
        if p.kind == "include" and (os.path.isabs(p.name) or not is_answered(p.name)):
            yield p.path, p.name


def _planned(
    source: SourceFile, main: str, options: ParseOptions, asked: tuple[tuple[str, str], ...]
) -> IncludePlan:
    root = options.project_root or os.path.dirname(main)
    return plan_includes(source, main, options.include_dirs, root, asked)


def _is_idle(problems: list[int], told_in_main: bool) -> bool:
    """Whether a round of healing came to nothing, in included files alone. problems: of each round so far."""
    return len(problems) > 2 and not told_in_main and abs(problems[-1] - problems[-2]) <= IDLE


@record(frozen=True)
class _Attempt:
    source: SourceFile
    main: str
    options: ParseOptions
    plan: IncludePlan
    configuration: tuple[str, ...]

    def parse(self, healed: str, how: int = TU_INCOMPLETE) -> TranslationUnit | None:
        """The translation unit; None where clang gives up. how: further options of clang's; by default it
        makes no instances of functions."""
        plan = self.plan
        modern = is_modern(self.source.bytes) or any(
            scan_file(path).modern for path in plan.files if path not in plan.blanked
        )
        std = standard(self.options, modern)
        prelude = "" if prelude_arguments(std) else prelude_text()
        text = prelude + PLACEMENT + configuration_text(self.options, self.configuration) + healed
        switched = [re.split(r"[=(]", item.removeprefix("-"))[0] for item in self.configuration]
        unsaved: list[tuple[str, str | bytes]] = [
            (self.main, _as_clang_reads(drop_defines(self.source.bytes, switched))),
            (HEALED, text),
        ]
        edited = dict(self.options.edited)
        read = {**edited, **{path: read_file(path) for path in self.plan.files if path not in edited}}
        read |= dict.fromkeys(self.plan.blanked, b"")
        read |= {f"{STOOD_IN}/{name}": b"" for name in self.plan.stood_in}
        unsaved += [(path, _as_clang_reads(drop_defines(data, switched))) for path, data in read.items()]
        for last in (False, True):
            compiled = prelude_arguments(std)
            arguments = [*BASE_ARGUMENTS, f"-std={std}", *compiled, "-include", HEALED]
            for name in self.options.forced:
                arguments += ["-include", name]
            arguments += [f"-I{folder}" for folder in self.plan.search_dirs]
            arguments += ["-isystem", STOOD_IN] if self.plan.stood_in else []
            try:
                with only_seeing((*read, *compiled[3:4])) as seeing:
                    unit: TranslationUnit = clang_index().parse(  # type: ignore[no-untyped-call]
                        self.main,
                        args=[*arguments, *seeing],
                        unsaved_files=unsaved,
                        options=TU_RECORD | TU_KEEP_GOING | how,
                    )
                return unit
            except TranslationUnitLoadError:
                if not last:
                    forget_prelude(std)
        return None


_NEEDS_MODERN = "before C++20"
"""What clang says of an object of a class as a template argument, among others."""
_QUALIFIERS = ("__host__", "__device__", "__global__", "__shared__", "__constant__")
_RESTRICTED = pattern(rb"(?<=>)\s*\b__restrict(?:__)?\b")
_QUALIFIER_DEFINED = pattern(rb"#[ \t]*(?:define|undef)[ \t]+__(?:host|device|global|shared|constant)__")


@per_text
def _as_clang_reads(data: bytes) -> bytes:
    """A text without its own definitions of CUDA's qualifiers: headers make these nothing where no option
    tells them that nvcc reads the file. Braces around the shape of a launch are parentheses, and operands of
    assembly stand apart. No class is `__restrict__` (older compilers take `Accessor<T> __restrict__ in`):
    clang would drop every launch of that kernel."""
    data = drop_defines(data, _QUALIFIERS if _QUALIFIER_DEFINED.search(data) else ())
    data = _RESTRICTED.sub(lambda found: blanked(found.group()), data)
    return with_commas(in_parentheses(data))


def _parsed(attempt: _Attempt, healing: Healing) -> TranslationUnit:
    """The translation unit with what is healed so far. clang ends where a constant array of objects of a
    class template has an extent of unknown type: then values are healed as integers."""
    tu = attempt.parse(healing.text())
    if tu is None and not healing.numbers:
        healing.numbers = True
        tu = attempt.parse(healing.text())
    if tu is None:
        raise SourceError(attempt.source.path, "cannot be parsed: clang gives up on it")
    return tu


def _problems(tu: TranslationUnit) -> list[Problem]:
    """Errors in files of the project; what healing declares is in error by design."""
    found: list[Problem] = []
    for diagnostic in tu.diagnostics:
        if diagnostic.severity >= Diagnostic.Error:
            problem = Problem.from_diagnostic(diagnostic)
            if not is_virtual(problem.path):
                found.append(problem)
                if len(found) == MAX_PROBLEMS:
                    break
    return found


def _included(tu: TranslationUnit) -> list[str]:
    return [os.path.normpath(inclusion.include.name) for inclusion in tu.get_includes()]  # type: ignore[no-untyped-call]
