"""Loads of what the thread stored in the round before: nvcc has it at hand in some copies of a loop.

Read from machine code (nvcc 13.0, sm_90): in the loop of each body of `SOME` there are more stores to `s`
than loads, one of each in a round as it is written; in each of `NONE` as many.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

SOME = [
    "for (int r = 0; r < n; ++r) { int x = in[r] + s[r & 7]; s[(r + 1) & 7] = x; }",
    "for (int r = 0; r < n; ++r) { int x = in[r] + s[r % 5]; s[(r + 1) % 5] = x; }",
    "int p = 0; for (int r = 0; r < n; ++r) { int x = in[r] + s[p]; p = (p + 1) & 7; s[p] = x; }",
    "int p = 0; for (int r = 0; r < n; ++r) { int x = in[r] + s[p]; p ^= 1; s[p] = x; }",
]
NONE = [
    "for (int r = 0; r < n; ++r) { int x = in[r] + s[r & 7]; s[(r + 2) & 7] = x; }",
    "for (int r = 0; r < n; ++r) { int x = in[r] + s[r & 7]; s[(r + 1) & 7] = x; __syncthreads(); }",
]


def source(body: str) -> str:
    return (
        'extern "C" __global__ void k(const int *in, int *out, int n) {\n'
        "extern __shared__ int sm[]; int *s = sm + threadIdx.x * 17;\n"
        f"{body}\nout[threadIdx.x] = s[n & 7]; }}"
    )


def grade(body: str) -> Grade:
    (module,) = load(source_from_bytes("k.cu", source(body).encode()))
    launch = Launch((32, 1, 1), arguments={"n": 20})
    scored = score_all(evaluate(module, module.kernels()[0], launch))
    (found,) = (c for c in scored if c.site.op == "load" and c.site.place.line == 3)
    if found.grade is Grade.BOUND:
        assert (found.reason and found.reason.code, found.wavefronts_low) == ("stored-or-not", 0)
    return found.grade


@pytest.mark.parametrize("body", SOME)
def test_what_a_round_loads_and_the_one_before_stored_may_be_at_hand(body: str) -> None:
    assert grade(body) is Grade.BOUND


@pytest.mark.parametrize("body", NONE)
def test_what_another_store_or_a_barrier_may_change_is_loaded(body: str) -> None:
    assert grade(body) is Grade.EXACT


@needs_nvcc
@pytest.mark.parametrize("body", SOME + NONE)
def test_nvcc_does_so(body: str, tmp_path: Path) -> None:
    counted = compiled(source(body), tmp_path)["k"]
    stores, loads = (sum(n for (op, _), n in counted.items() if op == o) for o in ("store", "load"))
    assert (stores > loads - 1) is (body in SOME)  # one more load stands behind the loop
