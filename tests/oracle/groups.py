"""Cooperative groups: the block, and tiles of a warp. All lanes of a warp take part in what a tile does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.exchanges import received, sent
from oracle.frames import OWN, Barrier, Exchange, Flow, Frame, Group
from oracle.values import Num, UnsupportedError
from smemlint.ir import Call, Name, Type
from smemlint.ir.types import INT, UINT

if TYPE_CHECKING:
    from oracle.thread import Thread

SHUFFLES = ("shfl", "shfl_up", "shfl_down", "shfl_xor")
VOTES = {"any": INT, "all": INT, "ballot": UINT}
_MADE = ("this_thread_block", "tiled_partition", "coalesced_threads")


def makes_group(name: str) -> bool:
    return name.rsplit("::", 1)[-1] in _MADE


def made(thread: Thread, name: str, call: Call, frame: Frame) -> Group:
    """The group that a function of the library gives."""
    short = name.rsplit("::", 1)[-1]
    if short == "this_thread_block":
        return Group(0)
    if short == "tiled_partition":
        assert isinstance(call.callee, Name)
        size = call.callee.arguments[0]
        return Group(size if isinstance(size, int) else thread.machine.constant(size, frame.scope))
    raise UnsupportedError(name)


def type_of(name: str, given: list[Type]) -> Type:
    if name in SHUFFLES:
        return given[0]
    return VOTES.get(name, UINT)


def call(thread: Thread, group: Group, name: str, expr: Call, frame: Frame) -> Flow:
    """The value of a method of a group."""
    x, y, z = thread.index
    bx, by, bz = thread.machine.launch.block
    rank, count = x + bx * (y + by * z), bx * by * bz
    size = group.size or count
    numbers = {
        "thread_rank": rank % size,
        "size": size,
        "num_threads": size,
        "meta_group_rank": rank // size,
        "meta_group_size": -(-count // size),
    }
    if name in numbers:
        return Num(numbers[name], UINT)
    if name == "sync":
        if not group.size:
            yield Barrier(tuple(thread.path))
        return None
    values: list[Num] = []
    for i, argument in enumerate(expr.arguments):
        value = yield from thread.at(i, thread.rvalue(argument, frame))
        assert isinstance(value, Num)
        values.append(value)
    if name in SHUFFLES:
        given = (0, sent(values[0]), int(values[1].value), size)
        result = yield Exchange((*thread.path, OWN), f"__{name}_sync", given)
        return received(result, values[0].type)
    if name in VOTES:
        holds = int(bool(values[0].value))
        result = yield Exchange((*thread.path, OWN), "__ballot_sync", (0, holds))
        mine = result >> (rank % 32 // size * size) & ((1 << size) - 1)
        told = {"any": int(mine > 0), "all": int(mine == (1 << size) - 1), "ballot": mine}[name]
        return Num(told, VOTES[name])
    raise UnsupportedError(f"method {name} of a group")
