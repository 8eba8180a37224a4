"""In what order the launches of a file are analysed, and how far: a file has a number of evaluation steps.

Each kernel's first launch comes before any second one, so that a file with many instances is known in all its
kernels. Then those come first that cost least: what a kernel has taken, times how often it would have run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from smemlint.evaluate import Budget
from smemlint.ir import Function, Launch, Module
from smemlint.records import record
from smemlint.score import KernelAnalysis

WORK = 500_000
"""Evaluation steps of a file after which only launches of kernels that had none yet are analysed."""
SHARE = 20_000
"""Evaluation steps that each of them has all the same."""


@record(frozen=True, slots=True)
class Ends:
    """Computing times of the process at which a stage is ended, where the counts have not ended it before."""

    reading: float
    """No other file is read for what it launches."""
    host: float
    kernels: float
    fixes: float

    @staticmethod
    def of(began: float, seconds: float) -> Ends:
        """seconds: what a file may take before it is given up."""
        return Ends(*(began + share * seconds for share in (0.075, 0.14, 0.2, 0.22)))


@record(frozen=True, slots=True, eq=False)
class Begun:
    """A kernel that is to be analysed under a launch. rank: when, among all of the kernel; touching: it may
    use shared memory; spare: the launch is one more candidate for a shape."""

    module: Module
    kernel: Function
    launch: Launch
    rank: int
    touching: bool
    spare: bool


def ranked(module: Module, kernel: Function, launches: Sequence[Launch], *, touching: bool) -> list[Begun]:
    """A kernel under all its launches. The last one comes second: between the ends of a list of sizes there
    is little news."""
    ranks = [0, *range(2, len(launches)), 1][: len(launches)]
    return [
        Begun(module, kernel, launch, rank, touching, _spare(launches, i))
        for i, (rank, launch) in enumerate(zip(ranks, launches, strict=True))
    ]


def _spare(launches: Sequence[Launch], at: int) -> bool:
    """Whether a launch is one more candidate for the block shape of an instance."""
    here = launches[at]
    return here.assumed and any(x.template == here.template for x in launches[:at])


def in_turn(
    begun: Sequence[Begun],
    analyse: Callable[[Begun, Budget], tuple[Sequence[KernelAnalysis], int]],
    leave: Callable[[Begun, str], KernelAnalysis],
    until: float,
) -> list[KernelAnalysis]:
    """The analyses, in the order of `begun`.

    analyse: gives the steps that it took too. leave: what stands for a launch that is left out, '' where
    there is nothing to analyse, else the code of the reason. until: computing time at which all ends.
    """
    done: dict[int, Sequence[KernelAnalysis]] = {}
    cost: dict[int, int] = {}
    work = 0

    def take(b: Begun) -> None:
        nonlocal work
        over = work >= WORK and b.rank > 0
        if not b.touching:
            done[id(b)] = [leave(b, "")]
        elif over or time.process_time() > until:
            done[id(b)] = [] if b.spare else [leave(b, "budget" if over else "time")]
        else:
            budget = Budget(steps=min(max(WORK - work, SHARE), Budget().steps), until=until)
            done[id(b)], spent = analyse(b, budget)
            cost.setdefault(id(b.kernel), spent)
            work += spent

    for b in begun:
        if b.rank == 0:
            take(b)
    further = [b for b in begun if b.rank > 0]
    for b in sorted(further, key=lambda b: (cost.get(id(b.kernel), 0) * b.rank, b.rank)):
        take(b)
    return [analysis for b in begun for analysis in done[id(b)]]
