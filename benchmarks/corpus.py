"""How smemlint fares on whole repositories: what it sees, what it resolves, and what it cannot tell.

    python benchmarks/corpus.py DIR... [--reasons CODE] [--unseen] [--json OUT] [-j N]

Each file with shared memory or a launch is analysed in a worker process with the linter's own time and memory
budgets; a crash is a line in the report. Times are computing time. What the files of a folder say is brought
together as `smemlint inspect DIR` does: a kernel in a header is known by launches elsewhere. Coverage is
checked against a count that shares nothing with the linter: lines of the file that subscript a name while a
`__shared__` declaration of it is in scope, in whatever `#if`. A line counts as seen when an access stands
there or is made by a function that is called there: what is passed by reference is accessed in the function,
and listed there, wherever among the arguments it stands.
`--reasons CODE` lists the sites behind one reason, `--unseen` the lines that no site stands on.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SUFFIXES = {".cu", ".cuh", ".h", ".hpp", ".inl"}
SHARED = re.compile(r"\b__shared__\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
DECLARED = re.compile(r"\b__shared__\b([^;={}]*)[;=]")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
REDECLARED = re.compile(r"[(,;{}]\s*(?:const\s+)?(?:unsigned\s+)?[A-Za-z_]\w*\s+[*&]?\s*$")
"""What stands before a name that is declared there, as a parameter (`T data[N]`) or a variable."""
NOT_A_TYPE = re.compile(r"\b(?:return|else|case|throw|delete|goto)\s+$")
ADDRESS = re.compile(r"[(,=)]\s*&\s*\(\s*$")
"""`&(s[i].x)`: as `&s[i]`, no access by itself."""
BRANCH = re.compile(r"^[ \t]*#[ \t]*(if|else|elif|endif)", re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", re.MULTILINE)
BRACKETS = re.compile(r"\[[^\[\]]*\]")


@dataclass(slots=True)
class FileResult:
    """One file: its time, what went wrong, the lines that subscript shared names, those without a site."""

    path: str
    seconds: float = 0.0
    problem: str = ""
    shared: bool = True
    textual: list[int] = field(default_factory=list)
    unseen: list[int] = field(default_factory=list)


@dataclass(slots=True)
class RepositoryResult:
    """One folder. accesses: place, op, expression, grade, reason code and text, low, high; each site once."""

    name: str
    files: list[FileResult] = field(default_factory=list)
    accesses: list[list[Any]] = field(default_factory=list)
    kernels: int = 0
    unparsed: list[list[Any]] = field(default_factory=list)
    rules: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


def candidates(root: Path) -> Iterator[Path]:
    """The files below a folder with shared memory, or with a launch: it may be of a header's kernel."""
    for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
        if path.suffix in SUFFIXES and path.is_file() and ".git" not in path.parts:
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            if SHARED.search(text) or "<<<" in text:
                yield path


def analyse(
    name: str, paths: Sequence[Path], *, seconds: float = 40.0, processes: int = 1, fixes: bool = False
) -> RepositoryResult:
    """The files of one folder, analysed and brought together. What goes wrong is a file's `problem`."""
    from smemlint.api import Job, Options, collect
    from smemlint.api import analyse as run
    from smemlint.render.inspect import render_json

    start = time.perf_counter()
    jobs = [Job(str(path), Options(suggest=fixes), seconds=seconds) for path in paths]
    reports = dict(run(jobs, processes=processes))
    collected = collect([reports[i] for i in sorted(reports)])
    result = read(name, paths, json.loads(render_json(collected)))
    result.rules = dict(collected.summary.rules)
    for index, file in enumerate(result.files):
        file.seconds = reports[index].seconds
        file.problem = "; ".join(p.message for p in reports[index].problems)
    result.seconds = time.perf_counter() - start
    return result


