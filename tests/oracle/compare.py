"""The evaluator's traces against the interpreter's requests, access by access."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from oracle.run import Request
from smemlint.evaluate import Grade, KernelTrace, Trace

Key = tuple[int, str, int, str]
"""Line, op, width, array: all accesses of one kind that stand on one line."""

Pattern = tuple["int | None", ...]


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
        key = (r.place.line, r.op, r.width, result.arrays[r.array].name if r.array in result.arrays else "?")
        truth.setdefault(key, Counter())[r.offsets] += 1
    traces: dict[Key, list[Trace]] = {}
    for trace in result.traces:
        site = trace.site
        array = result.arrays[site.array].name if site.array in result.arrays else "?"
        traces.setdefault((site.place.line, site.op, site.width, array), []).append(trace)
    outcome = Comparison()
    for key in {**truth, **traces}:
        _compare_key(key, truth.get(key, Counter()), traces.get(key, []), outcome)
    return outcome


def _compare_key(key: Key, wanted: Counter[Pattern], traces: list[Trace], outcome: Comparison) -> None:
    if wanted and not traces:
        outcome.wrong.append(f"{key}: {wanted.total()} requests, never seen")
        return
    loose = [t for t in traces if t.grade is not Grade.EXACT]
    if loose:
        reason = loose[0].reason
        outcome.open[key] = f"{loose[0].grade.value}: {reason.code + ': ' + reason.text if reason else ''}"
        return
    rotate = any(t.alignment for t in traces)
    found: Counter[Pattern] = Counter()
    for trace in traces:
        for offsets, weight in zip(trace.offsets.tolist(), trace.weights.tolist(), strict=True):
            found[tuple(None if o < 0 else o for o in offsets)] += weight
    if rotate:
        step = int(np.gcd.reduce([t.alignment for t in traces]))
        wanted, found = _unrotated(wanted, step), _unrotated(found, step)
    if wanted == found:
        outcome.exact += 1
        return
    missing, extra = wanted - found, found - wanted
    outcome.wrong.append(f"{key}: {_show(missing)} expected, {_show(extra)} found")


def _unrotated(patterns: Counter[Pattern], step: int) -> Counter[Pattern]:
    """Patterns up to a common multiple of `step`."""
    result: Counter[Pattern] = Counter()
    for pattern, count in patterns.items():
        first = next((o for o in pattern if o is not None), 0)
        base = first - first % step
        result[tuple(None if o is None else o - base for o in pattern)] += count
    return result


def _show(patterns: Counter[Pattern]) -> str:
    if not patterns:
        return "nothing more"
    pattern, count = next(iter(patterns.items()))
    text = " ".join("-" if o is None else str(o) for o in pattern)
    return f"{patterns.total()} requests, such as {count} x [{text}]"
