"""Whether an edited program is the same one with its shared memory laid out anew.

In: analyses of all kernels of a file before and after an edit. Out: the access sites with their wavefronts on
both sides, or why the two do not correspond. It holds when every lane of every access goes, as before, to the
one place that stands for the old one: no element has two new places, no place two old elements. Of arrays
that stay as they are, accesses that are not known exactly must be told as before; an array with an access of
which a part of the address is not known is not moved, since nobody knows which elements that reaches. Where
accesses that moved and others share bytes (an array that is used twice, in turn), that is asked of each of
the two alone, and what each reads it must write itself; and they share no more bytes than before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import Grade
from smemlint.fix.model import SiteChange
from smemlint.fix.search.members import MATRIX_ROW
from smemlint.records import record
from smemlint.score.load import nominal
from smemlint.score.model import Conflict, KernelAnalysis

_WRITES = ("store", "stmatrix", "cp.async")


@record(frozen=True, slots=True)
class Move:
    """The bytes of a site, before and after, as many. reads: whether it reads them."""

    old: NDArray[np.int64]
    new: NDArray[np.int64]
    moved: bool
    reads: bool


@record(frozen=True, slots=True)
class Remapped:
    """The sites of all arrays that moved. shared: the array whose bytes are used twice in turn, or ''."""

    changes: tuple[SiteChange, ...]
    shared: str = ""


def remapped(before: Sequence[KernelAnalysis], after: Sequence[KernelAnalysis]) -> Remapped | str:
    """What moved, or in words why an element may have got lost."""
    olds, news = launched(before), launched(after)
    if len(olds) != len(news):
        return f"{len(news)} kernel instances are seen after the edit, {len(olds)} before"
    changes: list[SiteChange] = []
    shared = ""
    for old, new in zip(olds, news, strict=True):
        name = old.kernel.name
        if name != new.kernel.name or old.launch.block != new.launch.block:
            return f"`{name}` is started in another way after the edit"
        if new.notes and not old.notes:
            return new.notes[0].text
        found = _kernel(old, new)
        if isinstance(found, str):
            return found
        changes += found.changes
        shared = shared or found.shared
    return Remapped(tuple(changes), shared)


def launched(analyses: Sequence[KernelAnalysis]) -> list[KernelAnalysis]:
    """The analyses in which an access was reached, in their order."""
    return [a for a in analyses if a.launch.threads > 0 and any(c.site.reached for c in a.conflicts)]


def _kernel(old: KernelAnalysis, new: KernelAnalysis) -> Remapped | str:
    first = [c for c in old.conflicts if c.site.reached]
    second = [c for c in new.conflicts if c.site.reached]
    if len(first) != len(second):
        return f"`{old.kernel.name}` has {len(second)} accesses after the edit, {len(first)} before"
    ids = dict(zip(old.arrays, new.arrays, strict=False))
    if len(old.arrays) != len(new.arrays):
        return f"`{old.kernel.name}` declares other arrays after the edit"
    moves: dict[str, list[Move]] = {}
    unknown: dict[str, str] = {}
    for a, b in zip(first, second, strict=True):
        found = _pair(a, b)
        where = f"`{a.site.expression}` on line {a.site.place.line}"
        if ids.get(a.site.array) != b.site.array:
            return f"{where} reaches another array"
        if isinstance(found, str):
            unknown.setdefault(a.site.array, f"{where} {found}")
            if not _told_alike(a, b):
                return unknown[a.site.array]
        else:
            moves.setdefault(a.site.array, []).append(found)
    shared = ""
    moved = [array for array, each in moves.items() if any(m.moved for m in each)]
    for array in moved:
        if array in unknown:
            return unknown[array]
    for array in moved:
        mine = new.arrays[ids[array]]
        size = new.launch.dynamic if mine.dynamic else mine.bytes
        if size is None or max(int(m.new.max(initial=-1)) for m in moves[array]) >= size:
            return f"the accesses of `{mine.name}` leave it"
        if _one_to_one(moves[array]):
            continue
        sides = [[m for m in moves[array] if m.moved is side] for side in (True, False)]
        if not all(map(_closed, sides)) or not _meet_where_they_met(*sides):
            return f"the accesses of `{mine.name}` do not agree on a new layout"
        shared = mine.name
    changes = [
        SiteChange(old.kernel.name, a.site, runs(a)[0], runs(b)[0], runs(a)[1])
        for a, b in zip(first, second, strict=True)
        if a.site.array in moved and counts(a)
    ]
    return Remapped(tuple(changes), shared)


def counts(conflict: Conflict) -> bool:
    """Whether a site's requests run: of those that are joined, the first stands for all."""
    return conflict.trace.group is None or bool(conflict.trace.offsets.size)


