"""Who is served in which pass: the rule of `rule.py`, pass by pass.

The number of passes is what silicon counts. In which order lanes take their turns is not measured: here the
lowest lane comes first.
"""

from __future__ import annotations

from collections import defaultdict

from smemlint.banks.request import (
    BANK_CYCLE,
    CAS_LOOP_LOAD,
    CAS_LOOPS,
    LANE_OPERATIONS,
    LANES,
    ONE_ROUND,
    WORD,
    check,
    group_of,
    lanes_of,
    passes_of,
    unit_of,
)
from smemlint.banks.rule import Lanes, cas_rounds, checked, steps
from smemlint.records import record


@record(frozen=True, slots=True)
class Served:
    """What one bank delivers in one pass. bank: 0 to 31. word: number of the 4-byte word, from the offset 0.
    lanes: all that get it, ascending."""

    bank: int
    word: int
    lanes: tuple[int, ...]


@record(frozen=True, slots=True)
class Pass:
    """One wavefront. phase: the groups of lanes that it serves, (first lane, last lane) of each. round: of a
    loop of compare-and-swaps, from 0. write: the second half of a compare-and-swap."""

    phase: tuple[tuple[int, int], ...]
    served: tuple[Served, ...]
    round: int = 0
    write: bool = False


def schedule(op: str, width: int, offsets: Lanes, *, matrices: int = 1) -> tuple[Pass, ...]:
    """The passes of one request, as many as `wavefronts` (for a loop: as `cas_loop`) counts.

    Args: as of `wavefronts`; op may also be `cas loop load` or `cas loop`.
    Raises: ValueError for what the hardware does not have or faults on.
    """
    check(ONE_ROUND.get(op, op), width, matrices)
    if op in CAS_LOOPS:
        found: list[Pass] = []
        for number, (waiting, winners) in enumerate(cas_rounds(offsets, width)):
            if op == CAS_LOOP_LOAD:
                found += _passes("load", width, waiting, 1, number)
            else:
                found += _swaps(width, waiting, winners, number)
        return tuple(found)
    return tuple(_passes(op, width, offsets, matrices, 0))


def _passes(op: str, width: int, offsets: Lanes, matrices: int, number: int) -> list[Pass]:
    lanes = checked(width, offsets)[: lanes_of(op, matrices)]
    if all(offset is None for offset in lanes):
        return []
    size = group_of(op, width)
    found = []
    for groups, turns in steps(op, width, lanes):
        members = [lane for group in groups for lane in range(group * size, (group + 1) * size)]
        queues = _queues(op, width, lanes, members)
        phase = tuple((group * size, (group + 1) * size - 1) for group in groups)
        for turn in range(turns):
            served = [each for queue in queues for each in (queue[turn] if turn < len(queue) else ())]
            ordered = tuple(sorted(served, key=lambda s: s.bank))
            found += [Pass(phase, ordered, number, bool(again)) for again in range(passes_of(op))]
    return found


def _queues(op: str, width: int, lanes: Lanes, members: list[int]) -> list[list[tuple[Served, ...]]]:
    """For each bank, or run of banks that a wide access takes together, what it delivers turn by turn."""
    unit = unit_of(width)
    by_slot: dict[int, dict[tuple[int, int], list[int]]] = defaultdict(dict)
    for lane in members:
        offset = lanes[lane]
        if offset is not None:
            # Lanes that take turns even on one word have an entry each.
            key = (offset // unit, lane if op in LANE_OPERATIONS else -1)
            by_slot[offset % BANK_CYCLE // unit].setdefault(key, []).append(lane)
    return [
        [_served(address * (unit // WORD), unit // WORD, tuple(who)) for (address, _), who in queue.items()]
        for queue in by_slot.values()
    ]


def _served(word: int, words: int, lanes: tuple[int, ...]) -> tuple[Served, ...]:
    return tuple(Served((word + i) % (BANK_CYCLE // WORD), word + i, lanes) for i in range(words))


def _swaps(width: int, waiting: Lanes, winners: list[int], number: int) -> list[Pass]:
    """Two passes for each group that still waits; who succeeds is in both."""
    size = group_of("load", width)
    found = []
    for first in range(0, LANES, size):
        if all(offset is None for offset in waiting[first : first + size]):
            continue
        who = [lane for lane in winners if first <= lane < first + size]
        offsets = [(lane, offset) for lane in who if (offset := waiting[lane]) is not None]
        served = [s for lane, offset in offsets for s in _served(offset // WORD, width // WORD, (lane,))]
        ordered = tuple(sorted(served, key=lambda s: s.bank))
        found += [Pass(((first, first + size - 1),), ordered, number, write) for write in (False, True)]
    return found
