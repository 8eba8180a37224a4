"""How many arrays with a resolved conflict get an edit or a named reason, and whether the edits hold.

    python benchmarks/fixes/criterion.py fixtures
    python benchmarks/fixes/criterion.py --measurements FILE --sources CHECKOUTS [--program NAME]
    python benchmarks/fixes/criterion.py --sources CHECKOUT --folder src/nw-cuda --folder src/tsa-cuda

For each program: analyse it, apply every edit that is offered (safe or not) to a copy, as `--fix
--unsafe-fixes` does; compile each file that has kernels with `nvcc -cubin` before and after; analyse the
edited copy from nothing and compare the wavefronts of every access of every fixed array with the promise.
Where nvcc cannot compile the original, the edit is counted as not compiled here. Needs nvcc, no GPU.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measurements  # noqa: E402
from checkout import Checkout  # noqa: E402

from smemlint.api import Job, Options, View, analyse, collect, shown  # noqa: E402
from smemlint.diagnose.model import FileReport  # noqa: E402
from smemlint.fix.model import Suggestion  # noqa: E402
from smemlint.repair import repair  # noqa: E402

LEAST_WAYS = 1.01
"""Every conflict counts, also those that are too small for a finding."""


@dataclass
class Verdict:
    """One array with a resolved conflict. edit: "" (refused), "safe" or "unsafe". compiles: "yes", or what
    nvcc says; kept: "yes", or what the edited copy shows instead."""

    program: str
    array: str
    place: str
    dynamic: bool
    edit: str = ""
    reason: str = ""
    words: str = ""
    compiles: str = ""
    kept: str = ""
    before: int = 0
    after: int = 0


@dataclass
class Work:
    """A copy of a program. includes: folders that the compiler needs besides."""

    name: str
    root: Path
    files: list[Path]
    options: Options
    includes: list[Path] = field(default_factory=list)


def judge(work: Work, nvcc: str, arch: str) -> list[Verdict]:
    jobs = [Job(str(p), work.options) for p in work.files]
    reports = [report for _, report in sorted(analyse(jobs), key=lambda pair: pair[0])]
    verdicts: dict[tuple[str, int, str], Verdict] = {}
    for report in reports:
        for problem in report.problems:
            print(f"{work.name}: {problem.path}: {problem.message}", file=sys.stderr)
        for key, verdict in arrays(work, report):
            old = verdicts.get(key)
            if old is None or (verdict.edit and not old.edit):
                verdicts[key] = verdict
    edited, skipped = repair(collect(reports, View()), reports, jobs, unsafe=True)
    done = {s.array.place.offset: f for f in edited for s in f.suggestions}
    for key, verdict in verdicts.items():
        if verdict.edit and key[1] not in done:
            said = next((s.message for s in skipped if s.path == key[0]), "its ways are below the threshold")
            verdict.edit, verdict.reason = "", f"left-out: {said.splitlines()[0]}"
    if not edited:
        return list(verdicts.values())
    originals = {Path(f.path): f.before for f in edited}
    tried = {p: compiles(nvcc, arch, work, p) for p in work.files if p.suffix == ".cu"}
    for file in edited:
        Path(file.path).write_bytes(file.after)
    again = [report for _, report in sorted(analyse(jobs), key=lambda pair: pair[0])]
    said = {p: compiles(nvcc, arch, work, p) if first == "" else "" for p, first in tried.items()}
    for path, data in originals.items():
        path.write_bytes(data)
    for key, verdict in verdicts.items():
        if not verdict.edit:
            continue
        mine = [p for p in tried if any(uses(r, p, key) for r in reports)] or list(tried)
        broken = [said[p] for p in mine if said[p]]
        whole = [p for p in mine if not tried[p]]  # a file that others include need not compile by itself
        verdict.compiles = broken[0] if broken else "yes" if whole else f"original: {tried[mine[0]]}"
        verdict.kept = kept(key, reports, again)
    return list(verdicts.values())


def arrays(work: Work, report: FileReport) -> Iterator[tuple[tuple[str, int, str], Verdict]]:
    """The arrays of one report that have an access with a number above its ideal."""
    known = {s.array.name for s in report.suggestions}
    for kernel in report.kernels:
        for access in kernel.accesses:
            if (
                access.array not in known
                and access.wavefronts_low
                and access.wavefronts_low > (access.ideal or 0)
            ):
                where = f"{Path(access.place.path).name}:{access.place.line}"
                nothing = Verdict(work.name, access.array, where, False, reason="no suggestion at all")
                yield (access.place.path, 0, access.array), nothing
    for each in report.suggestions:
        place = each.array.place
        where = f"{Path(place.path).name}:{place.line}"
        verdict = Verdict(work.name, each.array.name, where, each.array.dynamic, words=each.words)
        verdict.before, verdict.after = each.before, each.after
        if each.edits is not None:
            verdict.edit = "safe" if each.safe else "unsafe"
            verdict.reason = each.unsafe_because
        elif each.refused is not None:
            verdict.reason = f"{each.refused.code}: {each.refused.text}"
        yield (place.path, place.offset, each.array.name), verdict


def uses(report: FileReport, path: Path, key: tuple[str, int, str]) -> bool:
    return report.path == shown(str(path)) and any(_key(s) == key for s in report.suggestions)


def _key(each: Suggestion) -> tuple[str, int, str]:
    return (each.array.place.path, each.array.place.offset, each.array.name)


def kept(key: tuple[str, int, str], before: Sequence[FileReport], after: Sequence[FileReport]) -> str:
    """Whether a fresh analysis of the edited copy shows what was promised, access by access."""
    checked = 0
    for old, new in zip(before, after, strict=True):
        numbers = [n for n, s in enumerate(old.suggestions) if _key(s) == key and s.edits is not None]
        if not numbers:
            continue
        number = numbers[0]
        if any(change.apart for change in old.suggestions[number].sites):
            problem = kept_in_sum(old.suggestions[number], new)
            if problem:
                return problem
            checked += 1
            continue
        promised: Counter[tuple[str, int, str, int]] = Counter()
        told: Counter[tuple[str, int, str, int]] = Counter()
        for change in old.suggestions[number].sites:
            promised[change.kernel, change.site.place.offset, change.site.op, change.after] += 1
        if len(old.kernels) != len(new.kernels):
            return f"{len(new.kernels)} kernel instances, {len(old.kernels)} before"
        sites = {key[:3] for key in promised}
        for a, b in zip(old.kernels, new.kernels, strict=True):
            if not any(kernel == a.name for kernel, _, _ in sites):
                continue
            if len(a.accesses) != len(b.accesses):
                return f"{a.name}: {len(b.accesses)} accesses, {len(a.accesses)} before"
            for x, y in zip(a.accesses, b.accesses, strict=True):
                site = (a.name, x.place.offset, x.op)
                if site not in sites:
                    continue
                if y.wavefronts is None:
                    return f"line {y.place.line} is not resolved"
                told[site[0], site[1], site[2], y.wavefronts] += 1
                checked += 1
        missing = promised - told
        if missing:
            return f"promised, not found: {sorted(missing)[:3]}"
    return "yes" if checked else "nothing to check"


def kept_in_sum(suggestion: Suggestion, after: FileReport) -> str:
    """The same where accesses are joined otherwise after the edit: all of the array's, kernel by kernel."""
    promised: Counter[str] = Counter()
    for change in suggestion.sites:
        promised[change.kernel] += change.after
    told: Counter[str] = Counter()
    for kernel in after.kernels:
        for access in kernel.accesses:
            if access.array == suggestion.array.name and kernel.name in promised:
                if access.wavefronts is None:
                    return f"line {access.place.line} is not resolved"
                told[kernel.name] += access.wavefronts
    worse = {name for name in promised if not 0 < told[name] <= promised[name]}
    return f"more wavefronts than promised: {sorted(worse)}" if worse else ""


