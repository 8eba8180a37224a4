"""The evaluator's traces against the interpreter's requests, access by access."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from unittest import mock

import numpy as np

from oracle.run import Request
from smemlint.evaluate import Grade, KernelTrace, Trace, evaluate, trace
from smemlint.evaluate.machine import Machine
from smemlint.evaluate.widen import Runs
from smemlint.ir import Function, Launch, Module

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
        key = (r.place.line, r.op, r.width, r.name)
        truth.setdefault(key, Counter())[r.offsets] += 1
    traces: dict[Key, list[Trace]] = {}
    for one in result.traces:
        site = one.site
        array = result.arrays[site.array].name if site.array in result.arrays else "?"
        traces.setdefault((site.place.line, site.op, site.width, array), []).append(one)
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
    for one in traces:
        for offsets, weight in zip(one.offsets.tolist(), one.weights.tolist(), strict=True):
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


def evaluate_as_written(module: Module, kernel: Function, launch: Launch) -> KernelTrace:
    """The evaluator's answer before neighbouring accesses are joined into wider ones."""
    with mock.patch.object(trace, "widened", _alone):
        return evaluate(module, kernel, launch)


def _alone(machine: Machine) -> dict[int, Runs]:
    return {id(site): Runs(alone=list(site.events)) for site in machine.sites.values()}
