"""The edit that an author prepared: the named constant that is the pitch of an array, made larger.

`#define LD 32`, `constexpr int PAD = 0;`: where a constant of that kind reaches an array and nothing else,
all that follows from it (indices, pools, sizes at the launch, the pitch of a fragment) moves with it.
The whole file is analysed again with each value that is tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from smemlint.banks import Arch
from smemlint.evaluate.model import SharedArray
from smemlint.fix.edits import apply as application
from smemlint.fix.model import Refusal, SiteChange, Suggestion, TextEdit
from smemlint.fix.proof.remapped import launched, remapped
from smemlint.fix.proof.safety import open_questions, stale_comment
from smemlint.fix.search.choices import locate
from smemlint.fix.search.judge import kernel_wavefronts, least_share, standing
from smemlint.fix.search.layouts import Late
from smemlint.fix.search.members import Instance, granule
from smemlint.fix.search.registers import first_step
from smemlint.fix.text.constants import Constants
from smemlint.fix.text.declared import Declared, edit
from smemlint.fix.text.flat import terms
from smemlint.fix.text.names import Constant, Scopes, candidates, definitions, derived, only_pitch
from smemlint.fix.text.source import Source
from smemlint.fix.words import effect
from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis

Whole: TypeAlias = Callable[[bytes], "Sequence[KernelAnalysis] | None"]
"""Analyses the edited text of the main file anew, launches and all; None when it cannot."""
_NAMES = 3
"""Constants that are nothing but a pitch and are tried."""
_ROUNDS = 2
"""Constants that are changed together."""
_STEPS = (1, 2, 4)
"""By how many units a constant is made larger, until nothing is left to free."""


@record(frozen=True, slots=True)
class Tried:
    """Values of constants, and what they do. texts: `LD = 40` for each."""

    constants: tuple[Constant, ...]
    edits: tuple[TextEdit, ...]
    texts: tuple[str, ...]
    changes: tuple[SiteChange, ...]
    analyses: tuple[KernelAnalysis, ...]
    shared: str = ""
    """The array that is used twice in turn, in two layouts, or ''."""

    @property
    def saved(self) -> int:
        return sum(c.before - c.after for c in self.changes)


def named_pitch(
    instances: Sequence[Instance],
    source: Source | None,
    analyses: Sequence[KernelAnalysis],
    whole: Whole | None,
    arch: Arch,
    late: Late,
) -> Suggestion | Refusal | None:
    """The best value of a constant for an array; a Refusal where one is there and may not be changed; None
    without any.

    analyses: of all kernels of the file. source: of the file that declares the array, the main one.
    """
    if source is None or whole is None or late():
        return None
    value = Constants([source], instances[0].analysis.launch, block=False).value
    known = definitions(source, value)
    scopes = _scopes(source, analyses)
    refused: Refusal | None = None
    constants: list[Constant] = []
    for name in candidates(source, scopes, known):
        constant = only_pitch(source, known[name], scopes, known)
        if isinstance(constant, Refusal):
            if refused is None and _counts_rows(source, name, instances[0]):
                refused = constant
        else:
            constants.append(constant)
    best: Tried | None = None
    for _ in range(_ROUNDS):
        better: Tried | None = None
        for constant in constants[:_NAMES]:
            if best is not None and constant in best.constants:
                continue
            found = _values(constant, best, instances, source, analyses, whole, late)
            if isinstance(found, Refusal):
                refused = refused or found
            elif found is not None and found.saved > max(t.saved if t else 0 for t in (best, better)):
                better = found
        if better is None:
            break
        best = better
        if all(c.after <= c.ideal for c in best.changes):
            break
    if best is None:
        return refused
    return _suggestion(best, instances[0].pool, instances, source, analyses, arch)


def _counts_rows(source: Source, name: str, instance: Instance) -> bool:
    """Whether a constant is in an inner extent of the array, or multiplies a row in one of its indices."""
    at = locate(instance, {source.path: source})
    if isinstance(at, Refusal):
        return False
    word = re.compile(rf"(?<![\w.]){re.escape(name)}\b")
    if any(word.search(at.extent(dim)) for dim in range(1, len(at.extents))):
        return True
    for each in derived(source, at.name, *at.scope):
        for use in source.uses(each, *at.scope, 1):
            products = (
                term.factors
                for bracket in use.subscripts
                for term in terms(source, bracket.open + 1, bracket.close)
                if len(term.factors) > 1
            )
            if any(word.search(factor.text) for factors in products for factor in factors):
                return True
    return False


def _scopes(source: Source, analyses: Sequence[KernelAnalysis]) -> Scopes:
    """Where names of shared arrays and pointers into them stand, over all kernels of the file."""
    found: dict[tuple[str, int], tuple[int, int, frozenset[str]]] = {}
    for analysis in analyses:
        for array in analysis.arrays.values():
            key = (array.name, array.place.offset)
            if array.place.path != source.path or key in found:
                continue
            at = locate(Instance(analysis, array, ()), {source.path: source})
            if isinstance(at, Declared):
                found[key] = (*at.scope, derived(source, array.name, *at.scope))
    return Scopes(tuple(found.values()))


def _values(
    constant: Constant,
    others: Tried | None,
    instances: Sequence[Instance],
    source: Source,
    analyses: Sequence[KernelAnalysis],
    whole: Whole,
    late: Late,
) -> Tried | Refusal | None:
    """The best value of a constant beside what others have already, a Refusal where none holds."""
    from smemlint.fix.text.expressions import plus

    together = max((granule(i.members) for i in instances), default=1)
    fragments = any("matrix_sync" in c.site.expression for c in _sites(instances))
    unit = max(16 if fragments else together, instances[0].array.element) // instances[0].array.element
    old = source.text[constant.begin : constant.end]
    best: Tried | None = None
    for step in _STEPS:
        if late():
            break
        new = plus(old, unit * step)
        if new is None:
            return Refusal("extent-not-an-expression", f"`{old}` is not read as a C expression")
        if not new.strip().isalnum() and _is_macro(source, constant):
            new = f"({new})"
        changed = edit(source, constant.begin, constant.end, new)
        if isinstance(changed, Refusal):
            return changed
        edits = (*(others.edits if others else ()), changed)
        try:
            text = application.apply(sorted(edits, key=lambda e: e.offset), source.data)
        except application.EditError as error:
            return Refusal("not-proved", str(error))
        after = whole(text)
        if after is None:
            return best or Refusal("out-of-time", "the time for this file was over")
        changes = remapped(analyses, after)
        if isinstance(changes, str):
            return best or Refusal("not-proved", f"with `{constant.name}` as `{new}`, {changes}")
        said = (*(others.texts if others else ()), f"{constant.name} = {new.strip()}")
        known = (*(others.constants if others else ()), constant)
        tried = Tried(known, edits, said, changes.changes, tuple(after), changes.shared)
        if best is None or tried.saved > best.saved:
            best = tried
        if all(c.after <= c.ideal for c in tried.changes):
            break
    return best


def _sites(instances: Sequence[Instance]) -> list[Conflict]:
    return [c for i in instances for c in i.analysis.conflicts if c.site.array == i.pool.id]


def _is_macro(source: Source, constant: Constant) -> bool:
    line = source.text[source.line_start(constant.begin) : constant.begin]
    return line.lstrip().startswith("#")


def _suggestion(
    best: Tried,
    array: SharedArray,
    instances: Sequence[Instance],
    source: Source,
    analyses: Sequence[KernelAnalysis],
    arch: Arch,
) -> Suggestion | Refusal:
    sized = next((c.name for c in best.constants if c.sized), "")
    mine = {c.kernel for c in best.changes}
    known = [kernel_wavefronts(a) for a in analyses if a.kernel.name in mine]
    whole = sum(n or 0 for n in known)
    code = "`, `".join(best.texts)
    before = sum(c.before for c in best.changes)
    step = first_step([i.analysis for i in instances], arch)
    risk = step.text if step is not None else ""
    if best.saved < least_share(step) * max(whole, before):
        text = f"`{code}` saves {best.saved} of {max(whole, before)} wavefronts"
        return Refusal("not-worth-it", "; ".join(filter(None, (text, risk))))
    grown, blocks = _room(best, analyses, mine, arch)
    if blocks[1] == 0:
        return Refusal("no-better-layout", f"with `{code}` a block no longer fits")
    unsafe = open_questions(instances, analyses, source.path) or _unseen(best, source)
    if best.shared and not unsafe:
        unsafe = f"`{best.shared}` is used in turn by accesses that the edit moves and by others"
    if sized and not unsafe:
        unsafe = f"the bytes of a launch follow `{sized}`"
    return Suggestion(
        kind="pitch",
        array=array,
        words="; ".join(
            filter(
                None,
                (
                    f"make the named pitch larger: `{code}`",
                    f"{effect(best.changes)}, {grown:+d} B",
                    stale_comment(source, best.edits),
                    risk if unsafe else "",
                ),
            )
        ),
        edits=tuple(sorted(best.edits, key=lambda e: e.offset)),
        refused=None,
        safe=not (unsafe or risk),
        sites=best.changes,
        bytes_added=grown,
        blocks_per_sm=blocks,
        unsafe_because=unsafe or risk,
        code=code,
        kernel=_kernel(best, analyses, mine),
    )


def _kernel(best: Tried, analyses: Sequence[KernelAnalysis], kernels: set[str]) -> tuple[int, int] | None:
    """Wavefronts of the kernel before and after, in the instance and launch that stands for all."""
    pairs = [
        (old, new)
        for old, new in zip(launched(analyses), launched(best.analyses), strict=False)
        if old.kernel.name in kernels
    ]
    if not pairs:
        return None
    old, new = pairs[standing([old for old, _ in pairs])]
    before, after = kernel_wavefronts(old), kernel_wavefronts(new)
    return None if before is None or after is None else (before, after)


def _room(
    best: Tried, analyses: Sequence[KernelAnalysis], kernels: set[str], arch: Arch
) -> tuple[int, tuple[int, int]]:
    """Bytes that a block needs more at most, and resident blocks before and after where most are lost."""
    grown = 0
    worst: tuple[int, int] | None = None
    for old, new in zip(
        (a for a in analyses if a.conflicts), (a for a in best.analyses if a.conflicts), strict=False
    ):
        if old.kernel.name not in kernels:
            continue
        sizes = [
            sum(a.bytes or 0 for a in each.arrays.values() if not a.dynamic) + (each.launch.dynamic or 0)
            for each in (old, new)
        ]
        grown = max(grown, sizes[1] - sizes[0])
        blocks = tuple(arch.resident_blocks(old.launch.threads, size) for size in sizes)
        if worst is None or blocks[0] - blocks[1] > worst[0] - worst[1]:
            worst = (blocks[0], blocks[1])
    return grown, worst or (1, 1)


def _unseen(best: Tried, source: Source) -> str:
    """The first use of the constant in an access that no launch runs, as far as was seen, '' when none."""
    places = [p for c in best.changes for p in (c.site.place, *c.site.via) if p.path == source.path]
    for name, offset in ((c.name, o) for c in best.constants for o in c.uses):
        line = source.text[source.line_start(offset) : offset]
        statement = source.text[source.text.rfind(";", 0, offset) + 1 : source.text.find(";", offset)]
        left = statement.partition("=")[0]
        if "__shared__" in line + statement or "*" in left or "auto" in left.split():
            continue
        if not any(p.offset <= offset < p.end_offset for p in places):
            where = f"`{name}` on line {source.line_of(offset)}"
            return f"no launch that was seen runs the use of {where}"
    return ""
