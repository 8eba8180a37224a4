"""What nvcc makes of the accesses of a kernel's body."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

PROLOGUE = (
    "__shared__ float s[4096]; __shared__ float q[4096]; int t = threadIdx.x;"
    "q[t] = in[t]; s[t] = in[t + 1]; __syncthreads(); float x = 0;"
)


EPILOGUE = "; __syncthreads(); out[t] = x + s[t] + q[t]; "


WARPS = 2


def instructions(
    body: str, *, block: tuple[int, int, int] = (64, 1, 1), n: int = 16, line: int = 3
) -> dict[str, int]:
    """'load 16' -> warp instructions of `body` on s and q a warp, where s and q are read around it."""
    source = (
        "__global__ void k(float *in, float *out, int n) {\n" + PROLOGUE + "\n" + body + "\n" + EPILOGUE + "}"
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch(block, arguments={"n": n}))
    warps = block[0] * block[1] * block[2] // 32
    found: dict[str, int] = {}
    for t in trace.traces:
        if t.site.place.line == line and t.weights.any():
            key = f"{t.site.op} {t.joined or t.site.width}"
            found[key] = found.get(key, 0) + int(t.weights.sum()) // warps
    return found


needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")


def compiled(source: str, folder: Path) -> dict[str, Counter[tuple[str, int]]]:
    """What nvcc makes of the kernels of a source, for sm_90: see `shared_instructions`."""
    (folder / "k.cu").write_text(source)
    command = ["nvcc", "-arch=sm_90", "-O3", "-w", "-cubin", "-o", "k.cubin", "k.cu"]
    subprocess.run(command, cwd=folder, check=True)
    return shared_instructions((folder / "k.cubin").read_bytes())


def inside(kinds: Counter[tuple[str, int]], around: Counter[tuple[str, int]]) -> dict[str, int]:
    """'load 16' -> instructions of a kernel, less those that stand around the body at hand."""
    left = kinds.copy()
    left.subtract(around)
    return {f"{op} {width}": count for (op, width), count in left.items() if count}


LDS, STS = {0x984}, {0x388, 0x988}
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}


def shared_instructions(cubin: bytes) -> dict[str, Counter[tuple[str, int]]]:
    """Kernel -> (op, bytes a lane) -> count (sm_90: opcode in bits 0 to 11, size in 73 to 75)."""
    table = struct.unpack_from("<Q", cubin, 40)[0]
    count, names = struct.unpack_from("<HH", cubin, 60)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + 64 * i) for i in range(count)]
    found: dict[str, Counter[tuple[str, int]]] = {}
    for header in headers:
        at = headers[names][4] + header[0]
        name = cubin[at : cubin.index(b"\0", at)].decode()
        if not name.startswith(".text."):
            continue
        kinds: Counter[tuple[str, int]] = Counter()
        for offset in range(header[4], header[4] + header[5], 16):
            low, high = struct.unpack_from("<QQ", cubin, offset)
            if low & 0xFFF in LDS | STS:
                kinds["load" if low & 0xFFF in LDS else "store", SIZES[high >> 9 & 7]] += 1
        found[name.removeprefix(".text.")] = kinds
    return found
