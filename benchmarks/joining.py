"""How often the joining rule agrees with nvcc: random kernels, compiled, their shared instructions counted.

    python benchmarks/joining.py [--kernels 200] [--seed 1] [--arch sm_90] [--show] [--conditions]

Needs nvcc, no GPU. A kernel is a straight line of loads and stores at neighbouring indices, with arithmetic,
barriers and branches between; its instructions in machine code are counted by kind and width and compared
with what smemlint says runs in one warp. Random kernels with a seed that nobody has seen are the honest
figure. With --conditions it is rounds of a loop, or the same in a line, with loads and stores under a
condition in each.
"""

from __future__ import annotations

import argparse
import random
import struct
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

HEAD = 'extern "C" __global__ void k{0}(float *out, const float *in, const int *data, int n) {{\n'
BASES = (
    "4 * t",
    "4 * t + n",
    "2 * t",
    "8 * t + (t >> 5)",
    "4 * t + 4 * n",
    "(t & 15) * 4",
    "4 * t + (t & 3) * 8",
    "t * 33",
    "t * 36",
    "(t / 8) * 40 + (t % 8) * 4",
    "4 * (t + (t >> 4))",
    "i + (i >> 5)",
    "(4 * t) ^ (t >> 3)",
    "(4 * t) ^ ((t >> 3) << 2)",
    "4 * d",
    "d & ~3",
    "4 * t | (t & 1)",
    "6 * t",
    "16",
    "4 * n",
    "(t & ~3) + 64",
    "4 * min(t, n)",
    "4 * blockDim.x + 4 * t",
    "t * n",
    "(t >> 2) * 16 + (t & 3) * 4",
    "272 - 16 * t",
)
BETWEEN = (
    "",
    "",
    "",
    "",
    "v += w;",
    "v = v / w;",
    "v = sqrtf(v);",
    "v = __expf(v);",
    "v = logf(v);",
    "v = sinf(v);",
    "v += __shfl_xor_sync(~0u, v, 1);",
    "v += __ballot_sync(~0u, w > 3);",
    "__syncwarp();",
    "__syncthreads();",
    "out[t + 3 * n] = v;",
    "v += in[t + 5 * n];",
    "if (d) v += w;",
    "if (d) out[t + 7 * n] = v;",
    "q[t] = v;",
    "v += q[t + 64];",
    "v += t / n;",
    "v = d > 2 ? v : w;",
)
FORMS = ("{0}", "{0}", "{0}", "if (d > 3) {{ {0} }}", "if (t < n) {{ {0} }}")
ASKED = ("t < 9", "t < n", "t & 1", "d > 3", "n > 3", "n > @", "t + @ < 9", "w > v", "t < n && n > 3")
ROUNDS = (
    "if ({c}) v += s[4 * t + @];",
    "if ({c}) out[64 * @ + t + 64] = s[4 * t + @];",
    "{{ float y = 0; if ({c}) y = s[4 * t + @]; v += y * w; }}",
    "{{ float y = {c} ? s[4 * t + @] : w; v += y * y; }}",
    "if ({c}) v += s[4 * t + @]; else v *= w;",
    "if ({c}) {{ v += s[8 * t + 2 * @]; w *= s[8 * t + 2 * @ + 1]; }}",
    "if ({c}) s[4 * t + @] = w; else s[4 * t + @] = v * w;",
    "if ({c}) s[4 * t + @] += w;",
    "if ({c}) s[4 * t + @] = w; else if (t > 20) s[4 * t + @] = v + w; else s[4 * t + @] = 0;",
)
BESIDE = ("", "", "v = v * w + 1;", "out[32 * @ + t] = w;", "w += v;", "q[t + 32 * @] = v;")
LOADS, STORES = {0x984}, {0x388, 0x988}
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}


def drawn(random_: random.Random) -> str:
    """The body of one kernel. No address is read twice, for what is held in a register is not loaded."""
    declared = random_.choice(("__shared__ ", "__shared__ ", "__shared__ __align__(16) "))
    lines = [
        f"{declared}float s[4096];", "__shared__ float q[1024];",
        "int t = threadIdx.x, i = 4 * t, d = data[t];", "float w = in[t + 9], v = in[t + 17];",
        "s[t] = in[t]; q[t] = in[t + n];", "__syncthreads();",
        f"int x = {random_.choice(BASES)};",
    ]  # fmt: skip
    kind = random_.choice(("load", "load", "store", "both"))
    words = random_.sample(range(4), random_.choice((2, 2, 3, 4, 4)))
    if random_.random() < 0.6:
        words.sort()
    between = random_.sample(BETWEEN, len(words))
    for word in words:
        index = f"s[x + {word}]" if word else "s[x]"
        if kind == "load":
            one = f"v += {index} * w;"
        elif kind == "store":
            one = f"{index} = v + {word};"
        else:
            one = f"{index} *= w;"
        form = random_.choice(FORMS) if kind == "load" and random_.random() < 0.4 else "{0}"
        lines.append(form.format(one))
        if random_.random() < 0.5:
            lines.append(between.pop())
    lines += ["__syncthreads();", "out[t] = v + s[t] + q[t ^ 1];"]
    return "\n".join(lines)