def read(name: str, paths: Sequence[Path], data: dict[str, Any]) -> RepositoryResult:
    """A folder's result from what `smemlint inspect` says of it."""
    listed: dict[Path, set[int]] = {}
    called: dict[Path, set[int]] = {}
    for kernel in data["kernels"]:
        for a in kernel["accesses"]:
            listed.setdefault(Path(a["path"]), set()).add(a["line"])
            for call in a.get("calls", ()):
                listed.setdefault(Path(call["path"]), set()).add(call["line"])
                called.setdefault(Path(call["path"]), set()).add(call["line"])
    lines: dict[Path, set[int]] = {}
    for path, here in listed.items():
        lines.setdefault(path.resolve(), set()).update(here)
    calls: dict[Path, set[int]] = {}
    for path, here in called.items():
        calls.setdefault(path.resolve(), set()).update(here)
    files = []
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        uses = subscripts(text)
        textual = sorted(uses)
        here, there = lines.get(path.resolve(), set()), calls.get(path.resolve(), set())
        # A copy over two lines counts on the second, where a profiler has it.
        unseen = [
            line
            for line, (functions, macros) in sorted(uses.items())
            if not (here & {line, line + 1} or functions & there or macros & here)
        ]
        shared = bool(SHARED.search(text))
        files.append(FileResult(str(path), shared=shared, textual=textual, unseen=unseen))
    return RepositoryResult(
        name,
        files,
        sites(data),
        len({(k["path"], k["line"]) for k in data["kernels"] if k["accesses"]}),
        [[u["path"], u["line"], u["reason"], u.get("text", "")] for u in data["unparsed"]],
    )


