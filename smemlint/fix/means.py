"""What a search for layouts works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from smemlint.banks import Arch
from smemlint.fix.proof.promise import Analyse
from smemlint.fix.search.layouts import Late
from smemlint.fix.text.source import Source
from smemlint.fix.whole import Program, Whole
from smemlint.records import record
from smemlint.score.model import KernelAnalysis


@record(frozen=True, slots=True)
class Means:
    """What a search works with. taken: the names in use in each file, new ones included; the others as the
    arguments of `suggest`."""

    texts: Mapping[str, Source]
    taken: Mapping[str, set[str]]
    analyse: Analyse | None
    arch: Arch
    late: Late
    main: str
    analyses: Sequence[KernelAnalysis] = ()
    whole: Whole | None = None
    draft: bool = False
    """Edits are written and not proved: they are proved together afterwards."""

    def program(self) -> Program | None:
        """The main file as one on which edits are tried, None where nothing can analyse it."""
        source = self.texts.get(self.main)
        if source is None or self.whole is None:
            return None
        return Program(source, self.analyses, self.whole, self.arch, self.late)

    def drafting(self) -> Means:
        """The same for drafts; the names that these take are not in use yet."""
        return replace(self, taken={path: set(names) for path, names in self.taken.items()}, draft=True)
