"""Fixed elements of a static array in the arms of a condition, which nvcc loads for all lanes.

Truth: the machine code of nvcc 13.0 (sm_90) of each body, as `op width` by number.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from instructions import compiled, inside, needs_nvcc

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

BODIES = {
    "for (int i = 0; i < 4; i++) if (i < t) x += s[i];": {"load 16": 1},
    "for (int i = 0; i < 8; i++) if (i < t / 8) x += s[i];": {"load 16": 2},  # nobody takes the last four
    "for (int i = 0; i < 4; i++) x += i < t ? s[i] : 0;": {"load 16": 1},
    "for (int i = 0; i < 4; i++) if (i < n) x += s[i];": {"load 16": 1},
    "for (int i = 0; i < 4; i++) if (p[t] > i) x += s[i] * x;": {"load 16": 1},
    "if (t > 3) x += s[0]; else x -= s[1];": {"load 8": 1},
    "x = t > 3 ? s[0] : s[1];": {"load 8": 1},
    "if (t > 3) { float y = s[0] - x; x += y * y; } if (t > 7) x += s[1];": {"load 8": 1},
    "if (t > 3) x = (s[0] * x + s[2]) * x; if (t > 7) x += s[1];": {"load 16": 1},
    # members and elements of records, by name or by reference
    "__shared__ struct { float a[64], w[4]; } r; r.a[t] = x; r.w[t & 3] = n; __syncthreads(); "
    "for (int i = 0; i < 4; i++) if (i < t) x += r.w[i]; x += r.a[63 - t];": {
        "store 4": 2,
        "load 16": 1,
        "load 4": 1,
    },
    "struct R { float a[64], w[4]; }; __shared__ R two[2]; R &r = two[1]; r.a[t] = x; r.w[t & 3] = n; "
    "__syncthreads(); x = t > 3 ? r.w[0] : r.w[1]; x += r.a[63 - t];": {
        "store 4": 2,
        "load 8": 1,
        "load 4": 1,
    },
    "__shared__ struct { int sum, base; } r; r.sum = n; r.base = t; __syncthreads(); int y; "
    "if (t > 40) y = r.sum; else y = r.base + 1; x += y;": {"store 8": 1, "load 8": 1},
    # two in each arm of one value; alone they are not chosen among
    "if (p[t] > 3) x = s[0] * s[3]; else x = s[1] * s[2];": {"load 4": 4},
    "x = p[t] > 3 ? s[0] + s[7] : s[12] + s[2];": {"load 4": 4},
    "if (p[t] > 3) { x = s[0] * p[0]; x += s[3]; } else { x = s[1] * p[0]; x += s[2]; }": {"load 4": 4},
    "if (p[t] > 3) x = s[2 * t] * s[3]; else x = s[5 * t] * s[7];": {"load 4": 4},
    "float y; if (p[t] > 3) { x = s[0]; y = s[3]; } else { x = s[1]; y = s[2]; } x *= y;": {"load 16": 1},
    "__shared__ int i[64]; i[t] = n; __syncthreads(); int y; if (p[t] > 3) y = i[0] + i[3]; "
    "else y = i[1] + i[2]; x += y;": {"load 4": 4, "store 4": 1},
    # too much is computed, something else done, or the place is not known
    "if (t > 3) x = (s[0] * p[0] + s[2]) * x + 3; if (t > 7) x += s[1];": {"load 4": 3},
    "if (t > 3) x = (s[0] + s[1] + s[2]) * 3; if (t > 7) x += s[3];": {"load 4": 1, "load 16": 1},
    "if (t > 3) x = (s[0] * n + s[2]) * x; if (t > 7) x += s[1];": {"load 4": 3},
    "if (t > 3) x = sqrtf(s[0]); if (t > 7) x += s[1];": {"load 4": 2},
    "if (t > 3) { x = s[0]; __syncwarp(); } if (t > 7) x += s[1];": {"load 4": 2},
    "if (t > 3) x += s[2 * n]; if (t > 7) x += s[2 * n + 1];": {"load 4": 2},
    "for (int i = 0; i < 4; i++) if (i < t) x += s[4 * t + i];": {"load 4": 4},
}
AROUND = Counter({("store", 4): 1, ("load", 4): 1})
"""What stands around each body."""


def source(body: str, name: str = "k") -> str:
    return f"""extern "C" __global__ void {name}(const float *p, float *q, int n) {{
    __shared__ float s[1024]; int t = threadIdx.x; float x = p[t + 99]; s[t] = p[t]; __syncthreads();
    {body}
    __syncthreads(); q[t] = x + s[t ^ 1]; }}"""


@pytest.mark.parametrize("body", BODIES)
def test_all_lanes_load_what_costs_less_than_a_branch(body: str) -> None:
    (module,) = load(source_from_bytes("k.cu", source(body).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found: Counter[str] = Counter()
    for c in score_all(trace):
        if c.site.place.line == 3:
            found[f"{c.site.op} {c.joined or c.site.width}"] += int(c.trace.weights.sum())
    assert +found == BODIES[body]


def test_lanes_that_take_no_arm_load_too() -> None:
    (module,) = load(source_from_bytes("k.cu", source("if (t > 29) x += s[5];").encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    (lanes,) = [(t.offsets >= 0).sum() for t in trace.traces if t.site.place.line == 3]
    assert lanes == 32


@needs_nvcc
def test_nvcc_does_so(tmp_path: Path) -> None:
    found = compiled("".join(source(body, f"k{n}") for n, body in enumerate(BODIES)), tmp_path)
    for n, told in enumerate(BODIES.values()):
        assert inside(found[f"k{n}"], AROUND) == told, n
