"""What a first run costs: computing time of one run without the cache over bare parses of the same files.

    python benchmarks/cold.py CORPUS [--sample N] [--stages] [--profile OUT] [--json OUT]
    python benchmarks/cold.py CORPUS --choose N [--seed S]

CORPUS holds checkouts of the public repositories of cold_files.txt, as OWNER+NAME. All figures are computing
time of processes, so that other work on the machine moves them little, and the ratio hardly at all.

bare: in one process, libclang parses each file once, with the options that smemlint gives it. run: what
`smemlint check -j 1 --no-cache` does with all of them. `--stages` and `--profile` run in this process and
tell where the time goes. `--choose` writes a new list: files with shared memory, two of a repository at most.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import random
import re
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("cold_files.txt")
SHARED = re.compile(rb"\b__shared__\b")
EACH = 2
"""Files of one repository at most."""
SECONDS = 600.0
"""What a file may take, as the command has it."""


def chosen(corpus: Path, number: int, seed: int) -> list[str]:
    """Return `OWNER/NAME PATH` of files with shared memory, in a random order that the seed fixes."""
    found: list[str] = []
    for root in sorted(p for p in corpus.iterdir() if p.is_dir()):
        own = []
        for path in sorted(root.rglob("*.cu*")):
            inside = path.relative_to(root)
            usual = path.suffix in (".cu", ".cuh") and " " not in str(inside) and ".git" not in path.parts
            if usual and path.is_file() and not path.is_symlink() and SHARED.search(path.read_bytes()):
                own.append(f"{root.name.replace('+', '/', 1)} {inside.as_posix()}")
        random.Random(f"{seed} {root.name}").shuffle(own)
        found += own[:EACH]
    random.Random(seed).shuffle(found)
    return found[:number]


def listed(corpus: Path) -> list[Path]:
    """Return the paths of the list that lie in the corpus; tell what is missing."""
    lines = [line.split(" ", 1) for line in LIST.read_text("utf-8").splitlines() if line[:1] not in ("", "#")]
    paths = [corpus / repository.replace("/", "+", 1) / path for repository, path in lines]
    for path in paths:
        if not path.is_file():
            print(f"not there: {path}", file=sys.stderr)
    return [path for path in paths if path.is_file()]


def bare(paths: Sequence[str]) -> dict[str, float]:
    """Parse each file once; return seconds by file. The prelude is compiled before."""
    from smemlint.frontend import parse
    from smemlint.frontend.project.options import ParseOptions, options_for
    from smemlint.source import read_source

    seconds: dict[str, float] = {}
    for path in (paths[0], *paths):
        source = read_source(path)
        options = options_for(path, ParseOptions())
        attempt = parse._Attempt(source, path, options, parse._planned(source, path, options, ()), ())
        with spent_in(parse.clang_index(), "parse") as spent:
            if attempt.parse("") is None:
                print(f"{path}: clang gives up on it", file=sys.stderr)
        seconds[path] = sum(spent)
    return seconds


@contextmanager
def spent_in(owner: Any, name: str) -> Iterator[list[float]]:
    """Collect the computing time of each call of one function."""
    real, spent = getattr(owner, name), []

    def timed(*arguments: Any, **keywords: Any) -> Any:
        start = time.process_time()
        try:
            return real(*arguments, **keywords)
        finally:
            spent.append(time.process_time() - start)

    setattr(owner, name, timed)
    try:
        yield spent
    finally:
        setattr(owner, name, real)


def whole(paths: Sequence[str]) -> dict[str, Any]:
    """Check all files as the command does; return seconds by file, steps, and counts of accesses."""
    from smemlint.api import Job, analyse, collect
    from smemlint.render import render

    reports = dict(analyse([Job(path, seconds=SECONDS) for path in paths]))
    ordered = [reports[i] for i in sorted(reports)]
    report = collect(ordered)
    render("json", report)
    return {
        "seconds": {path: r.seconds for path, r in zip(paths, ordered, strict=True)},
        "problems": [f"{p.path}: {p.message}" for p in report.problems],
        "accesses": report.summary.accesses,
        "resolved": report.summary.resolved,
        "ranges": report.summary.ranges,
        "reasons": dict(report.summary.reasons),
    }


def in_child(task: Callable[[Sequence[str]], Any], paths: Sequence[str]) -> tuple[Any, float, int]:
    """Run a task in a fresh process: its result, computing time of it and its children, peak KiB of one."""
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(task, list(paths), there))
    child.start()
    there.close()
    result = here.recv()
    child.join()
    return result


def _child(task: Callable[[Sequence[str]], Any], paths: list[str], pipe: Any) -> None:
    result = task(paths)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    pipe.send((result, sum(u.ru_utime + u.ru_stime for u in used), max(u.ru_maxrss for u in used)))


STAGES: tuple[tuple[str, str, str], ...] = (
    ("read", "smemlint.running.pipeline", "source_of"),
    ("configurations, coverage", "smemlint.running.pipeline", "load"),
    ("parse", "smemlint.frontend.parse", "_Attempt.parse"),
    ("include plan", "smemlint.frontend.parse", "_planned"),
    ("problems", "smemlint.frontend.parse", "_problems"),
    ("heal", "smemlint.frontend.heal.heal", "Healing.learn"),
    ("lower", "smemlint.frontend", "lower"),
    ("callers", "smemlint.running.others", "load_callers"),
    ("users", "smemlint.running.instances", "users_of"),
    ("host", "smemlint.running.instances", "program_of"),
    ("infer", "smemlint.running.instances", "infer"),
    ("evaluate", "smemlint.running.instances", "evaluate"),
    ("score", "smemlint.running.instances", "score_all"),
    ("fix search", "smemlint.fix.suggest", "suggest"),
    ("unreached", "smemlint.running.pipeline", "with_unreached"),
    ("explain", "smemlint.running.reports", "observe"),
    ("collect, render", "smemlint.api", "collect"),
)
"""What is timed: a name, and the function by the name that its caller knows."""
MAKERS = (
    ("proof", "smemlint.running.pipeline", "again"),
    ("whole proof", "smemlint.running.pipeline", "_from_nothing"),
)
"""Functions that make what is timed."""
OUTER = ("callers", "proof", "whole proof")
"""Stages that run others, which are counted under their names."""


class Stages:
    """Time spent inside of wrapped functions, less what it spent in others, and how often each was called."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()
        self._open: list[tuple[str, float]] = []
        self._mark = time.process_time()

    def _lap(self) -> None:
        now = time.process_time()
        if self._open:
            self.spent[self._name()] += now - self._mark
        self._mark = now

    def _name(self) -> str:
        outer = [name for name, _ in self._open[:-1] if name in OUTER]
        return ": ".join((*outer[-1:], self._open[-1][0]))

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **keywords: Any) -> Any:
            self._lap()
            self._open.append((name, 0.0))
            self.calls[self._name()] += 1
            try:
                return function(*arguments, **keywords)
            finally:
                self._lap()
                self._open.pop()

        return timed

    def install(self) -> None:
        import_module("smemlint.running.reports")
        for name, module, path in STAGES:
            owner: Any = import_module(module)
            *outer, attribute = path.split(".")
            for part in outer:
                owner = getattr(owner, part)
            setattr(owner, attribute, self.wrap(name, getattr(owner, attribute)))
        for name, module, path in MAKERS:
            owner = import_module(module)
            setattr(owner, path, self._made(name, getattr(owner, path)))

    def _made(self, name: str, maker: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **keywords: self.wrap(name, maker(*arguments, **keywords))

    def told(self, files: int) -> str:
        everything = sum(self.spent.values())
        lines = [f"stages ({everything:.1f} s in all), share, calls a file"]
        for name, spent in sorted(self.spent.items(), key=lambda item: -item[1]):
            lines.append(f"  {name:<34} {100 * spent / everything:5.1f} % {self.calls[name] / files:8.2f}")
        return "\n".join(lines)


def stages(paths: Sequence[str], profile: Path | None) -> str:
    """Run all files in this process, and tell where the time went."""
    from smemlint import api

    clock = Stages()
    clock.install()
    profiler = cProfile.Profile() if profile else None
    if profiler:
        profiler.enable()
    reports = [clock.wrap("the rest", api.analyse_file)(api.Job(path, seconds=SECONDS)) for path in paths]
    api.collect(reports)
    if profiler and profile:
        profiler.disable()
        profiler.dump_stats(profile)
    return clock.told(len(paths))


def percentile(times: Sequence[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--choose", type=int, metavar="N", help="write a list of N files and end")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth file alone")
    parser.add_argument("--stages", action="store_true", help="tell where the time goes")
    parser.add_argument("--profile", type=Path, metavar="OUT", help="with --stages: what cProfile saw")
    parser.add_argument("--json", type=Path, metavar="OUT")
    options = parser.parse_args(arguments)
    corpus = options.corpus.resolve()
    if options.choose:
        head = f"# --choose {options.choose} --seed {options.seed}: public repository, file\n"
        LIST.write_text(head + "\n".join(chosen(corpus, options.choose, options.seed)) + "\n", "utf-8")
        return 0
    paths = [str(path) for path in listed(corpus)][:: options.sample]
    if options.stages:
        print(stages(paths, options.profile))
        return 0
    parsed, _, _ = in_child(bare, paths)
    found, used, peak = in_child(whole, paths)
    times = found["seconds"]
    floor = sum(parsed.values())
    spread = ", ".join(
        f"{name} {percentile(list(times.values()), share):.2f} s"
        for name, share in (("median", 0.5), ("90 %", 0.9), ("95 %", 0.95), ("longest", 1.0))
    )
    print(f"{len(paths)} files: bare {floor:.2f} s, run {used:.1f} s, ratio {used / floor:.1f}")
    print(f"a file: {spread}; worker {peak / 1024:.0f} MB")
    print(
        f"accesses {found['accesses']}, resolved {found['resolved']}, ranges {found['ranges']}, "
        f"unresolved {sum(found['reasons'].values())} {found['reasons']}"
    )
    for path in sorted(times, key=lambda p: -times[p])[:12]:
        print(f"  {times[path]:6.2f} s  {os.path.relpath(path, corpus)}")
    print(*found["problems"], sep="\n", end="\n" if found["problems"] else "")
    if options.json:
        options.json.write_text(json.dumps({"bare": parsed, "used": used, **found}, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
