"""What `--diff` and `--fix` do: the fixes of the findings that are shown, as edited files, checked once more.

In: the report and the jobs that led to it. Out: edited files in memory; only `write` touches the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from math import inf

from smemlint.api import Job, analyse, shown
from smemlint.diagnose.model import FileReport, KernelReport, Report
from smemlint.fix.deliver import EditedFile, Skipped, plan, summary, unsafe_fixes, write
from smemlint.fix.model import Suggestion
from smemlint.source.text import MAX_BYTES
from smemlint.system.reading import read_regular

__all__ = ["EditedFile", "Skipped", "repair", "summary", "unsafe_fixes", "write"]


def repair(
    report: Report,
    reports: Sequence[FileReport],
    jobs: Sequence[Job],
    *,
    unsafe: bool = False,
    verify: str | None = None,
) -> tuple[list[EditedFile], list[Skipped]]:
    """The files with the fixes of all shown findings done, and what was left and why.

    unsafe: also fixes that are not safe. verify: a command that compiles each edited file.
    """
    suggestions = [d.fix for d in report.diagnostics if d.fix is not None]
    by_path = {shown(job.path): job for job in jobs}
    before = {r.path: r.kernels for r in reports}

    def read(path: str) -> bytes:
        job = by_path.get(path)
        if job is not None and job.text is not None:
            return job.text.encode("utf-8", errors="surrogateescape")
        return read_regular(path, MAX_BYTES)

    def recheck(path: str, data: bytes, suggestions: Sequence[Suggestion]) -> str | None:
        job = by_path.get(path)
        own = {id(s) for r in reports if r.path == path for s in r.suggestions}
        if job is None or not any(id(s) in own for s in suggestions):
            return None  # an included file: each of its fixes was proved where it is included
        text = data.decode("utf-8", errors="surrogateescape")
        ((_, again),) = analyse([replace(job, text=text)])
        if again.problems:
            return again.problems[0].message
        fixed = {(c.kernel, s.array.name) for s in suggestions for c in s.sites}
        return worse(before.get(path, ()), again.kernels, fixed)

    return plan(suggestions, read, unsafe=unsafe, verify_with=verify, recheck=recheck)


def worse(
    before: Sequence[KernelReport],
    after: Sequence[KernelReport],
    fixed: Collection[tuple[str, str]] = frozenset(),
) -> str | None:
    """Why one analysis is worse than another of the same kernels, None when it is not.

    fixed: kernel and name of the arrays that were laid out anew; each is compared in the sum of its
    accesses, over all instances and launches of the kernel.
    """
    if len(before) != len(after):
        # Of block shapes that are guesses as many are tried as there is work for.
        before, after = _alike(before, after), _alike(after, before)
    if len(before) != len(after) or not after:
        return f"{len(after)} kernel instances are seen, {len(before)} before"
    sums: dict[tuple[str, str], list[float]] = {}
    for old, new in zip(before, after, strict=True):
        first, second = ([a for a in k.accesses if (k.name, a.array) not in fixed] for k in (old, new))
        if old.name != new.name or len(first) != len(second):
            return f"`{old.name}` shows other accesses than before"
        for array in dict.fromkeys(a.array for a in old.accesses if (old.name, a.array) in fixed):
            both = sums.setdefault((old.name, array), [0, 0])
            both[0] += _wavefronts(old, array)
            both[1] += _wavefronts(new, array)
        for a, b in zip(first, second, strict=True):
            if a.wavefronts is not None and (b.wavefronts is None or b.wavefronts > a.wavefronts):
                return f"an access on line {b.place.line} gets worse"
    for (kernel, array), (was, now) in sums.items():
        if now > was:
            return f"`{array}` gets worse in `{kernel}`"
    return None


def _alike(kernels: Sequence[KernelReport], others: Sequence[KernelReport]) -> list[KernelReport]:
    """The kernels without those under an assumed block shape that the others do not have."""
    known = {(k.name, k.template_arguments, k.configuration, k.block) for k in others}
    return [
        k
        for k in kernels
        if not k.assumed or (k.name, k.template_arguments, k.configuration, k.block) in known
    ]


def _wavefronts(kernel: KernelReport, array: str) -> float:
    """Of all accesses of an array; without end where one is not resolved."""
    each = [a.wavefronts for a in kernel.accesses if a.array == array]
    return sum(inf if n is None else n for n in each)


def rejoin(
    files: Sequence[EditedFile],
    jobs: Sequence[Job],
    reports: Sequence[FileReport],
    run: Callable[[Sequence[Job]], Sequence[FileReport]],
) -> list[FileReport]:
    """The reports with those of the edited files made anew."""
    edited = {f.path for f in files}
    fresh = {r.path: r for r in run([job for job in jobs if shown(job.path) in edited])}
    return [fresh.get(r.path, r) for r in reports]
