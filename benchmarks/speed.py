"""Where the time goes, as ratios taken in one run: stages, milliseconds a file, and start-up.

    python benchmarks/speed.py [PATH...] [--repeat N] [--json OUT]

PATH defaults to the fixtures. Stages are timed by wrapping the function that each layer offers to the next,
in this process, one file after the other; each file is taken at its fastest of N. Ratios travel between
machines, times do not.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STAGES: tuple[tuple[str, str, str], ...] = (
    ("read", "smemlint.running.pipeline", "source_of"),
    ("parse", "smemlint.frontend", "parse_unit"),
    ("lower", "smemlint.frontend", "lower"),
    ("coverage", "smemlint.running.pipeline", "load"),
    ("launch", "smemlint.running.instances", "infer"),
    ("evaluate", "smemlint.running.instances", "evaluate"),
    ("score", "smemlint.running.instances", "score_all"),
    ("fix", "smemlint.fix.suggest", "suggest"),
    ("explain", "smemlint.running.reports", "observe"),
)
"""What is timed: a name, and the function by the name that its caller knows. `load` is what is left of the
front end when parsing and lowering are taken out."""


class Clock:
    """Time spent inside wrapped functions, each less what it spent in wrapped functions that it called."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._open: list[float] = []

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*arguments: Any, **keywords: Any) -> Any:
            start = time.process_time()
            self._open.append(0.0)
            try:
                return function(*arguments, **keywords)
            finally:
                taken = time.process_time() - start
                self.spent[name] += taken - self._open.pop()
                if self._open:
                    self._open[-1] += taken

        return timed


CLEAN = """__global__ void scale(float* out, const float* in) {
  __shared__ float tile[256];
  int t = threadIdx.x;
  tile[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  out[blockIdx.x * 256 + t] = 2.0f * tile[255 - t];
}
void run(float* a, float* b) { scale<<<8, 256>>>(a, b); }
"""


def start_up(repeat: int) -> dict[str, float]:
    """Computing seconds of whole processes, fastest of `repeat` each, taken in turn."""
    beside = str(Path(sys.executable).with_name("smemlint"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "clean.cu"
        path.write_text(CLEAN)
        calls = {
            "Python that does nothing": [sys.executable, "-c", "pass"],
            "Python and numpy": [sys.executable, "-c", "import numpy"],
            "smemlint --help": [beside, "--help"],
            "a clean kernel, --no-cache": [beside, "check", "--no-cache", str(path)],
            "the same from the cache": [beside, "check", str(path)],
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(repeat + 1):  # the first ones write what is kept
            for name, call in calls.items():
                times[name].append(computing(call))
    return {name: min(each[1:]) for name, each in times.items()}


def computing(call: Sequence[str]) -> float:
    """What a process and its children take of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(call, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "fixtures"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)

    from smemlint.api import Job, analyse_file, collect
    from smemlint.render import full

    clock = Clock()
    for stage, module_name, function in STAGES:
        module = import_module(module_name)
        setattr(module, function, clock.wrap(stage, getattr(module, function)))

    files = sorted(f for p in options.paths for f in (p.rglob("*.cu") if p.is_dir() else [p]))
    analyse_file(Job(str(files[0])))
    clock.spent.clear()
    times: dict[str, float] = {}
    whole = clock.wrap("the rest", lambda job: render(collect([analyse_file(job)])))
    render = clock.wrap("render", full.render)
    for file in files:
        runs = []
        for _ in range(options.repeat):
            start = time.process_time()
            whole(Job(str(file)))
            runs.append(time.process_time() - start)
        times[str(file)] = min(runs)

    everything = sum(clock.spent.values())
    shares = {name: spent / everything for name, spent in clock.spent.items()}
    started = start_up(max(options.repeat, 9))
    numpy = started["Python and numpy"]
    print(
        f"{len(files)} files: median {1000 * statistics.median(times.values()):.1f} ms, "
        f"longest {1000 * max(times.values()):.1f} ms ({max(times, key=lambda f: times[f])})"
    )
    for name, share in sorted(shares.items(), key=lambda item: -item[1]):
        print(f"  {name:<20} {100 * share:5.1f} %")
    print("start-up, computing time, and as a multiple of Python with numpy:")
    for name, taken in started.items():
        print(f"  {name:<28} {1000 * taken:4.0f} ms {taken / numpy:5.2f}")
    if options.json:
        options.json.write_text(
            json.dumps({"shares": shares, "seconds": times, "start_up": started}, indent=1)
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
