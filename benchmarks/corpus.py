"""How smemlint fares on whole repositories: what it sees, what it resolves, and what it cannot tell.

    python benchmarks/corpus.py DIR... [--reasons CODE] [--unseen] [--json OUT] [-j N]

Each file that mentions shared memory is analysed by itself, in a worker process with the linter's own time
and memory budgets; a crash is a line in the report. Times are computing time. Coverage is checked against a
count that shares nothing with the linter: lines of the file that subscript a name declared `__shared__`, in
whatever `#if`.
`--reasons CODE` lists the sites behind one reason, `--unseen` the lines that no site stands on.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SUFFIXES = {".cu", ".cuh", ".h", ".hpp", ".inl"}
SHARED = re.compile(r"\b__shared__\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
DECLARED = re.compile(r"\b__shared__\b([^;={}]*)[;=]")
BRACKETS = re.compile(r"\[[^\[\]]*\]")


@dataclass(slots=True)
class FileResult:
    """One file. accesses: place, op, expression, grade, reason code and text, low, high; each site once."""

    path: str
    seconds: float = 0.0
    problem: str = ""
    accesses: list[list[Any]] = field(default_factory=list)
    kernels: int = 0
    unparsed: list[list[Any]] = field(default_factory=list)
    rules: dict[str, int] = field(default_factory=dict)
    textual: list[int] = field(default_factory=list)
    unseen: list[int] = field(default_factory=list)


def candidates(root: Path) -> Iterator[Path]:
    """The files below a folder that a kernel with shared memory may stand in."""
    for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
        if path.suffix in SUFFIXES and path.is_file() and ".git" not in path.parts:
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            if SHARED.search(text):
                yield path


def analyse(paths: Sequence[Path], seconds: float, processes: int, fixes: bool) -> Iterator[FileResult]:
    """The result of each file, as they are done. What goes wrong with a file is its `problem`."""
    from smemlint.api import Job, Options, collect
    from smemlint.api import analyse as run
    from smemlint.render.inspect import render_json

    jobs = [Job(str(path), Options(suggest=fixes), seconds=seconds) for path in paths]
    for index, found in run(jobs, processes=processes):
        collected = collect([found])
        result = read(paths[index], json.loads(render_json(collected)))
        result.seconds, result.rules = found.seconds, dict(collected.summary.rules)
        yield result


def read(path: Path, data: dict[str, Any]) -> FileResult:
    """One file's result from what `smemlint inspect` says of it."""
    textual = subscripts(path.read_text(encoding="utf-8", errors="replace"))
    accesses = [a for kernel in data["kernels"] for a in kernel["accesses"]]
    here = {a["line"] for a in accesses if Path(a["path"]).resolve() == path.resolve()}
    return FileResult(
        str(path),
        problem="; ".join(e["message"] for e in data.get("errors", [])),
        accesses=sites(data),
        kernels=len({(k["path"], k["line"]) for k in data["kernels"]}),
        unparsed=[[u["path"], u["line"], u["reason"], u.get("text", "")] for u in data["unparsed"]],
        textual=textual,
        unseen=[line for line in textual if line not in here],
    )


def subscripts(text: str) -> list[int]:
    """Lines that subscript a name that the text declares `__shared__`, its declaration left out."""

    def blank(match: re.Match[str]) -> str:
        return "\n" * match.group().count("\n")

    lines = COMMENT.sub(blank, text).split("\n")
    names: set[str] = set()
    for declaration in DECLARED.findall("\n".join(lines)):
        names.update(re.findall(r"(\w+)\s*@", BRACKETS.sub("@", declaration)))
    if not names:
        return []
    use = re.compile(rf"(?<![\w.>&])(?:{'|'.join(sorted(names))})\s*\[")
    return [n for n, line in enumerate(lines, 1) if use.search(line) and not SHARED.search(line)]


GRADES = ("exact", "bound", "parametric", "assumed", "unresolved")


