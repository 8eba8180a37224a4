"""What smemlint says, compared with what Nsight Compute measured, line by line.

    python benchmarks/silicon.py --measurements h100-programs.json.gz --sources DIR [--verbose] [--json OUT]

The measurements name public programs, the kernels that ran and, for every source line, the wavefronts of its
shared-memory instructions. DIR holds check-outs of those programs, one folder a repository, named OWNER+REPO.
Each program is copied with what it includes, edited as it was for the measurement, and read by the installed
`smemlint inspect`; ways = wavefronts / ideal are compared for each line and kind of access. A line on which
smemlint has no access, but a call of a function that it inlined and that makes some, is compared with what it
says of those: a profiler counts a part of them on the line of the call (docs/dev/lines.md).

The measured fixtures are read the same way: `--measurements fixtures/measured.json --sources .`
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checkout import SOURCE_SUFFIXES, Checkout

from smemlint.profile.names import agrees, base_name, template_arguments

TOLERANCE = 0.05
"""Two ratios that differ by less are the same: compilers duplicate and drop single instructions."""
_CALL = re.compile(r"[A-Za-z_][\w:]*(<[^()]*>)?\(")
CONFLICT = 1.05
"""Ways above which a line counts as conflicted."""


@dataclass(frozen=True, slots=True)
class Line:
    """One measured source line: totals over the SASS instructions of one kind that it became."""

    file: str
    line: int
    op: str
    warps: int
    threads: int
    wavefronts: int
    ideal: int

    @property
    def ways(self) -> float:
        return self.wavefronts / self.ideal if self.ideal else 1.0


@dataclass(frozen=True, slots=True)
class MeasuredLaunch:
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    dynamic: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    repo: str
    folder: str
    only: str | None
    defines: tuple[str, ...]
    edits: tuple[tuple[str, str, str], ...]
    driver_is_ours: bool
    launches: tuple[MeasuredLaunch, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What smemlint says of one line: ways between low and high, or why it says nothing."""

    low: float | None
    high: float | None
    grade: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """category: exact, bounded, wrong, unresolved or 'not seen'; library lines stand apart."""

    program: str
    kernel: str
    block: tuple[int, ...]
    line: Line
    told: Told
    category: str
    library: bool = False
    other_block: bool = False
    """Told under another block shape, which makes no difference."""

    @property
    def conflicted(self) -> bool:
        return self.line.ways > CONFLICT

    @property
    def found(self) -> bool:
        return self.conflicted and self.told.low is not None and self.told.low > CONFLICT

    @property
    def false_positive(self) -> bool:
        return not self.conflicted and self.told.low is not None and self.told.low > CONFLICT

    @property
    def false_clean(self) -> bool:
        return self.conflicted and self.told.high is not None and self.told.high <= CONFLICT


@dataclass(slots=True)
class Result:
    """One program, or the total."""

    name: str
    verdicts: list[Verdict] = field(default_factory=list)
    skipped: int = 0
    by_call: int = 0
    """Lines of calls that are compared with the accesses of the functions called."""
    unmeasured_conflicts: list[str] = field(default_factory=list)
    seconds: float = 0.0
    problem: str = ""

    def counted(self) -> list[Verdict]:
        return [v for v in self.verdicts if not v.library]

    def library(self) -> list[Verdict]:
        return [v for v in self.verdicts if v.library]

    def count(self, category: str) -> int:
        return sum(v.category == category for v in self.counted())


def load(path: Path) -> list[Program]:
    """The measurements, in the file's order: of programs (.json.gz) or of the fixtures (.json)."""
    if path.suffix != ".gz":
        return fixtures(json.loads(path.read_text(encoding="utf-8")))
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        data = json.load(stream)
    return [
        Program(
            name=name,
            repo=p["repo"],
            folder=p["dir"],
            only=p["only"],
            defines=tuple(p["defines"]),
            edits=tuple((e[0], e[1], e[2]) for e in p["edits"]),
            driver_is_ours=p["driver_is_ours"],
            launches=tuple(
                MeasuredLaunch(
                    kernel=r["kernel"],
                    grid=tuple(r["grid"]),
                    block=tuple(r["block"]),
                    dynamic=r["dynamic"],
                    lines=tuple(Line(*entry) for entry in r["lines"]),
                )
                for r in p["launches"]
            ),
        )
        for name, p in data["programs"].items()
    ]


