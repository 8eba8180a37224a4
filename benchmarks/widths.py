"""How often widths told as exact are those of nvcc's machine code, line by line, in files that nvcc compiles.

    python benchmarks/widths.py PATH... [-I DIR] [--arch sm_90] [--std c++17] [--show] [-j N]

Needs nvcc and nvdisasm, no GPU. Each `.cu` file with shared memory is compiled with line numbers, folders
around it being looked into for headers. A *pair* is a line and whether it loads or stores there; it counts
where smemlint tells an exact number. Its widths *agree* where machine code has all that are told and no
others, are *part* of what machine code has where that has more (copies of a loop, instances), and *differ*
where one is told that is not there. Pairs *without an instruction* are told, and their line has none: often
nvcc gives the line of another access, or no instance of the template is compiled. With --show, pairs that
differ are printed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from smemlint.api import Job, analyse_file
from smemlint.running.jobs import Options

FOLDERS = ("", "include", "inc", "src", "common", "Common", "csrc", "utils")
"""Where headers of a project lie, below any folder around a file."""
LINE = re.compile(r'//## File "(.*?)", line (\d+)')
SHARED = re.compile(r"\b(LDS|STS)((?:\.[A-Z0-9_]+)*) ")
BYTES = {"128": 16, "64": 8, "U16": 2, "S16": 2, "U8": 1, "S8": 1}
KINDS = {"load": "LDS", "store": "STS"}
SURE = ("exact", "parametric")
Pair = tuple[str, int, str]
"""Name of the file, line, and LDS or STS."""


@dataclass
class Compared:
    """What one file gave. why: what stood in the way, where it was not compared."""

    path: Path
    why: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)


def machine_code(path: Path, options: argparse.Namespace) -> dict[Pair, set[int]] | None:
    """The widths of the shared loads and stores of each line, None where nvcc does not compile the file."""
    folders = {around / name for around in list(path.parents)[:6] for name in FOLDERS}
    includes = [f"-I{folder}" for folder in (*options.include, *sorted(folders)) if Path(folder).is_dir()]
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "k.cubin")
        command = ["nvcc", f"-arch={options.arch}", f"-std={options.std}", "-O3", "-lineinfo", "-w", "-cubin"]
        ran = subprocess.run([*command, *includes, "-o", cubin, path], cwd=folder, capture_output=True)
        if ran.returncode:
            return None
        text = subprocess.run(["nvdisasm", "-gi", "-c", cubin], capture_output=True, check=True).stdout
    return dict(widths_by_line(text.decode(errors="replace").splitlines()))


def widths_by_line(listing: Sequence[str]) -> dict[Pair, set[int]]:
    """Read a listing: of the lines before an instruction the first is where it stands, the others call it."""
    found: dict[Pair, set[int]] = defaultdict(set)
    at, follows = ("", 0), False
    for line in listing:
        place = LINE.search(line)
        if place:
            at = at if follows else (Path(place[1]).name, int(place[2]))
        follows = place is not None
        access = None if place else SHARED.search(line)
        if access:
            sizes = [BYTES[part] for part in access[2].split(".") if part in BYTES]
            found[(*at, access[1])].add(sizes[0] if sizes else 4)
    return found


def told(path: Path, options: argparse.Namespace) -> dict[Pair, list[tuple[int, bool]]]:
    """(width, whether it is told as an exact number) of all accesses that run, by line and kind."""
    asked = Options(suggest=False, includes=tuple(options.include), arch=options.arch)
    found: dict[Pair, list[tuple[int, bool]]] = defaultdict(list)
    for kernel in analyse_file(Job(str(path), asked)).kernels:
        for a in kernel.accesses:
            if a.op in KINDS and (a.executions or a.reason):
                sure = a.grade in SURE and a.reason is None
                pair = (Path(a.place.path).name, a.line or a.place.line, KINDS[a.op])
                found[pair].append((a.joined or a.width, sure))
    return found


def compared(path: Path, options: argparse.Namespace) -> Compared:
    """Compile one file, analyse it, and hold one against the other."""
    result = Compared(path)
    true = machine_code(path, options)
    if not true:
        result.why = "not compiled" if true is None else "no shared memory in machine code"
        return result
    for pair, accesses in sorted(told(path, options).items()):
        exact = {width for width, sure in accesses if sure}
        there = true.get(pair, set())
        if not exact:
            kind = "not exact"
        elif not there:
            kind = "without an instruction"
        elif not exact <= there:
            kind = "differ"
            widths = f"told {sorted(exact)}, has {sorted(there)}"
            result.shown.append(f"{path}: {pair[0]}:{pair[1]} {pair[2]}: {widths}")
        else:
            kind = "agree" if there <= {width for width, _ in accesses} else "part"
        result.counts[kind] += 1
    return result


def sources(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the `.cu` files that mention shared memory."""
    for path in paths:
        for file in sorted(path.rglob("*.cu")) if path.is_dir() else [path]:
            if "__shared__" in file.read_text(encoding="utf-8", errors="replace"):
                yield file.resolve()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path)
    folder = "look for includes there"
    parser.add_argument("-I", dest="include", action="append", type=os.path.abspath, default=[], help=folder)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--std", default="c++17")
    parser.add_argument("--show", action="store_true", help="print the pairs that differ")
    parser.add_argument("-j", type=int, default=1, help="processes")
    options = parser.parse_args()
    files, counts = list(sources(options.paths)), Counter[str]()
    ends = Counter[str]()
    with ProcessPoolExecutor(options.j) as pool:
        for result in pool.map(partial(compared, options=options), files):
            ends[result.why or "compared"] += 1
            counts += result.counts
            if options.show:
                print(*result.shown, sep="\n", end="\n" if result.shown else "")
    print(f"{len(files)} files: " + ", ".join(f"{n} {why}" for why, n in ends.most_common()))
    exact = sum(counts[kind] for kind in ("agree", "part", "differ"))
    print(f"{exact} pairs with an instruction told as exact: " + ", ".join(
        f"{counts[kind]} {kind}" for kind in ("agree", "part", "differ")))  # fmt: skip
    print(f"{counts['without an instruction']} pairs without an instruction, {counts['not exact']} not exact")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
