"""cp.async: its cost depends on where it reads from as well as where it writes.

Measured on an H100 (docs/dev/banks.md). Through L1 (`cp.async.ca`) the bank rule holds where the lanes read
one after the other; other sources cost more, up to one wavefront a lane. Past L1 (`.cg`, 16 bytes): a 32-byte
sector whose halves go to one sector in shared memory moves whole, of the others the first halves and the
second halves move apart. What moves alike from one 128-byte line to one 128-byte row is one wavefront. Other
patterns cost more, up to one wavefront a lane, by a rule that is not known: they are told as bounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.values.number import Int, multiple_of
from smemlint.records import record

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

LINE = 128
CHUNK = 16
_SECTOR = LINE // CHUNK // 4
_APART = LINE << 24
"""Put between lines whose distance is a run-time value: they are never the same line by accident."""


@record(frozen=True, slots=True)
class Copied:
    """source: bytes from an address that is a multiple of 128; None: not followed. past_l1: `cp.async.cg`."""

    source: Int | None
    past_l1: bool


def in_order(v: Int | None, width: int, size: int, active: Bools) -> Bools | None:
    """Requests whose lanes read one after the other, shape (requests,); active: shape (requests, 32).

    None: not known of any.
    """
    if v is None or v.varying:
        return None
    start = np.broadcast_to(np.asarray(v.const, dtype=np.int64), (size,)) - width * np.arange(size)
    ordered = _is_uniform(start.reshape(-1, 32), active)
    for coefficient in v.terms.values():
        if not isinstance(coefficient, int):
            ordered &= _is_uniform(coefficient.reshape(-1, 32), active)
    return ordered


def _is_uniform(lanes: Ints, active: Bools) -> Bools:
    first = lanes[np.arange(len(lanes)), active.argmax(axis=1)][:, None]
    alike: Bools = (~active | (lanes == first)).all(axis=1)
    return alike


def lines_of(v: Int | None, size: int) -> Ints | None:
    """Return byte offsets of all threads that are right within each line. What lies in different
    lines is far apart, though not by as much as in memory. None where not even that is known."""
    if v is None or v.varying:
        return None
    total = np.array(np.broadcast_to(np.asarray(v.const, dtype=np.int64), (size,)))
    for number, (mono, coefficient) in enumerate(v.terms.items()):
        steps = np.asarray(coefficient, dtype=np.int64)
        if (steps * multiple_of(mono) % LINE).any():
            return None
        if steps.ndim:
            total = total + (steps - steps.min()) * (_APART * (number + 1) + LINE * 977)
    return total


def ends(
    source: Ints | None, target: Ints, aligned: bool, active: Bools, certain: Bools
) -> tuple[Ints, Ints]:
    """Least and most wavefronts of n requests; source, target: byte offsets of shape (n, 32).

    aligned: the target's offsets are right modulo 128. certain: lanes that surely run.
    """
    found = [
        _cost_range(None if source is None or not aligned else source[i], target[i], active[i], certain[i])
        for i in range(len(target))
    ]
    low = np.array([a for a, _ in found], dtype=np.int64)
    high = np.array([b for _, b in found], dtype=np.int64)
    return low, high


def _cost_range(source: Ints | None, target: Ints, active: Bools, certain: Bools) -> tuple[int, int]:
    lanes = int(active.sum())
    ideal = -(-lanes * CHUNK // LINE)
    to = target[active] // CHUNK
    if len(np.unique(to)) < lanes:
        return ideal, lanes
    rows = len(np.unique(target[certain] // LINE)) if certain.any() else 0
    if source is not None:
        come = source[active] // CHUNK
        if len(np.unique(come)) == lanes:
            low, high = _cost_between(come, to)
            return (low if bool((active == certain).all()) else max(ideal, rows)), high
    return max(ideal, rows), lanes


def _cost_between(come: Ints, to: Ints) -> tuple[int, int]:
    """Least and most wavefronts of chunks that are read from `come` and written to `to`.

    Between one line and one row, all sectors that move whole go together. Of the other chunks those go
    together that are the same half of their sectors, become the same half and are moved equally far; others
    may.
    """
    groups: dict[tuple[int, int], dict[tuple[int, int], list[tuple[int, int]]]] = {}
    target = dict(zip(come.tolist(), to.tolist(), strict=True))
    for c, d in target.items():
        other = target.get(c ^ 1)
        whole = other is not None and other // _SECTOR == d // _SECTOR
        kind = (_SECTOR, _SECTOR) if whole else (c % _SECTOR, d % _SECTOR)
        found = groups.setdefault((c // 8, d // 8), {}).setdefault(kind, [])
        found.append((c % 8 // _SECTOR, d % 8 // _SECTOR))
    low = high = 0
    for kinds in groups.values():
        for kind, moves in kinds.items():
            far = ({(d - s) % 4 for s, d in moves}, {d ^ s for s, d in moves})
            low += 1
            high += 1 if kind[0] == _SECTOR or min(map(len, far)) == 1 else len(moves)
    return low, high
