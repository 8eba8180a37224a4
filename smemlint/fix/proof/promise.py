"""A promise kept, or withdrawn: the edited text goes through the same analysis, and every lane of every
site of the array must be where the layout said it would be.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from math import isclose
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import SharedArray
from smemlint.fix.search.members import Member, only_source_open, score, shares_of
from smemlint.records import record
from smemlint.score.model import Conflict, KernelAnalysis
from smemlint.system.visible import visible_lines, visible_path

Analyse: TypeAlias = Callable[[str, bytes, Sequence[KernelAnalysis]], Iterable[KernelAnalysis | None]]
"""(path, edited text, analyses) -> the same kernels under the same launches in that file, each when it is
asked for; None where it cannot say."""
STRAYED = "reaches other addresses"
"""Of a site that the layout does not describe, in the words of a refusal."""
OTHERWISE = "is joined with other neighbours than before"
"""Of one that the compiler runs in another way after the edit."""
_APART = "reach other addresses"
"""Of an array whose joined accesses are taken apart, and do not reach what the layout describes."""
ELSEWHERE = (STRAYED, OTHERWISE, _APART)
"""What is said where edits leave an access out."""


@record(frozen=True, slots=True)
class Promise:
    """A site under the new layout. offsets: of its requests, shape (requests, 32); after: wavefronts.
    steps: bytes by which parts that are not in the offsets move them."""

    member: Member
    offsets: NDArray[np.int64]
    after: int
    steps: tuple[int, ...] = ()


def sites_of(analysis: KernelAnalysis, array: SharedArray) -> list[Conflict]:
    return [c for c in analysis.conflicts if c.site.array == array.id]


def same_array(analysis: KernelAnalysis, array: SharedArray, others: KernelAnalysis) -> SharedArray | None:
    """The array in the edited file: the one of that name, by order where names repeat."""
    mine = [a.id for a in analysis.arrays.values() if a.name == array.name]
    theirs = [a for a in others.arrays.values() if a.name == array.name]
    if array.id not in mine or len(mine) != len(theirs):
        return None
    return theirs[mine.index(array.id)]


def check(
    before: KernelAnalysis,
    array: SharedArray,
    promised: Sequence[Promise],
    after: KernelAnalysis,
    aside: Sequence[SharedArray] = (),
) -> str | None:
    """Why the promise for one instance does not hold, None when it does. aside: other arrays that are laid
    out anew in the same text, and are checked by themselves."""
    moved = same_array(before, array, after)
    if moved is None:
        return f"`{array.name}` is not found again in the edited file"
    if any(p.member.apart for p in promised):
        return _check_together(array, promised, sites_of(after, moved)) or others_unharmed(
            before, after, [array, *aside]
        )
    sites = sites_of(after, moved)
    expected = sites_of(before, array)
    if len(sites) != len(expected):
        return f"`{array.name}` has {len(sites)} accesses after the edit, {len(expected)} before"
    by_site = dict(zip(map(id, expected), sites, strict=True))
    for promise in promised:
        conflict = promise.member.conflict
        found = by_site[id(conflict)]
        if not same_addresses(promise.offsets, conflict, found) or found.trace.shifts.steps != promise.steps:
            if _joined_wider(promised, [by_site[id(p.member.conflict)] for p in promised]):
                break
            alike = found.trace.shifts.steps == promise.steps and _same_bytes(promised, sites)
            why = OTHERWISE if alike else STRAYED
            return f"`{conflict.site.expression}` on line {conflict.site.place.line} {why}"
        cost = _cost(found)
        if (cost is None or cost > max(promise.after, found.ideal or 0)) and not _falls(promise, cost):
            return f"`{conflict.site.expression}` on line {conflict.site.place.line} keeps its conflict"
        if (found.trace.joined or 0) < (conflict.trace.joined or 0):
            return f"`{conflict.site.expression}` on line {conflict.site.place.line} loses its wide access"
    return others_unharmed(before, after, [array, *aside])


def _same_bytes(promised: Sequence[Promise], sites: Sequence[Conflict]) -> bool:
    """Whether all accesses together reach what they should, in whatever requests."""
    mine = [_bytes(p.offsets, p.member.width) for p in promised]
    theirs = [_bytes(c.trace.offsets, c.trace.joined or c.trace.site.width) for c in sites]
    return np.array_equal(np.unique(np.concatenate(mine)), np.unique(np.concatenate(theirs)))


def _joined_wider(promised: Sequence[Promise], sites: Sequence[Conflict]) -> bool:
    """Whether the compiler joins more than it did, to the same end: every lane reads and writes the bytes
    that it should, no access is narrower, and all together cost no more than promised.

    An edit that says the alignment of an array may do that to accesses besides those that it is for.
    """
    mine: set[tuple[str, int, int]] = set()
    theirs: set[tuple[str, int, int]] = set()
    cost = 0
    for promise, found in zip(promised, sites, strict=True):
        before, trace = promise.member.conflict, found.trace
        width = trace.joined or trace.site.width
        paid = _cost(found)
        if _lost(before, found) or before.site.op != found.site.op or trace.shifts.steps != promise.steps:
            return False
        if trace.data or before.trace.data or paid is None:
            return False
        if trace.offsets.size and width < promise.member.width:
            return False
        same_width = trace.offsets.size and width == promise.member.width
        # That all requests of a lane together cover the same bytes does not say where each byte is.
        if same_width and not same_addresses(promise.offsets, before, found):
            return False
        mine |= _by_lane(before.site.op, promise.offsets, promise.member.width)
        theirs |= _by_lane(found.site.op, trace.offsets, width)
        cost += paid
    return mine == theirs and cost <= sum(p.after for p in promised)


def _by_lane(op: str, offsets: NDArray[np.int64], width: int) -> set[tuple[str, int, int]]:
    """Which bytes each lane reaches, by what kind of access."""
    rows, lanes = np.nonzero(offsets >= 0)
    pairs = np.unique(np.column_stack([lanes, offsets[rows, lanes]]), axis=0)
    return {(op, int(lane), int(at) + n) for lane, at in pairs for n in range(width)}


def _bytes(offsets: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    return np.unique(np.add.outer(offsets[offsets >= 0], np.arange(width, dtype=np.int64)))


def _check_together(array: SharedArray, promised: Sequence[Promise], sites: Sequence[Conflict]) -> str | None:
    """The same for an array whose neighbours were joined: which of them a request belongs to is not known,
    and the compiler drops others than before. So the distinct requests are compared, and what all cost."""
    expected: set[tuple[object, ...]] = set()
    found: set[tuple[object, ...]] = set()
    places: tuple[set[bytes], set[bytes]] = (set(), set())
    for p in promised:
        trace = p.member.conflict.trace
        rows = _folded(p.offsets, p.member.weights, bool(trace.alignment))
        expected.update((trace.site.op, p.member.width, row) for row in rows)
        places[0].update(_rows(p.offsets))
    reasons = {r.code for p in promised if (r := p.member.conflict.trace.reason) is not None}
    for c in sites:
        trace = c.trace
        known = trace.reason is None or trace.reason.code in reasons
        if not known or c.wavefronts is None:
            return f"`{trace.site.expression}` on line {trace.site.place.line} is not resolved any more"
        rows = _folded(trace.offsets, trace.weights, bool(trace.alignment))
        found.update((trace.site.op, trace.joined or trace.site.width, row) for row in rows)
        places[1].update(_rows(trace.offsets))
    steps = ({s for p in promised for s in p.steps}, {s for c in sites for s in c.trace.shifts.steps})
    if expected != found or steps[0] != steps[1] or not _of_one_kind(*places):
        return f"the accesses of `{array.name}` {_APART}"
    # What the compiler drops no longer, now that it sees less, runs as well; it may cost what it has to.
    total, ideal = sum(_cost(c) or 0 for c in sites), sum(c.ideal or 0 for c in sites)
    excess = sum(p.after - p.member.ideal for p in promised)
    if total - ideal > excess or total > sum(p.member.before for p in promised):
        return f"`{array.name}` keeps more conflicts"
    return None


def _falls(promise: Promise, cost: int | None) -> bool:
    """Whether what an access costs at most, of which nobody knows which lanes run, falls by the share that
    is promised with all of them."""
    conflict = promise.member.conflict
    before = _cost(conflict)
    if conflict.trace.maybe is None or cost is None or before is None:
        return False
    return cost * promise.member.before <= before * promise.after


def _cost(conflict: Conflict) -> int | None:
    """Wavefronts of a site, of a copy those of its place in shared memory alone."""
    trace = conflict.trace
    if not only_source_open(trace):
        return conflict.wavefronts
    width = trace.joined or trace.site.width
    return score(conflict, width, trace.offsets, trace.weights, trace.alignment, trace.maybe)[0]


def same_addresses(offsets: NDArray[np.int64], before: Conflict, after: Conflict) -> bool:
    """Whether a site reaches after an edit what the offsets say, as often as before."""
    trace = after.trace
    if _lost(before, after) or after.site.op != before.site.op:
        return False
    if trace.offsets.shape == offsets.shape and np.array_equal(trace.offsets, offsets):
        return True
    # How many visits of a long loop are gone through depends on the work of each; one stands for the rest.
    mine = _folded(offsets, shares_of(before.trace), bool(before.trace.alignment))
    theirs = _folded(trace.offsets, shares_of(trace), bool(trace.alignment))
    alike = mine.keys() == theirs.keys() and all(isclose(mine[key], theirs[key]) for key in mine)
    return alike and _of_one_kind(_rows(offsets), _rows(trace.offsets))


def _rows(offsets: NDArray[np.int64]) -> set[bytes]:
    """The distinct requests, where they are."""
    return {np.ascontiguousarray(row, dtype=np.int64).tobytes() for row in offsets}


def _of_one_kind(mine: Set[bytes], theirs: Set[bytes]) -> bool:
    """Whether requests are where they should be, as far as both were gone through: of a long loop, one may
    have been followed further than the other."""
    return mine <= theirs or theirs <= mine


def _lost(before: Conflict, after: Conflict) -> bool:
    """Whether something of a site is not known any more that was. Of lanes that run by data the addresses
    are known as before."""
    old, new = before.trace.reason, after.trace.reason
    return new is not None and (old is None or (old.code, old.text) != (new.code, new.text))


def _folded(
    offsets: NDArray[np.int64], weights: NDArray[np.int64] | NDArray[np.float64], relative: bool
) -> dict[bytes, float]:
    """Requests as a multiset; relative to their lowest address where a common part is unknown."""
    counts: dict[bytes, float] = {}
    for row, weight in zip(offsets, weights, strict=True):
        active = row[row >= 0]
        if relative and active.size:
            row = np.where(row >= 0, row - active.min(), -1)
        key = np.ascontiguousarray(row, dtype=np.int64).tobytes()
        counts[key] = counts.get(key, 0) + float(weight)
    return counts


def others_unharmed(
    before: KernelAnalysis, after: KernelAnalysis, arrays: Sequence[SharedArray]
) -> str | None:
    """Why another array than those pays more after an edit or is reached elsewhere, None when none does."""
    mine = {a.id for a in arrays}
    theirs = {moved.id for a in arrays if (moved := same_array(before, a, after)) is not None}
    old = [c for c in before.conflicts if c.site.array not in mine]
    new = [c for c in after.conflicts if c.site.array not in theirs]
    if len(old) != len(new):
        return "the edited file shows other accesses of other arrays"
    for a, b in zip(old, new, strict=True):
        if a.wavefronts is not None and _dearer(a, b):
            return f"`{a.site.expression}` on line {a.site.place.line} gets worse"
        joined = a.trace.joined == b.trace.joined and a.trace.shifts.steps == b.trace.shifts.steps
        if joined and not same_addresses(a.trace.offsets, a, b):
            return f"`{a.site.expression}` on line {a.site.place.line} {STRAYED}"
    return None


def _dearer(before: Conflict, after: Conflict) -> bool:
    """Whether a site costs more than it did. Of a long loop, one may have been followed further than the
    other; what a request costs is told by the ways."""
    old, new = before.wavefronts or 0, after.wavefronts
    if new is None or new <= old:
        return new is None
    alike = before.trace.joined == after.trace.joined and before.ideal and after.ideal
    return not alike or new * (before.ideal or 0) > old * (after.ideal or 0)


_SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".hxx", ".hh", ".inl", ".cpp", ".cc", ".cxx", ".c")
_SAID = 10_000
"""Characters of a compiler's output that are repeated."""