def fixtures(data: dict[str, Any]) -> list[Program]:
    """The measured fixtures, each as a program of its own in a check-out named `fixtures`."""
    return [
        Program(
            name=Path(name).stem,
            repo="fixtures",
            folder=".",
            only=f"^{re.escape(name)}$",
            defines=(),
            edits=(),
            driver_is_ours=False,
            launches=tuple(
                MeasuredLaunch(
                    r["kernel"], tuple(r["grid"]), tuple(r["block"]), -1, tuple(Line(*x) for x in r["lines"])
                )
                for r in runs
            ),
        )
        for name, runs in data["fixtures"].items()
    ]


def stage(program: Program, checkout: Checkout, work: Path) -> list[Path]:
    """Copy a program and its includes to `work`, apply the edits, return the paths to inspect.

    Raises: FileNotFoundError when the program is not in the check-out, ValueError when an edit finds nothing.
    """
    root = checkout.root.resolve()
    folder = root / program.folder
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not there")
    mine = [p for p in sorted(folder.rglob("*")) if p.suffix in SOURCE_SUFFIXES and p.is_file()]
    if program.only is not None:
        mine = [p for p in mine if re.search(program.only, p.name)]
    for source in checkout.closure(mine):
        target = work / source.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for name, pattern, replacement in program.edits:
        target = work / program.folder / name
        text, times = re.subn(pattern, replacement, target.read_text(encoding="utf-8", errors="replace"))
        if not times:
            raise ValueError(f"{program.name}: nothing in {name} matches {pattern!r}")
        target.write_text(text, encoding="utf-8")
    if program.only is None:
        return [work / program.folder]
    return [work / p.relative_to(root) for p in mine]


def inspect(
    command: Sequence[str],
    program: Program,
    paths: Sequence[Path],
    work: Path,
    extra: Sequence[str],
    limit: float,
) -> dict[str, Any]:
    """Run `smemlint inspect` and read what it says.

    Raises: ValueError when it says nothing readable, subprocess.TimeoutExpired.
    """
    call = [*command, "inspect", *(str(p.relative_to(work)) for p in paths), "--output-format", "json"]
    call += [*program.defines, *extra]
    if program.driver_is_ours:
        told = {(base_name(r.kernel), r.block) for r in program.launches}
        for kernel, block in sorted(told):
            call += ["--block", f"{kernel}={','.join(map(str, block))}"]
    done = subprocess.run(call, cwd=work, capture_output=True, text=True, timeout=limit, check=False)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise ValueError(f"exit {done.returncode}: {last}") from None
    assert isinstance(report, dict)
    return report


