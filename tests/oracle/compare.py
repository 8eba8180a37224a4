"""The evaluator's traces against the interpreter's requests, access by access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import gcd

import numpy as np
from numpy.typing import NDArray

from oracle.run import Request
from smemlint.banks import BANK_CYCLE, wavefronts
from smemlint.evaluate import Grade, KernelTrace, Trace, evaluate
from smemlint.evaluate.machine.faults import INTERNAL
from smemlint.ir import Function, Launch, Module

Key = tuple[int, str, int, str]
"""Line, op, width, array: all accesses of one kind that stand on one line."""

Pattern = tuple["int | None", ...]

ROTATION = 4
"""Bytes by whose multiples the addresses of all lanes may differ where lanes go to several arrays: which of
them they are counted from is open."""

ATOMICS = ("atomic", "increment", "cas", "cas loop")
"""How an atomic is compiled is told apart elsewhere; here they are one."""


@dataclass
class Comparison:
    """exact: keys whose addresses agree. open: keys for which the evaluator makes no exact statement.
    wrong: what disagrees, in words."""

    exact: int = 0
    open: dict[Key, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def compare(requests: list[Request], result: KernelTrace) -> Comparison:
    truth: dict[Key, Counter[Pattern]] = {}
    for r in requests:
        assert r.place is not None
        key = (r.place.line, _op(r.op), r.width, r.name)
        truth.setdefault(key, Counter())[r.offsets] += 1
    traces: dict[Key, list[Trace]] = {}
    for one in result.traces:
        site = one.site
        if site.op == "cas loop load":
            continue  # of the atomic beside it, which is what the source says
        array = _array(result, one)
        traces.setdefault((site.place.line, _op(site.op), site.width, array), []).append(one)
    _gather(truth, traces)
    outcome = Comparison()
    if _is_stopped(result):
        for key in truth.keys() - traces.keys():
            del truth[key]
            outcome.open[key] = "stopped before"
    for key in {**truth, **traces}:
        _compare_key(key, truth.get(key, Counter()), traces.get(key, []), outcome)
    return outcome


def _is_stopped(result: KernelTrace) -> bool:
    """Whether a kernel used up its steps or goes too deep, and says so: nothing is told of what is behind."""
    return any(note.code in ("budget", "nesting") for note in result.notes)


def _gather(truth: dict[Key, Counter[Pattern]], traces: dict[Key, list[Trace]]) -> None:
    """Put under one key what goes to several arrays: a warp may go to fewer of them than the pointer leads
    to, and of an open trace to one."""
    for key, here in sorted(traces.items(), key=lambda pair: -len(pair[0][3].split(" or "))):
        names = set(key[3].split(" or "))
        if len(names) == 1 or key not in traces:
            continue
        exact = all(one.grade is Grade.EXACT for one in here)
        for other in [k for k in truth if k != key and k[:3] == key[:3] and set(k[3].split(" or ")) < names]:
            if exact and all(one.grade is Grade.EXACT for one in traces.get(other, [])):
                truth.setdefault(key, Counter()).update(truth.pop(other))
                here += traces.pop(other, [])
            elif other not in traces and " or " in other[3]:
                truth.setdefault(key, Counter()).update(truth.pop(other))
            elif not exact:
                traces.setdefault(other, []).extend(here)


def _array(result: KernelTrace, one: Trace) -> str:
    """The name of the array of a trace, or the names of several, in alphabetical order."""
    found = result.arrays.get(one.site.array)
    return found.name if found is not None else " or ".join(sorted(one.site.array.split(" or ")))


def _op(op: str) -> str:
    return "atomic" if op in ATOMICS else op


def _compare_key(key: Key, wanted: Counter[Pattern], traces: list[Trace], outcome: Comparison) -> None:
    if wanted and not traces:
        outcome.wrong.append(f"{key}: {wanted.total()} requests, never seen")
        return
    loose = [t for t in traces if t.grade is not Grade.EXACT]
    if loose:
        reason = loose[0].reason
        outcome.open[key] = f"{loose[0].grade.value}: {reason.code + ': ' + reason.text if reason else ''}"
        return
    rotate = any(t.alignment for t in traces) or " or " in key[3]
    found: Counter[Pattern] = Counter()
    for one in traces:
        for offsets, weight in zip(one.offsets.tolist(), one.weights.tolist(), strict=True):
            found[tuple(None if o < 0 else o for o in offsets)] += weight
    if rotate:
        step = int(np.gcd.reduce([t.alignment for t in traces])) or ROTATION
        around = int(np.gcd.reduce([t.shifts.around for t in traces]))
        wanted, found = _unrotated(wanted, step, around), _unrotated(found, step, around)
    if wanted == found:
        outcome.exact += 1
        return
    missing, extra = wanted - found, found - wanted
    if wanted.keys() <= found.keys() and any(t.repeats is not None for t in traces):
        outcome.open[key] = "not each iteration was looked at: its loop took too many steps"
        return
    outcome.wrong.append(f"{key}: {_show(missing)} expected, {_show(extra)} found")


def _unrotated(patterns: Counter[Pattern], step: int, around: int) -> Counter[Pattern]:
    """Patterns up to a common multiple of `step`, and in a ring of `around` bytes, if that is not 0."""
    result: Counter[Pattern] = Counter()
    for pattern, count in patterns.items():
        first = next((o for o in pattern if o is not None), 0)
        base = first - first % step
        moved = (None if o is None else o - base for o in pattern)
        result[tuple(o % around if around and o is not None else o for o in moved)] += count
    return result


def _show(patterns: Counter[Pattern]) -> str:
    if not patterns:
        return "nothing more"
    pattern, count = next(iter(patterns.items()))
    text = " ".join("-" if o is None else str(o) for o in pattern)
    return f"{patterns.total()} requests, such as {count} x [{text}]"


def evaluate_as_written(module: Module, kernel: Function, launch: Launch) -> KernelTrace:
    """The evaluator's answer before anything of what the compiler does."""
    return evaluate(module, kernel, launch, as_written=True)


