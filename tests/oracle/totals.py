"""The evaluator's total of each line against what the interpreter's requests cost together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from oracle.run import Request
from smemlint.banks import wavefronts
from smemlint.evaluate import KernelTrace, Trace
from smemlint.score import Conflict
from smemlint.score.site import score

Key = tuple[int, str, int]
"""Line, op and width of plain loads and stores."""

SLACK = 1e-9


def beyond(requests: list[Request], result: KernelTrace) -> list[str]:
    """Lines whose ways lie outside of what is told of them.

    Sites of one kind on one line are taken together: their ways lie between those of the least and the most.
    """
    truth: dict[Key, list[Request]] = defaultdict(list)
    for r in requests:
        assert r.place is not None
        if r.op in ("load", "store") and any(o is not None for o in r.offsets):
            truth[r.place.line, r.op, r.width].append(r)
    told: dict[Key, list[Trace]] = defaultdict(list)
    for one in result.traces:
        told[one.site.place.line, one.site.op, one.site.width].append(one)
    wrong = []
    for key, here in truth.items():
        ends = _ends(map(score, told[key]))
        if ends is None:
            continue
        costs = [wavefronts(r.op, r.width, r.offsets) for r in here]
        ways = sum(c.wavefronts for c in costs) / sum(c.ideal for c in costs)
        if not ends[0] - SLACK <= ways <= ends[1] + SLACK:
            wrong.append(f"{key}: {ways:.3f} ways are not within {ends[0]:.3f} to {ends[1]:.3f}")
    return wrong


def _ends(sites: Iterable[Conflict]) -> tuple[float, float] | None:
    """The least and the most ways of several sites, None where some site has no number."""
    least, most = [], []
    for c in sites:
        if c.ways is None or c.ways_low is None:
            if c.ideal == 0:
                continue
            return None
        least.append(c.ways_low)
        most.append(c.ways)
    return (min(least), max(most)) if least else None