def instances(launch: MeasuredLaunch, report: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """The entries of the report that can be this launch, and the reason when there is none.

    Where several remain, those that know more template arguments (but not more than the launch has: another
    template of that name), and whose grid and dynamic bytes agree, are preferred.
    """
    named = [
        k for k in report["kernels"] if k["name"].split("::")[-1].split("<")[0] == base_name(launch.kernel)
    ]
    if not named:
        return [], "kernel not found"
    arguments = template_arguments(launch.kernel)
    fitting = [k for k in named if agrees(arguments, [str(v) for v in k["template_arguments"].values()])]
    if not fitting:
        return [], "instance not found"
    counts = {len(k["template_arguments"]) for k in fitting}
    known = max((n for n in counts if n <= len(arguments)), default=max(counts))
    fitting = [k for k in fitting if len(k["template_arguments"]) == known]
    of_any = [told for k in fitting if (told := of_any_block(k, launch.block)) is not None]
    fitting = [k for k in fitting if tuple(k["launch"]["block"]) == launch.block] or of_any
    if not fitting:
        return [], "launch not found"
    for key, value in (("dynamic_shared_bytes", launch.dynamic), ("grid", list(launch.grid))):
        same = [k for k in fitting if k["launch"].get(key) == value]
        fitting = same or fitting
    return fitting, ""


def of_any_block(kernel: dict[str, Any], block: tuple[int, ...]) -> dict[str, Any] | None:
    """The entry of a shape that was tried, with what is told to hold for this block as well; None where
    nothing is. What depends on the shape stays unresolved."""
    tried = tuple(kernel["launch"]["block"])
    rows = tried[0] == block[0] == 32
    if not any(a.get("any_block") for a in kernel["accesses"]):
        return None
    if not rows and (tried[1:] != (1, 1) or block[1:] != (1, 1) or block[0] % 32):
        return None
    silent = {"wavefronts": None, "grade": "unresolved", "reason": "launch not found"}
    accesses = [a if a.get("any_block") else a | silent for a in kernel["accesses"]]
    return kernel | {"accesses": accesses, "other_block": True}


def accesses_by_line(kernel: dict[str, Any]) -> dict[tuple[str, int, str], list[dict[str, Any]]]:
    """Access sites by (file base name, line, op)."""
    found: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for access in kernel["accesses"]:
        found.setdefault((Path(access["path"]).name, access["line"], access["op"]), []).append(access)
    return found


def accesses_by_call(kernel: dict[str, Any]) -> dict[tuple[str, int, str], list[dict[str, Any]]]:
    """Access sites in inlined functions by (file base name, line, op) of the calls on the way to them."""
    found: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for access in kernel["accesses"]:
        for call in access.get("calls", ()):
            found.setdefault((Path(call["path"]).name, call["line"], access["op"]), []).append(access)
    return found


def part_of(sites: Sequence[dict[str, Any]]) -> Told:
    """The answer for a call that makes some visits of these sites: the range over all visits."""
    whole = combine(sites)
    if whole.low is None:
        return whole
    ends = [s["ways_by_visit"] for s in sites if s["ways_by_visit"] is not None and s["ideal"]]
    return Told(min(e[0] for e in ends), max(e[1] for e in ends), whole.grade, whole.reason)


def combine(sites: Sequence[dict[str, Any]]) -> Told:
    """The answer for the sites of one line and op: wavefronts and ideal add up."""
    if not sites:
        return Told(None, None, "", "no access on this line")
    silent = [s for s in sites if s["wavefronts"] is None or s["ideal"] is None]
    if silent:
        return Told(None, None, silent[0]["grade"], _reason(silent[0]))
    ideal = sum(s["ideal"] for s in sites)
    grades = sorted({s["grade"] for s in sites} - {"exact"}) or ["exact"]
    if not ideal:
        return Told(None, None, grades[0], "never executed")
    low = sum(_low(s) for s in sites) / ideal
    return Told(low, sum(s["wavefronts"] for s in sites) / ideal, "+".join(grades), _reason(sites[0]))


def _low(site: dict[str, Any]) -> float:
    low = site.get("wavefronts_low")
    return float(site["wavefronts"] if low is None else low)


def _reason(site: dict[str, Any]) -> str:
    reason = site.get("reason")
    if isinstance(reason, dict):
        return f"{reason.get('code', '')}: {reason.get('text', '')}"
    return str(reason or "")


def hull(answers: Sequence[Told]) -> Told:
    """One answer for several instances that may each be the launch: the range that holds all that is known.

    A header read alone and through its includer gives two entries; the one that lacks constants is silent.
    """
    known = [a for a in answers if a.low is not None and a.high is not None]
    if not known:
        return answers[0]
    low = min(a.low for a in known if a.low is not None)
    high = max(a.high for a in known if a.high is not None)
    return Told(low, high, known[0].grade, known[0].reason)


def category(measured: float, told: Told) -> str:
    if told.low is None or told.high is None:
        return "not seen" if told.reason == "no access on this line" else "unresolved"
    near = [abs(end - measured) <= TOLERANCE * measured for end in (told.low, told.high)]
    if all(near):
        return "exact"
    inside = told.low <= measured * (1 + TOLERANCE) and told.high >= measured * (1 - TOLERANCE)
    is_range = told.high - told.low > 1e-9
    return "bounded" if inside and is_range else "wrong"


def judge(program: Program, report: dict[str, Any], own_files: set[str]) -> Result:
    """Every measured line of a program with its verdict.

    own_files: base names of the program's files. A line elsewhere is library code, which smemlint reports at
    the caller's line: all library lines of one op in a launch are compared, as one, with the sites of that
    op that may be its (`library_sites`).
    """
    result = Result(program.name)
    for launch in program.launches:
        entries, problem = instances(launch, report)
        tables = [accesses_by_line(k) for k in entries]
        called = [accesses_by_call(k) for k in entries]
        measured_places = {(x.file, x.line, x.op) for x in launch.lines}

        def verdict(
            line: Line,
            told: Told,
            library: bool = False,
            launch: MeasuredLaunch = launch,
            elsewhere: bool = any(k.get("other_block") for k in entries),
        ) -> Verdict:
            kind = category(line.ways, told)
            return Verdict(program.name, launch.kernel, launch.block, line, told, kind, library, elsewhere)

        for line in launch.lines:
            if not line.wavefronts:
                result.skipped += 1
            elif line.file in own_files:
                place = (line.file, line.line, line.op)
                if not any(place in t for t in tables) and any(c.get(place) for c in called):
                    result.by_call += 1
                told = (
                    hull(
                        [
                            combine(t[place]) if place in t else part_of(c.get(place, ()))
                            for t, c in zip(tables, called, strict=True)
                        ]
                    )
                    if tables
                    else Told(None, None, "", problem)
                )
                result.verdicts.append(verdict(line, told))
        for line in merged([x for x in launch.lines if x.wavefronts and x.file not in own_files]):
            callers = [library_sites(t, line.op, measured_places) for t in tables]
            told = hull([combine(sites) for sites in callers]) if callers else Told(None, None, "", problem)
            result.verdicts.append(verdict(line, told, library=True))
        result.unmeasured_conflicts += sorted(
            {
                f"{place[0]}:{place[1]} {place[2]} in {base_name(launch.kernel)}: {told.low:.2f}"
                for table in tables[:1]
                for place, sites in table.items()
                if place not in measured_places
                and (told := combine(sites)).low is not None
                and told.low > CONFLICT
            }
        )
    return result


def library_sites(
    table: dict[tuple[str, int, str], list[dict[str, Any]]], op: str, measured: set[tuple[str, int, str]]
) -> list[dict[str, Any]]:
    """The sites that a library's line may be of: calls, those first on lines that were not measured, else
    whatever stands on such lines. A profiler may count a part of what a call does on the call's own line."""
    sites = [(place in measured, s) for place, found in table.items() if place[2] == op for s in found]
    calls = [(elsewhere, s) for elsewhere, s in sites if _CALL.match(s["expression"])]
    apart = [s for elsewhere, s in calls or sites if not elsewhere]
    return apart or [s for _, s in calls]


def merged(lines: Sequence[Line]) -> list[Line]:
    """Library lines of one op as one line, named after the first."""
    by_op: dict[str, list[Line]] = {}
    for line in lines:
        by_op.setdefault(line.op, []).append(line)
    return [
        dataclasses.replace(
            group[0],
            warps=sum(x.warps for x in group),
            threads=sum(x.threads for x in group),
            wavefronts=sum(x.wavefronts for x in group),
            ideal=sum(x.ideal for x in group),
        )
        for group in by_op.values()
    ]


HEAD = (
    "program",
    "lines",
    "exact",
    "bounded",
    "wrong",
    "unres",
    "unseen",
    "conflicts",
    "found",
    "false+",
    "false-",
)


def row(result: Result) -> tuple[str, ...]:
    lines = result.counted()
    return (
        result.name,
        str(len(lines)),
        *(str(result.count(c)) for c in ("exact", "bounded", "wrong", "unresolved", "not seen")),
        str(sum(v.conflicted for v in lines)),
        str(sum(v.found for v in lines)),
        str(sum(v.false_positive for v in lines)),
        str(sum(v.false_clean for v in lines)),
    )


def table(rows: Sequence[Sequence[str]]) -> str:
    """Markdown, aligned so that it reads as plain text too."""
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]

    def one(cells: Sequence[str]) -> str:
        first, *rest = zip(cells, widths, strict=True)
        return " | ".join([f"| {first[0]:<{first[1]}}", *(f"{c:>{w}}" for c, w in rest)]) + " |"

    rule = "|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|"
    return "\n".join([one(rows[0]), rule, *(one(r) for r in rows[1:])])


