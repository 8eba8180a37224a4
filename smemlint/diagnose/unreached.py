"""Accesses that only the text of a file shows, once all files are known: what another file reaches is no
longer among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from smemlint.diagnose.model import Access, KernelReport
from smemlint.ir import Place

Line = tuple[str, int]


def line_of(place: Place) -> Line:
    return (place.path, place.line)


def reached(kernel: KernelReport) -> KernelReport:
    """The record with the accesses alone that its launch reaches."""
    if all(a.reached for a in kernel.accesses):
        return kernel
    return replace(kernel, accesses=tuple(a for a in kernel.accesses if a.reached))


def replaced(kernel: KernelReport) -> KernelReport:
    """The record of an assumed launch for which a known one stands: what it reaches is not known to be."""
    reason = ("not-reached", f"no known launch of `{kernel.name}` reaches this line")
    unknown = tuple(
        Access(
            a.place, a.op, a.width, a.array, a.expression, 0, None, None, None, "unresolved", reason,
            line=a.line, calls=a.calls, reached=False,
        )
        for a in kernel.accesses
    )  # fmt: skip
    return replace(kernel, accesses=unknown)


def with_unreached(
    kernels: Sequence[KernelReport], reports: Iterable[KernelReport]
) -> tuple[KernelReport, ...]:
    """The merged kernels, with each access in `reports` that stands on a line where none of them has one.

    It goes to the first record of its kernel; a device function that no kernel of its file calls is a record
    of its own as long as something is left of it.
    """
    lines, calls = _known(a for k in kernels for a in k.accesses)
    result = {id(k): k for k in kernels}
    first: dict[object, int] = {}
    for k in kernels:
        first.setdefault(k.key, id(k))
    started = {k.key for k in kernels if not k.launch.assumed}
    told: set[tuple[Place, str]] = set()
    for report in reports:
        left = []
        for a in report.accesses:
            known = line_of(a.place) in lines or (a.place.path, a.line) in lines or calls & set(a.calls)
            if not a.reached and not known and (a.place, a.op) not in told:
                told.add((a.place, a.op))
                left.append(a)
        if not left:
            continue
        if report.launch.assumed and report.key in started:
            left = list(replaced(replace(report, accesses=tuple(left))).accesses)
        at = first.setdefault(report.key, id(report))
        kernel = result.get(at) or replace(report, accesses=())
        both = sorted((*kernel.accesses, *left), key=lambda a: (a.place.path, a.place.offset))
        result[at] = replace(kernel, accesses=tuple(both))
    return tuple(result.values())


def _known(accesses: Iterable[Access]) -> tuple[set[Line], set[Line]]:
    """Lines with an access, and lines of the calls on the way to one."""
    lines: set[Line] = set()
    calls: set[Line] = set()
    for a in accesses:
        lines |= {line_of(a.place), (a.place.path, a.line)}
        calls.update(a.calls)
    return lines, calls
