"""Stores to static arrays whose values are at hand wherever they are loaded: nvcc drops some of them.

Read from machine code (nvcc 13.0, sm_90) of each body below: `kept` are the arrays that it still stores to.
Which ones depends on how far a load stands behind its store, which is not modelled.
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

DECLARED = "extern __shared__ float e[]; __shared__ float s[256]; __shared__ float u[256]; int i = t * 4; "
BODIES = [
    # body, arrays that it names, and those that nvcc stores to
    ("s[i] = p[t]; p[t + 64] = s[i];", "s", ""),
    ("s[i] = p[t]; p[t + 9] = 3; p[t + 64] = s[i];", "s", ""),
    ("s[i] = p[t]; s[i] += p[t + 1]; p[t + 64] = s[i];", "s", ""),
    ("s[i] = p[t]; u[i] = p[t + 32]; p[t + 64] = s[i] + u[i];", "su", "s"),
    ("s[i] = p[t]; if (p[t + 5] > 3) p[t + 64] = s[i];", "s", "s"),
]
SURE = [
    "e[i] = p[t]; p[t + 64] = e[i];",
    "s[i] = p[t]; __syncthreads(); p[t + 64] = s[i];",
    "s[i] = p[t]; p[t + 64] = s[i ^ 4];",
    "s[i] = p[t]; p[t + 64] = s[i]; atomicAdd(&s[t], 1.f);",
]


def source(body: str) -> str:
    return f'extern "C" __global__ void k(float *p) {{ int t = threadIdx.x; {DECLARED} {body} }}'


def stores(body: str) -> list[tuple[int | None, int | None]]:
    """The least and the most that each store takes, where it takes anything."""
    (module,) = load(source_from_bytes("k.cu", source(body).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    return [
        (c.wavefronts_low, c.wavefronts) for c in score_all(trace) if c.site.op == "store" and c.wavefronts
    ]


@pytest.mark.parametrize(("body", "named", "kept"), BODIES)
def test_a_store_that_may_be_dropped_costs_nothing_or_all(body: str, named: str, kept: str) -> None:
    assert set(stores(body)) == {(0, 4)}


@pytest.mark.parametrize("body", SURE)
def test_a_store_that_something_else_may_load_is_sure(body: str) -> None:
    assert (4, 4) in stores(body)


@needs_nvcc
def test_nvcc_drops_so(tmp_path: Path) -> None:
    bodies = [body for body, _, _ in BODIES] + SURE
    text = "".join(source(body).replace(" k(", f" k{n}(") for n, body in enumerate(bodies))
    found = compiled(text, tmp_path)
    for n, (_, _, kept) in enumerate(BODIES):
        assert found.get(f"k{n}", {}).get(("store", 4), 0) == len(kept), n
    for n in range(len(SURE)):
        assert found[f"k{len(BODIES) + n}"][("store", 4)] == 1, n
