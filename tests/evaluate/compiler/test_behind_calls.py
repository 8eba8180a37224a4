"""Loads that nvcc puts behind a division or a root, in front of their first use: they join in other ways.

Widths of the loads in machine code (nvcc 13.0, sm_90) of each body, which the test compiles again where there
is a compiler.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import Grade, evaluate
from smemlint.evaluate.model import KernelTrace
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

ROW = "const Row p = r[t - n]; "
TWO = "const float a = s[4 * t]; const float b = s[4 * t + 1]; "
FOUR = TWO + "const float c = s[4 * t + 2]; const float d = s[4 * t + 3]; "
UNDER = "if (t >= n) {{ {} }}"
SOLVE = "const float f = v / p.b; v += p.c * f; v -= p.d * f; v += p.a * f;"

BODIES = {
    # in an arm: what the division needs, and behind it the rest
    "a record": (UNDER.format(ROW + SOLVE), {4: 1, 16: 1}),
    "its halves": (UNDER.format(ROW + "const float f = p.a / p.b; v += p.c * f; v -= p.d * f;"), {8: 2}),
    "numbers": (UNDER.format(FOUR + "v = v / b; v += a * v + c * v * d;"), {4: 1, 16: 1}),
    "a pair": (UNDER.format(TWO + "v = v / a; v += b;"), {4: 2}),
    "by a constant": (UNDER.format(TWO + "v = b / w; v += a;"), {4: 2}),
    "a root": (UNDER.format(TWO + "v = sqrtf(a); v += b;"), {4: 2}),
    "two divisions": (UNDER.format(TWO + "v = 1.f / a; v += b / w;"), {4: 2}),
    "a product in front": (
        UNDER.format(ROW + "const float g = p.c * v; v = v / p.b; v += p.c * v - p.d * v * g + p.a * v;"),
        {4: 4},
    ),
    "behind a branch": ("if (t >= n) v = sqrtf(v) / in[t]; " + TWO + "v = v / a; v += b;", {4: 2}),
    "behind a loop": ("for (int i = 0; i < n; ++i) v += in[i] * v; " + TWO + "v = v / a; v += b;", {4: 2}),
    "behind a return": ("if (t < n) return; " + TWO + "v = v / a; v += b;", {4: 2}),
    "behind a guarded store": ("if (t > n) s[t] = 2.f; __syncthreads(); " + TWO + "v = v / a + b;", {4: 2}),
    # all on one side of it
    "both divided": (UNDER.format(TWO + "v = a / b; v += a * b;"), {8: 1}),
    "both behind": (UNDER.format(TWO + "v = v / w; v += a * b;"), {8: 1}),
    "both behind, in one sum": (UNDER.format("v = s[4 * t] * (w / v) + s[4 * t + 1];"), {8: 1}),
    "both calculated with before": (
        UNDER.format(TWO + "const float c = a * 2.f; const float d = b * 3.f; v = v / w; v += c * d;"),
        {8: 1},
    ),
    "no call": (UNDER.format(TWO + "v = rsqrtf(a); v += b;"), {8: 1}),
    "predicates": (UNDER.format(TWO + "v = powf(a, w); v += b;"), {8: 1}),
    "integers of 64 bits, whose division has branches": (
        UNDER.format("const long long a = i[2 * t], b = i[2 * t + 1]; v = (float)(a / n + b);"),
        {16: 1},
    ),
    "used in another block": (UNDER.format(TWO + "v = v / a; if (v > 3.f) out[t + 64] = v; v += b;"), {8: 1}),
    # the block that a kernel begins with keeps the order of the source
    "at the start": (TWO + "v = v / a; v += b;", {8: 1}),
    "a record at the start": ("const Row p = r[t ^ n]; " + SOLVE, {16: 1}),
    "behind a choice": ("v = t > n ? v : 2.f; " + TWO + "v = v / a; v += b;", {8: 1}),
}
OPEN = {
    "handed on": (UNDER.format(TWO + "const float c = a; v = v / b; v += c;"), {4: 2}),
    "to a function": (UNDER.format("v = g(s[4 * t], s[4 * t + 1], v);"), {4: 2}),
    "elements of an array": (
        UNDER.format(
            "float q[4]; for (int c = 0; c < 4; ++c) q[c] = s[4 * t + c]; "
            "for (int c = 0; c < 4; ++c) v += q[c] / w;"
        ),
        {4: 4},
    ),
}


def source(body: str) -> str:
    return f"""struct Row {{ float a, b, c, d; }};
    __device__ __forceinline__ float g(float a, float b, float v) {{ v = v / a; return v + b; }}
    extern "C" __global__ void k(float *out, const float *in, const Row *rows, int n, float w) {{
    __shared__ float s[512]; __shared__ Row r[64]; __shared__ long long i[64]; int t = threadIdx.x;
    s[t] = in[t]; r[t] = rows[t]; i[t] = n; __syncthreads(); float v = w;
    {body}
    out[t] = v; }}"""


def traced(body: str) -> KernelTrace:
    (module,) = load(source_from_bytes("k.cu", source(body).encode()))
    return evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 3}))


@pytest.mark.parametrize(("body", "widths"), BODIES.values(), ids=BODIES)
def test_a_load_stands_in_front_of_its_first_use(body: str, widths: dict[int, int]) -> None:
    found: Counter[int] = Counter()
    for t in traced(body).traces:
        if t.site.op == "load" and len(t.offsets):
            found[t.joined or t.site.width] += int(t.weights.sum())
    assert found == widths


@pytest.mark.parametrize("body", [body for body, _ in OPEN.values()], ids=OPEN)
def test_what_is_not_followed_is_a_range(body: str) -> None:
    loads = [c for c in score_all(traced(body)) if c.site.op == "load" and c.wavefronts]
    assert {c.grade for c in loads} == {Grade.BOUND}
    assert all(c.reason is not None and c.reason.code == "joined-or-not" for c in loads)


@needs_nvcc
def test_machine_code_has_these_widths(tmp_path: Path) -> None:
    head = source("").partition('extern "C"')[0]
    bodies = {**BODIES, **OPEN}
    kernels = [
        source(body).removeprefix(head).replace(" k(", f" k{n}(")
        for n, (body, _) in enumerate(bodies.values())
    ]
    found = compiled(head + "".join(kernels), tmp_path)
    for n, (name, (_, widths)) in enumerate(bodies.items()):
        loads = {width: count for (op, width), count in found[f"k{n}"].items() if op == "load"}
        assert loads == widths, name
