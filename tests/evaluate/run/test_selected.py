"""Stores on both sides of a condition that reads file-scope variables.

Truth: the machine code of nvcc 13.0 (sm_90) of each body, whether it holds an STS.64.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

HEAD = """struct P { unsigned q, w; float f; unsigned v[4]; };
__constant__ unsigned q; __constant__ unsigned tab[64]; __device__ unsigned dtab[64]; __constant__ P pc;
__device__ P pd; __constant__ unsigned t2[4][4]; static __device__ unsigned sq;
__device__ volatile unsigned vq; __constant__ unsigned *cp; __constant__ float fc;
__constant__ float fq[8]; __constant__ double dc, dt[4];
__constant__ unsigned long long lq, lt[8]; __constant__ unsigned char cb; __constant__ short sh;
"""
TOGETHER = (
    "if (f < g) f += q;",
    "if (f < g) f += dtab[3];",
    "if (f < g) f += pc.q;",
    "if (f < g) f += pd.w;",
    "if (f < g) f += t2[1][2];",
    "if (f < g) f += sq;",
    "if (f < g) f = f * tab[1] + tab[2] * g;",
    "if (f < g) f = (f ^ tab[1]) * g + r - n;",
    "if (f < g) { f += tab[1]; g += tab[2]; }",
    "if (f < g) f = f * tab[1] + g; else f = f * tab[2] - g;",
    "if (f < g) { if (g > r) f += tab[1]; }",
    "if (f >= q) f -= q; else if (g > dtab[1]) f -= dtab[1];",
    "f += f < q ? tab[1] : tab[2];",
    "f = f < g ? f + tab[1] : g;",
    "if (x < fc) x += fq[1] * x; else x -= fq[2] * x;",
    "if (x < fc) x = (x * fq[1] + 1.5f) * x - 3.f;",
    "double y = f; if (y >= dc) y = y * dt[1] + dt[2]; f = __double2loint(y);",
    "unsigned long long z = f; z *= g; if (z >= lq) z = (z - lt[1]) * z + lt[2]; f = z ^ z >> 32;",
    "if (f < g) f += cb * sh;",
)
APART = (
    "if (f < g) f += vq;",
    "if (f < g) f += cp[0];",
    "if (f < g) f += tab[t & 63];",
    "if (f < g) f += dtab[n];",
    "if (f < g) f += a[0];",
    "if (f < g) f += (unsigned)dc;",
    "if (f < g) f /= tab[1];",
    "if (f < g) f += tab[1] ^ tab[2] ^ tab[3];",
    "if (f < g) { f = tab[1]; g = tab[2]; r = tab[3]; }",
    "f = f < g ? f * tab[1] + tab[2] * g : g * tab[3];",
    "if (x < fc) x = sqrtf(fq[1]);",
    "if (x < fc) x = ((x * fq[1] + 1.5f) * x - 3.f) * x;",
    "unsigned long long z = f; z *= g; if (z >= lq) z = (z - lt[1]) * z + lt[2] - n; f = z ^ z >> 32;",
    "while (f >= q) f -= q;",
)


def source(body: str, name: str = "k") -> str:
    return f"""extern "C" __global__ void {name}(unsigned *a, unsigned n) {{
    __shared__ unsigned s[256]; int t = threadIdx.x; s[t] = a[t]; s[t + 128] = a[t + 128]; __syncthreads();
    unsigned f = s[2 * t], g = s[2 * t + 1], r = f * g; float x = f; s[2 * t] = r;
    {body}
    s[2 * t + 1] = f * g ^ __float_as_uint(x); __syncthreads();
    a[t] = s[t]; a[t + 128] = s[t + 128] + r; }}"""


@pytest.mark.parametrize("body", TOGETHER + APART)
def test_what_is_there_for_everyone_parts_no_stores(body: str) -> None:
    (module,) = load(source_from_bytes("k.cu", (HEAD + source(body)).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((128, 1, 1)))
    widths = {
        c.joined or c.site.width for c in score_all(trace) if c.site.op == "store" and c.trace.weights.any()
    }
    assert (8 in widths) is (body in TOGETHER)


@needs_nvcc
def test_nvcc_does_so(tmp_path: Path) -> None:
    bodies = TOGETHER + APART
    found = compiled(HEAD + "".join(source(body, f"k{n}") for n, body in enumerate(bodies)), tmp_path)
    wide = tuple(body for n, body in enumerate(bodies) if found[f"k{n}"]["store", 8])
    assert wide == TOGETHER
