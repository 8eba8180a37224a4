"""The edit that an author prepared: the named constant that is the pitch of an array, made larger.

`#define LD 32`, `constexpr int PAD = 0;`: where a constant of that kind reaches an array and nothing else,
all that follows from it (indices, pools, sizes at the launch, the pitch of a fragment) moves with it.
The whole file is analysed again with each value that is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from smemlint.banks import Arch
from smemlint.evaluate.model import SharedArray
from smemlint.fix import apply as application
from smemlint.fix.choices import locate
from smemlint.fix.constants import Constants
from smemlint.fix.declared import Declared, edit
from smemlint.fix.judge import SHARE, kernel_wavefronts
from smemlint.fix.members import Instance, granule
from smemlint.fix.model import Refusal, SiteChange, Suggestion, TextEdit
from smemlint.fix.names import Constant, candidates, definitions, derived, only_pitch
from smemlint.fix.remapped import remapped
from smemlint.fix.safety import open_questions
from smemlint.fix.search import Late
from smemlint.fix.text import Source
from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis

Whole: TypeAlias = Callable[[bytes], "Sequence[KernelAnalysis] | None"]
"""Analyses the edited text of the main file anew, launches and all; None when it cannot."""
_NAMES = 3
"""Constants that are nothing but a pitch and are tried."""
_STEPS = (1, 2, 4)
"""By how many units a constant is made larger, until nothing is left to free."""


@record(frozen=True, slots=True)
class Tried:
    """One value of a constant, and what it does."""

    constant: Constant
    edit: TextEdit
    text: str
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
    array = instances[0].pool
    at = locate(Instance(instances[0].analysis, array, ()), {source.path: source})
    if not isinstance(at, Declared):
        return None
    launch = instances[0].analysis.launch
    value = Constants([source], launch, block=False).value
    known = definitions(source, value)
    names = derived(source, array.name, *at.scope)
    refused: Refusal | None = None
    best: Tried | None = None
    tries = 0
    for name in candidates(source, names, known):
        constant = only_pitch(source, known[name], names, known)
        if isinstance(constant, Refusal):
            refused = refused or constant
            continue
        tries += 1
        if tries > _NAMES:
            break
        for tried in _values(constant, instances, source, analyses, whole, late):
            if isinstance(tried, Refusal):
                refused = refused or tried
                break
            if tried.saved > (best.saved if best is not None else 0):
                best = tried
            if all(c.after <= c.ideal for c in tried.changes):
                break
    if best is None:
        return refused
    return _suggestion(best, array, instances, source, analyses, arch)


def _values(
    constant: Constant,
    instances: Sequence[Instance],
    source: Source,
    analyses: Sequence[KernelAnalysis],
    whole: Whole,
    late: Late,
) -> Sequence[Tried | Refusal]:
    from smemlint.fix.expressions import plus

    together = max((granule(i.members) for i in instances), default=1)
    fragments = any(c.site.op != "atomic" and "matrix_sync" in c.site.expression for c in _sites(instances))
    unit = max(16 if fragments else together, instances[0].array.element) // instances[0].array.element
    old = source.text[constant.begin : constant.end]
    found: list[Tried | Refusal] = []
    for step in _STEPS:
        if late():
            break
        new = plus(old, unit * step)
        if new is None:
            return [*found, Refusal("extent-not-an-expression", f"`{old}` is not read as a C expression")]
        if new.strip() != old.strip() and not new.strip().isalnum() and _is_macro(source, constant):
            new = f"({new})"
        changed = edit(source, constant.begin, constant.end, new)
        if isinstance(changed, Refusal):
            return [*found, changed]
        try:
            text = application.apply([changed], source.data)
        except application.EditError as error:
            return [*found, Refusal("not-proved", str(error))]
        after = whole(text)
        if after is None:
            return [*found, Refusal("out-of-time", "the time for this file was over")]
        changes = remapped(analyses, after)
        if isinstance(changes, str):
            found.append(Refusal("not-proved", f"with `{constant.name}` as `{new}`, {changes}"))
            return found
        found.append(Tried(constant, changed, new, changes.changes, tuple(after), changes.shared))
    return found


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
    constant = best.constant
    mine = {c.kernel for c in best.changes}
    known = [kernel_wavefronts(a) for a in analyses if a.kernel.name in mine]
    whole = sum(n or 0 for n in known)
    code = f"{constant.name} = {best.text.strip()}"
    before, after = sum(c.before for c in best.changes), sum(c.after for c in best.changes)
    if best.saved < SHARE * max(whole, before):
        text = f"`{code}` saves {best.saved} of {max(whole, before)} wavefronts"
        return Refusal("not-worth-it", text)
    left = len({(c.site.place, c.site.op) for c in best.changes if c.after > c.ideal})
    sites = len({(c.site.place, c.site.op) for c in best.changes})
    effect = f"{before} wavefronts become {after}"
    effect += f", {left} of {sites} accesses keep a conflict" if left else ""
    grown, blocks = _room(best, analyses, mine, arch)
    if blocks[1] == 0:
        return Refusal("no-better-layout", f"with `{code}` a block no longer fits")
    unsafe = open_questions(instances, analyses, source.path) or _unseen(best, source)
    if best.shared and not unsafe:
        unsafe = f"`{best.shared}` is used in turn by accesses that the edit moves and by others"
    if constant.sized and not unsafe:
        unsafe = f"the bytes of a launch follow `{constant.name}`"
    return Suggestion(
        kind="pitch",
        array=array,
        words=f"make the named pitch larger: `{code}`; {effect}, {grown:+d} B",
        edits=(best.edit,),
        refused=None,
        safe=not unsafe,
        sites=best.changes,
        bytes_added=grown,
        blocks_per_sm=blocks,
        unsafe_because=unsafe,
        code=code,
        kernel=(whole, whole - best.saved) if None not in known and whole >= before else None,
    )


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
    for offset in best.constant.uses:
        line = source.text[source.line_start(offset) : offset]
        statement = source.text[source.text.rfind(";", 0, offset) + 1 : source.text.find(";", offset)]
        left = statement.partition("=")[0]
        if "__shared__" in line + statement or "*" in left or "auto" in left.split():
            continue
        if not any(p.offset <= offset < p.end_offset for p in places):
            where = f"`{best.constant.name}` on line {source.line_of(offset)}"
            return f"no launch that was seen runs the use of {where}"
    return ""
