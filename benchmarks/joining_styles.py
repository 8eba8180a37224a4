"""How often ways that are told as exact are those of nvcc's machine code: kernels in the style of real code.

    python benchmarks/joining_styles.py [--kernels 400] [--seed 1] [--arch sm_90] [--show]

Needs nvcc, no GPU. Kernels are drawn from joining_kernels.txt and run by one warp. nvcc's shared loads and
stores are counted in its machine code. A kernel *agrees* where smemlint tells as many, and where it tells
others but the ways are the same in both cases (all apart, or as told). It is *open* where smemlint tells a
range, and left out where a loop stays in machine code. Random kernels with a seed that nobody has seen are
the honest figure.
"""

from __future__ import annotations

import argparse
import random
import re
import struct
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from joining import LOADS, STORES

from smemlint.evaluate import Grade, KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

HEAD = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
typedef unsigned short u16;
typedef unsigned char u8;
typedef __nv_bfloat16 bfloat;
typedef __nv_bfloat162 bfloat2;
struct Pair { float x, y; };
struct Best { float x; int y; };
struct Triple { float x, y, z; };
struct Vec { float a, b, c, d; };
struct View { float *p; int pitch; __device__ float &operator()(int r, int c) { return p[r * pitch + c]; } };
__device__ inline Vec taken(const float *p)
{ Vec v; v.a = p[0]; v.b = p[1]; v.c = p[2]; v.d = p[3]; return v; }
__device__ inline void get(float (&r)[4], const float *p) { for (int i = 0; i < 4; i++) r[i] = p[i]; }
__device__ inline void put(float *p, const float (&r)[4]) { for (int i = 0; i < 4; i++) p[i] = r[i]; }
__device__ inline float dot4(const float *a, const float *b)
{ float r = 0; for (int i = 0; i < 4; i++) r += a[i] * b[i]; return r; }
"""
TEMPLATES = Path(__file__).with_name("joining_kernels.txt")
BRANCH = 0x947
"""The opcode of a relative branch, whose distance says whether it leads back (sm_90)."""
ITSELF = (1 << 56) - 4
"""The distance, in words from the next instruction, of the branch that ends each kernel's code."""


def templates() -> list[str]:
    """The kernels of the file, without comments."""
    lines = [line for line in TEMPLATES.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    return [text for text in "\n".join(lines).split("\n\n") if text.strip()]


def drawn(text: str, random_: random.Random) -> str:
    """One kernel: each choice made."""
    names: dict[str, str] = {}

    def choose(text: str) -> str:
        found = re.search(r"\$([A-Z]?)(\()?", text)
        if found is None:
            return text
        before, behind = text[: found.start()], text[found.end() :]
        if not found[2]:
            return before + names[found[1]] + choose(behind)
        parts, behind = _alternatives(behind)
        chosen = choose(random_.choice(parts))
        if found[1]:
            names[found[1]] = chosen
        return before + chosen + choose(behind)

    return choose(text)


def _alternatives(text: str) -> tuple[list[str], str]:
    """The texts up to the bracket that closes, and what is left behind it."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(text):
        if c == "|" and depth == 0:
            parts.append(text[start:at])
            start = at + 1
        elif c == ")" and depth == 0:
            return [*parts, text[start:at]], text[at + 1 :]
        depth += (c == "(") - (c == ")")
    raise ValueError(f"a choice has no end: {text[:60]}")


def kernel(number: int, body: str) -> str:
    """The kernel as source: a parameter for each array that it names."""
    named = sorted(set(re.findall(r"\b(?:in|out)_\w+", body)) | {"in_float"})
    parameters = ", ".join(
        f"{'const ' if name.startswith('in_') else ''}{name.split('_', 1)[1]} *{name}" for name in named
    )
    begin = "const int t = threadIdx.x; float w = in_float[t + 7];"
    return f'extern "C" __global__ void k{number}(int n, {parameters})\n{{ {begin}\n{body}\n}}\n'


def compiled(text: str, arch: str) -> dict[str, Counter[str] | None]:
    """Kernel -> shared loads and stores in machine code; None where a loop stays a loop."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "k.cu").write_text(text, encoding="utf-8")
        command = ["nvcc", f"-arch={arch}", "-cubin", "-O3", "-w", "-o", "k.cubin", "k.cu"]
        subprocess.run(command, cwd=folder, check=True)
        cubin = Path(folder, "k.cubin").read_bytes()
    table = struct.unpack_from("<Q", cubin, 40)[0]
    count, names = struct.unpack_from("<HH", cubin, 60)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + 64 * i) for i in range(count)]
    result: dict[str, Counter[str] | None] = {}
    for header in headers:
        at = headers[names][4] + header[0]
        name = cubin[at : cubin.index(b"\0", at)].decode()
        if name.startswith(".text."):
            result[name.removeprefix(".text.")] = _counted(cubin[header[4] : header[4] + header[5]])
    return result


def _counted(code: bytes) -> Counter[str] | None:
    found: Counter[str] = Counter()
    for offset in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, offset)
        operation = low & 0xFFF
        if operation in LOADS | STORES:
            found["load" if operation in LOADS else "store"] += 1
        distance = (high & 0x3FFFF) << 38 | low >> 34 << 8 | low >> 16 & 0xFF
        if operation == BRANCH and distance >> 55 and distance != ITSELF:
            return None
    return found


class Told:
    """What is told of the loads, or of the stores, of one kernel. open: some of it is no exact number."""

    def __init__(self, trace: KernelTrace, op: str) -> None:
        costs = [c for c in score_all(trace) if c.site.op == op]
        self.open = any(c.grade is not Grade.EXACT for c in costs)
        self.requests = sum(int(t.weights.sum()) for t in trace.traces if t.site.op == op and len(t.offsets))
        ideal = sum(c.ideal or 0 for c in costs)
        self.ways = sum(c.wavefronts or 0 for c in costs) / ideal if ideal else 1.0


def verdict(trace: KernelTrace, written: KernelTrace, truth: Counter[str]) -> str:
    """agrees, open or wrong. written: as the source has it, nothing joined."""
    result = "agrees"
    for op in ("load", "store"):
        told, apart = Told(trace, op), Told(written, op)
        if told.open:
            result = "open"
        elif told.requests != truth[op]:
            known = apart.requests == truth[op] or told.ways == 1
            if not known or apart.open or abs(apart.ways - told.ways) > 0.05 * told.ways:
                return "wrong"
    return result


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernels", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--show", action="store_true", help="print the kernels that are told wrong")
    options = parser.parse_args()
    random_ = random.Random(options.seed)
    kinds = templates()
    bodies = [drawn(kinds[n % len(kinds)], random_) for n in range(options.kernels)]
    text = HEAD + "".join(kernel(n, body) for n, body in enumerate(bodies))
    truth = compiled(text, options.arch)
    found: Counter[str] = Counter()
    launch = Launch((32, 1, 1))
    for module in load(source_from_bytes("k.cu", text.encode())):
        for k in module.kernels():
            counted = truth[k.name]
            if counted is None:
                found["left out"] += 1
                continue
            trace, written = evaluate(module, k, launch), evaluate(module, k, launch, as_written=True)
            result = verdict(trace, written, counted)
            found[result] += 1
            if options.show and result == "wrong":
                told = {op: Told(trace, op).requests for op in ("load", "store")}
                print(f"--- {k.name}: nvcc {dict(counted)}, told {told}\n{bodies[int(k.name[1:])]}\n")
    print(", ".join(f"{n} {kind}" for kind, n in found.most_common()) + f"; seed {options.seed}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
