"""The fixes on silicon, in public programs: before and after `smemlint --fix --unsafe-fixes`.

    python benchmarks/fixes/programs.py prepare --programs LIST --sources CHECKOUTS --out build/programs
    python benchmarks/fixes/programs.py measure build/programs    # on a machine with nvcc, ncu and a GPU
    python benchmarks/fixes/programs.py table build/programs/programs.json

Each version is built and run: what comes back to the host, and device memory when it is freed, must be the
same bit for bit (`before` runs twice, to see whether it is the same as itself). Nsight Compute then gives
wavefronts and the time of each launch of a kernel that was edited. LIST is a JSON file that says which
programs and how each is built and run (the fields of `Public`); CHECKOUTS holds their repositories as
`owner+name`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

WRAPPED = ("cudaMalloc", "cudaMemcpy", "cudaFree", "srand")
VERSIONS = ("before", "after")
DURATION = "gpu__time_duration.sum"
LAUNCHES = 40
"""Launches that are profiled of each run."""


@dataclass(frozen=True)
class Public:
    """A program and how it is built and run. only: a pattern of the files that are analysed, when not the
    whole folder. sources: what is compiled; edits: (file, pattern, replacement) that shorten a run."""

    name: str
    repo: str
    folder: str
    sources: tuple[str, ...]
    runs: tuple[tuple[str, ...], ...] = ((),)
    only: str | None = None
    edits: tuple[tuple[str, str, str], ...] = ()
    flags: tuple[str, ...] = ()


def described(path: Path) -> list[Public]:
    """The programs of a JSON file: a list of objects with the fields of `Public`."""

    def frozen(value: Any) -> Any:
        return tuple(map(frozen, value)) if isinstance(value, list) else value

    entries = json.loads(path.read_text(encoding="utf-8"))
    return [Public(**{name: frozen(value) for name, value in entry.items()}) for entry in entries]


# ---------------------------------------------------------------------------- here: both versions


def prepare(programs: Path, sources: Path, out: Path) -> int:
    import criterion
    import measurements
    from checkout import Checkout

    from smemlint.api import Job, View, analyse, collect
    from smemlint.repair import repair

    shutil.rmtree(out, ignore_errors=True)
    facts: dict[str, Any] = {}
    for public in described(programs):
        root = sources / public.repo.replace("/", "+")
        program = measurements.Program(
            public.name, public.repo, public.folder, public.only, (), public.edits, False, ()
        )
        slug = re.sub(r"\W+", "_", public.name)
        copies = {version: out / version / slug for version in VERSIONS}
        works = {v: criterion.staged(program, Checkout(root), copy) for v, copy in copies.items()}
        for copy in copies.values():  # what else it is built of
            for name in public.sources:
                target = copy / public.folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                if not target.exists():
                    shutil.copyfile(root / public.folder / name, target)
            for header in (root / "Common").glob("*.h") if (root / "Common").is_dir() else ():
                (copy / "Common").mkdir(exist_ok=True)
                shutil.copyfile(header, copy / "Common" / header.name)
        jobs = [Job(str(p), works["after"].options) for p in works["after"].files]
        reports = [report for _, report in sorted(analyse(jobs), key=lambda pair: pair[0])]
        edited, skipped = repair(collect(reports, View()), reports, jobs, unsafe=True)
        for each in skipped:
            print(f"{public.name}: {each.message}", file=sys.stderr)
        for file in edited:
            Path(file.path).write_bytes(file.after)
        done = [s for f in edited for s in f.suggestions]
        facts[public.name] = {
            "slug": slug,
            "folder": public.folder,
            "sources": public.sources,
            "runs": public.runs,
            "flags": public.flags,
            "fixes": [
                {"array": s.array.name, "kernels": sorted({c.kernel for c in s.sites}), "words": s.words}
                for s in done
            ],
        }
        print(f"{public.name}: {len(done)} arrays fixed")
    (out / "promise.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return 0


# ---------------------------------------------------------------------------- there: what happens


def measure(folder: Path, arch: str) -> int:
    import fixtures_on_gpu as profiler

    facts = json.loads((folder / "promise.json").read_text(encoding="utf-8"))
    results: dict[str, Any] = {}
    out = Path(os.environ.get("OUT", str(folder))) / "programs.json"
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        with ThreadPoolExecutor(os.cpu_count() or 4) as pool:
            builds = {
                (name, v): pool.submit(
                    build, folder / v / fact["slug"], fact, work / f"{v}_{fact['slug']}", arch
                )
                for name, fact in facts.items()
                for v in VERSIONS
            }
        for name, fact in facts.items():
            said = [builds[name, v].result() for v in VERSIONS]
            if any(said):
                print(f"{name}: does not build: {said}")
                results[name] = {"built": said}
                continue
            binaries = {v: work / f"{v}_{fact['slug']}" for v in VERSIONS}
            results[name] = {
                "built": ["", ""],
                "runs": [one(profiler, binaries, r, work) for r in fact["runs"]],
            }
            print(name, [(r["same"], r["repeats"]) for r in results[name]["runs"]], flush=True)
            told = {"device": f"{profiler.device()} ({arch})", "programs": facts, "results": results}
            out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


def build(copy: Path, fact: dict[str, Any], binary: Path, arch: str) -> str:
    """'' or what the compiler says."""
    root = copy / fact["folder"]
    folders = [root, copy / "Common", copy / "include", *(p for p in root.rglob("*") if p.is_dir())]
    wraps = [part for name in WRAPPED for part in ("-Xlinker", f"--wrap={name}")]
    call = ["nvcc", f"-arch={arch}", "-std=c++17", "-O3", "-lineinfo", "-w", "-o", str(binary)]
    call += [*(f"-I{p}" for p in folders), *(str(root / s) for s in fact["sources"])]
    call += [str(HERE / "programs.cu"), *wraps, *fact["flags"]]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr or done.stdout)[-400:] or "nvcc failed"


def one(profiler: Any, binaries: dict[str, Path], arguments: Sequence[str], work: Path) -> dict[str, Any]:
    """One run of both versions. same: the hashes agree; repeats: those of `before` agree with themselves."""
    first, second = hashes(binaries["before"], arguments), hashes(binaries["before"], arguments)
    after = hashes(binaries["after"], arguments)
    found: dict[str, Any] = {
        "arguments": list(arguments),
        "same": first == after,
        "repeats": first == second,
        "hashes": len(first),
    }
    for version in VERSIONS:
        found[version] = profile(profiler, binaries[version], arguments, work / "run.ncu-rep")
    return found


def hashes(binary: Path, arguments: Sequence[str]) -> list[str]:
    try:
        done = subprocess.run(
            [str(binary), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
            cwd=binary.parent,
        )
    except subprocess.TimeoutExpired:
        return ["timeout"]
    return [
        *re.findall(r"^(?:copied|freed) \d+ hash \w+$", done.stdout, re.MULTILINE),
        f"exit {done.returncode}",
    ]


def profile(profiler: Any, binary: Path, arguments: Sequence[str], report: Path) -> list[dict[str, Any]]:
    """Launches with wavefronts, ideal and microseconds; none where the profiler failed, which is told."""
    call = ["ncu", "--clock-control", "none", *f"{profiler.SECTIONS},{DURATION}".split()]
    call += ["-c", str(LAUNCHES), "-f", "-o", str(report.with_suffix("")), str(binary), *arguments]
    try:
        subprocess.run(call, check=True, capture_output=True, text=True, timeout=100, cwd=binary.parent)
        launches = profiler.read(report)
        times = durations(profiler, report)
    except Exception as error:
        print(binary.name, error, str(getattr(error, "stdout", ""))[-300:])
        return []
    return [
        {
            "kernel": r["kernel"],
            "block": r["block"],
            "us": t,
            "wavefronts": sum(line[5] for line in r["lines"]),
            "ideal": sum(line[6] for line in r["lines"]),
        }
        for r, t in zip(launches, times, strict=True)
    ]


def durations(profiler: Any, report: Path) -> list[float]:
    context = profiler.report_module().load_report(str(report))
    found = []
    for r in range(context.num_ranges()):
        part = context.range_by_idx(r)
        for a in range(part.num_actions()):
            metric = part.action_by_idx(a).metric_by_name(DURATION)
            found.append(metric.as_double() / 1000 if metric is not None else 0.0)
    return found


# ---------------------------------------------------------------------------- the table


def table(path: Path) -> int:
    facts = json.loads(path.read_text(encoding="utf-8"))
    print(f"Device: {facts['device']}.\n")
    print(
        "| program | kernel | same output | wavefronts before | after | before, us | after, us | speed-up |"
    )
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name, result in facts["results"].items():
        edited = {k for f in facts["programs"][name]["fixes"] for k in f["kernels"]}
        for run in result.get("runs", ()):
            same = "yes" if run["same"] else "NO" if run["repeats"] else "differs from run to run"
            said = " ".join([name, *run["arguments"]])
            sums = {v: by_kernel(run[v]) for v in VERSIONS}
            for kernel in sums["before"]:
                if kernel.rpartition("::")[2] not in edited or kernel not in sums["after"]:
                    continue
                (w, t), (w2, t2) = sums["before"][kernel], sums["after"][kernel]
                ratio = f"{t / t2:.2f}x" if t2 else ""
                print(f"| {said} | `{kernel}` | {same} | {w} | {w2} | {t:.2f} | {t2:.2f} | {ratio} |")
    return 0


def by_kernel(launches: Sequence[dict[str, Any]]) -> dict[str, tuple[int, float]]:
    """Wavefronts and microseconds over all launches of a kernel."""
    found: dict[str, tuple[int, float]] = {}
    for launch in launches:
        match = re.match(r"(?:void )?([\w:]+)", launch["kernel"])
        name = match.group(1) if match else launch["kernel"]
        wavefronts, us = found.get(name, (0, 0.0))
        found[name] = (wavefronts + launch["wavefronts"], us + launch["us"])
    return found


def main() -> int:
    import stages

    build = HERE.parents[1] / "build" / "programs"
    return stages.run(__doc__, {"--programs": None, "--sources": None}, build, prepare, measure, table)


if __name__ == "__main__":
    raise SystemExit(main())
