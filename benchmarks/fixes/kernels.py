"""The fixes of kernels of any sources on silicon: each started by a few lines of our own, before and after.

    python benchmarks/fixes/kernels.py prepare --files LIST    # here: needs smemlint
    python benchmarks/fixes/kernels.py built build/kernels     # where nvcc is: the programs into its bin/
    python benchmarks/fixes/kernels.py measure build/kernels   # on a machine with ncu, a GPU (and nvcc)
    python benchmarks/fixes/kernels.py table build/kernels/measured.json

LIST names a source file a line. `prepare` applies every fix that smemlint offers (safe or not) and appends a
`main` that starts one fixed kernel in the block shape that smemlint knows, with memory for each pointer and
SIZE for each integer. `measure` builds both versions (harness.cu fills the memory, hashes it and times the
launch), compares all device memory bit for bit, and reads the wavefronts with Nsight Compute. A kernel that
these arguments do not suit faults, before and after, and is left out. Both versions run in turn, and the
median of each counts; where these are close, they run more often, as far as the time goes.
The grid is repeated to fill the device; of a grid of few blocks each copy gets a place of its own in what the
kernel writes, since copies that write the same few lines of memory wait for each other.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import exp, log, prod
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import fixes  # noqa: E402

VERSIONS = ("before", "after")
ROUNDS, CLOSE, FURTHER = 3, 0.06, 4
"""Times that each version is timed, the distance of medians that asks for more, and how many more."""
HEADERS = (".h", ".hpp", ".cuh", ".cu", ".inl")
MOST_HEADER = 400_000
SECONDS = int(os.environ.get("MEASURE_SECONDS", "470"))
"""After which `measure` begins nothing new."""
LIBRARIES = [p.parent for p in Path("/usr").glob("l*/*/*/site-packages/nvidia/*/include/cublas_v2.h")]
"""Where headers are that a compiler's installation may lack."""
FEW = 16
"""A grid of less blocks is repeated so often that its copies meet in memory."""
ROOM = 28 << 20
"""Bytes over which the copies of a grid of few blocks are spread."""
MAIN = """
#undef main
#include <cstdio>
#include <type_traits>
namespace fixes_of {
template <class T> T value()
{
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_pointer_v<U>) {
        void *p = nullptr;
        cudaMalloc(&p, MEBIBYTES << 20);
        return (T)p;
    } else if constexpr (std::is_same_v<U, bool>) {
        return true;
    } else if constexpr (std::is_integral_v<U>) {
        return U(SIZE);
    } else if constexpr (std::is_floating_point_v<U>) {
        return U(1);
    } else {
        return U{};
    }
}
template <class... P> void start(void (*kernel)(P...), dim3 grid, dim3 block, size_t bytes)
{
    cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    kernel<<<grid, block, bytes>>>(value<P>()...);
}
}
int main()
{
    fixes_of::start(KERNEL, dim3(GRID), dim3(BLOCK), BYTES);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) { std::printf("error %s\\n", cudaGetErrorString(error)); return 1; }
    return 0;
}
"""


# ---------------------------------------------------------------------------- here: the programs


def analysed(path: Path) -> dict[str, Any] | None:
    """The texts of a file before and after its fixes, and the launches of the kernels that they change."""
    from smemlint.api import Job
    from smemlint.fix.deliver import plan
    from smemlint.running import pipeline

    found = pipeline.examine(Job(str(path)), str)
    if not hasattr(found, "suggestions"):
        return None
    files, _ = plan(list(found.suggestions.values()), lambda name: Path(name).read_bytes(), unsafe=True)
    edited = next((f for f in files if f.path == str(path)), None)
    if edited is None:
        return None
    return {
        "path": str(path),
        "before": edited.before.decode("utf-8", "surrogateescape"),
        "after": edited.after.decode("utf-8", "surrogateescape"),
        "fixes": [
            {
                "array": s.array.name,
                "kind": s.kind,
                "safe": s.safe,
                "grows": s.bytes_added if s.array.dynamic else 0,
                "kernels": sorted({c.kernel for c in s.sites}),
                "promised": promised(s, str(path), edited.before, edited.suggestions),
            }
            for s in edited.suggestions
        ],
        "kernels": [
            {
                "name": a.kernel.name,
                "within": within(str(path), edited.before, a.kernel.place.offset),
                "arguments": dict(a.template_arguments),
                "block": list(a.launch.block),
                "grid": list(a.launch.grid or ()),
                "bytes": a.launch.dynamic or 0,
            }
            for a in found.analyses
            if a.kernel.place.path == str(path) and any(c.site.reached for c in a.conflicts)
        ],
    }