def internal_errors(result: KernelTrace) -> list[str]:
    """Faults of the evaluator's own, which it tells of and goes on."""
    reasons = [*result.notes, *(t.reason for t in result.traces if t.reason is not None)]
    found = {(r.text, r.at.line if r.at else None) for r in reasons if r.code == INTERNAL}
    return [f"internal error in line {line}: {text}" for text, line in sorted(found, key=str)]


def outside(requests: list[Request], result: KernelTrace) -> list[str]:
    """Requests that no row of the traces allows, where lanes and addresses may depend on data.

    A row allows a request when its certain lanes take part, no lane does that it rules out, and the
    addresses agree up to what it leaves open. How often a request happens is not compared. A kernel that used
    up its steps or goes too deep, and says so, has nothing to say of lines that it did not get to.
    """
    wrong: list[str] = []
    stopped = _is_stopped(result)
    seen: set[tuple[Key, Pattern]] = set()
    for r in requests:
        assert r.place is not None
        key = (r.place.line, _op(r.op), r.width, r.name)
        if (key, r.offsets) in seen:
            continue
        seen.add((key, r.offsets))
        here = [t for t in result.traces if (t.site.place.line, _op(t.site.op)) == key[:2]]
        lost = any(
            t.grade is Grade.UNRESOLVED and not t.site.width for t in here
        )  # a pointer to who knows what
        lost = lost or (stopped and not here)
        here = [t for t in here if t.site.width == key[2]]
        traces = [t for t in here if _array(result, t) == key[3]]
        traces += [replace(t, alignment=gcd(t.alignment, ROTATION)) for t in here if _open(result, t)]
        if not lost and not any(one.grade is Grade.UNRESOLVED or _allows(one, r.offsets) for one in traces):
            wrong.append(f"{key}: {_show(Counter({r.offsets: 1}))} is not allowed")
    return wrong


def _round(distance: NDArray[np.int64], active: NDArray[np.bool_], around: int) -> NDArray[np.int64]:
    """Distances of lanes of a ring, as if those that have gone round it had gone on."""
    first = distance[active][0]
    return first + (distance - first) % around


def _open(result: KernelTrace, one: Trace) -> bool:
    """Whether a trace stands for accesses of other arrays too: through a pointer that may lead to several."""
    found = result.arrays.get(one.site.array)
    return found is None or found.escapes


