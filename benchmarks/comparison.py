"""What is told of a line held against what was measured there: which kernel, which accesses, what verdict."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measurements import Line, MeasuredLaunch, Program

from smemlint.profile.names import agrees, base_name, template_arguments

TOLERANCE = 0.05
"""Two ratios that differ by less are the same: compilers duplicate and drop single instructions."""


_CALL = re.compile(r"[A-Za-z_][\w:]*(<[^()]*>)?\(")


CONFLICT = 1.05
"""Ways above which a line counts as conflicted."""


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
    nothing is. What depends on the shape, or assumes whole warps where this block has none, stays
    unresolved."""
    tried = tuple(kernel["launch"]["block"])
    rows = tried[0] == block[0] == 32
    if not rows and (tried[1:] != (1, 1) or block[1:] != (1, 1)):
        return None
    whole = block[0] % 32 == 0

    def holds(access: dict[str, Any]) -> bool:
        return bool(access.get("any_block")) and (whole or access["grade"] == "exact")

    if not any(map(holds, kernel["accesses"])):
        return None
    silent = {"wavefronts": None, "grade": "unresolved", "reason": "launch not found"}
    accesses = [a if holds(a) else a | silent for a in kernel["accesses"]]
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
