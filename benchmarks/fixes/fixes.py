"""The fixes on silicon: for every fixture with a conflict, before and after.

    python benchmarks/fixes/fixes.py prepare --out build/fixes        # here: needs smemlint
    python benchmarks/fixes/fixes.py measure build/fixes              # on a machine with nvcc, ncu and a GPU
    python benchmarks/fixes/fixes.py table build/fixes/measured.json  # rows of docs/dev/evaluation-fixes.md

`prepare` applies every fix that smemlint offers (safe or not: the fixtures' launches are known) and writes
both versions with the promise: wavefronts of each line of each kernel that was fixed. `measure` builds both,
compares all device memory after each launch bit for bit, times each launch with the grid repeated until the
device is full, and reads the wavefronts of each line with Nsight Compute.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from math import exp, log
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(HERE)]

WRAPPED = ("cudaMalloc", "cudaMemset", "cudaLaunchKernel", "__cudaLaunchKernel")
VERSIONS = ("before", "after")
ROUNDS = 3
"""Times that each version is timed, in turn."""


# ---------------------------------------------------------------------------- here: what is promised


def prepare(fixtures: Path, out: Path) -> int:
    from smemlint.api import Job, analyse, shown
    from smemlint.fix.deliver import plan

    shutil.rmtree(out, ignore_errors=True)
    for version in VERSIONS:
        (out / version).mkdir(parents=True)
    promises: dict[str, Any] = {}
    for path in sorted(fixtures.glob("*.cu")):
        ((_, report),) = analyse([Job(str(path))])
        files, skipped = plan(report.suggestions, lambda name: Path(name).read_bytes(), unsafe=True)
        for each in skipped:
            print(each.message, file=sys.stderr)
        mine = [f for f in files if f.path == shown(str(path))]
        refused = [
            {"array": s.array.name, "line": s.array.place.line, "code": s.refused.code, "why": s.refused.text}
            for s in report.suggestions
            if s.refused is not None
        ]
        if not mine and not refused:
            continue
        promises[path.name] = {"refused": refused, "fixed": [], "kernels": []}
        if not mine:
            continue
        (edited,) = mine
        (out / "before" / path.name).write_bytes(edited.before)
        (out / "after" / path.name).write_bytes(edited.after)
        ((_, again),) = analyse([Job(str(out / "after" / path.name))])
        names = {c.kernel for s in edited.suggestions for c in s.sites}
        promises[path.name]["fixed"] = [
            {
                "array": s.array.name,
                "kind": s.kind,
                "words": s.words,
                "kernels": sorted({c.kernel for c in s.sites}),
            }
            for s in edited.suggestions
        ]
        promises[path.name]["kernels"] = [
            {"version": version, "name": k.name, "block": list(k.launch.block), "lines": lines(k)}
            for version, kernels in (("before", report.kernels), ("after", again.kernels))
            for k in kernels
            if k.name in names
        ]
        print(f"{path.name}: {len(edited.suggestions)} fixed, {len(refused)} refused")
    (out / "promise.json").write_text(json.dumps(promises, indent=1) + "\n", encoding="utf-8")
    return 0


def lines(kernel: Any) -> list[list[Any]]:
    """[line, op, wavefronts, ideal] of one block, as the profiler adds them up."""
    total: dict[tuple[int, str], list[int]] = {}
    for access in kernel.accesses:
        if access.wavefronts is None:
            continue
        row = total.setdefault((access.place.line, access.op), [0, 0])
        row[0] += access.wavefronts
        row[1] += access.ideal or 0
    return [[line, op, *total[line, op]] for line, op in sorted(total)]


# ---------------------------------------------------------------------------- there: what happens


def measure(folder: Path, arch: str) -> int:
    import fixtures_on_gpu as profiler

    promises = json.loads((folder / "promise.json").read_text(encoding="utf-8"))
    names = [name for name, promise in promises.items() if promise["fixed"]]
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        harness = work / "harness.o"
        nvcc(arch, "-c", "-o", str(harness), str(HERE / "harness.cu"))
        with ThreadPoolExecutor(os.cpu_count() or 4) as pool:
            builds = {
                (name, version): pool.submit(
                    build, folder / version / name, work / f"{version}_{name}.out", harness, arch
                )
                for name in names
                for version in VERSIONS
            }
        for key, done in builds.items():
            if done.exception() is not None:
                print(f"{key}: does not build\n{getattr(done.exception(), 'stderr', '')}")
        names = [n for n in names if all(builds[n, v].exception() is None for v in VERSIONS)]
        for name in names:
            binaries = {v: work / f"{v}_{name}.out" for v in VERSIONS}
            results[name] = compare(binaries)
            print(name, results[name]["same"], results[name]["fill"], flush=True)
        for version in reversed(VERSIONS):
            for name in names:
                profiled = profile(
                    profiler, work / f"{version}_{name}.out", work / f"{version}_{name}.ncu-rep"
                )
                results[name][f"profile_{version}"] = profiled
            save(folder, profiler.device(), arch, promises, results)
    return 0


def profile(profiler: Any, binary: Path, report: Path) -> list[dict[str, Any]]:
    """Launches with their lines; none where the profiler failed, which is told."""
    try:
        profiler.profile(binary, report, profiler.SECTIONS)
        return [{k: r[k] for k in ("kernel", "grid", "block", "lines")} for r in profiler.read(report)]
    except Exception as error:
        print(binary.name, error, getattr(error, "stderr", ""))
        return []


def save(folder: Path, device: str, arch: str, promises: Any, results: Any) -> None:
    facts = {
        "device": f"{device} ({arch})",
        "date": datetime.date.today().isoformat(),
        "promises": promises,
        "results": results,
    }
    out = Path(os.environ.get("OUT", str(folder))) / "measured.json"
    out.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def nvcc(arch: str, *arguments: str) -> None:
    call = ["nvcc", f"-arch={arch}", "-std=c++17", "-O3", "-lineinfo", "-w", *arguments]
    subprocess.run(call, check=True, capture_output=True, text=True)


def build(source: Path, binary: Path, harness: Path, arch: str) -> None:
    wraps = [part for name in WRAPPED for part in ("-Xlinker", f"--wrap={name}")]
    nvcc(arch, "-o", str(binary), str(source), str(harness), *wraps)


def run(binary: Path, fill: str, timed: bool) -> list[tuple[str, float]] | None:
    """(hash of device memory, microseconds) after each launch; None when a launch failed."""
    environment = {**os.environ, "FIXES_FILL": fill, **({"FIXES_TIME": "1"} if timed else {})}
    done = subprocess.run(
        [str(binary)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    found = re.findall(r"^launch \d+ hash (\w+) us ([\d.]+)$", done.stdout, re.MULTILINE)
    if "error" in done.stdout or done.returncode != 0 or not found:
        return None
    return [(h, float(t)) for h, t in found]


def compare(binaries: dict[str, Path]) -> dict[str, Any]:
    for fill in ("float", "small"):
        outputs = {v: run(binaries[v], fill, timed=False) for v in VERSIONS}
        if all(outputs.values()):
            break
    else:
        return {"same": [], "fill": "", "us": {}}
    hashes = {v: [h for h, _ in outputs[v] or ()] for v in VERSIONS}
    times: dict[str, list[list[float]]] = {v: [] for v in VERSIONS}
    for _ in range(ROUNDS):
        for version in VERSIONS:
            timed = run(binaries[version], fill, timed=True)
            if timed is not None:
                times[version].append([t for _, t in timed])
    medians = {
        v: [sorted(samples)[len(samples) // 2] for samples in zip(*times[v], strict=True)] for v in VERSIONS
    }
    same = [a == b for a, b in zip(hashes["before"], hashes["after"], strict=True)]
    return {"same": same, "fill": fill, "us": medians, "rounds": times}


# ---------------------------------------------------------------------------- the table


COLUMNS = (
    "fixture",
    "kernel",
    "fix",
    "wavefronts before",
    "promised",
    "measured",
    "same output",
    "before, us",
    "after, us",
    "speed-up",
)


def table(path: Path) -> int:
    facts = json.loads(path.read_text(encoding="utf-8"))
    print(f"Device: {facts['device']}, {facts['date']}.\n")
    print("| " + " | ".join(COLUMNS) + " |")
    print("| " + " | ".join("---:" if n > 2 else "---" for n in range(len(COLUMNS))) + " |")
    ratios = []
    kept = broken = 0
    for name, result in facts["results"].items():
        promise = facts["promises"][name]
        befores = result.get("profile_before") or []
        for n, launch in enumerate(result.get("profile_after") or []):
            kernel = base_name(launch["kernel"])
            kinds = [f["kind"] for f in promise["fixed"] if kernel in f["kernels"]]
            if not kinds:
                continue
            before, after = (result["us"][v][n] if result["us"] else 0.0 for v in VERSIONS)
            old = sum(line[5] for line in befores[n]["lines"]) if n < len(befores) else ""
            promised, measured, hold = kept_promise(promise, launch, kernel)
            kept, broken = kept + hold, broken + (not hold)
            ratio = before / after if after else 1.0
            if old != measured:
                ratios.append(ratio)
            cells = [name, f"`{kernel}`", ", ".join(dict.fromkeys(kinds)), old, promised]
            cells += [
                f"{measured}{'' if hold else ' (!)'}",
                "yes" if result["same"][n : n + 1] == [True] else "NO",
            ]
            cells += [f"{before:.2f}", f"{after:.2f}", f"{ratio:.2f}x"]
            print("| " + " | ".join(map(str, cells)) + " |")
    if ratios:
        mean = exp(sum(log(r) for r in ratios) / len(ratios))
        print(
            f"\n{len(ratios)} kernels with a conflict: geometric mean {mean:.2f}x, least {min(ratios):.2f}x,",
            end=" ",
        )
        print(f"most {max(ratios):.2f}x; wavefronts as promised in {kept}, not in {broken}.")
    return 0


def base_name(demangled: str) -> str:
    match = re.match(r"(?:void )?([\w:]+)", demangled)
    return match.group(1).rpartition("::")[2] if match else demangled


def kept_promise(promise: Any, launch: Any, kernel: str) -> tuple[int, int, bool]:
    """Promised and measured wavefronts of a launch; whether every line has the ways that were promised.

    The compiler joins and drops accesses, so that counts of requests differ from the source's; the ways of a
    line (wavefronts over ideal) must not.
    """
    blocks = launch["grid"][0] * launch["grid"][1] * launch["grid"][2]
    best: tuple[int, int, bool] = (0, 0, False)
    for instance in promise["kernels"]:
        if (
            instance["version"] != "after"
            or instance["name"] != kernel
            or instance["block"] != launch["block"]
        ):
            continue
        said = {(line, op): (w, i) for line, op, w, i in instance["lines"]}
        promised = sum(w for w, _ in said.values()) * blocks
        measured, hold = 0, True
        for _, line, op, _, _, wavefronts, ideal in launch["lines"]:
            measured += wavefronts
            w, i = said.get((line, op), (0, 0))
            if i and ideal and abs(wavefronts / ideal - w / i) > 0.05 * w / i:
                hold = False
        found = (promised, measured, hold)
        if not best[2]:
            best = found
    return best


def main() -> int:
    import stages

    build = ROOT / "build" / "fixes"
    return stages.run(__doc__, {"--fixtures": ROOT / "fixtures"}, build, prepare, measure, table)


if __name__ == "__main__":
    raise SystemExit(main())
