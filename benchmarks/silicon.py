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
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from checkout import Checkout
from comparison import Result, Verdict, judge
from measurements import Program, load, stage

from smemlint.profile.names import base_name, template_arguments


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
