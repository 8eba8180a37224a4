"""How nvcc cuts the iterations of a loop into straight lines: only within one can accesses join.

In: a loop's trip count, size and pragma. Out: how many iterations stand in each straight line.
Unrolling happens twice, in the optimiser and again in the machine-code compiler; the limits below were
measured with nvcc 13.0 (docs/dev/joining.md). They are not documented and decide only which accesses join.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.records import record

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_FULL_EARLY = 380
"""Up to this many instructions in all copies together, the optimiser makes a loop disappear."""
_FULL_INDEXED = 2420
"""The same where it indexes an array of the function by what changes from round to round."""
_INDEXED = 4
"""What such an index takes, of each round."""
_FULL_LEFT = 48
"""Rounds, of any size, of a loop around one that is left behind a store to an array of the function."""
_PART_EARLY = 195
"""Otherwise it makes as many copies, by powers of two, as fit in this."""
_COPIES_EARLY = 32
_FULL_LATE = 280
"""The same again for machine code."""
_PART_LATE = 195
_TRIANGLE = 3
"""Up to this many rounds a loop disappears around a loop of which nothing is known."""
_FEW = 4
"""Rounds of a loop within that make it disappear where no more are possible."""
_AROUND = 22
"""What the optimiser's copies of a loop within a loop take beside their bodies."""
_EARLY_OFF, _LATE_OFF = 1, 3
"""What the two may count more of a body in which loops disappear."""
_JOINED = 4
"""More iterations join nothing else."""
_LONG = 3
"""What machine code counts for the shortest function of more than a few instructions beside half of them."""
_COPIES_LATE = 4
"""Fewer copies than this are not worth it late."""


@record(frozen=True, slots=True)
class Lines:
    """lines: iterations of one straight line after the other; they add up to the trip count.

    step: by how many iterations a loop variable advances from line to line, as far as alignment goes (a
    power of two); 0 when the loop disappears and its variable is a constant everywhere. An address that
    grows by b bytes an iteration has `step * b` among what divides its variable part.
    """

    lines: tuple[int, ...]
    step: int


