"""What is read again at one address after something was stored there."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes


def lines(inside: str) -> set[int]:
    text = f"""__global__ void k(unsigned *g) {{ __shared__ unsigned d[128];
unsigned t = threadIdx.x; d[t] = 2; __syncthreads(); if (d[7] == 2) {{
{inside}
if (d[7] == 3) {{
g[t] = d[40 + t]; }} }} }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    return {c.site.place.line for c in score_all(trace) if c.wavefronts}


@pytest.mark.parametrize(
    "inside",
    [
        "if (g[3] == 0) d[7] = 3;",
        "if (t == 5) { if (g[3] == 0) d[7] = 3; else d[7] = 1; }",
        "if (t == 5) { if (atomicCAS(g, 0, 1) == 0) d[7] = 3; } __syncthreads();",
        "d[t] = g[t];",
        "atomicAdd(&d[7], g[t]);",
    ],
)
def test_a_value_that_was_stored_since_is_another(inside: str) -> None:
    """The value 3 that the second test asks for can come from the store alone."""
    assert 5 in lines(inside)


def test_a_store_elsewhere_leaves_it_as_it_was() -> None:
    assert 5 not in lines("d[8] = 3;")
