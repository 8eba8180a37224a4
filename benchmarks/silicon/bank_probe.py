"""Grade smemlint's bank engine on a GPU: what each instruction costs, pattern by pattern.

    python benchmarks/silicon/bank_probe.py [--arch sm_90] [--out FILE.json.gz]     measure here, then grade
    python benchmarks/silicon/bank_probe.py --grade FILE.json.gz                    grade what was measured

Measuring needs nvcc, ncu with its Python module, and a GPU; grading needs smemlint alone. Exit status 0:
every pattern costs what the engine says, wavefronts and ideal; 1: some do not; 2: nothing could be measured.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

from kernels import COPIES, INSTRUCTIONS, Instruction, source  # noqa: E402
from patterns import LANES, Pattern, patterns  # noqa: E402

FIELDS = ["name", "byte offset of each of 32 lanes, -1 off", "wavefronts", "ideal"]
LOOP_FIELDS = [*FIELDS[:2], "wavefronts of loads", "ideal", "wavefronts of compare-and-swaps", "ideal"]
METRICS = "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal", "inst_executed"
OPCODES = {"load": "LDS", "store": "STS", "ldmatrix": "LDSM", "stmatrix": "STSM", "cp.async": "LDGSTS"}
"""How the opcode of each operation begins; that of all others with ATOMS."""
SHOWN = 12
"""Wrong patterns of an instruction that are listed."""


def asked(each: Instruction, number: int) -> list[Pattern]:
    return patterns(each.width, each.masks, 1000 * number)


def launches_of(count: int) -> int:
    return -(-count // COPIES)


def table() -> bytes:
    """What the program reads."""
    data = array("i")
    for number, each in enumerate(INSTRUCTIONS):
        lanes = [offsets for _, offsets in asked(each, number)]
        n = launches_of(len(lanes))
        # Of ldmatrix and stmatrix every lane takes part: the rest is filled with the first pattern.
        lanes += [lanes[0]] * (n * COPIES - len(lanes))
        data.append(n)
        for offsets in lanes:
            data.extend(offsets)
    return data.tobytes()


def measure(arch: str, work: Path) -> dict[str, Any]:
    """Build the program, run it once under ncu, read the counters of each copy."""
    from fixtures_on_gpu import device, per_instruction, report_module

    text, first = source()
    (work / "probe.cu").write_text(text, encoding="utf-8")
    (work / "table").write_bytes(table())
    build = ["nvcc", f"-arch={arch}", "-std=c++17", "-O3", "-lineinfo", "-o", "probe", "probe.cu"]
    subprocess.run(build, check=True, cwd=work)
    run = ["ncu", "--clock-control", "none", "--metrics", ",".join(METRICS), "-f", "-o", "probe", "./probe"]
    subprocess.run([*run, "table"], check=True, cwd=work, stdout=subprocess.DEVNULL)
    context = report_module().load_report(str(work / "probe.ncu-rep"))
    actions = [
        part.action_by_idx(a)
        for part in (context.range_by_idx(r) for r in range(context.num_ranges()))
        for a in range(part.num_actions())
    ]
    found: dict[str, Any] = {}
    at = 0
    for number, each in enumerate(INSTRUCTIONS):
        wanted = asked(each, number)
        n = launches_of(len(wanted))
        rows: list[list[Any]] = []
        sass: dict[str, None] = {}
        for action in actions[at : at + n]:
            waves, ideal, _ = (per_instruction(action, name) for name in METRICS)
            rows += _copies(action, waves, ideal, first[each.name], each, sass)
        at += n
        found[each.name] = {
            "op": each.op,
            "width": each.width,
            "matrices": each.matrices,
            "sass": " ".join(sass),
            "patterns": [[name, list(o), *row] for (name, o), row in zip(wanted, rows, strict=False)],
        }
    return {
        "device": f"{device()} ({arch})",
        "date": datetime.date.today().isoformat(),
        "tool": f"Nsight Compute, {METRICS[0]}(_ideal) by SASS instruction",
        "fields": FIELDS,
        "loop_fields": LOOP_FIELDS,
        "ops": found,
    }


def _copies(
    action: Any,
    waves: dict[int, int],
    ideal: dict[int, int],
    first: int,
    each: Instruction,
    sass: dict[str, None],
) -> list[list[int]]:
    """The counters of each copy of one launch: loads apart from the rest where the copy is a loop."""
    loop = each.op == "cas loop"
    sums = [[0, 0, 0, 0] if loop else [0, 0] for _ in range(COPIES)]
    for pc, count in waves.items():
        place = action.source_info(pc)
        ours = place is not None and place.file_name().endswith("probe.cu")
        copy = int(place.line()) - first if ours else -1
        if not 0 <= copy < COPIES or not count:
            continue
        text = action.sass_by_pc(pc)
        opcode = next(w for w in text.split() if not w.startswith("@"))
        reads = loop and opcode.startswith("LDS")
        if not reads and opcode.split(".")[0] != OPCODES.get(each.op, "ATOMS"):
            continue
        sass[opcode] = None
        side = 2 if loop and not reads else 0
        sums[copy][side] += count
        sums[copy][side + 1] += ideal.get(pc, 0)
    return sums


def grade(data: dict[str, Any]) -> Iterator[tuple[str, str, int, list[str]]]:
    """(instruction, SASS, patterns, what is wrong) for each instruction."""
    for name, each in data["ops"].items():
        told = predicted(each["op"], each["width"], each["matrices"], [p[1] for p in each["patterns"]])
        wrong = [
            f"{p[0]}: counted {_pair(p[2:])}, told {_pair(mine)}"
            for p, mine in zip(each["patterns"], told, strict=True)
            if list(p[2:]) != mine
        ]
        yield name, each["sass"], len(each["patterns"]), wrong


def predicted(op: str, width: int, matrices: int, lanes: Sequence[Sequence[int]]) -> list[list[int]]:
    """What the engine says of each pattern, as it is counted."""
    import numpy as np

    from smemlint.banks import cas_loop_cost, cost_of

    rows = np.array(lanes, dtype=np.int64).reshape(-1, LANES)
    if op == "cas loop":
        pairs = [*cas_loop_cost("cas loop load", width, rows), *cas_loop_cost("cas loop", width, rows)]
    else:
        pairs = [*cost_of(op, width, rows, matrices)]
    return [[int(column[n]) for column in pairs] for n in range(len(rows))]


def _pair(numbers: Sequence[int]) -> str:
    return " and ".join(f"{a} / {b}" for a, b in zip(numbers[::2], numbers[1::2], strict=True))


def report(data: dict[str, Any]) -> int:
    """Print the grades; the number of patterns that are wrong."""
    print(f"{data['device']}, {data['date']}")
    total = bad = 0
    for name, sass, count, wrong in grade(data):
        print(f"{name:6} {sass:36} {count - len(wrong):5} of {count} patterns as told")
        for line in wrong[:SHOWN]:
            print(f"       {line}")
        total, bad = total + count, bad + len(wrong)
    print(f"{total - bad} of {total} patterns cost what smemlint says")
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--out", type=Path, default=HERE / "measured.json.gz")
    parser.add_argument("--grade", type=Path, metavar="FILE", help="grade this file; measure nothing")
    options = parser.parse_args()
    if options.grade:
        data = json.loads(gzip.decompress(options.grade.read_bytes()))
    else:
        try:
            with tempfile.TemporaryDirectory() as folder:
                data = measure(options.arch, Path(folder))
        except (OSError, subprocess.CalledProcessError, ImportError) as error:
            print(f"error: cannot measure: {error}", file=sys.stderr)
            return 2
        text = json.dumps(data, separators=(",", ":"))
        options.out.write_bytes(gzip.compress(text.encode(), mtime=0))
    return 1 if report(data) else 0


if __name__ == "__main__":
    raise SystemExit(main())