def describe(v: Verdict) -> str:
    told = "-" if v.told.low is None or v.told.high is None else f"{v.told.low:.2f}"
    if v.told.low != v.told.high:
        told += f"..{v.told.high:.2f}"
    arguments = ",".join(template_arguments(v.kernel))
    kernel = base_name(v.kernel) + (f"<{arguments}>" if arguments else "")
    marks = [
        name
        for name, is_so in (
            ("LIBRARY", v.library),
            ("FALSE-POSITIVE", v.false_positive),
            ("FALSE-CLEAN", v.false_clean),
        )
        if is_so
    ]
    return (
        f"{v.category:<10} {v.program} {v.line.file}:{v.line.line} {v.line.op}"
        f" measured {v.line.ways:.2f} told {told}"
        f" [{v.told.grade}] {v.told.reason} | {kernel} block {v.block} {' '.join(marks)}".rstrip()
    )


def summary(total: Result) -> str:
    lines = total.counted()
    conflicts = sum(v.conflicted for v in lines)

    def share(n: int, of: int) -> str:
        return f"{n} of {of} ({100 * n / of:.1f} %)" if of else "0 of 0"

    exact, bounded = total.count("exact"), total.count("bounded")
    elsewhere = [v for v in lines if v.other_block]
    return "\n".join(
        [
            f"exact {share(exact, len(lines))}, exact or bounded {share(exact + bounded, len(lines))}",
            f"conflicts found {share(sum(v.found for v in lines), conflicts)}",
            f"false positives {sum(v.false_positive for v in lines)}, "
            f"false cleans {sum(v.false_clean for v in lines)}, wrong {total.count('wrong')}",
            f"lines without wavefronts, left out: {total.skipped}; library lines, compared apart: "
            f"{len(total.library())} ({sum(v.category == 'exact' for v in total.library())} exact)",
            f"lines told for any block and compared under another shape: {len(elsewhere)} "
            f"({sum(v.category == 'exact' for v in elsewhere)} exact, "
            f"{sum(v.category == 'wrong' for v in elsewhere)} wrong)",
            f"lines of calls, compared with what the functions access: {total.by_call}",
            f"conflicts told on lines that silicon does not list: {len(total.unmeasured_conflicts)}",
            f"time: {total.seconds:.1f} s",
        ]
    )