def _allows(one: Trace, pattern: Pattern) -> bool:
    if one.ends is not None:
        return _within(one, pattern)
    active = np.array([o is not None for o in pattern])
    truth = np.array([0 if o is None else o for o in pattern])
    possible = one.offsets >= 0
    maybe = one.maybe if one.maybe is not None else np.zeros_like(possible)
    rows = (possible | ~active).all(axis=1) & (active | ~(possible & ~maybe)).all(axis=1)
    for row in np.flatnonzero(rows):
        distance, alignment = truth - one.offsets[row], one.alignment
        if one.data:
            alignment = gcd(alignment, BANK_CYCLE)  # below 0, an address is counted a turn of the banks on
        if one.parameter is not None:
            slopes = one.parameter.coefficient[row]
            if _alike(slopes[active]):  # the value moves all lanes together
                alignment = gcd(alignment, *map(int, slopes[active][:1]))
            else:
                distance = distance - slopes * _slope(distance, slopes, active)
        if one.shifts.around and alignment:
            alignment = gcd(alignment, one.shifts.around)  # the start may be turns of the ring further on
        if one.shifts.around and one.data:
            distance = distance % BANK_CYCLE  # a ring is whole turns of the banks long
        elif one.shifts.around and active.any():
            distance = _round(distance, active, one.shifts.around)
        step = np.zeros(32, dtype=np.int64)
        ways = [term.options[:, row] for term in one.data if term.options is not None]
        if ways and len(ways) == len(one.data):
            if _one_of(distance, ways[0], active, alignment):
                return True
            continue
        if ways:
            return True  # ways and other data: what they make together is not looked at
        for term in one.data:
            step = np.gcd(step, np.abs(term.coefficient[row]) * term.multiple)
        lanes = active & (step == 0)
        left = distance[lanes]
        if left.size and (left != left[0]).any():
            continue
        base = int(left[0]) if left.size else 0
        if left.size and not _apart(base, alignment, int(one.offsets[possible].min())):
            continue
        rest = (distance - base)[active & (step != 0)]
        steps = step[active & (step != 0)]
        if (rest % np.gcd(steps, alignment)).any():
            continue
        return True
    return False


LIFTED = 64
"""Turns of the banks by which an address below 0 may be counted on."""


def _apart(distance: int, alignment: int, lowest: int) -> bool:
    """Whether a request lies a multiple of `alignment` from where a row has it. lowest: the first byte of all
    rows: what begins within the first turn of the banks may have been counted on from below 0."""
    moved = [distance + turn * BANK_CYCLE for turn in range(LIFTED if lowest < BANK_CYCLE else 1)]
    return any(x % alignment == 0 if alignment else x == 0 for x in moved)


def _within(one: Trace, pattern: Pattern) -> bool:
    """Whether the cost of a request lies between the ends of some row."""
    assert one.ends is not None
    low, high = one.ends
    cost = wavefronts(one.site.op, one.site.width, pattern).wavefronts
    return bool(((low <= cost) & (cost <= high)).any())


def _one_of(distance: np.ndarray, options: np.ndarray, active: np.ndarray, alignment: int) -> bool:
    """Whether each lane's distance is one of its options, up to what all share."""
    first = int(np.flatnonzero(active)[0])
    for base in set((distance[first] - options[:, first]).tolist()):
        possible = base % alignment == 0 if alignment else base == 0
        if possible and ((options == distance - base).any(axis=0) | ~active).all():
            return True
    return False


def _alike(values: np.ndarray) -> bool:
    return not values.size or bool((values == values[0]).all())


def _slope(distance: np.ndarray, coefficient: np.ndarray, active: np.ndarray) -> int:
    """The run-time value that two lanes with different coefficients give away."""
    lanes = np.flatnonzero(active)
    for lane in lanes[1:]:
        run = int(coefficient[lane] - coefficient[lanes[0]])
        if run:
            return int(distance[lane] - distance[lanes[0]]) // run
    return 0


def uncovered(requests: list[Request], result: KernelTrace) -> list[str]:
    """Bytes of an array that a lane touches and no trace shows, or that one shows to be stored without cause.

    Lanes are told apart by their number in the warp, not by warp. Kernels whose traces are not all exact
    have nothing to say.
    """
    if any(one.grade is not Grade.EXACT or one.alignment for one in result.traces):
        return []
    if any(one.site.array not in result.arrays for one in result.traces):
        return []  # which bytes of several arrays a lane touches is not told
    wanted: dict[tuple[str, str], set[tuple[int, int]]] = {}
    shown: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for r in requests:
        touched = wanted.setdefault((r.op, r.name), set())
        touched.update(_bytes(r.offsets, r.width))
    for one in result.traces:
        touched = shown.setdefault((one.site.op, result.arrays[one.site.array].name), set())
        for row in one.offsets.tolist():
            touched.update(_bytes([None if o < 0 else o for o in row], one.joined or one.site.width))
    wrong = []
    for key, touched in wanted.items():
        if key[0] not in ("load", "store"):
            continue
        lost = (
            touched
            - shown.get(key, set())
            - (wanted.get(("store", key[1]), set()) if key[0] == "load" else set())
        )
        if lost:
            wrong.append(f"{key}: {len(lost)} bytes are lost, such as (lane, byte) {min(lost)}")
        if key[0] == "store" and (more := shown.get(key, set()) - touched):
            wrong.append(f"{key}: {len(more)} bytes too many, such as (lane, byte) {min(more)}")
    return wrong


def _bytes(offsets: Sequence[int | None], width: int) -> Iterator[tuple[int, int]]:
    for lane, offset in enumerate(offsets):
        if offset is not None:
            yield from ((lane, offset + i) for i in range(width))