def verify(command: str, path: str, data: bytes, timeout: float = 600) -> str | None:
    """Compile an edited file with the user's command; None when it succeeds, else what it said.

    The text stands beside the original for the time of the command, so that its includes are found. `{}` in
    the command stands for its path; without one the path is appended. Nothing in that path is a name of the
    project, which a shell in the command might take for more than a name: it leads through a link in a fresh
    folder.
    """
    import shlex
    import tempfile

    original = Path(path).resolve()
    suffix = original.suffix if original.suffix in _SUFFIXES else ".cu"
    text = None
    try:
        words = shlex.split(command)
        with tempfile.TemporaryDirectory(prefix="smemlint-") as fresh:
            Path(fresh, "source").symlink_to(original.parent, target_is_directory=True)
            handle, text = tempfile.mkstemp(prefix=".smemlint-", suffix=suffix, dir=original.parent)
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            name = str(Path(fresh, "source", Path(text).name))
            arguments = [word.replace("{}", name) for word in words]
            said = _run(arguments if arguments != words else [*words, name], timeout)
    except (OSError, ValueError) as error:
        return f"{visible_path(path)}: {error}"
    finally:
        if text is not None:
            with suppress(FileNotFoundError):
                Path(text).unlink()
    return None if said is None else visible_lines(said.replace(name, visible_path(path)))


def _run(arguments: Sequence[str], timeout: float) -> str | None:
    """None when a command succeeds, else what it said. Raises OSError."""
    import subprocess

    try:
        done = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the command took more than {timeout:g} s"
    if done.returncode == 0:
        return None
    said = (done.stderr or done.stdout).strip()[:_SAID]
    return said or f"the command ended with {done.returncode}"
