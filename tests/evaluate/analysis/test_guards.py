"""Branches in loops: what weighs in unrolling, and what a loop with them joins."""

from __future__ import annotations

import pytest

from smemlint.api import analyse_file
from smemlint.evaluate.analysis.facts import code_of
from smemlint.frontend import load
from smemlint.ir import Loop
from smemlint.ir.walk import walk
from smemlint.running.jobs import Job, Options
from smemlint.source import source_from_bytes


def counted(body: str) -> list[int]:
    """Guards of each loop of a kernel, as they stand in the text."""
    text = f"template <int N> __global__ void k(float *p, int n) {{ __shared__ float s[64]; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    code = code_of(module)
    return [code.guards(kernel, n) for n in walk(kernel.body) if isinstance(n, Loop)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < 4; i++) if (threadIdx.x < 4) s[i] = 0;", [1]),
        ("for (int i = 0; i < 4; i++) { if (i < n) s[i] = 0; else if (p[i] > 0) s[i] = 1; }", [2]),
        ("for (int i = 0; i < 4; i++) if (i % 2 == 0 && N > 3) s[i] = 0;", [0]),
        ("const int h = N / 2; for (int i = 0; i < 4; i++) if (i < h) s[i] = 0;", [0]),
        ("const int h = n / 2; for (int i = 0; i < 4; i++) if (i < h) s[i] = 0;", [1]),
        ("for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) if (n > j) s[i] = 0;", [0, 1]),
        ("for (int i = 0; i < 4; i++) if constexpr (N > 2) s[i] = 0;", [0]),
        # a choice among what is at hand
        ("float v = 0; for (int i = 0; i < 4; i++) if (v < s[i]) v = s[i]; p[0] = v;", [0]),
        ("int v = 0; for (int i = 0; i < 4; i++) { if (n > i) v++; else v = 3; } p[0] = v;", [0]),
        ("int v = 0; for (int i = 0; i < 4; i++) if (n > i) { v++; p[i] = v; }", [1]),
        ("float v = 0; for (int i = 0; i < 4; i++) if (n > i) v += s[i]; p[0] = v;", [1]),
        ("float v = 0; for (int i = 0; i < 4; i++) if (v > 3 && s[i] > v) v = s[i]; p[0] = v;", [1]),
        ("__shared__ int v; for (int i = 0; i < 4; i++) if (n > i) v = i;", [1]),
    ],
)
def test_a_branch_counts_where_it_is_decided_when_it_runs(body: str, expected: list[int]) -> None:
    assert counted(body) == expected


@pytest.mark.parametrize(
    ("steps", "copies", "joined"), [(9, 2, True), (11, 2, False), (7, 3, True), (9, 3, False), (7, 4, False)]
)
def test_the_steps_of_a_tree_become_constants_only_where_all_copies_fit(
    steps: int, copies: int, joined: bool
) -> None:
    # What nvcc 13.0 makes of these for sm_90: LDS.64 in the first step, or no step of its own.
    text = f"""
__global__ void k(unsigned *g) {{
    __shared__ unsigned s[8192];
    int o = 1;
    for (unsigned d = {1 << (steps - 1)}; d > 0; d = d >> 1) {{
        for (int i = 0; i < {copies}; i++) {{
            int tid = threadIdx.x + i * 128;
            if (tid < d) {{
                int ai = o * (2 * tid + 1) - 1, bi = o * (2 * tid + 2) - 1;
                s[bi] += s[ai];
            }}
            __syncthreads();
        }}
        o *= 2;
    }}
    g[threadIdx.x] = s[threadIdx.x];
}}
void start(unsigned *g) {{ k<<<1, 128>>>(g); }}
"""
    (kernel,) = analyse_file(Job("k.cu", Options(suggest=False), text)).kernels
    assert any(a.joined for a in kernel.accesses if a.expression == "s[ai]") is joined