def within(path: str, text: bytes, offset: int) -> str:
    """The named namespaces around a place, `a::b::`; '' without any."""
    from smemlint.fix.text.source import Source

    source = Source(path, text)
    index, found = source.index_at(offset), ""
    while (scope := source.scope_of(index)) is not None:
        first = index = scope[0]
        while first and (source.code[first - 1].text == "::" or source.code[first - 1].kind == "name"):
            first -= 1
        words = [token.text for token in source.code[first:index]]
        if "namespace" in words:
            name = "".join(words[words.index("namespace") + 1 :])
            found = f"{name}::{found}" if name else found
    return found


def promised(fix: Any, path: str, text: bytes, fixes_: Iterable[Any]) -> list[list[Any]]:
    """[kernel, line after the edits, op, wavefronts before and after, ideal] of each access, as promised."""
    edits = sorted((e for f in fixes_ for e in f.edits or ()), key=lambda e: e.offset)
    found = []
    for change in fix.sites:
        place = change.site.place
        if place.path != path or not change.ideal:
            continue
        before = [e for e in edits if e.offset <= place.offset]
        moved = sum(e.replacement.count("\n") - text[e.offset : e.end_offset].count(b"\n") for e in before)
        found.append(
            [change.kernel, place.line + moved, change.site.op, change.before, change.after, change.ideal]
        )
    return found


def programs(facts: dict[str, Any], size: int) -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
    """Each fixed kernel of a file as two programs: its name, what is known of it, the texts."""
    done = set()
    for kernel in facts["kernels"]:
        fixed = [f for f in facts["fixes"] if kernel["name"] in f["kernels"]]
        key = (kernel["name"], *map(str, kernel["arguments"].values()))
        if not fixed or key[0] in done:
            continue
        done.add(key[0])
        grid = [min(int(g or 8), 8) for g in kernel["grid"]] or [8, 8]
        spelled = ", ".join(str(v) for v in kernel["arguments"].values())
        end = (
            MAIN.replace("SIZE", str(size))
            .replace(
                "KERNEL", kernel.get("within", "") + kernel["name"] + (f"<{spelled}>" if spelled else "")
            )
            .replace("GRID", ", ".join(map(str, grid)))
            .replace("BLOCK", ", ".join(map(str, kernel["block"])))
        )
        few = prod(grid) < FEW
        end = end.replace("MEBIBYTES", "32" if few else "16")
        more = {"before": 0, "after": sum(f["grows"] for f in fixed)}
        number = hashlib.sha1(f"{facts['path']} {key}".encode()).hexdigest()[:6]
        name = f"{kernel['name'].rpartition('::')[2]}_{number}"
        texts = {v: apart(facts[v], kernel["name"]) if few else facts[v] for v in VERSIONS}
        known = {"kernel": kernel["name"], "block": kernel["block"], "grid": grid, "fixes": fixed}
        known["apart"] = texts["before"] != facts["before"]
        given = {v: end.replace("BYTES", str(kernel["bytes"] + more[v])) for v in VERSIONS}
        yield name, known, {v: texts[v] + given[v] for v in VERSIONS}


