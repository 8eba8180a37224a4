"""Random kernels with any seed: `python -m oracle 1000 7`, from the folder above.

Kernel I of a seed is the same in every run and on every machine: `python -m oracle 1 7 --first I` repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from oracle.checks import CHECKS
from oracle.drawing import Dice, Program
from oracle.values import UndefinedError

SHOWN = 10
TURNS = (
    *CHECKS,
    *(
        name
        for name in CHECKS
        if name.startswith(
            ("ordinary", "wider", "odd", "library", "loops", "real", "everyday", "production", "sized")
        )
    ),
)
"""What is checked in turn: ordinary C++ comes twice as often as the rest."""


@dataclass(slots=True)
class Result:
    """Of one kernel. fault: '' where nothing disagrees, else all that is needed to look at it."""

    check: str
    counts: Counter[str] = field(default_factory=Counter)
    fault: str = ""


def one(seed: str, names: tuple[str, ...], number: int) -> Result:
    """Kernel `number` of a seed; what it draws that C++ leaves undefined is drawn again."""
    check = CHECKS[names[number % len(names)]]
    dice = Dice(f"{seed}:{number}")
    result = Result(check.name)
    while True:
        program = check.draw(dice)
        try:
            outcome = check.run(program)
        except UndefinedError:
            result.counts["undefined"] += 1
            continue
        except Exception:
            result.fault = _shown(program, number, check.name, traceback.format_exc())
            return result
        result.counts.update(exact=outcome.exact, open=len(outcome.open))
        if outcome.wrong:
            result.fault = _shown(program, number, check.name, "\n".join(outcome.wrong))
        return result


def _shown(program: Program, number: int, check: str, text: str) -> str:
    listing = "\n".join(f"{i:4} {line}" for i, line in enumerate(program.text.splitlines(), 1))
    more = "".join(f", {name} {value}" for name, value in program.more.items())
    started = f"block {program.block}, n {program.n}{more}, blockIdx.x {program.block_index}"
    template = f", BM {program.bm}, T {program.type}" if program.bm else ""
    return f"kernel {number} ({check}), {started}{template}\n{listing}\n{text}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="oracle", description=__doc__)
    parser.add_argument("count", type=int, help="kernels")
    parser.add_argument("seed", help="any text")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="number of the first kernel")
    parser.add_argument("--check", action="append", choices=CHECKS, help="only these (default: all in turn)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    arguments = parser.parse_args()
    names = tuple(arguments.check or TURNS)
    numbers = range(arguments.first, arguments.first + arguments.count)
    run = partial(one, arguments.seed, names)
    begun = time.monotonic()
    if arguments.jobs == 1:
        return report(map(run, numbers), begun)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        return report(pool.map(run, numbers, chunksize=8), begun)


def report(results: Iterable[Result], begun: float) -> int:
    """Print the first faults and a line for each check; 1 where something disagrees."""
    kernels: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    counts: dict[str, Counter[str]] = {}
    for result in results:
        kernels[result.check] += 1
        counts.setdefault(result.check, Counter()).update(result.counts)
        if result.fault:
            faults[result.check] += 1
            if faults.total() <= SHOWN:
                print(result.fault, end="\n\n", flush=True)
    for check, n in kernels.items():
        found = counts[check]
        print(
            f"{check:8} {n:7} kernels, {faults[check]} disagree; {found['exact']} accesses exact, "
            f"{found['open']} open; {found['undefined']} drawn again"
        )
    print(f"{kernels.total()} kernels, {faults.total()} disagree; {time.monotonic() - begun:.0f} s")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
