"""What nvcc makes of the accesses of a kernel's body."""

from __future__ import annotations

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