def compiles(nvcc: str, arch: str, work: Work, path: Path) -> str:
    """'' when a file compiles, else the first error."""
    call = [nvcc, "-cubin", f"-arch={arch}", "-std=c++17", "-w", "-o", "/dev/null", *work.options.defines]
    call += [f"-I{p}" for p in (path.parent, *work.includes)]
    try:
        done = subprocess.run([*call, str(path)], capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)[:200]
    lines = (done.stderr + done.stdout).splitlines()
    error = next((line for line in lines if "error" in line), lines[-1] if lines else "")
    return "" if done.returncode == 0 else error[:300] or f"nvcc ended with {done.returncode}"


# ---------------------------------------------------------------------------- what to look at


def from_paths(paths: Sequence[Path], temporary: Path) -> Iterator[Work]:
    """Each file is a program of its own."""
    for path in paths:
        for file in sorted(path.glob("*.cu")) if path.is_dir() else [path]:
            target = temporary / file.stem / file.name
            target.parent.mkdir(parents=True)
            shutil.copyfile(file, target)
            yield Work(file.stem, temporary, [target], Options(min_ways=LEAST_WAYS), [file.parent])


def from_measurements(options: Any, temporary: Path) -> Iterator[Work]:
    checkouts: dict[Path, Checkout] = {}
    for program in measurements.load(options.measurements):
        if options.program and program.name not in options.program:
            continue
        root = options.sources / program.repo.replace("/", "+")
        checkout = checkouts.setdefault(root, Checkout(root))
        yield staged(program, checkout, temporary / program.name)


