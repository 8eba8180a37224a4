"""Measure the fixtures on a GPU: wavefronts of every shared-memory line, as Nsight Compute counts them.

    python benchmarks/fixtures_on_gpu.py [--arch sm_90] [--out fixtures/measured.json]

Needs nvcc, ncu (with its Python module) and a GPU; none of them is needed to use or to test smemlint. Each
fixture is built with -lineinfo and run once under ncu; its instructions are added up by source line and kind.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import importlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WAVEFRONTS = "memory_l1_wavefronts_shared"
IDEAL = "memory_l1_wavefronts_shared_ideal"
WARPS = "inst_executed"
THREADS = "thread_inst_executed"
SECTIONS = f"--section SourceCounters --section LaunchStats --metrics {WAVEFRONTS},{IDEAL},{WARPS},{THREADS}"
OPS = (
    (re.compile(r"\bLDGSTS"), "cp.async"),
    (re.compile(r"\bLDSM"), "ldmatrix"),
    (re.compile(r"\bSTSM"), "stmatrix"),
    (re.compile(r"\b(ATOMS|ATOM|RED)\b"), "atomic"),
    (re.compile(r"\b(LDS|LD)\b"), "load"),
    (re.compile(r"\b(STS|ST)\b"), "store"),
)


def op_of(sass: str) -> str | None:
    """The kind of shared-memory access of an instruction, None for any other."""
    return next((op for pattern, op in OPS if pattern.search(sass)), None)


def build(source: Path, binary: Path, arch: str) -> None:
    call = ["nvcc", f"-arch={arch}", "-std=c++17", "-O3", "-lineinfo", "-o", str(binary), str(source)]
    subprocess.run(call, check=True, capture_output=True, text=True)


def profile(binary: Path, report: Path, sections: str) -> None:
    call = ["ncu", "--clock-control", "none", *sections.split(), "-f", "-o", str(report), str(binary)]
    subprocess.run(call, check=True, capture_output=True, text=True)


def report_module() -> Any:
    """ncu_report, which stands beside the ncu program."""
    try:
        return importlib.import_module("ncu_report")
    except ImportError:
        ncu = shutil.which("ncu")
        roots = [Path(ncu).resolve().parent] if ncu else []
        roots += [
            *Path("/opt/nvidia/nsight-compute").glob("*"),
            *Path("/usr/local").glob("cuda*/nsight-compute*"),
        ]
        for root in roots:
            for folder in (root, *root.parents[:3]):
                if (folder / "extras" / "python" / "ncu_report.py").exists():
                    sys.path.insert(0, str(folder / "extras" / "python"))
                    return importlib.import_module("ncu_report")
        raise


def per_instruction(action: Any, name: str) -> dict[int, int]:
    """A metric's value at each program counter."""
    metric = action.metric_by_name(name)
    if metric is None:
        return {}
    at = metric.correlation_ids()
    return {int(at.as_uint64(i)): int(metric.as_uint64(i)) for i in range(metric.num_instances())}


def read(report: Path) -> list[dict[str, Any]]:
    """One entry a launch: kernel, grid, block and its lines in order."""
    launches = []
    context = report_module().load_report(str(report))
    for r in range(context.num_ranges()):
        part = context.range_by_idx(r)
        for a in range(part.num_actions()):
            action = part.action_by_idx(a)
            values = {name: per_instruction(action, name) for name in (WAVEFRONTS, IDEAL, WARPS, THREADS)}
            lines: dict[tuple[str, int, str], list[int]] = {}
            sass: dict[tuple[str, int, str], list[str]] = {}
            for pc in sorted(values[WARPS]):
                text = action.sass_by_pc(pc)
                op = op_of(text)
                if op is None or not values[WAVEFRONTS].get(pc):
                    continue
                source = action.source_info(pc)
                file, line = (Path(source.file_name()).name, source.line()) if source else ("?", 0)
                total = lines.setdefault((file, line, op), [0, 0, 0, 0])
                for i, name in enumerate((WARPS, THREADS, WAVEFRONTS, IDEAL)):
                    total[i] += values[name].get(pc, 0)
                sass.setdefault((file, line, op), []).append(text.strip())
            launches.append(
                {
                    "kernel": action.name(action.NameBase_DEMANGLED),
                    "grid": dimensions(action, "grid"),
                    "block": dimensions(action, "block"),
                    "lines": [[*place, *lines[place]] for place in sorted(lines)],
                    "sass": {f"{f}:{n} {op}": texts for (f, n, op), texts in sorted(sass.items())},
                }
            )
    return launches


def dimensions(action: Any, what: str) -> list[int]:
    found = [action.metric_by_name(f"launch__{what}_dim_{axis}") for axis in "xyz"]
    return [int(m.as_uint64()) if m is not None else 0 for m in found]


def fingerprint(source: Path) -> str:
    """Of the code and its line numbers; what stands in `//` comments does not matter."""
    code = re.sub(r"[ \t]*//[^\n]*", "", source.read_text(encoding="utf-8"))
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def one_row_a_line(text: str) -> str:
    """JSON with each innermost list on one line, so that a changed number is one line of a diff."""
    return re.sub(r"\[[^\[\]{}]*\]", lambda m: re.sub(r"\s*\n\s*", " ", m.group()), text)


def device() -> str:
    call = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fixtures", type=Path, default=ROOT / "fixtures")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--out", type=Path, default=ROOT / "fixtures" / "measured.json")
    parser.add_argument("--keep", type=Path, help="folder for the raw ncu reports")
    parser.add_argument("--sections", default=SECTIONS, help="what ncu collects")
    parser.add_argument("--sass", type=Path, help="write the instructions of each line here")
    options = parser.parse_args()
    sources = sorted(options.fixtures.glob("*.cu"))
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        work = options.keep or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(8) as pool:
            builds = {s: pool.submit(build, s, work / s.stem, options.arch) for s in sources}
        for source in sources:
            report = work / f"{source.stem}.ncu-rep"
            try:
                builds[source].result()
                subprocess.run([str(work / source.stem)], check=True, timeout=60)
                profile(work / source.stem, report, options.sections)
                results[source.name] = read(report)
                print(f"{source.name}: {len(results[source.name])} launches")
            except Exception as error:
                detail = getattr(error, "stderr", None) or getattr(error, "stdout", None) or ""
                print(f"{source.name}: {error}\n{detail}", file=sys.stderr)
    facts = {
        "device": f"{device()} ({options.arch})",
        "date": datetime.date.today().isoformat(),
        "tool": f"Nsight Compute: {WAVEFRONTS}(_ideal), {WARPS}, {THREADS}; nvcc -O3 -lineinfo",
        "fields": ["file", "line", "op", "warp instructions", "thread instructions", "wavefronts", "ideal"],
        "code": {source.name: fingerprint(source) for source in sources},
        "fixtures": results,
    }
    sass = {name: {r["kernel"]: r.pop("sass") for r in runs} for name, runs in results.items()}
    if options.sass:
        options.sass.write_text(json.dumps(sass, indent=1) + "\n", encoding="utf-8")
    options.out.write_text(one_row_a_line(json.dumps(facts, indent=1)) + "\n", encoding="utf-8")
    return 0 if len(results) == len(sources) else 1


if __name__ == "__main__":
    raise SystemExit(main())
