"""The requests that the probe asks for: the byte offset of each of 32 lanes, -1 for a lane that is off.

Every instruction gets the same families at its own width: strides, tiles, broadcasts, exclusive-ors, random
ones, and each of them with lanes off. All from one seed, so that two machines ask for the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

LANES = 32
SPAN = 48 * 1024
"""Bytes of shared memory that the offsets stay in."""

Pattern = tuple[str, tuple[int, ...]]


def patterns(width: int, masks: bool, seed: int) -> list[Pattern]:
    """All patterns of an instruction that moves `width` bytes a lane. masks: whether lanes may be off."""
    whole = list(_whole(width, random.Random(seed)))
    if masks:
        whole += list(_masked(width, random.Random(seed + 1)))
    found = [(name, tuple(-1 if n < 0 else n * width for n in lanes)) for name, lanes in whole]
    assert all(-1 <= o <= SPAN - width for _, offsets in found for o in offsets)
    return found


def _whole(width: int, draw: random.Random) -> Iterator[tuple[str, list[int]]]:
    """With all lanes on; numbers are elements of the width."""
    lanes = range(LANES)
    for stride in range(65):
        yield f"stride{stride}", [i * stride for i in lanes]
    for pitch in (4, 7, 8, 9, 15, 16, 17, 18, 20, 31, 32, 33, 34, 36, 40, 48, 63, 64, 65, 66, 68, 72, 80, 96):
        for across in (2, 4, 8, 16):
            yield f"column{pitch}x{across}", [(i % across) * pitch + i // across for i in lanes]
            yield f"rows{pitch}x{across}", [i // across * pitch + i % across for i in lanes]
    for some in (2, 4, 8, 16, 32):
        yield f"same{some}", [i // some for i in lanes]
        yield f"again{some}", [i % some for i in lanes]
        yield f"same{some}apart", [i // some * 33 for i in lanes]
        yield f"again{some}apart", [i % some * 32 for i in lanes]
    for bits in (1, 3, 7, 15, 31):
        yield f"xor{bits}column", [i * 32 + (5 ^ (i & bits)) for i in lanes]
        yield f"xor{bits}row", [i ^ bits for i in lanes]
    for swap in (1, 2, 3):
        yield f"agree{swap}", [(i & ~swap) * 3 for i in lanes]
    for count in (2, 5, 16, 32, 128, 1024, 2048):
        for n in range(12):
            yield f"random{count}_{n}", [draw.randrange(count) for _ in lanes]
    for n in range(12):
        start, row = draw.randrange(64), list(lanes)
        draw.shuffle(row)
        yield f"shuffled_{n}", [start + i for i in row]
    for n in range(24):
        yield f"pairs_{n}", _agreeing(draw, draw.choice((1, 2, 3)), draw.choice((8, 32, 128)))


def _masked(width: int, draw: random.Random) -> Iterator[tuple[str, list[int]]]:
    """The same kinds with lanes off: from one side, every so many, a single hole, at random."""
    lanes = range(LANES)
    base = {
        "row": list(lanes),
        "stride2": [2 * i for i in lanes],
        "stride8": [8 * i for i in lanes],
        "column33": [33 * i for i in lanes],
        "one": [7] * LANES,
        "pairs": [i // 2 for i in lanes],
    }
    for name, row in base.items():
        for on in (1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31):
            yield f"{name}_first{on}", [n if i < on else -1 for i, n in enumerate(row)]
        for each in (2, 3, 4, 8):
            yield f"{name}_every{each}", [n if i % each == 0 else -1 for i, n in enumerate(row)]
        yield f"{name}_odd", [n if i % 2 else -1 for i, n in enumerate(row)]
        yield f"{name}_last16", [n if i >= 16 else -1 for i, n in enumerate(row)]
    for on in (2, 8, 15, 16, 17, 18, 24, 30, 31):
        for n in range(6):
            who = set(draw.sample(lanes, on))
            yield f"one_any{on}_{n}", [5 if i in who else -1 for i in lanes]
            yield f"two_any{on}_{n}", [5 + i // 16 if i in who else -1 for i in lanes]
    for hole in lanes:
        yield f"pairs_hole{hole}", [-1 if i == hole else i // 2 for i in lanes]
    for part in (2, 10, 24, 30):
        for n in range(16):
            on = set(draw.sample(lanes, part))
            row = draw.choice([*base.values(), [draw.randrange(256) for _ in lanes]])
            yield f"mask{part}_{n}", [v if i in on else -1 for i, v in enumerate(row)]
    for n in range(48):
        row = _agreeing(draw, draw.choice((1, 2, 3)), draw.choice((8, 32, 128)))
        on = set(draw.sample(lanes, draw.randrange(24, 32)))
        yield f"pairs_mask_{n}", [v if i in on else -1 for i, v in enumerate(row)]


def _agreeing(draw: random.Random, swap: int, count: int) -> list[int]:
    """Lanes i and i ^ swap (for 3: all four) ask for one element."""
    told: dict[int, int] = {}
    key = (lambda i: i // 4) if swap == 3 else (lambda i: min(i, i ^ swap))
    return [told.setdefault(key(i), draw.randrange(count)) for i in range(LANES)]