def subscripts(text: str) -> dict[int, tuple[set[int], set[int]]]:
    """Lines that subscript a name where a `__shared__` declaration of it is in scope: declarations, bodies of
    macros, other variables of the same name and the like left out. With each line, those on which calls of
    functions and uses of macros begin that the subscript is an argument of."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group())

    code = DIRECTIVE.sub(blank, COMMENT.sub(blank, text))
    starts = [0, *(m.end() for m in re.finditer("\n", code))]
    found: dict[int, tuple[set[int], set[int]]] = {}
    macros = set(MACRO.findall(text))
    declarations = list(DECLARED.finditer(code))
    own = [m.span() for m in declarations]
    for declaration in declarations:
        names = re.findall(r"(\w+)\s*@", BRACKETS.sub("@", declaration.group(1)))
        if not names:
            continue
        use = re.compile(rf"(?<![\w.>&])(?:{'|'.join(sorted(set(names)))})\s*\[")
        hidden: dict[str, int] = {}
        for match in use.finditer(code, declaration.end(), scope_end(code, declaration.end())):
            name = match.group().rstrip("[ \t\n")
            before = code[max(0, match.start() - 80) : match.start()]
            declared = REDECLARED.search(before)
            if declared and not NOT_A_TYPE.search(before):
                if declared.group()[0] in ";{}":
                    hidden[name] = min(scope_end(code, match.end()), branch_end(text, match.end()))
                continue
            if match.start() < hidden.get(name, 0) or any(a <= match.start() < b for a, b in own):
                continue
            if ADDRESS.search(before):
                continue
            around = found.setdefault(bisect_right(starts, match.start()), (set(), set()))
            for callee, at in callees(code, match.start()):
                around[callee in macros].add(bisect_right(starts, at))
    return found


def callees(code: str, at: int) -> Iterator[tuple[str, int]]:
    """Name and place of what is called around a place in its statement, from the inside."""
    depth = 0
    for i in range(at - 1, -1, -1):
        if code[i] in ";{}":
            return
        if code[i] in ")(":
            depth += 1 if code[i] == ")" else -1
        if depth < 0:
            depth = 0
            callee = re.search(r"(\w+)\s*(?:<[^;{}()]*>)?\s*$", code[max(0, i - 200) : i])
            if callee:
                yield callee.group(1), max(0, i - 200) + callee.start()


def branch_end(text: str, at: int) -> int:
    """Where the preprocessor branch ends that `at` stands in; the end of the text outside of any."""
    depth = 0
    for directive in BRANCH.finditer(text, at):
        if depth == 0 and directive.group(1) != "if":
            return directive.start()
        depth += {"if": 1, "endif": -1}.get(directive.group(1), 0)
    return len(text)


def scope_end(code: str, at: int) -> int:
    """Where the block ends that `at` stands in; the end of the text at file level."""
    depth = 0
    for brace in re.compile(r"[{}]").finditer(code, at):
        depth += 1 if brace.group() == "{" else -1
        if depth < 0:
            return brace.start()
    return len(code)


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


def report(result: RepositoryResult) -> str:
    """What people read first: failures, coverage, grades, reasons, times."""
    grades = Counter(a[3] for a in result.accesses)
    total = sum(grades.values())
    reasons = Counter(a[4] or "-" for a in result.accesses if a[3] == "unresolved")
    lost = Counter(u[2].split(":")[0] for u in result.unparsed)
    files = result.files
    failed = [f for f in files if f.problem]
    textual = sum(len(f.textual) for f in files)
    seen = textual - sum(len(f.unseen) for f in files)
    conflicts = sum(a[6] is not None and a[6] > 1.05 for a in result.accesses)
    times = sorted(f.seconds for f in files) or [0.0]
    resolved = total - grades["unresolved"]
    out = [
        f"## {result.name}",
        f"files: {len(files)}, with shared memory: {sum(f.shared for f in files)}, failed: {len(failed)}; "
        f"kernels with shared memory: {result.kernels}",
        f"lines that subscript a shared name: {textual}, with a site: {seen} ({percent(seen, textual)}); "
        f"reported as unparsed: {len(result.unparsed)}",
        f"sites: {total}, resolved: {resolved} ({percent(resolved, total)}), conflicted: {conflicts}",
        "  " + ", ".join(f"{g}: {grades[g]} ({percent(grades[g], total)})" for g in GRADES),
        f"time: {result.seconds:.1f} s in all; a file: median {statistics.median(times):.2f} s, "
        f"95 % {times[int(0.95 * (len(times) - 1))]:.2f} s, longest {times[-1]:.2f} s",
    ]
    out += [f"  findings   {n:6} {code}" for code, n in sorted(result.rules.items())]
    out += [f"  unresolved {n:6} {code}" for code, n in reasons.most_common(25)]
    out += [f"  unparsed   {n:6} {why}" for why, n in lost.most_common(10)]
    out += [f"  failed: {f.path}: {f.problem[:160]}" for f in failed[:30]]
    slowest = sorted(files, key=lambda f: -f.seconds)[:5]
    out += [f"  slow: {f.seconds:6.2f} s {f.path}" for f in slowest if f.seconds > 2]
    return "\n".join(out)


def together(results: Sequence[RepositoryResult]) -> RepositoryResult:
    total = RepositoryResult("all")
    for r in results:
        total.files += r.files
        total.accesses += r.accesses
        total.kernels += r.kernels
        total.unparsed += r.unparsed
        total.seconds += r.seconds
        total.rules = dict(Counter(total.rules) + Counter(r.rules))
    return total


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument(
        "--reasons", metavar="CODE", help="list the sites that are unresolved for this reason"
    )
    parser.add_argument("--unseen", action="store_true", help="list the lines that no site stands on")
    parser.add_argument(
        "--timeout", type=float, default=40.0, help="seconds of computing that a file may take"
    )
    parser.add_argument(
        "--fixes", action="store_true", help="look for fixes as well, as `smemlint check` does"
    )
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="only every Nth file")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write every site here")
    options = parser.parse_args(arguments)
    results = []
    for folder in options.folders:
        paths = list(candidates(folder.resolve()))[:: options.sample]
        results.append(
            analyse(folder.name, paths, seconds=options.timeout, processes=options.jobs, fixes=options.fixes)
        )
        print(report(results[-1]), flush=True)
    total = together(results)
    if len(results) > 1:
        print(report(total))
    for a in total.accesses:
        if a[3] == "unresolved" and a[4] == options.reasons:
            print(f"{a[0]} {a[1]} {a[2]!r}: {a[5]}")
    if options.unseen:
        for file in total.files:
            for line in file.unseen:
                print(f"unseen {file.path}:{line}")
    if options.json:
        options.json.write_text(json.dumps([asdict(r) for r in results], indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
