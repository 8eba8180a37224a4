"""What a loop of unknown length adds up in shared memory, and what it reads again and again: nvcc loads it in
front of the loop, with its neighbours there, or has it at hand, and stores it once behind the loop.

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
    "x = s[4*t]; for (int d = 0; d < n; ++d) x += s[4*t+1] * p[d];": {"load 8": 1},
    "x = s[4*t]; for (int d = 0; d < n; ++d) x += s[4*t+1] * p[d] + s[4*t+2];": {"load 16": 1},
    "x = s[4*t]; for (int d = 0; d < n; ++d) x += s[4*t] * p[d];": {"load 4": 1},
    "s[4*t] = x; for (int d = 0; d < n; ++d) s[4*t] += p[d];": {"store 4": 2},
    "s[4*t] = x; for (int d = t; d < n; d += 32) s[4*t] += p[d];": {"store 4": 2},
    "s[4*t] = p[n]; if (n > 9) for (int d = 0; d < n; ++d) s[4*t] += p[d];": {"store 4": 2},
    "s[4*t] = p[n]; s[4*t+1] = p[n+1]; for (int d = 0; d < n; ++d) { s[4*t] += p[d]; s[4*t+1] *= p[d]; }": {
        "store 8": 2
    },
    "for (int d = 0; d < n; ++d) s[4*t] += p[d]; x = s[4*t];": {"load 4": 2, "store 4": 1},
    # behind the loop the value is at hand, where it is in front of it, or the loop surely runs
    "s[4*t] = x; for (int d = 0; d < n; ++d) s[4*t] += p[d]; x = s[4*t];": {"store 4": 2},
    "for (int d = 0; d < 1000; ++d) s[4*t] += p[d]; x = s[4*t];": {"load 4": 1, "store 4": 1},
    "for (int d = 0; d < 1000; ++d) x += s[4*t] * p[d]; x += s[4*t];": {"load 4": 1},
    "x = s[4*t]; for (int d = 0; d < n; ++d) x += x * p[d]; x += s[4*t];": {"load 4": 1},
    # also of loops that end by data, test in their midst or change a number as they test
    "int d = 0; do s[4*t] += p[d]; while (++d < n); x = s[4*t];": {"load 4": 1, "store 4": 1},
    "int d = 0; do { x += s[4*t] * p[d]; } while (++d < n);": {"load 4": 1},
    "float e = p[3]; do { s[4*t] *= e; e *= 0.5f; } while (e > p[t]); x = s[4*t];": {
        "load 4": 1,
        "store 4": 1,
    },
    "int d = 0; while (true) { s[4*t] += p[d]; if (++d >= n) break; } x = s[4*t];": {
        "load 4": 1,
        "store 4": 1,
    },
    "for (int d = 0; d < n; ++d) { s[4*t] *= p[d]; if (p[d] < p[t]) break; }": {"load 4": 1, "store 4": 1},
    "int d = n; while (d-- > 0) x += s[4*t] * p[d];": {"load 4": 1},
    "int d = 0; for (;;) { float e = p[d++]; if (e < 0) break; s[4*t] += e; }": {"load 4": 1, "store 4": 1},
    "int d = 0; while (true) { if (d >= n) { q[d] = x; break; } s[4*t] += p[d++]; }": {
        "load 4": 1,
        "store 4": 1,
    },
    "for (int d = 0; d < n; ++d) { float e = p[d]; if (e < 0) break; x += s[4*t] * e; }": {"load 4": 1},
    # behind one that stores and may not run a load is made one with that in front of it
    "s[t] = p[t + n]; __syncthreads(); for (int d = 0; d < n; ++d) s[t] += p[d]; x = s[t];": {
        "load 4": 1,
        "store 4": 2,
    },
    "s[t] = p[t + n]; __syncthreads(); int i = p[t]; while (i >= 0) { s[t] += p[i]; i = p[i]; } x = s[t];": {
        "load 4": 1,
        "store 4": 2,
    },
    # two loads are made one in front of a loop that may not run, but not two loops' and not one in an `if`
    "for (int d = 0; d < n; ++d) x += s[4*t] * p[d]; x += s[4*t];": {"load 4": 1},
    "for (int d = t; d < n; d += 32) x += s[4*t] * p[d]; x += s[4*t];": {"load 4": 1},
    "for (int d = 0; d < n; ++d) x += s[4*t] * p[d]; for (int d = 0; d < n; ++d) x *= s[4*t] + p[d];": {
        "load 4": 2
    },
    "for (int d = 0; d < n; ++d) x += s[4*t] * p[d]; x += s[4*t+1];": {"load 4": 2},
    # what a branch stores or not is at hand behind it
    "s[4*t] = p[n]; if (n > 9) s[4*t] = p[3]; x = s[4*t];": {"store 4": 2},
    "x = s[4*t]; if (n > 9) s[4*t] = p[3]; x += s[4*t];": {"load 4": 1, "store 4": 1},
    "x = s[4*t]; if (p[t] > 9) s[4*t] = p[3]; x += s[4*t];": {"load 4": 1, "store 4": 1},
    "x = s[4*t]; if (n > 9) s[4*t + n] = p[3]; x += s[4*t];": {"load 4": 2, "store 4": 1},
}


AROUND = Counter({("store", 4): 2, ("load", 4): 1})
"""What stands around each body."""


def source(body: str, name: str = "k") -> str:
    return f"""extern "C" __global__ void {name}(const float *p, float *q, int n) {{
    __shared__ float s[1024]; int t = threadIdx.x; float x = 0;
    s[t] = p[t]; s[t + 512] = p[t + 512]; __syncthreads();
    {body}
    __syncthreads(); q[t] = x + s[t ^ 1]; }}"""


@pytest.mark.parametrize("body", BODIES)
def test_a_loop_of_unknown_length_leaves_what_stays_the_same_outside(body: str) -> None:
    (module,) = load(source_from_bytes("k.cu", source(body).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found: Counter[str] = Counter()
    for c in score_all(trace):
        if c.site.place.line == 4 and c.wavefronts and c.trace.weights.any():
            found[f"{c.site.op} {c.joined or c.site.width}"] += 1
    assert found == BODIES[body]


def test_two_variables_that_a_loop_reads_are_one_load_in_front_of_it() -> None:
    """nvcc 13.0: LDS.64 of `mean` and `rate`."""
    body = """__shared__ float mean, rate; if (t == 0) { mean = p[3]; rate = p[4]; } __syncthreads();
        for (int d = t; d < n; d += 32) x += (p[d] - mean) * rate;"""
    (module,) = load(source_from_bytes("k.cu", source(body).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found = [c.joined for c in score_all(trace) if c.site.place.line == 5 and c.wavefronts]
    assert found == [8]


def test_what_moves_out_of_a_loop_joins_in_front_of_it_and_behind_it() -> None:
    """nvcc 13.0: LDS.128 in front of each of the two parts of the loop, STS.128 behind."""
    body = "for (int d = 0; d < n; ++d) for (int j = 0; j < 4; ++j) s[16*t+j] += p[4*d+j];"
    (module,) = load(source_from_bytes("k.cu", source(body).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    joined = {c.site.op: c.joined for c in score_all(trace) if c.site.place.line == 4 and c.wavefronts}
    assert joined == {"load": 16, "store": 16}


@needs_nvcc
def test_nvcc_does_so(tmp_path: Path) -> None:
    found = compiled("".join(source(body, f"k{n}") for n, body in enumerate(BODIES)), tmp_path)
    for n, told in enumerate(BODIES.values()):
        assert inside(found[f"k{n}"], AROUND) == told, n