def write(records: Iterable[dict[str, Any]], out: Path, size: int = 1024) -> None:
    """The programs of all records, each beside the headers of its repository."""
    told: dict[str, Any] = {}
    for facts in records:
        path = Path(facts["path"])
        root = repository(path)
        for name, known, texts in programs(facts, size):
            folder = out / "src" / root.name / path.parent.relative_to(root)
            for header in root.rglob("*"):
                target = out / "src" / root.name / header.relative_to(root)
                fits = header.is_file() and header.stat().st_size < MOST_HEADER
                if header.suffix in HEADERS and fits and not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(header, target)
            folder.mkdir(parents=True, exist_ok=True)
            for version, text in texts.items():
                (folder / f"{version}_{name}.cu").write_bytes(text.encode("utf-8", "surrogateescape"))
            told[name] = {
                **known,
                "repository": root.name,
                "file": str(path.relative_to(root)),
                "folder": str(folder.relative_to(out)),
            }
    out.mkdir(parents=True, exist_ok=True)
    (out / "programs.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def repository(path: Path) -> Path:
    """The folder of a checkout: `OWNER+NAME`, or the one that holds the file."""
    return next((p for p in path.parents if "+" in p.name), path.parent)


def prepare(files: Path, out: Path) -> int:
    found = (analysed(Path(line)) for line in files.read_text(encoding="utf-8").splitlines() if line)
    write((f for f in found if f is not None), out)
    return 0


def apart(text: str, kernel: str) -> str:
    """The text with the kernel's pointers to what it may write moved on in each copy of the grid, where the
    kernel does not use the third dimension of the grid itself."""
    from smemlint.fix.text.source import Source

    source = Source("", text.encode("utf-8", "surrogateescape"))
    code = source.code
    for i, token in enumerate(code[:-1]):
        if token.text != kernel or code[i + 1].text != "(":
            continue
        end = source.partner(i + 1)
        if end is None or code[end + 1].text != "{" or "__global__" not in [t.text for t in code[:i]][-40:]:
            continue
        last = source.partner(end + 1)
        body = [t.text for t in code[end + 1 : last]]
        if "blockIdx . z" in " ".join(body):
            return text
        moved = "".join(
            f" {name} += blockIdx.z * ({ROOM}u / gridDim.z & ~1023u) / sizeof(*{name});"
            for name in written([t.text for t in code[i + 2 : end]])
        )
        at = code[end + 1].end
        return (
            (source.text[:at] + moved + source.text[at:]).encode("latin-1").decode("utf-8", "surrogateescape")
        )
    return text


def written(parameters: Sequence[str]) -> list[str]:
    """Names of the pointers to what is not const, of a list of parameters."""
    found, words, depth = [], list[str](), 0
    for word in (*parameters, ","):
        depth += (word in "([<") - (word in ")]>")
        if word != "," or depth:
            words.append(word)
            continue
        plain = words.count("*") == 1 and not {"const", "void", "["} & set(words)
        if plain and "=" not in words:
            found.append(words[-1])
        words = []
    return found


# ---------------------------------------------------------------------------- there: what happens


def built(folder: Path, arch: str) -> int:
    """Builds all programs into folder/bin, and says which do not compile."""
    told = json.loads((folder / "programs.json").read_text(encoding="utf-8"))
    said = dict(made(folder, told, folder / "bin", arch, int(os.environ.get("BUILD_JOBS", "2"))))
    for (name, version), error in said.items():
        if error:
            print(name, version, error, flush=True)
    (folder / "bin" / "said.json").write_text(
        json.dumps([[*k, v] for k, v in said.items()]), encoding="utf-8"
    )
    return 0


def made(
    folder: Path, told: dict[str, Any], work: Path, arch: str, workers: int
) -> Iterator[tuple[tuple[str, str], str]]:
    """Each program and version with '' or what the compiler says, as they are ready."""
    work.mkdir(parents=True, exist_ok=True)
    harness = work / "harness.o"
    fixes.nvcc(arch, "-c", "-o", str(harness), str(HERE / "harness.cu"))
    jobs = [(n, v) for n in told for v in VERSIONS]
    with ThreadPoolExecutor(workers) as pool:
        yield from zip(
            jobs,
            pool.map(lambda job: build(folder, told[job[0]], *job, work, harness, arch), jobs),
            strict=True,
        )


def measure(folder: Path, arch: str) -> int:
    import fixtures_on_gpu as profiler

    began = time.monotonic()
    told = json.loads((folder / "programs.json").read_text(encoding="utf-8"))
    work = folder / "bin"
    if (work / "said.json").exists():
        said = {(n, v): error for n, v, error in json.loads((work / "said.json").read_text(encoding="utf-8"))}
    else:
        said = dict(made(folder, told, work, arch, max((os.cpu_count() or 4) - 1, 1)))
    results: dict[str, Any] = {}
    for n in told:
        if time.monotonic() - began > SECONDS * 0.6:
            break
        results[n] = {"build": {v: said.get((n, v), "") for v in VERSIONS}}
        if not any(results[n]["build"].values()):
            results[n].update(compare(work, n))
            of = told[n]["kernel"].rpartition("::")[2]
            results[n]["registers"] = {v: registers(work / f"{v}_{n}.ptxas", of) for v in VERSIONS}
        print(n, results[n], f"{time.monotonic() - began:.0f} s", flush=True)
    save(folder, profiler.device(), arch, told, results)
    ran = [n for n in results if results[n].get("us")]
    jobs = [(n, v) for n in ran for v in VERSIONS]
    with ThreadPoolExecutor(6) as pool:
        for (n, v), found in zip(
            jobs,
            pool.map(lambda job: profiled(profiler, work, *job, deadline=began + SECONDS * 0.85), jobs),
            strict=True,
        ):
            results[n][f"profile_{v}"] = found
    save(folder, profiler.device(), arch, told, results)
    for n in sorted(ran, key=lambda n: not any(f["safe"] for f in told[n]["fixes"])):
        for _ in range(FURTHER):
            close = abs(results[n]["us"]["before"] / results[n]["us"]["after"] - 1) < CLOSE
            if close and time.monotonic() - began < SECONDS:
                timed(work, n, results[n])
    save(folder, profiler.device(), arch, told, results)
    print(f"done after {time.monotonic() - began:.0f} s", flush=True)
    return 0


def timed(work: Path, name: str, result: dict[str, Any]) -> str:
    """Both versions once more; the one that faults, '' where none does."""
    for version in VERSIONS:
        found = run(work / f"{version}_{name}.out", result["fill"], timed=True)
        if found is None:
            return version
        result["rounds"][version].append(sum(t for _, t in found))
        result["hashes"][version].append(hashes(found))
    result["us"] = {v: median(result["rounds"][v]) for v in VERSIONS}
    return ""


def build(
    folder: Path, known: dict[str, Any], name: str, version: str, work: Path, harness: Path, arch: str
) -> str:
    """'' or what the compiler says."""
    home = folder / known["folder"]
    root = folder / "src" / known["repository"]
    includes = [
        home,
        root,
        *LIBRARIES,
        *(
            p
            for p in root.rglob("*")
            if p.is_dir() and p.name in ("include", "inc", "common", "Common", "src")
        ),
    ]
    wraps = [part for call in fixes.WRAPPED for part in ("-Xlinker", f"--wrap={call}")]
    source, binary = home / f"{version}_{name}.cu", work / f"{version}_{name}.out"
    if binary.exists() and binary.stat().st_mtime > source.stat().st_mtime:
        return ""
    call = ["nvcc", f"-arch={arch}", "-std=c++17", "-O3", "-lineinfo", "-w", "-Xptxas=-v"]
    call += ["-Dmain=main_of_the_file"]
    call += [*(f"-I{p}" for p in includes), "-o", str(binary), str(source)]
    # What only the host code of the file calls is never called here.
    call += [str(harness), *wraps, "-Xlinker", "--unresolved-symbols=ignore-all"]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=150, check=False)
    except subprocess.TimeoutExpired:
        return "time"
    lines = (done.stderr + done.stdout).splitlines()
    (work / f"{version}_{name}.ptxas").write_text("\n".join(lines), encoding="utf-8")
    error = next((line for line in lines if "error" in line or "undefined" in line), (lines or [""])[-1])
    return "" if done.returncode == 0 else error[-300:] or "nvcc failed"


