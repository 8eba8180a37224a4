"""Each measured line beside the accesses that are predicted there, and why they may differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from smemlint.diagnose.model import Access, KernelReport
from smemlint.profile.model import MeasuredKernel, MeasuredLine, Profile
from smemlint.profile.names import agrees, base_name, template_arguments
from smemlint.profile.read import UNMODELLED
from smemlint.records import record

TOLERANCE = 0.05
"""Two ratios that differ by less are the same: compilers duplicate and drop single instructions."""
CONFLICT = 1.05
_DRIFT = 4
"""Lines by which the line of inlined code may drift."""
_ATOMICS = ("atomic", "cas", "cas loop", "increment")
AGREES, WITHIN, DIFFERS, SILENT, UNSEEN, OTHER = (
    "agrees",
    "within range",
    "differs",
    "no number",
    "not seen",
    "other version",
)


@record(frozen=True, slots=True)
class Told:
    """What is predicted of a line: ways between low and high; None where there is no number."""

    low: float | None
    high: float | None
    wavefronts: int | None = None
    ideal: int | None = None
    reason: str = ""


@record(frozen=True, slots=True)
class Verdict:
    """One measured line. category: one of the words above. cause: why it may differ, in words."""

    kernel: str
    block: tuple[int, ...] | None
    measured: MeasuredLine
    told: Told
    category: str
    cause: str = ""

    @property
    def conflicted(self) -> bool:
        return (self.measured.ways or 0) > CONFLICT


@record(frozen=True, slots=True)
class Whole:
    """A launch of which the profile tells the sums alone. told: of one block. category as of a line."""

    kernel: str
    block: tuple[int, ...] | None
    wavefronts: int
    ideal: int | None
    told: Told
    category: str


@record(frozen=True, slots=True)
class Comparison:
    """verdicts, wholes: in the profile's order. missing: kernels that ran and are not in the sources, each
    with why. changed: files of which the profile holds another version, with the first line that differs."""

    verdicts: tuple[Verdict, ...]
    missing: tuple[tuple[str, str], ...]
    changed: tuple[tuple[str, int, str, str], ...]
    wholes: tuple[Whole, ...] = ()

    def count(self, category: str) -> int:
        return sum(v.category == category for v in self.verdicts)


def compare(profile: Profile, kernels: Sequence[KernelReport], texts: Mapping[str, str]) -> Comparison:
    """All lines of a profile. texts: the sources as they are now, by path."""
    verdicts: list[Verdict] = []
    wholes: list[Whole] = []
    missing: dict[tuple[str, str], None] = {}
    changed: dict[str, tuple[str, int, str, str]] = {}
    own = {PurePath(path).name for path in texts} | {PurePath(k.place.path).name for k in kernels}
    for measured in profile.kernels:
        for file, line, then, now in _changes(measured, texts):
            changed.setdefault(file, (file, line, then, now))
        found, why = instances(measured, kernels)
        if not found:
            missing[(base_name(measured.name) or "?", why)] = None
            continue
        if measured.lines or measured.total is None:
            verdicts += _kernel(measured, found, own, {PurePath(file).name for file in changed})
        else:
            wholes.append(_whole(measured, measured.total, found))
    return Comparison(tuple(verdicts), tuple(missing), tuple(changed.values()), tuple(wholes))


def _whole(measured: MeasuredKernel, total: tuple[int, int | None], found: Sequence[KernelReport]) -> Whole:
    """The sums of one launch beside those of its accesses."""
    waves, ideal = total
    told = _sums(found)
    if told.low is None or told.high is None or ideal is None:
        category = SILENT
    else:
        ways = waves / ideal if ideal else 1.0
        exact = told.high - told.low < TOLERANCE
        inside = told.low * (1 - TOLERANCE) <= ways <= told.high * (1 + TOLERANCE)
        category = (AGREES if exact else WITHIN) if inside else DIFFERS
    return Whole(measured.name, measured.block, waves, ideal, told, category)


def _sums(found: Sequence[KernelReport]) -> Told:
    """What all accesses of a kernel ask for together, over the instances that it can be."""
    lows, highs, waves, best = [], [], 0, 0
    for kernel in found:
        unknown = sum(a.wavefronts is None for a in kernel.accesses)
        if unknown:
            return Told(None, None, reason=f"{unknown} of its accesses have no number")
        waves = sum(a.wavefronts or 0 for a in kernel.accesses)
        best = sum(a.ideal or 0 for a in kernel.accesses)
        low = sum(a.wavefronts_low or 0 for a in kernel.accesses)
        lows.append(low / best if best else 1.0)
        highs.append(waves / best if best else 1.0)
    return Told(min(lows), max(highs), waves, best) if lows else Told(None, None, reason="nothing")


def instances(measured: MeasuredKernel, kernels: Sequence[KernelReport]) -> tuple[list[KernelReport], str]:
    """The kernels that can be this launch, or why there is none."""
    name = base_name(measured.name) if measured.name else ""
    named = [k for k in kernels if k.name.split("::")[-1].split("<")[0] == name]
    if not named:
        return [], "no kernel of that name in these files"
    arguments = template_arguments(measured.name)
    fitting = [k for k in named if agrees(arguments, [value for _, value in k.template_arguments])]
    if not fitting:
        return [], "no such template instance is known here"
    most = max(len(k.template_arguments) for k in fitting)
    fitting = [k for k in fitting if len(k.template_arguments) == most]
    if measured.block is not None:
        shaped = [k for k in fitting if k.launch.block == measured.block]
        if not shaped:
            shapes = ", ".join(sorted({"x".join(map(str, k.launch.block)) for k in fitting}))
            ran = ",".join(map(str, measured.block))
            return (
                [],
                f"it ran with block {ran}, known is {shapes}: try --launches-from, or --block {name}={ran}",
            )
        fitting = shaped
    if measured.grid is not None:
        fitting = [k for k in fitting if k.launch.grid == measured.grid] or fitting
    if measured.dynamic is not None:
        fitting = [k for k in fitting if k.launch.dynamic == measured.dynamic] or fitting
    return fitting, ""


def _changes(measured: MeasuredKernel, texts: Mapping[str, str]) -> list[tuple[str, int, str, str]]:
    """Lines of the profile that read otherwise now: of each file the first."""
    found = []
    by_name = {PurePath(path).name: text.splitlines() for path, text in texts.items()}
    for file, lines in measured.sources.items():
        now = by_name.get(PurePath(file.replace("\\", "/")).name)
        if now is None:
            continue
        for number, then in sorted(lines.items()):
            here = now[number - 1] if 0 < number <= len(now) else ""
            if then.strip() and _plain(then) != _plain(here):
                found.append((file, number, then.strip(), here.strip()))
                break
    return found


def _plain(line: str) -> str:
    """Without blanks, comments and a number in front, which exports treat as they like."""
    return re.sub(r"\s+", "", re.sub(r"//.*$", "", line))


def _kernel(
    measured: MeasuredKernel, found: Sequence[KernelReport], own: set[str], changed: set[str]
) -> list[Verdict]:
    verdicts = []
    tables, called = [_by_line(k) for k in found], [_by_call(k) for k in found]
    for line in measured.lines:
        file = PurePath(line.file.replace("\\", "/")).name
        if not line.wavefronts:
            continue
        if file in changed:
            told, category, cause = Told(None, None), OTHER, "the profile holds another version of the file"
        elif file not in own:
            told, category, cause = Told(None, None), UNSEEN, "library code, counted on its own lines"
        else:
            answers = []
            for table, calls in zip(tables, called, strict=True):
                here, inside = _at(table, file, line), _at(calls, file, line)
                answers.append(_told(here) if here or not inside else _part(inside))
            told = _hull(answers)
            category = _category(line, told)
            cause = _cause(line, told, category, found, file)
        verdicts.append(Verdict(measured.name, measured.block, line, told, category, cause))
    return verdicts


def _by_line(kernel: KernelReport) -> dict[tuple[str, int, str], list[Access]]:
    table: dict[tuple[str, int, str], list[Access]] = {}
    for access in kernel.accesses:
        file, line = PurePath(access.place.path).name, access.line or access.place.line
        table.setdefault((file, line, _op(access.op)), []).append(access)
    return table


def _by_call(kernel: KernelReport) -> dict[tuple[str, int, str], list[Access]]:
    """Accesses in inlined functions by the lines of the calls on the way to them: a part may count there."""
    table: dict[tuple[str, int, str], list[Access]] = {}
    for access in kernel.accesses:
        for path, line in access.calls:
            table.setdefault((PurePath(path).name, line, _op(access.op)), []).append(access)
    return table


def _op(op: str) -> str:
    """As a profiler tells instructions apart."""
    return "load" if op == "cas loop load" else "atomic" if op in _ATOMICS else op


def _at(table: Mapping[tuple[str, int, str], list[Access]], file: str, line: MeasuredLine) -> list[Access]:
    if line.op:
        return table.get((file, line.line, line.op), [])
    return [a for (f, n, _), accesses in table.items() if (f, n) == (file, line.line) for a in accesses]


def _told(accesses: Sequence[Access]) -> Told:
    """One answer for the accesses of a line: wavefronts and ideals add up."""
    if not accesses:
        return Told(None, None, reason="no access on this line")
    silent = next((a for a in accesses if a.wavefronts is None or a.ideal is None), None)
    if silent is not None:
        return Told(None, None, reason=": ".join(silent.reason) if silent.reason else "unresolved")
    ideal = sum(a.ideal or 0 for a in accesses)
    if not ideal:
        return Told(None, None, reason="no warp executes it under this launch")
    waves = sum(a.wavefronts or 0 for a in accesses)
    low = sum(a.wavefronts_low if a.wavefronts_low is not None else a.wavefronts or 0 for a in accesses)
    return Told(low / ideal, waves / ideal, waves, ideal)


def _part(accesses: Sequence[Access]) -> Told:
    """The answer for a call that makes some visits of these accesses: the range over all visits."""
    whole = _told(accesses)
    if whole.low is None or whole.high is None:
        return whole
    visits = [ways for access in accesses for ways, _ in access.spread.visits]
    return Told(min(whole.low, *visits), max(whole.high, *visits)) if visits else whole


def _hull(answers: Sequence[Told]) -> Told:
    """One answer for several instances that may each be the launch."""
    known = [a for a in answers if a.low is not None and a.high is not None]
    if not known:
        return answers[0]
    low, high = min(a.low or 0.0 for a in known), max(a.high or 0.0 for a in known)
    return Told(low, high, known[0].wavefronts, known[0].ideal)


def _category(line: MeasuredLine, told: Told) -> str:
    if told.low is None or told.high is None:
        return UNSEEN if told.reason == "no access on this line" else SILENT
    ways = line.ways
    if ways is None:
        return SILENT
    if all(abs(end - ways) <= TOLERANCE * ways for end in (told.low, told.high)):
        return AGREES
    inside = told.low <= ways * (1 + TOLERANCE) and told.high >= ways * (1 - TOLERANCE)
    return WITHIN if inside and told.high - told.low > 1e-9 else DIFFERS


def _cause(line: MeasuredLine, told: Told, category: str, found: Sequence[KernelReport], file: str) -> str:
    """The likely cause of a difference, in words; '' where they agree."""
    if category in (AGREES, WITHIN):
        return ""
    if line.ideal is None and told.ideal is not None:
        each = f"{line.wavefronts / line.warps:.3g} wavefronts an instruction" if line.warps else "wavefronts"
        return (
            f"the profile lacks `L1 Wavefronts Shared Ideal`, and {each} are no ways: a perfect 16-byte load "
            "of a warp takes 4"
        )
    if line.op.startswith(UNMODELLED):
        opcode = line.op.removeprefix(UNMODELLED)
        return (
            f"counted for `{opcode}`, which is none of the accesses that are modelled (bulk copies, barriers)"
        )
    if category == SILENT:
        return told.reason
    near = _neighbours(line, found, file)
    if category == UNSEEN:
        if near:
            return f"the line of inlined code may have drifted: there are accesses on line {near[0]}"
        return "nothing was predicted here: generic instructions, a library's code, or a miss"
    if line.op in ("", "atomic") and (line.ways or 0) < (told.low or 0):
        return "the compiler may have reduced the warp before the atomic, or merged its lanes"
    if near:
        return f"the compiler may count a part of it on line {near[0]}, or join it with an access there"
    return "another launch (arguments, block), or a compiler that joins or unrolls in another way"


def _neighbours(line: MeasuredLine, found: Sequence[KernelReport], file: str) -> list[int]:
    """Lines near by with accesses of the kind, the nearest first."""
    lines = {
        (a.line or a.place.line)
        for k in found
        for a in k.accesses
        if PurePath(a.place.path).name == file and (not line.op or _op(a.op) == line.op)
    } - {line.line}
    return sorted((n for n in lines if abs(n - line.line) <= _DRIFT), key=lambda n: (abs(n - line.line), n))
