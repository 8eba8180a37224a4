"""What nvcc does to accesses before it joins any, as passes over the log of one evaluation.

A pass takes a log and what the run noted for it, and gives a log: it changes no entry and asks nothing of the
machine. Joining (`coalesce`, `vectorise`) comes after them, and tells how the rest runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from smemlint.evaluate.compiler import behind_calls, edge, hoist, invariant, selects, sink
from smemlint.evaluate.compiler.log import Entry, Log
from smemlint.evaluate.machine.components import Journal
from smemlint.evaluate.machine.machine import Event, Machine

Pass: TypeAlias = "Callable[[Log, Journal], Log]"


def divide_in_front(log: Log, journal: Journal) -> Log:
    """Put calculations that no round of a loop changes, and which keep accesses apart, in front of it."""
    if all(isinstance(e, Event) or e.front is None for e in log.entries):
        return log
    return Log(sorted(log.entries, key=_order))


def _order(e: Entry) -> float:
    return e.order if isinstance(e, Event) or e.front is None else e.front - 0.5


PIPELINE: tuple[Pass, ...] = (
    divide_in_front,
    edge.drop,
    sink.move,
    selects.merge,
    hoist.lift,
    invariant.move_out,
)


def plain(m: Machine) -> Log:
    """Return the log of a run as the source has it. What blocks at the edge alone run is no part of a site
    that others run."""
    return edge.drop(Log(m.log), m.journal)


def compiled(m: Machine) -> Log:
    """Return the log of a run after all passes."""
    log = Log(m.log)
    for run in PIPELINE:
        log = run(log, m.journal)
    return behind_calls.move(m, log)
