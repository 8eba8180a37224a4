"""Ends of loops that nvcc cannot count before, as in the machine code of nvcc 13.0 for sm_90, -O3."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score
from smemlint.source import source_from_bytes


def joins(head: str, bound: str) -> bool:
    """Whether loads of `for (head) a += s[32 * t + i]` run as one with a neighbour."""
    source = f"""__global__ void k(float *o, {bound} n, int m) {{
        __shared__ float s[4096];
        int t = threadIdx.x;
        s[t] = o[t];
        __syncthreads();
        float a = 0;
        for ({head}) a += s[32 * t + i];
        o[t] = a;
    }}
    void start() {{ k<<<1, 32>>>(nullptr, 0, 0); }}"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((32, 1, 1)))
    (load_,) = [t for t in trace.traces if t.site.op == "load"]
    # A row of 32 words starts in one bank: 32 ways alone, fewer wavefronts a word for pairs.
    return score(load_).ways < 32


@pytest.mark.parametrize(
    ("head", "bound"),
    [
        ("int i = 0; i < n; i++", "unsigned long"),
        ("unsigned i = 0; i < n; i++", "unsigned"),
        ("int i = 0; i * 4 < n; i++", "int"),
        ("int i = 0; m && i < n; i++", "int"),
        ("int i = 0; i < n && i < m; i++", "int"),
        ("int i = 0; m > i && i < n; i++", "int"),
        ("int i = 0; n - i > 0; i++", "int"),
    ],
)
def test_an_end_that_is_known_at_run_time_lets_pairs_join(head: str, bound: str) -> None:
    assert joins(head, bound)


@pytest.mark.parametrize(
    ("head", "bound"),
    [
        ("unsigned i = 0; i < n; i++", "unsigned long"),
        ("unsigned i = 0; i < n; i++", "long"),
        ("int i = 0; i < n; i++", "float"),
        ("unsigned i = 0; i * 4 < n; i++", "unsigned"),
        ("int i = 0; threadIdx.x + i * 32 < n; i++", "int"),
        ("int i = 0; i * m < n; i++", "int"),
        ("int i = 0, j = n; i < j; i++, j--", "int"),
        ("int i = 0; i < 16 && i < n; i++", "int"),
        ("int i = 0; i < n && a < 4; i++", "int"),
        ("int i = 0; i < n || i < m; i++", "int"),
        ("int i = m; i < m + 16 && i < n; i++", "int"),
    ],
)
def test_an_end_that_cannot_be_counted_keeps_every_load_apart(head: str, bound: str) -> None:
    assert not joins(head, bound)
