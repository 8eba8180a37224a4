"""The sites of one array as their requests run, in every kernel instance that uses it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lcm, prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import Grade, SharedArray, Trace
from smemlint.fix.search.linear import WORD, LinearClass, classes
from smemlint.fix.text.pointers import Pointer
from smemlint.records import record
from smemlint.score.load import NOMINAL
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.score.requests import Access, Costs, costs, or_apart

_Values = TypeVar("_Values", NDArray[np.int64], NDArray[np.bool_])
MATRIX_ROW = 16
"""Bytes of one row of an ldmatrix or stmatrix matrix; its address must be a multiple."""


@record(frozen=True, slots=True)
class Member:
    """One site of the array: its requests as the hardware sees them (joined where the compiler joins).

    weights: how often each runs in one block, a loop of unknown length as NOMINAL iterations; before, ideal:
    wavefronts, so weighted, of the dearest way where a run-time choice decides where it goes.
    """

    conflict: Conflict
    width: int
    offsets: NDArray[np.int64]
    weights: NDArray[np.int64]
    before: int
    ideal: int
    linear: tuple[LinearClass, ...] | None = None
    """Its requests as classes that a swizzle treats alike, where they are bit-linear 4-byte ones."""
    steps: int = 1
    """Requests that each joined one is taken apart into (`apart`)."""

    @property
    def apart(self) -> bool:
        """Whether requests that the compiler joins are taken one by one."""
        return self.steps > 1

    @property
    def joined(self) -> bool:
        return self.conflict.trace.joined is not None and not self.apart


@record(frozen=True, slots=True)
class Piece:
    """Where a part of a pool lies: bytes [start, end) of the array `pool`.

    sites: those that go through this part. rest: the other sites of the pool, as they run.
    pointer: by which it is reached, None when the pool is one part. cuts: all pointers that cut the pool and
    start at a known place, with that place in bytes. open: what is not known of the rest, or ''. sized:
    whether the launch, or another part, tells where it ends; else it ends behind what is reached of it.
    strange: the access that reaches the part, and not through its pointer, or ''. rows: names of pointers to
    rows of the part.
    """

    pool: SharedArray
    start: int
    end: int
    rest: tuple[Member, ...]
    pointer: Pointer | None
    sites: tuple[Conflict, ...] = ()
    cuts: tuple[tuple[Pointer, int], ...] = ()
    open: str = ""
    sized: bool = True
    strange: str = ""
    rows: tuple[str, ...] = ()

    @property
    def pointers(self) -> tuple[Pointer, ...]:
        return tuple(pointer for pointer, _ in self.cuts)


@record(frozen=True, slots=True)
class Instance:
    """One kernel instance under one launch, as far as this array goes, or this part of it.

    piece: set for a part; `array` is then the part, and offsets count from its start.
    """

    analysis: KernelAnalysis
    array: SharedArray
    members: tuple[Member, ...]
    piece: Piece | None = None

    @property
    def pool(self) -> SharedArray:
        """The array as declared."""
        return self.array if self.piece is None else self.piece.pool

    @property
    def resizable(self) -> bool:
        """Whether an edit can make it larger: at its declaration, or where a launch gives its bytes."""
        return self.array.dynamic == (self.piece is not None)

    @property
    def given(self) -> int | None:
        """Bytes, None when unknown."""
        if self.piece is not None and not self.piece.sized:
            return None
        size = self.array.bytes
        if size is None and self.array.dynamic:
            others = [a.bytes for a in self.analysis.arrays.values() if a.dynamic]
            size = self.analysis.launch.dynamic if len(others) == 1 else None
        return size

    @property
    def length(self) -> int | None:
        """Elements, None when unknown: of a dynamic array whose bytes no launch tells those that accesses
        reach. There are as many at least, and a layout that moves nothing behind them fits."""
        size = self.given or self.array.bytes
        if size is None and self.array.dynamic and self.analysis.launch.dynamic is None:
            size = max((int(m.offsets.max(initial=-1)) + m.width for m in self.members), default=0) or None
        return None if size is None else size // self.array.element

    @property
    def dims(self) -> tuple[int, ...] | None:
        """The extents, of a dynamic array (`extern __shared__ half s[][40]`) as its length tells them."""
        known = tuple(d for d in self.array.dims if d is not None)
        if len(known) == len(self.array.dims):
            return known
        rows = prod(known)
        if self.array.dims[0] is not None or len(known) < len(self.array.dims) - 1 or not rows:
            return None
        return None if self.length is None else (-(-self.length // rows), *known)


def members(analysis: KernelAnalysis, array: SharedArray) -> tuple[Member, ...]:
    """The sites of an array as their requests run.

    Left out: sites without addresses that a layout could move, and all but the first of those that the
    compiler joins into one access.
    """
    found = []
    groups: set[int] = set()
    for conflict in analysis.conflicts:
        trace = conflict.trace
        if conflict.site.array != array.id or not movable(conflict):
            continue
        if trace.group is not None:
            if trace.group in groups:
                continue
            groups.add(trace.group)
        each = member(conflict)
        if each is not None:
            found.append(each)
    return tuple(found)


def movable(conflict: Conflict) -> bool:
    """Whether a site's addresses are known well enough to say where another layout puts them."""
    trace = conflict.trace
    if trace.offsets.size == 0 or trace.data or trace.parameter is not None:
        return False
    if trace.ends is not None and not only_source_open(trace):
        return False
    return conflict.grade not in (Grade.UNRESOLVED, Grade.PARAMETRIC)