def registers(said: Path, kernel: str) -> int:
    """The most registers of an instance of a kernel, as the assembler says."""
    parts = said.read_text(encoding="utf-8").split("Compiling entry function")[1:]
    mine = [part for part in parts if kernel in part.partition("\n")[0]]
    return max((int(n) for part in mine for n in re.findall(r"Used (\d+) registers", part)), default=0)


def compare(work: Path, name: str) -> dict[str, Any]:
    """Both versions in turn: whether memory is alike, and the medians of the times."""
    for fill in ("float", "small"):
        if run(work / f"before_{name}.out", fill, timed=False) is not None:
            break
    else:
        return {"error": "faults before the edit"}
    result: dict[str, Any] = {"fill": fill, **{of: {v: [] for v in VERSIONS} for of in ("rounds", "hashes")}}
    for _ in range(ROUNDS):
        if faulty := timed(work, name, result):
            # A kernel that takes its place from blockIdx.z leaves its memory once the grid is repeated.
            return {"error": f"faults {faulty} the edit, with its grid repeated"}
    seen = {v: set(result["hashes"][v]) for v in VERSIONS}
    return {**result, "repeats": len(seen["before"]) == 1, "same": seen["before"] == seen["after"]}


def run(binary: Path, fill: str, *, timed: bool) -> list[tuple[str, float]] | None:
    """(hash of device memory, microseconds) after the launch; None where it failed or took too long."""
    try:
        return fixes.run(binary, fill, timed=timed)
    except subprocess.TimeoutExpired:
        return None


