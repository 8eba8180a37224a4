"""Rounds of a loop that are tried to see when it ends, and how many of them are worth it."""

from __future__ import annotations

import pytest

from smemlint.evaluate import KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

CHAIN = "__device__ int f0(int x) { return x; }\n" + "\n".join(
    f"__device__ int f{i + 1}(int x) {{ return f{i}(x); }}" for i in range(40)
)
"""Many steps of evaluation, and not one instruction."""
LARGE = "v += next[v] * 3;" * 60
"""More instructions than copies are made of."""


def traced(loop: str) -> KernelTrace:
    text = f"""{CHAIN} __global__ void k(const int *next, int *out, int limit) {{
        __shared__ int s[512];
        int t = threadIdx.x, v = next[0], n = 0;
        {loop}
        out[0] = v;
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    return evaluate(module, kernel, Launch((32, 1, 1)))


def widths(loop: str) -> set[int | None]:
    return {t.joined for t in traced(loop).traces}


@pytest.mark.parametrize(
    ("once", "loop"),
    [
        # each round knows of `v` what the last one knew
        ("v = f40(next[v]); s[v & 31] = v;", "while (true) { {} if (v < 0) break; }"),
        # the counter is known in each round, and held against nothing that is
        (LARGE + "s[v & 31] = v;", "while (true) { {} if (n > limit || v < 0) break; n++; }"),
    ],
)
def test_rounds_that_tell_no_more_than_the_last_one_are_not_tried(once: str, loop: str) -> None:
    straight, around = traced(once), traced(loop.replace("{}", once))
    assert around.work < 8 * straight.work
    assert len(around.traces) == len(straight.traces) == 1


@pytest.mark.parametrize(
    "loop",
    [
        "while (true) { v = f40(v); v += s[t * 4 + n]; if (++n == 4) break; }",
        "float x = 0; while (true) { v = f40(v); v += s[t * 4 + n++]; x += 1; if (x == 4) break; }",
        "const int *p = next; while (true) { v = f40(v); v += s[t * 4 + n++]; if (++p == next + 4) break; }",
    ],
)
def test_a_loop_of_long_rounds_is_counted_by_what_changes(loop: str) -> None:
    assert widths(loop) == widths("for (; n < 4; n++) v += s[t * 4 + n];") == {16}