def unplaced(conflict: Conflict, sites: Sequence[Conflict]) -> bool:
    """Whether it is not known where an access goes. Of those that the compiler joins, the first tells."""
    if not conflict.executions or movable(conflict):
        return False
    trace = conflict.trace
    follows = trace.group is not None and trace.offsets.size == 0
    return not (follows and any(c.trace.group == trace.group and movable(c) for c in sites))


def only_source_open(trace: Trace) -> bool:
    """Whether a copy's place in shared memory is known, and what it costs depends on where it reads, too."""
    if trace.ends is None:
        return False
    if trace.reason is None:  # it costs the same wherever that is
        return trace.site.op == "cp.async" and not trace.data
    # Which of its copies run is another question, and none of where they go.
    runs = trace.reason.code == "run-time-choice" and trace.groups is not None and trace.ways == 1
    return trace.reason.code == "copy-source" or (runs and trace.site.op == "cp.async")


def member(conflict: Conflict) -> Member | None:
    """One site as its requests run, None for an access that the hardware does not have."""
    trace = conflict.trace
    width = trace.joined or trace.site.width
    try:
        weights = runs_of(trace)
        before, ideal = score(conflict, width, trace.offsets, weights, trace.alignment, trace.maybe)
    except ValueError:
        return None
    plain = width == WORD and trace.site.op in ("load", "store") and trace.maybe is None and trace.ways == 1
    linear = classes(trace.offsets, weights) if plain else None
    return Member(conflict, width, trace.offsets, weights, before, ideal, linear)


def runs_of(trace: Trace) -> NDArray[np.int64]:
    """How often each request runs in one block, a loop of unknown length as NOMINAL iterations."""
    if trace.repeats is None:
        return trace.weights
    return np.maximum(np.rint(shares_of(trace)).astype(np.int64), np.minimum(trace.weights, 1))


def shares_of(trace: Trace) -> NDArray[np.float64]:
    """The same where a few visits of a loop stand for all: such a request runs for its share of them."""
    repeats = trace.repeats
    if repeats is None:
        return trace.weights.astype(np.float64)
    return np.asarray(trace.weights * repeats.times * float(NOMINAL) ** repeats.depth, dtype=np.float64)


def apart(each: Member) -> Member:
    """A joined site as it runs under a layout that the compiler does not see through: element by element."""
    if not each.joined:
        return each
    trace = each.conflict.trace
    width = each.conflict.site.width
    steps = range(0, each.width, width)
    parts = np.split(each.offsets, trace.ways)
    offsets = np.concatenate([np.where(part >= 0, part + step, -1) for part in parts for step in steps])
    weights = repeated(each.weights, trace.ways, len(steps))
    maybe = None if trace.maybe is None else repeated(trace.maybe, trace.ways, len(steps))
    _, ideal = score(each.conflict, width, offsets, weights, trace.alignment, maybe)
    return Member(each.conflict, width, offsets, weights, each.before, ideal, steps=len(steps))


def repeated(values: _Values, ways: int, steps: int) -> _Values:
    """What belongs to a site's requests, for those of the site taken apart: of each way all steps in turn."""
    return np.concatenate([part for way in np.split(values, ways) for part in [way] * steps])


def score(
    conflict: Conflict,
    width: int,
    offsets: NDArray[np.int64],
    weights: NDArray[np.int64],
    alignment: int,
    maybe: NDArray[np.bool_] | None,
) -> tuple[int, int]:
    """Wavefronts (the upper end) and ideal of all requests of a site; negative offsets are inactive lanes.
    Of several ways that a run-time choice may go, the dearest.

    Raises: ValueError for an address that would fault.
    """
    site = conflict.site
    access = Access(site.op, width, site.matrices, alignment)
    found = priced(access, offsets, maybe, one_by_one(conflict, width))
    ways = conflict.trace.ways
    return dearest(found.high * weights, ways), dearest(found.ideal * weights, ways)


def one_by_one(conflict: Conflict, width: int) -> int:
    """The width of the accesses that the compiler may not join after all, 0 where it is sure to."""
    doubt = conflict.trace.grade is Grade.BOUND and conflict.trace.joined == width != conflict.site.width
    return conflict.site.width if doubt else 0


def priced(access: Access, offsets: NDArray[np.int64], maybe: NDArray[np.bool_] | None, alone: int) -> Costs:
    """What requests cost, at most as much as one by one where that may be how they run. alone: the width of
    these, or 0."""
    found = costs(access, offsets, maybe)
    if not alone:
        return found
    single = Access(access.op, alone, access.matrices, access.alignment)
    return or_apart(found, costs(single, offsets, maybe))


def dearest(costs_: NDArray[np.int64], ways: int) -> int:
    """The sum over the requests of the way that costs most; the ways stand one after the other."""
    return int(costs_.reshape(ways, -1).sum(axis=1).max())


def by_pitch(each: Member) -> bool:
    """Whether a site is a call that takes the address of a tile and its row pitch."""
    return "_matrix_sync" in each.conflict.site.expression


def granule(members: Iterable[Member]) -> int:
    """Bytes that must stay together and aligned: the widest access that runs, 16 for matrix rows."""
    widest = 1
    for each in members:
        site = each.conflict.site
        matrix = site.op in ("ldmatrix", "stmatrix") or by_pitch(each)
        widest = lcm(widest, MATRIX_ROW if matrix else each.width)
    return widest
