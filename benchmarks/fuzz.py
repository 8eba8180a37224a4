"""Damaged CUDA sources, by the thousand: whatever the text holds, smemlint must answer properly.

    python benchmarks/fuzz.py --count 20000 --seed 7 [-j 2] [--keep DIR] [FOLDER...]

Sources are the fixtures and any folder given. A mutant is a few top-level pieces of one file, damaged one to
five times: tokens deleted, doubled or swapped, text cut off, brackets, bytes, macros and raw strings put in,
literals and dimensions replaced. Mutants go through the installed command in batches, each batch beside one
healthy file. What must hold: an exit status of 0, 1 or 2, no traceback, no internal error, the healthy file's
findings complete, no process over 2 GB, no file over its time. The same seed draws the same mutants. A mutant
that breaks a rule is found by running its batch one by one, and is written to DIR.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = (".cu", ".cuh")
MOST_BYTES = 40_000
"""Larger sources are left out: a mutant should take a fraction of a second."""
BATCH = 25
MEMORY = 2 * 2**30
"""Bytes that a process may hold at its peak."""
SECONDS = 40.0
"""Computing time that the command gives a file."""

TOKEN = re.compile(
    r'[A-Za-z_]\w*|\d[\w.]*|"(?:[^"\\\n]|\\.)*"|<<<|>>>|[-+*/%&|^=!<>]=|&&|\|\||<<|>>|->|::|\S'
)
NUMBER = re.compile(r"\b\d+\b")
DIMENSION = re.compile(r"\[[^\[\]]{1,20}\]")
PIECE = re.compile(r"(?<=\n)(?=\S[^\n]*(?:__global__|__device__|template|struct|void|int main))")

BRACKETS = ("(", ")", "{", "}", "[", "]", "<", ">", "<<<", ">>>", "/*", "*/", '"', "'")
MACROS = (
    "#define A A A\n",
    "#define X (\n",
    "#define B(x) x##x B(x)\n",
    "#if 0\n",
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n",
    "#else\n",
    "#endif\n",
    "#include __FILE__\n",
    "#define __shared__\n",
    "#define threadIdx blockIdx\n",
    "#define int long long\n",
    "#pragma unroll 0\n",
    "#pragma unroll(99999999999)\n",
    '#line 0 ""\n',
    '_Pragma("")\n',
)
RAW_STRINGS = ('R"(', 'R"x(*/ ")x"', 'R"toolongdelimiter1234(', '")"', 'u8R"a()a"', 'R"(\n\n)"')
LITERALS = (
    "0", "-1", "1", "31", "32", "33", "2147483647", "2147483648", "0xFFFFFFFF", "0xFFFFFFFFFFFFFFFFull",
    "1e30f", "-0.0", "0x1p-1074", "'a'", "'\\xff'", "18446744073709551616", "1'000'000", "0b101",
    "(-9223372036854775807-1)", "sizeof(int)", "threadIdx.x", "blockDim.x", "1/0", "1%0", "1<<40",
    "1<<-1", "nullptr", "true", "",
)  # fmt: skip
WORDS = (
    "__shared__", "extern", "__global__", "template <typename T>", "typename", "struct", "union",
    "volatile", "const", "return", "break;", "continue;", "goto end;", "end:", "switch (threadIdx.x)",
    "case 0:", "default:", "do", "while", "for (;;)", "if", "else", "double", "half2", "float4", "char",
    "unsigned", "long long", "bool", "void *", "auto", "threadIdx.x", "threadIdx.y", "blockIdx.x",
    "__syncthreads();", "operator", "this", "decltype(auto)", "...", "asm volatile",
    "reinterpret_cast<double *>", "(char)", "&", "*", "~", "^", "%", ">>", "<<", "[&]", "{}",
)  # fmt: skip
HEALTHY = """__global__ void healthy(float *out)
{
    __shared__ float tile[32][32];
    tile[threadIdx.x][threadIdx.y] = out[0];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

void start(float *out) { healthy<<<1, dim3(32, 32)>>>(out); }
"""
REPORT = ("check", "--output-format", "json", "--show-unresolved")
PATCH = ("check", "--diff", "--unsafe-fixes")
HEALTHY_FINDINGS = (("SMEM101", 4),)


@dataclass(frozen=True, slots=True)
class Fault:
    """A mutant that broke a rule, and which."""

    rule: str
    text: str
    detail: str


def sources(folders: Iterable[Path]) -> list[str]:
    """Return the texts of all CUDA sources below some folders that are not too large, in a stable order."""
    texts = []
    for folder in folders:
        texts += [
            path.read_text(encoding="utf-8", errors="replace")
            for path in sorted(folder.rglob("*"))
            if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size <= MOST_BYTES
        ]
    return texts


def piece(rng: random.Random, text: str) -> str:
    """Keep what stands before the first function, and a few functions of a source."""
    pieces = PIECE.split(text)
    if len(pieces) < 4:
        return text
    start = rng.randrange(1, len(pieces))
    return "".join([pieces[0], *pieces[start : start + rng.randint(1, 4)]])


def mutant(rng: random.Random, texts: Sequence[str]) -> bytes:
    """Draw one damaged source."""
    text = piece(rng, rng.choice(texts))
    damage = rng.choices(DAMAGE, k=rng.randint(1, 5))
    for change in damage:
        text = change(rng, text)
    data = text.encode("utf-8", "replace")
    if rng.random() < 0.1:
        data = _bytes(rng, data)
    return data


def _spot(rng: random.Random, pattern: re.Pattern[str], text: str) -> tuple[int, int] | None:
    spots = [m.span() for m in pattern.finditer(text)]
    return rng.choice(spots) if spots else None


def _replace(rng: random.Random, text: str, pattern: re.Pattern[str], new: str) -> str:
    spot = _spot(rng, pattern, text)
    return text if spot is None else text[: spot[0]] + new + text[spot[1] :]


def _insert(rng: random.Random, text: str, new: str) -> str:
    spot = _spot(rng, TOKEN, text)
    return text if spot is None else f"{text[: spot[0]]}{new} {text[spot[0] :]}"


def _delete(rng: random.Random, text: str) -> str:
    return _replace(rng, text, TOKEN, "")


def _double(rng: random.Random, text: str) -> str:
    spot = _spot(rng, TOKEN, text)
    if spot is None:
        return text
    return f"{text[: spot[1]]} {text[spot[0] : spot[1]] * rng.choice((1, 1, 2, 40))}{text[spot[1] :]}"


def _swap(rng: random.Random, text: str) -> str:
    spots = [m.span() for m in TOKEN.finditer(text)]
    if len(spots) < 2:
        return text
    (a, b), (c, d) = sorted(rng.sample(spots, 2))
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _cut(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _drop_lines(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    start = rng.randrange(len(lines))
    return "\n".join(lines[:start] + lines[start + rng.randint(1, 4) :])


def _line_starts(rng: random.Random, text: str, new: str) -> str:
    lines = text.split("\n")
    lines.insert(rng.randrange(len(lines) + 1), new.rstrip("\n"))
    return "\n".join(lines)


def _bytes(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0x1B, 0x80, 0xFF, 0xEF, 0x0D, 0x5C))
    return bytes(changed)


DAMAGE = (
    _delete,
    _double,
    _swap,
    _cut,
    _drop_lines,
    lambda rng, text: _insert(rng, text, rng.choice(BRACKETS)),
    lambda rng, text: _replace(rng, text, re.compile(r"[(){}\[\]]"), rng.choice(("", *BRACKETS))),
    lambda rng, text: _line_starts(rng, text, rng.choice(MACROS)),
    lambda rng, text: _insert(rng, text, rng.choice(RAW_STRINGS)),
    lambda rng, text: _insert(rng, text, rng.choice(WORDS)),
    lambda rng, text: _replace(rng, text, TOKEN, rng.choice(WORDS)),
    lambda rng, text: _replace(rng, text, NUMBER, rng.choice(LITERALS)),
    lambda rng, text: _replace(rng, text, NUMBER, rng.choice(LITERALS)),
    lambda rng, text: _replace(rng, text, DIMENSION, f"[{rng.choice(LITERALS)}]"),
)


def run(mutants: Sequence[bytes], options: Sequence[str]) -> tuple[list[tuple[str, str]], float]:
    """Run the command over some mutants and a healthy file; return (broken rule, detail) and seconds."""
    with tempfile.TemporaryDirectory(prefix="smemlint-fuzz-") as name:
        folder = Path(name)
        for number, data in enumerate(mutants):
            (folder / f"m{number:03}.cu").write_bytes(data)
        (folder / "zz_healthy.cu").write_text(HEALTHY)
        command = [sys.executable, "-m", "smemlint", *options, "-j", "1", "."]
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
        )
        out, err = process.communicate()
        seconds = time.monotonic() - began
        return list(_broken(process.returncode, out, err, options)), seconds


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONIOENCODING": "utf-8"}


def _broken(status: int, out: bytes, err: bytes, options: Sequence[str]) -> Iterator[tuple[str, str]]:
    errors = err.decode("utf-8", "replace")
    if status not in (0, 1, 2):
        yield "exit status", f"{status}: {errors[-2000:]}"
    if "Traceback" in errors or b"Traceback (most" in out:
        yield "traceback", errors[-2000:]
    for line in errors.splitlines():
        if "internal error" in line or "the analysis crashed" in line:
            yield "internal error", line
        if "gave up after" in line:
            yield "time", line
        if "memory limit" in line:
            yield "memory", line
    if "--output-format" not in options:
        return
    try:
        report = json.loads(out)
    except ValueError:
        yield "output", out[-500:].decode("utf-8", "replace")
        return
    if b"internal-error" in out:
        yield "internal error", "an access or kernel has the reason internal-error"
    found = tuple(
        (d["code"], d["line"]) for d in report["diagnostics"] if Path(d["path"]).name == "zz_healthy.cu"
    )
    if found != HEALTHY_FINDINGS:
        yield "lost neighbour", f"{found}"


def batch(mutants: Sequence[bytes], options: Sequence[str]) -> tuple[list[Fault], float]:
    """Run one batch; where a rule is broken, find the mutant that breaks it alone."""
    broken, seconds = run(mutants, options)
    if not broken:
        return [], seconds
    faults = []
    for data in mutants:
        alone, _ = run([data], options)
        faults += [Fault(rule, data.decode("utf-8", "surrogateescape"), detail) for rule, detail in alone]
    if not faults:
        faults = [Fault(f"{rule} (whole batch)", "", detail) for rule, detail in broken]
    return faults, seconds


def peak() -> int:
    """Return the largest memory, in bytes, that any finished process of the runs held."""
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def _keep(fault: Fault, folder: Path, number: int) -> None:
    name = f"{fault.rule.replace(' ', '-')}-{number}.cu"
    (folder / name).write_bytes(fault.text.encode("utf-8", "surrogateescape"))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="go on with this mutant of the count")
    parser.add_argument("--keep", type=Path, help="write mutants that break a rule there")
    options = parser.parse_args()
    texts = sources([ROOT / "fixtures", *options.folders])
    rng = random.Random(options.seed)
    drawn = [mutant(rng, texts) for _ in range(options.count)]
    begun = options.first // BATCH
    batches = [drawn[i : i + BATCH] for i in range(begun * BATCH, len(drawn), BATCH)]
    plans = [PATCH if n % 5 == 4 else REPORT for n in range(begun, begun + len(batches))]
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    faults: list[Fault] = []
    longest, done = 0.0, 0
    with ThreadPoolExecutor(options.j) as pool:
        for found, seconds in pool.map(batch, batches, plans):
            for fault in found:
                print(f"{fault.rule}: {fault.detail[:300]}", file=sys.stderr, flush=True)
                if options.keep is not None:
                    _keep(fault, options.keep, len(faults))
                faults.append(fault)
            done += 1
            longest = max(longest, seconds)
            if done % 20 == 0:
                print(f"{done * BATCH} mutants, {len(faults)} faults", file=sys.stderr, flush=True)
    if peak() > MEMORY:
        faults.append(Fault("memory", "", f"{peak() / 2**20:.0f} MiB"))
    counts = Counter(fault.rule for fault in faults)
    print(
        f"{len(drawn) - options.first} mutants of {len(texts)} sources, seed {options.seed}: "
        f"{len(faults)} faults {dict(counts) or ''}; "
        f"longest batch of {BATCH} files {longest:.1f} s, largest process {peak() / 2**20:.0f} MiB"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
