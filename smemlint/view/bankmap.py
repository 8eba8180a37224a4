"""One request as a map: which bank delivers which word to which lanes in which wavefront."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.banks import WORD, Pass, schedule
from smemlint.banks.request import lanes_of
from smemlint.records import record


@record(frozen=True, slots=True)
class BankMap:
    """One request of one warp.

    width: bytes a lane. offsets: byte offset of each lane from the array's start, None: inactive. maybe:
    lanes that may or may not take part; the map has them all. passes: the wavefronts in order. low, high:
    what the request costs, in wavefronts; they differ where lanes or addresses are not all known. ideal:
    wavefronts at best. warp: its number in the block, None: not known. visit: number of the visit, from 0.
    weight: how often this request runs in one block.
    """

    op: str
    width: int
    matrices: int
    offsets: tuple[int | None, ...]
    maybe: tuple[int, ...]
    passes: tuple[Pass, ...]
    low: int
    high: int
    ideal: int
    warp: int | None
    visit: int
    weight: int

    @property
    def exact(self) -> bool:
        """Whether the map has as many wavefronts as the request costs."""
        return self.low == self.high == len(self.passes)

    @property
    def ways(self) -> float:
        """Wavefronts of the map over the ideal; 1 where no lane takes part."""
        return len(self.passes) / self.ideal if self.ideal else 1.0

    @property
    def inactive(self) -> tuple[int, ...]:
        return tuple(lane for lane, offset in enumerate(self.used) if offset is None)

    @property
    def used(self) -> tuple[int | None, ...]:
        """The lanes whose address matters."""
        return self.offsets[: lanes_of(self.op, self.matrices)]

    @property
    def conflicted(self) -> tuple[int, ...]:
        """The banks that deliver in more than one wavefront of one phase: where lanes wait for each other."""
        turns: dict[tuple[object, int, int], int] = {}
        for each in self.passes:
            for served in each.served if not each.write else ():
                key = (each.phase, each.round, served.bank)
                turns[key] = turns.get(key, 0) + 1
        banks = {key[2] for key, count in turns.items() if count > 1}
        return tuple(sorted(banks))

    @property
    def shared_words(self) -> dict[int, tuple[int, ...]]:
        """Words that go to several lanes in one wavefront (broadcast), by number."""
        return {s.word: s.lanes for each in self.passes for s in each.served if len(s.lanes) > 1}


def words_of(bank_map: BankMap) -> dict[int, list[int]]:
    """For each word that the request touches, the lanes that touch it."""
    found: dict[int, list[int]] = {}
    for lane, offset in enumerate(bank_map.used):
        if offset is not None:
            for word in range(offset // WORD, (offset + bank_map.width - 1) // WORD + 1):
                found.setdefault(word, []).append(lane)
    return dict(sorted(found.items()))


def passes_of(op: str, width: int, offsets: Sequence[int | None], matrices: int) -> tuple[Pass, ...]:
    """The wavefronts of a request; none for what the hardware does not have."""
    try:
        return schedule(op, width, offsets, matrices=matrices)
    except ValueError:
        return ()
