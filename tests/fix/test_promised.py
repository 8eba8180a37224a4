"""Whether requests are where they were promised, also where part of an address is not known.

Measured: a matrix product with rows of 4 elements, of which an index counts 128 at once, was given a pitch of
5 that this index did not follow; it ran at 2.4 times the speed and computed something else.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from fix.cases import access, array, kernel
from smemlint.evaluate.model import Shifts, Trace
from smemlint.fix.proof.promise import Promise, check, others_unharmed
from smemlint.fix.search.candidates import Exchange, Padding, Shape, Skew, Swizzle, Trimmed, moved_step
from smemlint.fix.search.members import apart, member
from smemlint.score.model import Conflict, KernelAnalysis

ROWS, COLUMNS = 256, 4
T = array(ROWS * COLUMNS)


def reading(pitch: int, steps: tuple[int, ...] = (), joined: int | None = None, rows: int = 0) -> Conflict:
    """Two requests of a loop: 32 rows of 4 elements, and the 32 `rows` elements further."""
    further = rows or 32 * pitch
    found = access(T, (64, 1), lambda x, y: (x % 32 * pitch + x // 32 * further,), joined=joined)
    trace: Trace = replace(found.trace, alignment=8, shifts=Shifts(steps=steps))
    return replace(found, trace=trace)


def analysed(conflict: Conflict) -> KernelAnalysis:
    return kernel((64, 1), [T], [conflict])


def told(
    before: Conflict,
    now: Conflict,
    steps: tuple[int, ...] = (),
    *,
    separate: bool = False,
    pitch: int = 5,
    after: int = 10_000,
) -> str | None:
    """Why a promise of rows of so many elements does not hold after an edit."""
    each = member(before)
    assert each is not None
    each = apart(each) if separate else each
    moved = each.offsets // 16 * (4 * pitch) + each.offsets % 16
    promised = Promise(each, moved, after, steps)
    return check(analysed(before), T, [promised], analysed(now))


@pytest.mark.parametrize("separate", [False, True])
def test_rows_that_do_not_follow_the_pitch_are_noticed(separate: bool) -> None:
    before = reading(4, joined=8 if separate else None)
    halves = separated(5, 160) if separate else reading(5)
    strayed = separated(5, 128) if separate else reading(5, rows=128)
    assert told(before, halves, separate=separate) is None
    assert "other addresses" in (told(before, strayed, separate=separate) or "")


def separated(pitch: int, rows: int) -> Conflict:
    """The same elements and their neighbours, one by one."""
    found = access(T, (128, 1), lambda x, y: (x % 32 * pitch + x // 32 % 2 * rows + x // 64,))
    return replace(found, trace=replace(found.trace, alignment=8))


def test_unknown_rows_have_to_move_as_far_as_known_ones() -> None:
    before = reading(4, steps=(512,))
    assert told(before, reading(5, steps=(640,)), steps=(640,)) is None
    assert told(before, reading(5, steps=(512,)), steps=(640,)) is not None


@pytest.mark.parametrize(
    ("layout", "step", "moved"),
    [
        (Padding(1, 1), 16, 20),
        (Padding(1, 1), -512, -640),
        (Padding(1, 1), 8, 8),
        (Skew(5, 4), 128, 144),
        (Swizzle(1, 2, 5, True), 512, 512),
        (Trimmed(Padding(1, -1), Swizzle(1, 2, 5, True)), 16, 12),
        (Exchange(0), 16, 4),
    ],
)
def test_an_unknown_part_moves_by_rows_and_columns(layout: object, step: int, moved: int) -> None:
    shape = Shape((1, 1024), 4) if isinstance(layout, Skew) else Shape((ROWS, COLUMNS), 4)
    assert moved_step(layout, step, shape) == moved  # type: ignore[arg-type]


def test_a_request_that_the_compiler_joins_otherwise_is_told_as_that() -> None:
    """Together they reach what they should: four requests of 4 bytes for one of 16."""
    before = reading(4, joined=16)
    single = access(T, (256, 1), lambda x, y: (x % 64 * 5 + x // 64,))
    single = replace(single, trace=replace(single.trace, alignment=8))
    assert "is joined with other neighbours than before" in (told(before, single) or "")
    strayed = access(T, (256, 1), lambda x, y: (x % 64 * 5 + x // 64 + x // 32 % 2,))
    assert "reaches other addresses" in (told(before, strayed) or "")


def pairs(pitch: int, joined: bool = False, rows: int = 0) -> Conflict:
    """Rows of which two neighbours are read: one by one, or both at once as the compiler joins them."""
    further = rows or 32 * pitch
    if joined:
        return access(T, (64, 1), lambda x, y: (x % 32 * pitch + x // 32 * further,), joined=8)
    return access(T, (128, 1), lambda x, y: (x % 32 * pitch + x // 32 % 2 * further + x // 64,))


def test_neighbours_that_are_joined_after_the_edit_only_keep_the_promise() -> None:
    before = pairs(4)
    assert told(before, pairs(6, joined=True), pitch=6) is None
    assert "other addresses" in (told(before, pairs(6, joined=True, rows=128), pitch=6) or "")
    cheap = told(before, pairs(6, joined=True), pitch=6, after=1)
    assert cheap is not None


def test_so_do_those_whose_common_part_is_not_known() -> None:
    relative = {"alignment": 64, "shifts": Shifts(steps=(64,))}
    before, now = (replace(c, trace=replace(c.trace, **relative)) for c in (pairs(4), pairs(6, joined=True)))
    assert told(before, now, (64,), pitch=6) is None
    assert told(before, now, (96,), pitch=6) is not None
    further = replace(now, trace=replace(now.trace, offsets=now.trace.offsets + 8))
    assert told(before, further, (64,), pitch=6) is not None


def test_another_array_must_be_reached_where_it_was() -> None:
    other = array(ROWS * COLUMNS, name="u", offset=9)
    column = access(T, (64, 1), lambda x, y: (x * 4,))
    each = member(column)
    assert each is not None

    def both(mine: Conflict, rows: int) -> KernelAnalysis:
        return kernel((64, 1), [T, other], [mine, access(other, (64, 1), lambda x, y: (x * rows,))])

    before = both(column, 2)
    moved = access(T, (64, 1), lambda x, y: (x * 5,))
    promised = [Promise(each, each.offsets // 16 * 20 + each.offsets % 16, 10_000)]
    assert check(before, T, promised, both(moved, 2)) is None
    assert "u[...]` on line" in (check(before, T, promised, both(moved, 1)) or "")


@pytest.mark.parametrize(("wavefronts", "ideal", "said"), [(512, 512, ""), (1024, 512, "gets worse")])
def test_another_array_is_held_to_its_ways_however_far_its_loop_was_followed(
    wavefronts: int, ideal: int, said: str
) -> None:
    """464 wavefronts of 464 before and 512 of 512 after are the same: the loop was followed further."""
    other = array(1024, name="other", offset=500)
    before = access(other, (64, 1), lambda x, y: (x,))
    now = replace(before, wavefronts=wavefronts, ideal=ideal)
    was = replace(before, wavefronts=464, ideal=464)
    why = others_unharmed(kernel((64, 1), [T, other], [was]), kernel((64, 1), [T, other], [now]), [T])
    assert said in (why or "") and bool(why) == bool(said)