def runs(conflict: Conflict) -> tuple[int, int]:
    """Wavefronts and the ideal, a loop of unknown length as NOMINAL iterations."""
    loads = conflict.loads
    return round(nominal(x.wavefronts for x in loads)), round(nominal(x.ideal for x in loads))


def _told_alike(a: Conflict, b: Conflict) -> bool:
    """Whether as much is known of two sites, and the same: enough for an array that stays as it is."""
    s, t = a.trace, b.trace
    reasons = [(r.code, r.text) if (r := c.reason) is not None else None for c in (a, b)]
    costs = [(c.grade, c.wavefronts_low, c.wavefronts, c.ideal, c.site.op, c.site.width) for c in (a, b)]
    alike = reasons[0] == reasons[1] and costs[0] == costs[1] and s.alignment == t.alignment
    return alike and np.array_equal(s.offsets, t.offsets)


def stays(analysis: KernelAnalysis, array: str) -> bool:
    """Whether no edit that moves an array is proved in a kernel: one of its accesses is not known exactly."""
    return any(_is_open(c) for c in analysis.conflicts if c.site.reached and c.site.array == array)


def _is_open(conflict: Conflict) -> bool:
    trace = conflict.trace
    known = trace.ends is None and trace.ways == 1 and not (trace.data or trace.parameter or trace.alignment)
    return conflict.grade is Grade.UNRESOLVED or not known


def _pair(a: Conflict, b: Conflict) -> Move | str:
    """Where the bytes of a site go, or why two sites do not correspond."""
    s, t = a.trace, b.trace
    if _is_open(a) or b.grade is Grade.UNRESOLVED:
        return "is not known exactly"
    kinds = [(c.site.op, c.site.width, c.trace.joined, c.trace.alignment) for c in (a, b)]
    if kinds[0] != kinds[1] or s.offsets.shape != t.offsets.shape or not np.array_equal(s.weights, t.weights):
        return "runs in another way"
    moved = not np.array_equal(s.offsets, t.offsets)
    active = s.offsets >= 0
    if not np.array_equal(active, t.offsets >= 0):
        return "is run by other lanes"
    wide = MATRIX_ROW if a.site.op in ("ldmatrix", "stmatrix") else s.joined or a.site.width
    steps = np.arange(wide, dtype=np.int64)
    old, new = (np.add.outer(x[active], steps).reshape(-1) for x in (s.offsets, t.offsets))
    return Move(old, new, moved, reads=a.site.op not in _WRITES)


def _old(move: Move) -> NDArray[np.int64]:
    return move.old


def _new(move: Move) -> NDArray[np.int64]:
    return move.new


def _one_to_one(moves: Sequence[Move]) -> bool:
    both = np.unique(
        np.stack([np.concatenate([m.old for m in moves]), np.concatenate([m.new for m in moves])], axis=1),
        axis=0,
    )
    return len(np.unique(both[:, 0])) == len(both) == len(np.unique(both[:, 1]))


def _meet_where_they_met(moved: Sequence[Move], still: Sequence[Move]) -> bool:
    """Whether what moved goes among the bytes of the others only from, and to, bytes that both used before.

    Two parts of one array that lay apart may hold their values at the same time.
    """
    if not moved or not still:
        return True
    old, new = (np.concatenate([side(m) for m in moved]) for side in (_old, _new))
    others = np.unique(np.concatenate([m.old for m in still]))
    both = np.intersect1d(old, others)
    among = np.isin(new, others)
    return bool(np.isin(old[among], both).all() and np.isin(new[among], both).all())


def _closed(moves: Sequence[Move]) -> bool:
    """Whether accesses move one to one and read only what they wrote themselves."""
    if not moves:
        return True
    read, written = (
        np.unique(np.concatenate([m.old for m in moves if m.reads is side] or [np.zeros(0, np.int64)]))
        for side in (True, False)
    )
    return _one_to_one(moves) and bool(np.isin(read, written).all())
