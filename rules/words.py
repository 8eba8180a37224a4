"""Words that several rules share: lanes, banks, strides and pitches, told truly or not at all.

Banks are counted from the start of the array. Where a part of the address is unknown (the same for
all lanes, so that it only rotates the banks) no bank is named.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smemlint.rules.base import Finding, Label

from smemlint.records import record

if TYPE_CHECKING:
    from smemlint.evaluate.model import SharedArray
    from smemlint.score.model import Conflict, KernelAnalysis, Request

BANKS = 32
WORD = 4
BANK_CYCLE = BANKS * WORD
"""Bytes after which the banks repeat."""
MATRIX_OPS = ("ldmatrix", "stmatrix")
_DEPENDS = {
    "data-dependent": "data",
    "data-dependent-mask": "data",
    "nonlinear-index": "run-time values",
    "several-parameters": "run-time values",
}
"""What an address depends on, by the name of the reason; the texts of other reasons say it."""
LANE_OPS = ("atomic", "cas", "cas loop")
"""Operations that serialise lanes on the same word."""


def ways_text(ways: float) -> str:
    """`32`, `3.9`: whole where it is whole within a twentieth."""
    nearest = round(ways)
    return str(nearest) if abs(ways - nearest) < 0.05 else f"{ways:.1f}"


def lanes_text(lanes: Sequence[int]) -> str:
    """`lanes 0..31`, `lanes 0, 8, 16, 24`, `lanes 0, 2 .. 30`, `lanes 1, 2, 5, ...`."""
    if len(lanes) == 1:
        return f"lane {lanes[0]}"
    steps = {b - a for a, b in itertools.pairwise(lanes)}
    if steps == {1} and len(lanes) > 2:
        return f"lanes {lanes[0]}..{lanes[-1]}"
    if len(lanes) <= 4:
        return "lanes " + ", ".join(map(str, lanes))
    if len(steps) == 1:
        return f"lanes {lanes[0]}, {lanes[1]} .. {lanes[-1]}"
    return f"lanes {', '.join(map(str, lanes[:3]))}, ..."


@record(frozen=True, slots=True)
class Meeting:
    """The most loaded bank of a request: who meets there, for how many different words."""

    bank: int
    lanes: tuple[int, ...]
    words: int


def meeting(conflict: Conflict) -> Meeting | None:
    """Where the lanes of the worst request meet; None when it is not known lane by lane."""
    worst = conflict.worst
    if worst is None:
        return None
    width = conflict.joined or conflict.site.width
    if conflict.site.op in ("ldmatrix", "stmatrix"):
        width = 16
    group = max(1, min(BANKS, BANK_CYCLE // max(width, 1)))
    best: Meeting | None = None
    for first in range(0, BANKS, group):
        by_bank: dict[int, dict[int, set[int]]] = {}
        for lane in range(first, first + group):
            offset = worst.offsets[lane] if lane < len(worst.offsets) else None
            if offset is None:
                continue
            for word in range(offset // WORD, (offset + width - 1) // WORD + 1):
                by_bank.setdefault(word % BANKS, {}).setdefault(word, set()).add(lane)
        for bank, words in sorted(by_bank.items()):
            lanes = tuple(sorted(set().union(*words.values())))
            load = len(lanes) if conflict.site.op in LANE_OPS else len(words)
            if best is None or load > (len(best.lanes) if conflict.site.op in LANE_OPS else best.words):
                best = Meeting(bank, lanes, len(words))
    return best


def served_apart(conflict: Conflict) -> bool:
    """Whether no two lanes want different words of a bank: few lanes of a wide access, in several groups.
    Counted as ways by the hardware, but no layout changes it."""
    found = meeting(conflict)
    return found is not None and found.words == 1 and conflict.site.op not in LANE_OPS


def cost_text(request: Request) -> str:
    plural = "s" if request.wavefronts != 1 else ""
    return f"{request.wavefronts} wavefront{plural}, {request.ideal} would do"


def meeting_text(conflict: Conflict) -> str:
    """`lanes 0..31 meet in bank 0; 32 wavefronts, 1 would do`."""
    worst, found = conflict.worst, meeting(conflict)
    if worst is None or found is None:
        return unknown_text(conflict)
    bank = f"bank {found.bank}" if conflict.trace.alignment == 0 else "one bank"
    if served_apart(conflict):
        active = tuple(lane for lane, offset in enumerate(worst.offsets) if offset is not None)
        who = f"{lanes_text(active)} do not conflict, and lie in groups of lanes that take a pass each"
    elif found.words == 1:
        who = f"{lanes_text(found.lanes)} meet on one word of {bank}"
    elif found.words < len(found.lanes):
        who = f"{lanes_text(found.lanes)} access {found.words} different words of {bank}"
    else:
        who = f"{lanes_text(found.lanes)} meet in {bank}"
    return f"{who}; {cost_text(worst)}"


def unknown_text(conflict: Conflict) -> str:
    """What the addresses depend on, where they are not known lane by lane."""
    reasons = [conflict.reason, *(term.reason for term in conflict.trace.data)]
    told = next((r for r in reasons if r is not None and r.text), None)
    if told is not None:
        on = _DEPENDS.get(told.code)
        return (
            told.text if on is None or told.text.startswith("depends on") else f"depends on {on}: {told.text}"
        )
    if conflict.trace.maybe is not None:
        return "depends on data: which lanes take part"
    return "depends on values that are known at run time only"


def array_of(conflict: Conflict, kernel: KernelAnalysis) -> SharedArray | None:
    return kernel.arrays.get(conflict.site.array)


def row_pitch(array: SharedArray) -> int | None:
    """Bytes from one row to the next of an array of two or more dimensions; None where they are not known."""
    if len(array.dims) < 2 or array.dims[-1] is None:
        return None
    return array.dims[-1] * array.element or None


def declared(conflict: Conflict, kernel: KernelAnalysis, text: str = "declared here") -> tuple[Label, ...]:
    """The declaration as second place."""
    array = array_of(conflict, kernel)
    return (Label(array.place, text),) if array is not None else ()


def pitch_label(conflict: Conflict, kernel: KernelAnalysis) -> tuple[Label, ...]:
    """The declaration with what its row pitch does to the banks."""
    array = array_of(conflict, kernel)
    if array is None:
        return ()
    pitch = row_pitch(array)
    if pitch is None:
        return declared(conflict, kernel)
    if pitch % BANK_CYCLE == 0:
        return (Label(array.place, f"row pitch {pitch} B: every row starts in the same bank"),)
    return (Label(array.place, f"row pitch {pitch} B"),)


def explained(conflict: Conflict, kernel: KernelAnalysis, *notes: str) -> Finding:
    """The plain finding: who meets where, the declaration beside it."""
    return Finding(meeting_text(conflict), pitch_label(conflict, kernel), notes)


def common_stride(conflict: Conflict) -> int | None:
    """Bytes between neighbouring active lanes of the worst request: the one step, or the step that
    more than two thirds of the neighbours take (rows of a narrow block break an otherwise even stride)."""
    if conflict.lane_stride is not None:
        return conflict.lane_stride
    if conflict.worst is None:
        return None
    offsets = conflict.worst.offsets
    steps = [b - a for a, b in itertools.pairwise(offsets) if a is not None and b is not None]
    if not steps:
        return None
    usual = max(sorted(set(steps)), key=steps.count)
    return usual if 3 * steps.count(usual) > 2 * len(steps) else None