def run(
    program: Program, sources: Path, command: Sequence[str], extra: Sequence[str], limit: float
) -> Result:
    """Stage, inspect and judge one program; whatever fails is told in `problem`, its lines are unresolved."""
    checkout = Checkout(sources / program.repo.replace("/", "+"))
    report: dict[str, Any] = {"kernels": []}
    problem, own, seconds = "", set[str](), 0.0
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary).resolve()
        try:
            paths = stage(program, checkout, work)
            own = {p.name for p in work.rglob("*")}
            start = time.perf_counter()
            report = inspect(command, program, paths, work, extra, limit)
            seconds = time.perf_counter() - start
            problem = "; ".join(f"{e['path']}: {e['message']}" for e in report.get("errors", ()))
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            problem = str(error)
            own = own or {line.file for launch in program.launches for line in launch.lines}
    result = judge(program, report, own)
    result.seconds, result.problem = seconds, problem
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measurements", type=Path, required=True)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--program", action="append", help="only this one (may be repeated)")
    parser.add_argument("--block", action="append", default=[], help="handed to smemlint for every program")
    parser.add_argument("--command", default=None, help="the smemlint to run (default: beside this Python)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds a program may take")
    parser.add_argument("--verbose", action="store_true", help="list every line that is not exact")
    parser.add_argument("--json", type=Path, help="write all verdicts here")
    options = parser.parse_args(arguments)
    beside = Path(sys.executable).with_name("smemlint")
    command = [options.command or (str(beside) if beside.exists() else "smemlint")]
    extra = [word for block in options.block for word in ("--block", block)]
    programs = [p for p in load(options.measurements) if not options.program or p.name in options.program]
    results = []
    for program in programs:
        results.append(run(program, options.sources, command, extra, options.timeout))
        print(f"{program.name}: {results[-1].seconds:.1f} s", file=sys.stderr)
    total = Result("total")
    for result in results:
        total.verdicts += result.verdicts
        total.skipped += result.skipped
        total.by_call += result.by_call
        total.seconds += result.seconds
        total.unmeasured_conflicts += [f"{result.name} {text}" for text in result.unmeasured_conflicts]
    print(table([HEAD, *(row(r) for r in results), row(total)]))
    print()
    print(summary(total))
    for result in results:
        if result.problem:
            print(f"{result.name}: {result.problem}")
    if options.verbose:
        print()
        for verdict in sorted(
            total.verdicts, key=lambda v: ("wrong", "unresolved").count(v.category), reverse=True
        ):
            if verdict.category != "exact" or verdict.library:
                print(describe(verdict))
        for text in total.unmeasured_conflicts:
            print(f"unmeasured {text}")
        for result in results:
            print(f"time       {result.name} {result.seconds:.1f} s")
    if options.json:
        rows = [dataclasses.asdict(v) | {"ways": v.line.ways} for v in total.verdicts]
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
