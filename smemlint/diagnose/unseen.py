"""Kernels of which nothing is known: they have to do with shared memory, and no access of them was seen.

Also why kernels are known in part or not at all, in the few words of the last line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from smemlint.diagnose.model import FileReport, KernelReport, Note, Unseen

UNKNOWN_KERNEL = "unknown-kernel"
"""Of a kernel that is started and was found nowhere."""
IDLE = "not-called"
"""Of a function for the device that no kernel of its file calls."""
RUN_TIME = "run-time-text"
"""Of a kernel whose text is a string."""
PHRASES = {
    UNKNOWN_KERNEL: "not defined here",
    "internal-error": "an internal error",
    "time": "stopped at the time limit",
    "budget": "stopped at the step limit",
    "nesting": "nested too deeply",
    "recursion": "nested too deeply",
    "cute": "CuTe tensors",
    "library-storage": "storage that a library lays out",
    "unparsed": "not parsed",
    RUN_TIME: "compiled at run time",
    IDLE: "called by no kernel here",
    "unknown-function": "a function not defined here",
    "unknown-macro": "a macro not defined here",
    "unknown-name": "an unknown name",
    "unknown-member": "an unknown name",
    "unknown-expression": "C++ that is not read",
    "unknown-statement": "C++ that is not read",
    "ptx-address": "inline PTX",
    "ptx-outside": "inline PTX",
    "ptx-unread": "inline PTX",
    "distributed-shared": "shared memory of other blocks",
    "barrier-object": "barriers",
    "unnamed-union": "a union that is not shared",
    "not-reached": "not reached by a known launch",
    "no-access": "no access found",
}
"""What a code means in the last line, the causes that tell most first."""
_ORDER = {code: n for n, code in enumerate(PHRASES)}


def phrase(code: str) -> str:
    return PHRASES.get(code, code.replace("-", " "))


def telling(notes: Iterable[Note]) -> Note | None:
    """The note that tells most about why a kernel is not known."""
    return min(notes, key=lambda n: _ORDER.get(n.code, _ORDER["not-reached"] - 0.5), default=None)


def unseen_kernels(kernels: Sequence[KernelReport], reports: Sequence[FileReport]) -> tuple[Unseen, ...]:
    """Every kernel without an access that a launch reaches, where something says that there should be one."""
    of: dict[object, list[KernelReport]] = {}
    for k in kernels:
        of.setdefault(k.key, []).append(k)
    found: dict[object, Unseen] = {}
    for key, records in of.items():
        shares = next((k.shares for k in records if k.shares), "")
        if shares and not any(a.reached for k in records for a in k.accesses):
            found[key] = _unseen(records, shares)
    names = {k.name for k in kernels}
    seen = [a for k in kernels for a in k.accesses if a.reached]
    reached = {line for a in seen for line in (*a.calls, (a.place.path, a.line))}
    for report in reports:
        for lost in report.lost:
            if lost.code == UNKNOWN_KERNEL and lost.name.strip("`").rsplit("::", 1)[-1] in names:
                continue  # another file of the run defines it
            if any(a.reached for k in of.get(_key(lost), ()) for a in k.accesses):
                continue  # some of its text is not parsed, and it shows an access
            lines = range(lost.place.line, lost.until + 1)
            if lost.code == IDLE and any((lost.place.path, line) in reached for line in lines):
                continue  # a kernel of another file of the run gets to it
            found.setdefault(_key(lost), lost)
    return tuple(found.values())


def _key(lost: Unseen) -> object:
    return lost.place.path, lost.place.line, lost.place.column


def _unseen(records: Sequence[KernelReport], shares: str) -> Unseen:
    first = records[0]
    note = telling(n for k in records for n in k.notes)
    if note is None:
        reasons = [a.reason for k in records for a in k.accesses if a.reason is not None]
        code, why = reasons[0] if reasons else ("no-access", "no access of it was reached")
    else:
        code, why = note.code, note.text
    name = "a lambda" if first.device and first.name == "operator()" else f"`{first.name}`"
    return Unseen(name, first.place, code, f"{shares}; {why}")


def causes(codes: Iterable[str]) -> dict[str, int]:
    """How many kernels each reason stands for, the most frequent first."""
    return dict(Counter(codes).most_common())


def partial_kernels(kernels: Sequence[KernelReport], unseen: Sequence[Unseen]) -> dict[object, str]:
    """Kernels of which a part was not analysed, with the reason that tells most."""
    gone = {(u.place.path, u.place.line, u.place.column) for u in unseen}
    notes: dict[object, list[Note]] = {}
    for k in kernels:
        if k.notes and k.key not in gone:
            notes.setdefault(k.key, []).extend(k.notes)
    told = {key: telling(found) for key, found in notes.items()}
    return {key: note.code for key, note in told.items() if note is not None}
