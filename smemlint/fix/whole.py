"""Edits that are tried on the whole file: it is analysed again, launches and all, and must be the same
program with its shared memory laid out anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from smemlint.banks import Arch
from smemlint.evaluate.model import SharedArray
from smemlint.fix.edits import apply as application
from smemlint.fix.model import Kind, Refusal, SiteChange, Suggestion, TextEdit
from smemlint.fix.proof.remapped import launched, remapped
from smemlint.fix.proof.safety import open_questions, stale_comment, unread_use
from smemlint.fix.search.judge import kernel_wavefronts, least_share, standing
from smemlint.fix.search.layouts import Late
from smemlint.fix.search.members import Instance
from smemlint.fix.search.registers import first_step
from smemlint.fix.text.declared import edit, shown
from smemlint.fix.text.source import Source
from smemlint.fix.words import effect
from smemlint.records import record
from smemlint.score.model import KernelAnalysis

Whole: TypeAlias = Callable[[bytes], "Sequence[KernelAnalysis] | None"]
"""Analyses the edited text of the main file anew, launches and all; None when it cannot."""


STEPS = (1, 2, 4)
"""By how many units a pitch is made larger, until nothing is left to free."""


@record(frozen=True, slots=True)
class Program:
    """The main file, on which edits are tried. analyses: of all kernels of the file; late: whether the time
    is over."""

    source: Source
    analyses: Sequence[KernelAnalysis]
    whole: Whole
    arch: Arch
    late: Late

    def attempt(self, edits: Sequence[TextEdit], texts: Sequence[str]) -> Tried | Refusal:
        """Analyse the file with edits; a Refusal where it is not the same program any more."""
        try:
            text = application.apply(sorted(edits, key=lambda e: e.offset), self.source.data)
        except application.EditError as error:
            return Refusal("not-proved", str(error))
        after = self.whole(text)
        if after is None:
            return Refusal("out-of-time", "the time for this file was over")
        changes = remapped(self.analyses, after)
        if isinstance(changes, str):
            return Refusal("not-proved", changes)
        return Tried(tuple(edits), tuple(texts), changes.changes, tuple(after), changes.shared)


@record(frozen=True, slots=True)
class Tried:
    """Edits, and what they do. texts: `LD = 40` for each."""

    edits: tuple[TextEdit, ...]
    texts: tuple[str, ...]
    changes: tuple[SiteChange, ...]
    analyses: tuple[KernelAnalysis, ...]
    shared: str = ""
    """The array that is used twice in turn, in two layouts, or ''."""

    @property
    def saved(self) -> int:
        """Wavefronts that the edits save."""
        return sum(c.before - c.after for c in self.changes)

    @property
    def perfect(self) -> bool:
        """Whether no access that moved pays more than it has to."""
        return all(c.after <= c.ideal for c in self.changes)


def widened(
    program: Program, begin: int, end: int, unit: int, named: Callable[[str], str]
) -> Tried | Refusal | None:
    """The best of the texts in which the extent at [begin, end) of the main file is larger by a few units;
    why not, where one does not hold; None where none saves anything.

    named: the code as a reader looks for it, by the new extent.
    """
    from smemlint.fix.text.expressions import plus

    best: Tried | None = None
    refused: Refusal | None = None
    source = program.source
    old = source.text[begin:end]
    for step in STEPS:
        if program.late():
            break
        new = plus(old, unit * step)
        if new is None:
            return Refusal("extent-not-an-expression", f"`[{shown(old)}]` is not read as a C expression")
        changed = edit(source, begin, end, new)
        if isinstance(changed, Refusal):
            return changed
        tried = program.attempt([changed], [named(new)])
        if isinstance(tried, Refusal):
            refused = tried
            break
        if best is None or tried.saved > best.saved:
            best = tried
        if tried.perfect:
            break
    return best if best is not None and best.saved > 0 else refused


def offered(
    best: Tried,
    how: tuple[Kind, str],
    unseen: str,
    array: SharedArray,
    instances: Sequence[Instance],
    program: Program,
) -> Suggestion | Refusal:
    """Say what the best edits bring, or why they are not worth it.

    how: the kind of edit, and what it does in words. unseen: what else keeps it from being safe, or ''.
    """
    source, analyses, arch = program.source, program.analyses, program.arch
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
    unsafe = open_questions(instances, analyses, source.path) or unseen
    if best.shared and not unsafe:
        unsafe = f"`{best.shared}` is used in turn by accesses that the edit moves and by others"
    unread = unread_use(instances, source) is not None
    return Suggestion(
        kind=how[0],
        array=array,
        words="; ".join(
            filter(
                None,
                (
                    f"{how[1]}: `{code}`",
                    f"{effect(best.changes, len(known), unread=unread)}, {grown:+d} B",
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