def hashes(found: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    return tuple(h for h, _ in found)


def profiled(profiler: Any, work: Path, name: str, version: str, deadline: float) -> list[Any]:
    """[line, op, wavefronts, ideal] of the launch; [] where the profiler failed or the time is over."""
    if time.monotonic() > deadline:
        return []
    report = work / f"{version}_{name}.ncu-rep"
    try:
        profiler.profile(work / f"{version}_{name}.out", report, profiler.SECTIONS)
        (launch,) = profiler.read(report)
    except Exception as error:
        print(name, version, str(getattr(error, "stderr", error))[-200:], flush=True)
        return []
    return [[line, op, wavefronts, ideal] for _, line, op, _, _, wavefronts, ideal in launch["lines"]]


def save(folder: Path, device: str, arch: str, told: Any, results: Any) -> None:
    facts = {
        "device": f"{device} ({arch})",
        "date": datetime.date.today().isoformat(),
        "programs": told,
        "results": results,
    }
    out = Path(os.environ.get("OUT", str(folder))) / "measured.json"
    out.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


# ---------------------------------------------------------------------------- the table


COLUMNS = (
    "repository",
    "kernel",
    "fix",
    "same output",
    "wavefronts before",
    "after",
    "lines as promised",
    "registers",
    "before, us",
    "after, us",
    "speed-up",
)


def table(path: Path) -> int:
    facts = json.loads(path.read_text(encoding="utf-8"))
    print(f"Device: {facts['device']}, {facts['date']}.\n")
    print("| " + " | ".join(COLUMNS) + " |")
    print("| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    rows, ratios = [], []
    for name, result in facts["results"].items():
        if not result.get("us"):
            continue
        known = facts["programs"][name]
        sums = [sum(line[2] for line in result.get(f"profile_{v}") or []) or "" for v in VERSIONS]
        old, new = (result["us"][v] for v in VERSIONS)
        same = "yes" if result["same"] else "NO" if result["repeats"] else "differs from itself"
        kinds = ", ".join(dict.fromkeys(f["kind"] for f in known["fixes"]))
        cells = [re.sub(r".*\+", "", known["repository"]), f"`{known['kernel']}`", kinds, same, *sums]
        cells.append(kept(known, result.get("profile_after") or []))
        used = result.get("registers") or {}
        cells.append(" -> ".join(str(used.get(v, "")) for v in VERSIONS))
        rows.append((old / new, [*cells, f"{old:.1f}", f"{new:.1f}", f"{old / new:.2f}x"]))
        ratios.append(old / new)
    for _, cells in sorted(rows, key=lambda row: -row[0]):
        print("| " + " | ".join(map(str, cells)) + " |")
    if ratios:
        mean = exp(sum(map(log, ratios)) / len(ratios))
        ends = f"least {min(ratios):.2f}x, most {max(ratios):.2f}x"
        print(f"\n{len(ratios)} kernels: geometric mean {mean:.2f}x, {ends}")
    return 0


def kept(known: dict[str, Any], measured: Iterable[Sequence[Any]]) -> str:
    """On how many of the lines that both know the ways are what was promised: `5 of 6`; the others follow."""
    lines: dict[int, list[float]] = {}
    for fix in known["fixes"]:
        for kernel, line, _, _, after, ideal in fix.get("promised", ()):
            if kernel == known["kernel"]:
                sums = lines.setdefault(line, [0, 0])
                sums[0] += after
                sums[1] += ideal
    ran: dict[int, list[float]] = {}
    for line, _, wavefronts, ideal in measured:
        sums = ran.setdefault(line, [0, 0])
        sums[0] += wavefronts
        sums[1] += ideal
    both = [line for line in sorted(lines) if ran.get(line, [0, 0])[1]]
    wrong = [
        f"line {line}: {lines[line][0] / lines[line][1]:.2f} ways promised, {ran[line][0] / ran[line][1]:.2f}"
        for line in both
        if ran[line][0] / ran[line][1] > lines[line][0] / lines[line][1] * 1.05
    ]
    return "; ".join([f"{len(both) - len(wrong)} of {len(both)}", *wrong]) if both else ""


def main() -> int:
    import stages

    build_to = HERE.parents[1] / "build" / "kernels"
    return stages.run(__doc__, {"--files": None}, build_to, prepare, measure, table, built)


if __name__ == "__main__":
    raise SystemExit(main())
