"""The bank rule for one request, in plain integers. This is the definition; `vector` is its fast twin.

Passes are counted as Nsight Compute counts them per SASS instruction (`memory_l1_wavefronts_shared` and
`memory_l1_wavefronts_shared_ideal`), on an H100. docs/dev/banks.md tells how each line below was measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from smemlint.banks.request import (
    BANK_CYCLE,
    LANE_OPERATIONS,
    LANES,
    MATRIX_OPERATIONS,
    WORD,
    check,
    group_of,
    lanes_of,
    passes_of,
    unit_of,
)
from smemlint.records import record

Lanes = Sequence["int | None"]


@record(frozen=True, slots=True)
class Cost:
    """What one request costs.

    wavefronts: passes of the shared-memory data stage. ideal: what the same bytes need at best.
    ways: wavefronts / ideal, 0.0 for a request without active lanes (it does not execute).
    banks: the banks with the most to deliver in one group, ascending; all touched banks where none waits.
    """

    wavefronts: int
    ideal: int
    banks: tuple[int, ...]

    @property
    def ways(self) -> float:
        return self.wavefronts / self.ideal if self.ideal else 0.0


def wavefronts(op: str, width: int, offsets: Lanes, *, matrices: int = 1) -> Cost:
    """Cost of one warp request.

    Args:
        op: load, store, atomic, cas, increment, ldmatrix, stmatrix or cp.async. `increment` is an atomic add
            of the constant 1 whose result is not used, which merges.
        width: bytes a lane; 16, a row, for ldmatrix and stmatrix.
        offsets: byte offset of each of the 32 lanes from a 128-byte boundary (any other common base gives
        the same
            cost as long as it keeps every lane aligned); None: inactive.
        matrices: of ldmatrix and stmatrix, whose lanes 8i..8i+7 give the rows of matrix i. Other lanes are
        ignored.

    Raises:
        ValueError: an operation, width or number of matrices that does not exist, not 32 lanes, an offset
        that is
            negative or no multiple of the width (the hardware would fault).
    """
    check(op, width, matrices)
    lanes = checked(width, offsets)[: lanes_of(op, matrices)]
    active = [offset for offset in lanes if offset is not None]
    if not active:
        return Cost(0, 0, ())
    size = group_of(op, width)
    groups = [_loads(op, width, lanes[i : i + size]) for i in range(0, len(lanes), size)]
    turns = [max(group.values(), default=0) for group in groups]
    total = passes_of(op) * sum(count for _, count in _steps(op, width, lanes, turns))
    most = max(turns)
    starts = {start for group in groups for start, count in group.items() if count == most}
    per_unit = unit_of(width) // WORD
    banks = sorted(start * per_unit + word for start in starts for word in range(per_unit))
    return Cost(total, _ideal(op, width, len(active), matrices, total), tuple(banks))


def steps(op: str, width: int, lanes: Lanes) -> list[tuple[tuple[int, ...], int]]:
    """Which groups of lanes are served together, and how many turns that takes, in order.

    lanes: those whose address matters, checked. Groups without an active lane take no turn.
    """
    size = group_of(op, width)
    groups = [_loads(op, width, lanes[i : i + size]) for i in range(0, len(lanes), size)]
    return _steps(op, width, lanes, [max(group.values(), default=0) for group in groups])


def _steps(op: str, width: int, lanes: Lanes, turns: list[int]) -> list[tuple[tuple[int, ...], int]]:
    if op == "load" and width == 8:
        return _eight_byte_load(lanes, turns)
    if op == "load" and width == 16:
        return _sixteen_byte_load(lanes, turns)
    return [((group,), count) for group, count in enumerate(turns)]


def checked(width: int, offsets: Lanes) -> list[int | None]:
    """The offsets of 32 lanes. Raises ValueError for those that would fault."""
    if len(offsets) != LANES:
        raise ValueError(f"a warp has {LANES} lanes, got {len(offsets)} offsets")
    for lane, offset in enumerate(offsets):
        if offset is None:
            continue
        if offset < 0:
            raise ValueError(f"lane {lane}: offset {offset} is negative; None marks an inactive lane")
        if offset % width:
            raise ValueError(
                f"lane {lane}: offset {offset} is no multiple of the width {width}; it would fault"
            )
    return list(offsets)


def _loads(op: str, width: int, group: Lanes) -> dict[int, int]:
    """Turns that each bank (of a wide access: each run of banks, by its number) takes for one group."""
    unit = unit_of(width)
    served: dict[int, list[int]] = defaultdict(list)
    for offset in group:
        if offset is not None:
            served[offset % BANK_CYCLE // unit].append(offset // unit)
    if op in LANE_OPERATIONS:
        return {bank: len(units) for bank, units in served.items()}
    return {bank: len(set(units)) for bank, units in served.items()}


def _agree(lanes: Lanes, distance: int) -> bool:
    """Every active lane i has the address of lane i ^ distance, or that lane is inactive."""
    pairs = ((lanes[i], lanes[i ^ distance]) for i in range(len(lanes)))
    return all(a is None or b is None or a == b for a, b in pairs)


def _same(lanes: Lanes, distance: int) -> bool:
    """As `_agree`, but an inactive lane agrees only with an inactive one."""
    return all(lanes[i] == lanes[i ^ distance] for i in range(len(lanes)))


def _conflict_free(lanes: Lanes, width: int) -> bool:
    return max(_loads("load", width, lanes).values(), default=0) <= 1


def _eight_byte_load(lanes: Lanes, turns: list[int]) -> list[tuple[tuple[int, ...], int]]:
    """Both groups in one pass where all is conflict-free together and lanes agree in pairs."""
    if (_agree(lanes, 1) or _agree(lanes, 2)) and _conflict_free(lanes, 8):
        return [((0, 1), 1)]
    return [((0,), turns[0]), ((1,), turns[1])]


def _sixteen_byte_load(lanes: Lanes, turns: list[int]) -> list[tuple[tuple[int, ...], int]]:
    """Each half warp (two groups) in one pass where it is conflict-free and its lanes agree in pairs.

    The halves differ in what a hole does. In the second half an inactive lane agrees with anything. In the
    first half it agrees with an inactive lane only; but where lane 31 is inactive, nothing has to agree
    there. One address for all takes one pass for up to 16 lanes, two for more.
    """
    first, second = lanes[:16], lanes[16:]
    last_active = lanes[31] is not None
    active = [offset for offset in lanes if offset is not None]
    if len(set(active)) == 1:
        return [((0, 1, 2, 3), 1)] if len(active) <= LANES // 2 else [((0, 1), 1), ((2, 3), 1)]
    found: list[tuple[tuple[int, ...], int]] = []
    for half, agrees, (a, b) in (
        (first, not last_active or _same(first, 1) or _same(first, 2), (0, 1)),
        (second, _agree(second, 1) or _agree(second, 2), (2, 3)),
    ):
        if agrees and _conflict_free(half, 16):
            found.append(((a, b), min(1, turns[a] + turns[b])))
        else:
            found += [((a,), turns[a]), ((b,), turns[b])]
    return found


def _ideal(op: str, width: int, active: int, matrices: int, total: int) -> int:
    """Passes that the bytes of the active lanes fill, at most what the request took."""
    if op in MATRIX_OPERATIONS:
        return min(total, matrices)
    return min(total, passes_of(op) * -(-active * width // BANK_CYCLE))


@record(frozen=True, slots=True)
class CasLoop:
    """What the loop costs that the compiler makes of an atomic without an instruction of its own.

    rounds: times the loop runs. loads, swaps: wavefronts of its loads and of its compare-and-swaps, all
    rounds; ideal_loads, ideal_swaps: theirs at best, as counted per instruction and round.
    """

    rounds: int
    loads: int
    swaps: int
    ideal_loads: int
    ideal_swaps: int

    @property
    def wavefronts(self) -> int:
        return self.loads + self.swaps

    @property
    def ideal(self) -> int:
        return self.ideal_loads + self.ideal_swaps


def cas_rounds(offsets: Lanes, width: int = WORD) -> Iterator[tuple[list[int | None], list[int]]]:
    """Each round of the loop: the addresses of the lanes that still wait, and the lanes that succeed.

    One lane of each bank (of 8 bytes: of each pair of banks, in each half warp) succeeds in a round, the
    lowest first, and one lane of each address; the others load again. Other warps are left out.
    """
    waiting = checked(width, offsets)
    size = group_of("load", width)
    while any(offset is not None for offset in waiting):
        written: set[int] = set()
        winners: list[int] = []
        for first in range(0, LANES, size):
            busy: set[int] = set()
            for lane in range(first, first + size):
                offset = waiting[lane]
                if offset is None:
                    continue
                if offset % BANK_CYCLE not in busy and offset not in written:
                    written.add(offset)
                    winners.append(lane)
                busy.add(offset % BANK_CYCLE)
        yield list(waiting), winners
        for lane in winners:
            waiting[lane] = None


def cas_loop(offsets: Lanes, width: int = WORD) -> CasLoop:
    """Cost of a 4- or 8-byte atomic that runs as a loop of load and compare-and-swap: `atomicAdd(float *)`.

    Who succeeds in a round: see `cas_rounds`.
    """
    size = group_of("load", width)
    rounds = loads = swaps = ideal_loads = ideal_swaps = 0
    for waiting, _ in cas_rounds(offsets, width):
        rounds += 1
        read = wavefronts("load", width, waiting)
        loads += read.wavefronts
        ideal_loads += read.ideal
        groups = [waiting[i : i + size] for i in range(0, LANES, size)]
        passes = 2 * sum(any(offset is not None for offset in group) for group in groups)
        swaps += passes
        ideal_swaps += _ideal("cas", width, sum(offset is not None for offset in waiting), 1, passes)
    return CasLoop(rounds, loads, swaps, ideal_loads, ideal_swaps)
