"""Cooperative groups as values: who is in a group.

A group whose members are numbers of the block or of a tile is known by its type. thread_group and
coalesced_group carry theirs as two cells: rank at 0, size at 4.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.machine.functions import known_lanes, record_argument, short_name
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import Pointer, RecordValue, Value
from smemlint.ir import RecordRef, Type
from smemlint.ir.types import UINT
from smemlint.records import record

Ints: TypeAlias = NDArray[np.int64]
SPACE = "cooperative_groups::"
RANK, SIZE = 0, 4


@record(frozen=True, slots=True)
class Group:
    """rank: of each thread in its group, None when not known; size: threads of the group."""

    rank: Ints | None
    size: Int | None


def is_group(t: Type | None) -> bool:
    """Whether a type is a group of cooperative groups."""
    return isinstance(t, RecordRef) and t.name.startswith(SPACE)


def group_of(m: Machine, v: Value) -> Group:
    """The group that a value stands for."""
    if isinstance(v, Pointer):
        cells = {k: c for k, c in v.object.cells.items() if k in (RANK, SIZE)}
        return _group(m, v.pointee, cells)
    if isinstance(v, RecordValue):
        return _group(m, v.type, v.cells)
    return Group(None, None)


def _group(m: Machine, t: Type, cells: dict[int, Value]) -> Group:
    kind = short_name(t.name) if isinstance(t, RecordRef) else ""
    threads = m.task.threads
    if kind == "thread_block":
        return Group(m.threads.linear, Int(threads, UINT)) if threads else Group(None, None)
    if kind == "thread_block_tile":
        size = record_argument(t)
        if not size or (size > 32 and not threads):
            return Group(None, None)
        return Group(m.threads.linear % size, Int(size, UINT))
    rank, size_value = cells.get(RANK), cells.get(SIZE)
    lanes = known_lanes(m, rank) if rank is not None else None
    return Group(lanes, size_value if isinstance(size_value, Int) else None)


def generalised(m: Machine, v: RecordValue, t: RecordRef) -> RecordValue | None:
    """A block or tile as a thread_group; None for other conversions."""
    if short_name(t.name) != "thread_group" or not is_group(v.type):
        return None
    group = _group(m, v.type, v.cells)
    return numbered(t.name, group.rank, group.size)


def numbered(name: str, rank: Ints | None, size: Int | None) -> RecordValue:
    """Return a group that knows the rank of each thread in it and its size; unknown members otherwise."""
    t = RecordRef(name)
    if rank is None or size is None:
        return RecordValue(t, {})
    return RecordValue(t, {RANK: Int(rank, UINT), SIZE: size.typed(UINT)})