def straight_lines(
    trip: int | None,
    accesses: int,
    operations: int,
    special: int = 0,
    pragma: int | None = None,
    *,
    known: bool = True,
    guards: int = 0,
    stays: bool | None = None,
    local: tuple[bool, bool] = (False, False),
    beside: int = 0,
) -> Lines:
    """The straight lines of one loop.

    trip: iterations that run; None for one generic line of a loop whose end nobody knows. known: the compiler
    knows the trip count too (a value from the launch is not known to it). accesses, operations: memory
    accesses and arithmetic operations of one iteration as written, inner unrolled loops multiplied
    out (`a += b * c` is two operations; index arithmetic does not count). special: functions
    of the special-function unit, or divisions, stand in it, so that machine code does not copy parts of it;
    what it counts for them beside half of their operations. pragma: None without one, 0 for `#pragma unroll`,
    N for `#pragma unroll N`.
    guards: how often an `if` of the body is decided at run time, as written; the machine-code compiler copies
    straight lines only. stays: of a loop around one that goes round another number of times in each of its
    iterations, whether it does (`triangle_stays`). local: what it does to arrays of the function
    (`analysis.local_arrays`). beside: what the optimiser counts beside that (`loops.read_again`).
    """
    known = known and trip is not None
    early = 4 * (accesses + guards) + operations + 1 + beside
    late = max(1, accesses + -(-operations // 2) + special // _LONG * _LONG)
    if pragma is not None:
        return _by_pragma(trip, pragma, known)
    if trip is None or not known:
        return _unknown(trip, early, late, bool(special))
    if stays is not None:
        return Lines((1,) * trip, 1) if stays else _fully_unrolled(trip)
    if not only_late(trip, accesses, operations, guards, local, beside):
        return _fully_unrolled(trip)
    copies = _copies_early(early, trip)
    rest = trip // copies
    if not guards and copies * late * rest <= _FULL_LATE:
        return _fully_unrolled(trip)
    again = 1 if guards or special else _copies_late(copies * late, rest)
    lines = (copies * again,) * (rest // again) + (copies,) * (rest % again)
    return Lines(lines, _power_of_two_in(copies * again))


def near_a_limit(trip: int, accesses: int, operations: int, special: int, guards: int, beside: int) -> bool:
    """Whether a loop whose size is known a little less well may be put into lines that join otherwise."""
    sizes = ((0, 0), (0, -_EARLY_OFF), (0, _EARLY_OFF), (_LATE_OFF, 0))
    found = set()
    for late, early in sizes:
        more, less = operations + 2 * late, beside + early - 2 * late
        step = straight_lines(trip, accesses, more, special, guards=guards, beside=less).step
        found.add(min(step or _JOINED, _JOINED))
    return len(found) > 1


Counts: TypeAlias = tuple[int, int, int]


def triangle_stays(trip: int, sizes: Sequence[Counts], within: Sequence[Sequence[int]]) -> bool:
    """Whether a loop stays around loops that go round another number of times in each of its iterations.

    sizes: accesses, operations and guards of two of these, none where the loops within are not counted;
    within: how often these went round there. The optimiser copies a loop within before it knows how often
    that goes round, as one of unknown length, and then looks at the size of all.
    """
    if not sizes:
        return trip > _TRIANGLE
    (once, then), (first, second) = map(sum, within), (4 * (a + g) + o for a, o, g in sizes)
    if then < once <= _FEW:
        return False  # they are seen to go round that often at most
    # where one loop gains the rounds that another loses, all of it counts as theirs
    body = max((second - first) // (then - once) if then != once else first // max(once, 1), 0) + 1
    copies, _ = _run_time_copies(body, body, special=False)
    each = _AROUND + body * (copies + 1 if copies > 1 else 1)
    return trip * (max(first - once * (body - 1), 0) + each * len(within[0])) > _FULL_EARLY


def only_late(
    trip: int, accesses: int, operations: int, guards: int, local: tuple[bool, bool], beside: int
) -> bool:
    """Whether machine code alone makes a loop without a pragma disappear, if it does."""
    early = 4 * (accesses + guards) + operations + 1 + beside
    indexed = local[0] and (early + _INDEXED) * trip <= _FULL_INDEXED
    return early * trip > _FULL_EARLY and not indexed and not (local[1] and trip <= _FULL_LEFT)


def _fully_unrolled(trip: int) -> Lines:
    return Lines((trip,) if trip else (), 0)


def stays_whole(accesses: int, operations: int, guards: int) -> bool:
    """Whether a loop without a pragma that goes round more than once has no copies of its body, neither where
    the compiler knows how often it does nor where it does not."""
    early = 4 * (accesses + guards) + operations + 1
    late = max(1, accesses + -(-operations // 2))
    gone = late * 2 <= _FULL_LATE and not guards
    return 2 * early > _FULL_EARLY and _COPIES_LATE * late > _PART_LATE and not gone


def _by_pragma(trip: int | None, pragma: int, known: bool) -> Lines:
    """A pragma is obeyed, and the machine-code compiler leaves the loop alone."""
    if trip is not None and known and (pragma == 0 or pragma >= trip):
        return _fully_unrolled(trip)
    copies = pragma or 4
    if trip is None:
        return Lines((copies,), _power_of_two_in(copies))
    return Lines((copies,) * (trip // copies) + (1,) * (trip % copies), _power_of_two_in(copies))


def _copies_early(early: int, trip: int) -> int:
    """The largest power of two that fits and divides the trip count."""
    copies = 1
    while 2 * copies <= _COPIES_EARLY and 2 * copies * early <= _PART_EARLY and trip % (2 * copies) == 0:
        copies *= 2
    return copies


def _copies_late(body: int, trip: int) -> int:
    """The most copies that fit, also together with what remains; any number, not only powers of two."""
    for copies in range(min(_PART_LATE // body, trip), _COPIES_LATE - 1, -1):
        if (copies + trip % copies) * body <= _PART_LATE * 5 // 4:
            return copies
    return 1


def _unknown(trip: int | None, early: int, late: int, special: bool) -> Lines:
    """Up to four copies early, four of those late, then what remains by halves and, at last, one by one."""
    copies, again = _run_time_copies(early, late, special)
    step = 2 if copies == 1 and again > 1 else copies
    if trip is None:
        return Lines((copies * again,), step)
    lines = []
    left = trip
    size = copies * again
    while size >= 1:
        lines += [size] * (left // size)
        left %= size
        size = size // 2 if size > copies else 1 if size > 1 else 0
    return Lines(tuple(lines), step)


def _run_time_copies(early: int, late: int, special: bool) -> tuple[int, int]:
    """Copies of the body of a loop whose trip count only the run tells, early, and of these late."""
    copies = 4 if 4 * early <= _PART_EARLY else 2 if 2 * early <= _PART_EARLY else 1
    return copies, _COPIES_LATE if not special and _COPIES_LATE * copies * late <= _PART_LATE else 1


def run_time_copies(
    accesses: int, operations: int, special: int = 0, pragma: int | None = None, *, beside: int = 0
) -> tuple[int, int]:
    """Copies early, and of these late, as in `straight_lines` of an unknown trip count."""
    if pragma is not None:
        return pragma or 4, 1
    early = 4 * accesses + operations + 1 + beside
    return _run_time_copies(early, max(1, accesses + -(-operations // 2)), bool(special))


def uneven_lines(trips: Ints, copies: int, again: int, *, rest_first: bool) -> list[tuple[Mask, int]]:
    """The straight lines of a loop that each lane runs another number of times: who runs them, how many
    iterations.

    What is left over by the copies of the optimiser runs iteration by iteration, before the others or after
    them; the others in lines of `copies * again`, then half as many, down to `copies`. In one line lanes may
    stand at different iterations: all that have one left run it together. Measured in docs/dev/joining.md.
    """
    main = trips // copies * copies
    single = [(trips - main > i, 1) for i in range(copies - 1)]
    size = copies * again
    lines = [(main // size > i, size) for i in range(int((main // size).max(initial=0)))]
    left = main % size
    while size > copies:
        size //= 2
        lines.append((left >= size, size))
        left = left % size
    every = [*single, *lines] if rest_first else [*lines, *single]
    return [(mask, size) for mask, size in every if mask.any()]


def _power_of_two_in(number: int) -> int:
    return number & -number
