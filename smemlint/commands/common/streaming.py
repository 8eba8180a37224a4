"""Findings that go out while other files are still in work: those that no file to come can change.

A finding hangs on all files that see its place. A file that is not done yet sees itself and what it includes,
so whatever stands before the first of these, in the order of paths, is final. What was written is at the end
held against the whole report, of which it must be the beginning.
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from smemlint.diagnose.unseen import UNKNOWN_KERNEL
from smemlint.patterns import pattern
from smemlint.render import STREAMED, render_findings
from smemlint.source.text import MAX_BYTES
from smemlint.system.reading import UnreadableError, read_regular
from smemlint.system.streams import OutputError, finish, put, say

if TYPE_CHECKING:
    from smemlint.commands.common.run import Run
    from smemlint.config import Settings
    from smemlint.diagnose.model import FileReport, Unseen
    from smemlint.render.style import Look
    from smemlint.running.jobs import Job

_INCLUDE = pattern(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]', re.MULTILINE)
_ABOVE = 12
"""Folders above a file in which what it includes is looked for."""


class Stream:
    """What goes to standard output as files are done. how: format and look, by the settings of the run."""

    def __init__(self, how: Callable[[Settings], tuple[str, Look]]) -> None:
        self._how = how
        self._reach: _Reach | None = None
        self._waiting: list[tuple[str, int]] = []
        self._done: set[int] = set()
        self._kept: list[FileReport] = []
        self._names: set[str] = set()
        self._bound = ""
        self._findings = 0
        self._failed: OutputError | None = None
        self.written = ""

    def take(self, run: Run, index: int, report: FileReport, clear: Callable[[], None] | None = None) -> None:
        """Write what is final now that this file is done. clear: makes room on a terminal."""
        for text in self._final(run, index, report):
            self.written += text
            if self._failed is None:
                if clear is not None:
                    clear()
                try:
                    put(text)
                    finish()
                except OutputError as error:
                    self._failed = error

    def _final(self, run: Run, index: int, report: FileReport) -> Iterator[str]:
        form, look = self._how(run.settings)
        if form not in STREAMED or look.sort != "path":
            return
        if self._reach is None:
            self._reach = _Reach(run.jobs)
            self._waiting = [(self._reach.first(n), n) for n in range(len(run.jobs))]
            heapq.heapify(self._waiting)
        self._done.add(index)
        self._kept.append(report)
        self._names.update(k.name for k in report.kernels)
        while self._waiting and self._waiting[0][1] in self._done:
            heapq.heappop(self._waiting)
        if self._waiting:
            yield from self._before(run, self._waiting[0][0], form, look)

    def _before(self, run: Run, bound: str, form: str, look: Look) -> Iterator[str]:
        """The findings in paths before a bound that were not before the last one."""
        # A kernel that was found nowhere may be in a file to come.
        open_ = [u.place.path for r in self._kept for u in self._unknown(r)]
        bound = min([bound, *open_])
        if bound <= self._bound:
            return
        last, self._bound = self._bound, bound
        if any(last <= path < bound for r in self._kept for path in _paths(r)):
            known = [self._without_known(r) for r in self._kept]
            whole = run.collect(known)
            some = tuple(d for d in whole.diagnostics if last <= d.place.path < bound)
            top = None if look.top is None else look.top - self._findings
            part = replace(whole, diagnostics=some)
            for text in render_findings(form, part, replace(look, top=top)):
                self._findings += 1
                yield text
        self._kept = [r for r in self._kept if any(path >= bound for path in _paths(r))]

    def _without_known(self, report: FileReport) -> FileReport:
        """The report without the kernels it did not find and another file has."""
        unknown = self._unknown(report)
        return replace(report, lost=tuple(u for u in report.lost if u.code != UNKNOWN_KERNEL or u in unknown))

    def _unknown(self, report: FileReport) -> list[Unseen]:
        """The kernels that the file starts and no file so far has."""
        lost = [u for u in report.lost if u.code == UNKNOWN_KERNEL]
        return [u for u in lost if u.name.strip("`").rsplit("::", 1)[-1] not in self._names]

    def rest(self, whole: str) -> str:
        """What is left to be written of the whole report. Raises OutputError where nothing can be written."""
        if self._failed is not None:
            raise self._failed
        if whole.startswith(self.written):
            return whole[len(self.written) :]
        say("warning: a later file changed a finding that is written above; here is the whole report")
        return whole


class _Reach:
    """Which files each file sees, as far as the text shows: itself and what it includes."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        self._known: dict[str, frozenset[str]] = {}
        self._by_name: dict[str, list[str]] = {}
        for job in jobs:
            path = os.path.abspath(job.path)  # noqa: PTH100  links stay as they are
            self._by_name.setdefault(os.path.basename(path), []).append(path)  # noqa: PTH119

    def first(self, index: int) -> str:
        """Of all files that a job sees the one whose path, as shown, comes first."""
        from smemlint.api import shown

        job = self._jobs[index]
        own = os.path.abspath(job.path)  # noqa: PTH100
        seen, left = {own}, [own]
        while left:
            new = self._included(left.pop(), job) - seen
            seen |= new
            left += new
        return min(map(shown, seen))

    def _included(self, path: str, job: Job) -> frozenset[str]:
        if path not in self._known:
            text = job.text.encode(errors="surrogateescape") if job.text is not None else _read(path)
            self._known[path] = frozenset(
                meant
                for name in _INCLUDE.findall(text)
                for meant in self._meant(os.fsdecode(name), path, job)
            )
        return self._known[path]

    def _meant(self, name: str, path: str, job: Job) -> Iterator[str]:
        """The files of an include: beside the file and above it, in the folders of -I, and every job that
        ends as it says."""
        above = os.path.dirname(path)  # noqa: PTH120
        folders = [*job.options.includes]
        for _ in range(_ABOVE):
            folders.append(above)
            above = os.path.dirname(above)  # noqa: PTH120
        for folder in folders:
            found = os.path.normpath(os.path.join(os.path.abspath(folder), name))  # noqa: PTH100, PTH118
            if os.path.isfile(found):  # noqa: PTH113
                yield found
                break
        tail = os.path.normpath(name).lstrip("./")
        for job_path in self._by_name.get(os.path.basename(name), ()):  # noqa: PTH119
            if job_path.endswith(tail):
                yield job_path


def _read(path: str) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except UnreadableError:
        return b""


def _paths(report: FileReport) -> set[str]:
    """The files that a report speaks of."""
    found = {report.path, *report.files}
    found.update(u.place.path for u in report.lost)
    found.update(u.place.path for u in report.unparsed)
    for kernel in report.kernels:
        found.add(kernel.place.path)
        found.update(a.place.path for a in kernel.accesses)
        found.update(d.place.path for d in kernel.declared)
        found.update(n.place.path for n in kernel.notes)
    return found
