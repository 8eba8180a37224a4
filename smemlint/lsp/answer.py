"""What is known of one buffer: the report of a text, and where its lines are in the text as it is now."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from smemlint.diagnose.model import Access, FileReport, KernelReport, Report
from smemlint.records import record
from smemlint.view.gallery import Exhibit


@record(frozen=True, slots=True)
class Answer:
    """The findings of one text. path: as the report names the file."""

    path: str
    text: str
    file: FileReport
    report: Report

    def accesses(self, line: int) -> Iterator[tuple[KernelReport, Access]]:
        """The accesses that begin on a line or run over it, with their kernels."""
        for kernel in self.file.kernels:
            for access in kernel.accesses:
                place = access.place
                if place.path == self.path and place.line <= line <= place.end_line:
                    yield kernel, access

    def exhibit(self, access: Access) -> Exhibit | None:
        """The maps of an access, where it conflicts."""
        place = access.place
        for each in self.file.exhibits:
            view = each.now.view
            same = (view.line, view.column, view.op) == (place.line, place.column, access.op)
            if view.path == place.path and same:
                return each
        return None


def broken(answer: FileReport, before: FileReport | None) -> bool:
    """Whether a text is broken where the one before was not: kernels or accesses are lost that it had."""
    if before is None:
        return False
    if answer.problems and not before.problems:
        return True
    lost = {u.name for u in answer.lost} - {u.name for u in before.lost}
    unparsed = {u.text for u in answer.unparsed} - {u.text for u in before.unparsed}
    gone = {k.name for k in before.kernels} - {k.name for k in answer.kernels}
    return bool(lost or unparsed or (gone and not answer.kernels))


def moved_lines(old: str, new: str) -> dict[int, int]:
    """Where each line of the old text that is still there is in the new one, from 1."""
    a, b = old.splitlines(), new.splitlines()
    first = 0
    while first < min(len(a), len(b)) and a[first] == b[first]:
        first += 1
    last = 0
    while last < min(len(a), len(b)) - first and a[-1 - last] == b[-1 - last]:
        last += 1
    found = {n: n for n in range(1, first + 1)}
    found.update({len(a) - n: len(b) - n for n in range(last)})
    middle = SequenceMatcher(None, a[first : len(a) - last], b[first : len(b) - last], autojunk=False)
    for i, j, size in middle.get_matching_blocks():
        found.update({first + i + n + 1: first + j + n + 1 for n in range(size)})
    return found