def sites(report: dict[str, Any]) -> list[list[Any]]:
    """Each site once, with the least sure grade of its instances."""
    found: dict[tuple[Any, ...], list[Any]] = {}
    for kernel in report["kernels"]:
        for a in kernel["accesses"]:
            place = (a["path"], a["line"], a["column"], a["op"])
            code, _, text = (a["reason"] or "").partition(": ")
            entry = [f"{a['path']}:{a['line']}", a["op"], a["expression"], a["grade"], code, text]
            ideal = a["ideal"] or 0
            entry += [
                a["wavefronts_low"] / ideal if ideal else None,
                a["wavefronts"] / ideal if ideal else None,
            ]
            known = found.get(place)
            if known is None or GRADES.index(entry[3]) > GRADES.index(known[3]):
                found[place] = entry
    return list(found.values())


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def report(name: str, files: Sequence[FileResult], seconds: float) -> str:
    """What people read first: failures, coverage, grades, reasons, times."""
    grades = Counter(a[3] for f in files for a in f.accesses)
    total = sum(grades.values())
    reasons = Counter(a[4] or "-" for f in files for a in f.accesses if a[3] == "unresolved")
    lost = Counter(u[2].split(":")[0] for f in files for u in f.unparsed)
    failed = [f for f in files if f.problem]
    textual = sum(len(f.textual) for f in files)
    seen = textual - sum(len(f.unseen) for f in files)
    conflicts = sum(a[6] is not None and a[6] > 1.05 for f in files for a in f.accesses)
    times = sorted(f.seconds for f in files) or [0.0]
    resolved = total - grades["unresolved"]
    out = [
        f"## {name}",
        f"files with shared memory: {len(files)}, failed: {len(failed)}, "
        f"kernels: {sum(f.kernels for f in files)}",
        f"lines that subscript a shared name: {textual}, with a site: {seen} ({percent(seen, textual)}); "
        f"reported as unparsed: {sum(len(f.unparsed) for f in files)}",
        f"sites: {total}, resolved: {resolved} ({percent(resolved, total)}), conflicted: {conflicts}",
        "  " + ", ".join(f"{g}: {grades[g]} ({percent(grades[g], total)})" for g in GRADES),
        f"time: {seconds:.1f} s in all; a file: median {statistics.median(times):.2f} s, "
        f"95 % {times[int(0.95 * (len(times) - 1))]:.2f} s, longest {times[-1]:.2f} s",
    ]
    rules = sum((Counter(f.rules) for f in files), Counter[str]())
    out += [f"  findings   {n:6} {code}" for code, n in sorted(rules.items())]
    out += [f"  unresolved {n:6} {code}" for code, n in reasons.most_common(25)]
    out += [f"  unparsed   {n:6} {why}" for why, n in lost.most_common(10)]
    out += [f"  failed: {f.path}: {f.problem[:160]}" for f in failed[:30]]
    slowest = sorted(files, key=lambda f: -f.seconds)[:5]
    out += [f"  slow: {f.seconds:6.2f} s {f.path}" for f in slowest if f.seconds > 2]
    return "\n".join(out)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument(
        "--reasons", metavar="CODE", help="list the sites that are unresolved for this reason"
    )
    parser.add_argument("--unseen", action="store_true", help="list the lines that no site stands on")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds a file may take")
    parser.add_argument(
        "--fixes", action="store_true", help="look for fixes as well, as `smemlint check` does"
    )
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every Nth file")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write every site here")
    options = parser.parse_args(arguments)
    everything: list[FileResult] = []
    start_of_all = time.perf_counter()
    for folder in options.folders:
        start = time.perf_counter()
        paths = list(candidates(folder.resolve()))[:: options.sample]
        files = list(analyse(paths, options.timeout, options.jobs, options.fixes))
        everything += files
        print(report(folder.name, files, time.perf_counter() - start), flush=True)
    if len(options.folders) > 1:
        print(report("all", everything, time.perf_counter() - start_of_all))
    if options.reasons:
        for file in everything:
            for a in file.accesses:
                if a[3] == "unresolved" and a[4] == options.reasons:
                    print(f"{file.path} {a[0]} {a[1]} {a[2]!r}: {a[5]}")
    if options.unseen:
        for file in everything:
            for line in file.unseen:
                print(f"unseen {file.path}:{line}")
    if options.json:
        options.json.write_text(json.dumps([asdict(f) for f in everything], indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
