"""Functions of cooperative groups: how they are made, and what their members tell each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.language.conversions import as_int, type_of
from smemlint.evaluate.library.warp import reduced, scanned, shuffled, vote
from smemlint.evaluate.machine.dispatch import rvalue
from smemlint.evaluate.machine.functions import (
    Arguments,
    called,
    known_lanes,
    lanes_value,
    named,
    number,
    record_argument,
    short_name,
)
from smemlint.evaluate.machine.groups import RANK, SIZE, SPACE, Ints, group_of, is_group, numbered
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.number import Int, collapse
from smemlint.evaluate.values.value import Object, Other, Pointer, RecordValue, Value, is_uniform
from smemlint.ir import Call, Literal, RecordRef, TemplateArgument
from smemlint.ir.types import UINT, ULONG


def _segments(m: Machine, v: Value) -> Ints | None:
    """Which group each thread belongs to, for groups within a warp."""
    group = group_of(m, v)
    if group.rank is None:
        return None
    kind = _kind(v)
    size = number(group.size)
    if kind == "coalesced_group":
        held = v.object.cells if isinstance(v, Pointer) else getattr(v, "cells", {})
        label = held.get(8)
        return known_lanes(m, label) if label is not None else m.threads.linear // 32
    return None if size is None else m.threads.linear // size


# ---------------------------------------------------------------------- making groups


@named("this_thread_block", "this_grid", "this_cluster", "this_multi_grid")
def _whole(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    kinds = {
        "this_thread_block": "thread_block",
        "this_grid": "grid_group",
        "this_cluster": "cluster_group",
        "this_multi_grid": "multi_grid_group",
    }
    return RecordValue(RecordRef(SPACE + kinds[called(e)]), {})


@named("coalesced_threads")
def _coalesced(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """The lanes that run here: ranks are known where the mask is."""
    if not bool((m.must == m.may).all()):
        return RecordValue(RecordRef(SPACE + "coalesced_group"), {})
    return _members(m, m.threads.linear // 32, m.may)


def _members(m: Machine, segments: Ints, active: NDArray[np.bool_]) -> RecordValue:
    """A coalesced group of the active threads with the same segment number."""
    rank = np.zeros(m.threads.size, dtype=np.int64)
    size = np.zeros(m.threads.size, dtype=np.int64)
    for s in np.unique(segments).tolist():
        at = np.flatnonzero((segments == s) & active)
        rank[at] = np.arange(len(at))
        size[at] = len(at)
    only = Int(collapse(size, active), UINT)
    cells: dict[int, Value] = {RANK: Int(rank, UINT), SIZE: only, 8: Int(segments, UINT)}
    return RecordValue(RecordRef(SPACE + "coalesced_group"), cells)


@named("tiled_partition", "cooperative_groups::experimental::tiled_partition")
def _tile(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    n = number(arguments[0]) if arguments else None
    if n is not None:
        parent: tuple[TemplateArgument, ...] = ()
        if values and is_group(type_of(values[0])):
            parent = (type_of(values[0]),)
        return RecordValue(RecordRef(SPACE + "thread_block_tile", (Literal(n), *parent)), {})
    size = as_int(m, values[1], e.place) if len(values) > 1 else None
    n = number(size)
    if n and (n <= 32 or m.task.threads):
        return numbered(SPACE + "thread_group", m.threads.linear % n, Int(n, UINT))
    return RecordValue(RecordRef(SPACE + "thread_group"), {})


@named("binary_partition", "labeled_partition")
def _partition(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    """The members of a group that have the same label: known where the label is known for every thread."""
    values = [rvalue(m, a) for a in e.arguments]
    label = known_lanes(m, values[1]) if len(values) > 1 else None
    if label is None and len(values) > 1 and isinstance(values[1], Int) and values[1].uniform:
        label = np.zeros(m.threads.size, dtype=np.int64)
    base = _segments(m, values[0]) if values else None
    if label is None or base is None or not bool((m.must == m.may).all()):
        return RecordValue(RecordRef(SPACE + "coalesced_group"), {})
    if "binary" in called(e):
        label = (label != 0).astype(np.int64)
    _, segments = np.unique(np.stack([base, label]), axis=1, return_inverse=True)
    return _members(m, segments.reshape(-1).astype(np.int64), m.may)


# ---------------------------------------------------------------------- what members tell each other


def _kind(v: Value) -> str:
    """The name of the class of an object: `plus`, `coalesced_group`, ..."""
    t = v.pointee if isinstance(v, Pointer) else getattr(v, "type", None)
    return short_name(t.name) if isinstance(t, RecordRef) else ""


@named("cooperative_groups::reduce", "cg::reduce")
def _reduce(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    if len(values) < 3:
        return Other()
    segments = _segments(m, values[0])
    if segments is None and not is_uniform(values[1]):
        return Other(None, False, Unresolved("data-dependent", "comes from all threads of a group", e.place))
    return reduced(m, _kind(values[2]), values[1], segments, e.place)


@named("cooperative_groups::inclusive_scan", "cooperative_groups::exclusive_scan")
def _scan(m: Machine, e: Call, arguments: Arguments, discarded: bool) -> Value:
    values = [rvalue(m, a) for a in e.arguments]
    if len(values) < 2:
        return Other()
    segments = _segments(m, values[0])
    if segments is None:
        return Other(None, False, Unresolved("data-dependent", "comes from other threads", e.place))
    how = _kind(values[2]) if len(values) > 2 else "plus"
    return scanned(m, how, values[1], segments, "inclusive" in called(e), e.place)


def group_method(m: Machine, name: str, self: Value, e: Call) -> Value:
    """Ranks, sizes and exchanges: `group.name(...)`."""
    values = [rvalue(m, a) for a in e.arguments]
    t = self.pointee if isinstance(self, Pointer) else getattr(self, "type", None)
    kind = _kind(self)
    if name in ("sync", "barrier_arrive", "barrier_wait"):
        m.barrier()
        return Other()
    if kind in ("grid_group", "cluster_group", "multi_grid_group"):
        return _beyond_the_block(m, name, kind, values, e)
    group = group_of(m, self)
    if name in ("thread_index", "group_index", "group_dim", "dim_threads"):
        special = {"thread_index": "threadIdx", "group_index": "blockIdx"}.get(name, "blockDim")
        return _dim3(m, special)
    if name == "thread_rank" and group.rank is not None:
        return lanes_value(m, group.rank, Int(0, UINT))
    if name in ("size", "num_threads") and group.size is not None:
        return group.size
    size = number(group.size)
    if kind == "thread_block_tile" and size and isinstance(t, RecordRef):
        whole = _parent_size(m, t)
        if name == "meta_group_rank" and whole:
            return lanes_value(m, m.threads.linear % whole // size, Int(0, UINT))
        if name == "meta_group_size" and whole:
            return Int(max(whole // size, 1), UINT)
    if name in ("shfl", "shfl_up", "shfl_down", "shfl_xor") and values:
        width = size if kind in ("thread_block_tile", "thread_group") else None
        return shuffled(m, name, values[0], values[1] if len(values) > 1 else Int(0), width, e.place)
    if name in ("ballot", "any", "all"):
        segments = _segments(m, self)
        if segments is not None and (name != "ballot" or kind != "coalesced_group"):
            return vote(m, name, values[0] if values else Int(1), segments)
        return m.unknowns.value(UINT, name, low=0)
    if name in ("size", "num_threads", "num_blocks"):
        return m.unknowns.value(UINT, name, low=0, rank=2)
    reason = Unresolved("data-dependent", f"`.{name}()` depends on which lanes run", e.place)
    return m.unknown(UINT, name, uniform=False, reason=reason)


def _dim3(m: Machine, special: str) -> RecordValue:
    """The three axes of `threadIdx`, `blockDim` and their like."""
    axes = enumerate("xyz")
    return RecordValue(RecordRef("dim3"), {4 * i: m.threads.specials[special, axis] for i, axis in axes})


def _parent_size(m: Machine, t: RecordRef) -> int | None:
    threads = m.task.threads
    parent = t.arguments[1] if len(t.arguments) > 1 else None
    if isinstance(parent, RecordRef) and short_name(parent.name) == "thread_block_tile":
        size = record_argument(parent)
        return size if size and (size <= 32 or threads) else threads
    return threads


def _beyond_the_block(m: Machine, name: str, kind: str, values: list[Value], e: Call) -> Value:
    threads = m.task.threads
    if name == "map_shared_rank" and values and isinstance(values[0], Pointer):
        m.note("distributed-shared", "accesses to another block's shared memory are not scored", e.place)
        p = values[0]
        o = Object(f"cluster:{p.object.id}", p.object.name, p.object.type, "global")
        return Pointer(o, p.offset, p.pointee)
    if name in ("group_dim", "dim_threads") and kind == "cluster_group":
        return _dim3(m, "blockDim")
    if name in ("group_dim", "dim_blocks") and kind == "grid_group":
        return _dim3(m, "gridDim")
    if name == "block_index" and kind == "grid_group":
        return _dim3(m, "blockIdx")
    if name == "thread_rank" and threads:
        base = m.unknowns.value(ULONG, f"{kind}.thread_rank()", low=0, rank=2, multiple=threads)
        return ar.binary("+", base, Int(m.threads.linear, ULONG), m.unknowns)
    return m.unknowns.value(UINT, f"{kind}.{name}()", low=0, rank=2)