def from_folders(options: Any, temporary: Path) -> Iterator[Work]:
    checkout = Checkout(options.sources)
    for folder in options.folder:
        name = Path(folder).name
        program = measurements.Program(name, "", folder, None, tuple(options.define), (), False, ())
        yield staged(program, checkout, temporary / name)


def staged(program: measurements.Program, checkout: Checkout, copy: Path) -> Work:
    copy.mkdir(parents=True)
    files = []
    for path in measurements.stage(program, checkout, copy):
        files += sorted(path.rglob("*.cu")) if path.is_dir() else [path] if path.suffix == ".cu" else []
    root = checkout.root
    own = [p for p in (root / program.folder).rglob("*") if p.is_dir()]
    includes = [root / program.folder, *own, root, root / "Common", root / "include"]
    options = Options(min_ways=LEAST_WAYS, defines=program.defines)
    return Work(program.name, copy, files, options, includes)


# ---------------------------------------------------------------------------- what it comes to


def summary(verdicts: Sequence[Verdict]) -> str:
    edits = [v for v in verdicts if v.edit]
    named = [v for v in verdicts if not v.edit and v.reason and not v.reason.startswith("no suggestion")]
    tried = [v for v in edits if not v.compiles.startswith("original")]
    lines = [
        f"arrays with a resolved conflict: {len(verdicts)}",
        f"edit offered: {len(edits)} ({sum(v.edit == 'safe' for v in edits)} safe); "
        f"named reason: {len(named)}; neither: {len(verdicts) - len(edits) - len(named)}",
        f"edits that compile: {sum(v.compiles == 'yes' for v in tried)} of {len(tried)} "
        f"({len(edits) - len(tried)} not tried: nvcc does not compile the original)",
        f"promise kept after a fresh analysis: {sum(v.kept == 'yes' for v in edits)} of {len(edits)}",
    ]
    reasons = Counter(v.reason.partition(":")[0] for v in named)
    lines += [f"  {count} {reason}" for reason, count in reasons.most_common()]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--measurements", type=Path)
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--program", action="append")
    parser.add_argument("--folder", action="append", default=[])
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument(
        "--include", action="append", default=[], help="where the compiler finds more headers"
    )
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--out", type=Path, help="where the verdicts go as JSON")
    options = parser.parse_args()
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory() as temporary:
        for kind in (
            from_paths(options.paths, Path(temporary) / "paths"),
            from_measurements(options, Path(temporary) / "programs") if options.measurements else iter(()),
            from_folders(options, Path(temporary) / "folders") if options.folder else iter(()),
        ):
            for work in kind:
                work.includes += [Path(p) for p in options.include]
                found = judge(work, options.nvcc, options.arch)
                verdicts += found
                for v in found:
                    said = (
                        f"EDIT {v.edit}, compiles {v.compiles}, kept {v.kept}; {v.words}"
                        if v.edit
                        else v.words
                    )
                    print(
                        f"{v.program} {v.array} {v.place}{' dynamic' if v.dynamic else ''}: {v.before} -> "
                        f"{v.after}; {said}{f' [{v.reason}]' if v.reason else ''}",
                        flush=True,
                    )
    print(summary(verdicts))
    if options.out:
        options.out.write_text(json.dumps([asdict(v) for v in verdicts], indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