def asked(random_: random.Random) -> str:
    """The body of a kernel with a condition in each round of a loop, or so many times in a line."""
    one = random_.choice(ROUNDS).format(c=random_.choice(ASKED))
    one = " ".join((one, random_.choice(BESIDE)))
    looped = random_.random() < 0.7
    lines = [
        "__shared__ float s[4096];", "__shared__ float q[1024];", "int t = threadIdx.x, d = data[t];",
        "float w = in[t + 9], v = in[t + 17];", "s[t] = in[t]; q[t] = in[t + n];", "__syncthreads();",
        f"for (int i = 0; i < 4; i++) {{ {one.replace('@', 'i')} }}"
        if looped
        else " ".join(one.replace("@", str(i)) for i in range(4)),
        "__syncthreads();", "out[t] = v + w + s[t] + q[t ^ 1];",
    ]  # fmt: skip
    return "\n".join(lines)


def compiled(text: str, arch: str) -> dict[str, Counter[str]]:
    """Kernel -> 'load 16' -> instructions in machine code."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "k.cu").write_text(text, encoding="utf-8")
        command = ["nvcc", f"-arch={arch}", "-cubin", "-O3", "-w", "-o", "k.cubin", "k.cu"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return dict(instructions(Path(folder, "k.cubin").read_bytes()))


def instructions(cubin: bytes) -> Iterator[tuple[str, Counter[str]]]:
    """The shared loads and stores of each kernel (sm_90: opcode in bits 0 to 11, size in 73 to 75)."""
    table = struct.unpack_from("<Q", cubin, 40)[0]
    count, names = struct.unpack_from("<HH", cubin, 60)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + 64 * i) for i in range(count)]
    for header in headers:
        at = headers[names][4] + header[0]
        name = cubin[at : cubin.index(b"\0", at)].decode()
        if not name.startswith(".text."):
            continue
        found: Counter[str] = Counter()
        for offset in range(header[4], header[4] + header[5], 16):
            low, high = struct.unpack_from("<QQ", cubin, offset)
            if low & 0xFFF in LOADS | STORES:
                found[f"{'load' if low & 0xFFF in LOADS else 'store'} {SIZES[high >> 9 & 7]}"] += 1
        yield name.removeprefix(".text."), found


def predicted(text: str, arguments: Mapping[str, int]) -> dict[str, Counter[str]]:
    """The same as smemlint tells it for a block of one warp."""
    result: dict[str, Counter[str]] = {}
    for module in load(source_from_bytes("k.cu", text.encode())):
        for kernel in module.kernels():
            trace = evaluate(module, kernel, Launch((32, 1, 1), arguments=dict(arguments)))
            found = result[kernel.name] = Counter()
            for t in trace.traces:
                if t.site.op in ("load", "store") and len(t.offsets):
                    found[f"{t.site.op} {t.joined or t.site.width}"] += int(t.weights.sum())
    return result


def in_words(found: Mapping[str, int]) -> str:
    return ", ".join(f"{n} x {kind}" for kind, n in sorted(found.items()))


def graded(bodies: Sequence[str], arch: str, show: bool) -> int:
    """How many kernels agree; prints those that do not."""
    text = "\n".join(f"{HEAD.format(n)}{body}\n}}" for n, body in enumerate(bodies))
    truth, ours = compiled(text, arch), predicted(text, {"n": 40})
    agree = 0
    for n, body in enumerate(bodies):
        if truth[f"k{n}"] == ours[f"k{n}"]:
            agree += 1
        elif show:
            print(f"--- nvcc: {in_words(truth[f'k{n}'])}; smemlint: {in_words(ours[f'k{n}'])}\n{body}")
    return agree


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernels", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--show", action="store_true", help="print the kernels that differ")
    parser.add_argument("--conditions", action="store_true", help="draw conditions in rounds")
    options = parser.parse_args()
    random_ = random.Random(options.seed)
    bodies = [(asked if options.conditions else drawn)(random_) for _ in range(options.kernels)]
    agree = graded(bodies, options.arch, options.show)
    print(f"{agree} of {len(bodies)} kernels agree ({100 * agree / len(bodies):.1f} %), seed {options.seed}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
