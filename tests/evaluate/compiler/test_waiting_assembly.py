"""Inline PTX that waits keeps accesses on its side, and `assert` does where the program is built with it.

Widths of the loads in machine code (nvcc 13.0, sm_90), which the test compiles again where nvcc is.
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

WAITS = (
    "bar.sync 0;",
    "bar.sync 1, 32;",
    "bar.arrive 1, 64;",
    "barrier.sync.aligned 0;",
    "barrier.cluster.arrive.aligned;",
    "barrier.cluster.wait.aligned;",
    "bar.warp.sync 0xffffffff;",
    "membar.cta;",
    "fence.acq_rel.cta;",
    "cp.async.wait_all;",
    "cp.async.wait_group 1;",
    "cp.async.bulk.wait_group.read 0;",
    "griddepcontrol.wait;",
    "nanosleep.u32 20;",
)
PASSED = ("cp.async.commit_group;", "prefetch.global.L2 [%0];", "st.global.s32 [%0], 1;", "")
APART, JOINED, ONCE = {4: 2}, {8: 1}, {4: 1}


def bodies() -> dict[str, tuple[str, dict[int, int]]]:
    found = {}
    for text in WAITS + PASSED:
        asm = f'asm volatile("{text}" :: "l"(out) : "memory"); '
        for name, index in (("again", "2 * t"), ("its neighbour", "2 * t + 1")):
            body = f"float v = s[2 * t]; {asm} v *= s[{index}];"
            widths = APART if text in WAITS else ONCE if name == "again" else JOINED
            found[f"{text} {name}"] = body, widths
    return found


BODIES = bodies()
ASSERTED = {
    "between": ("float v = s[2 * t]; assert(in[t] > 0); v *= s[2 * t + 1];", APART),
    "of the block": ("float v = s[2 * t]; assert(t < n); v *= s[2 * t + 1];", APART),
    "in a loop": (
        "float v = 0; for (int i = 0; i < 4; ++i) { assert(t + i < n); v += s[4 * t + i]; }",
        {4: 4},
    ),
    "in an accessor": ("float v = get(s, 2 * t, n) * get(s, 2 * t + 1, n);", APART),
}
FREE = {
    "in front": ("assert(t < n); float v = s[2 * t]; v *= s[2 * t + 1];", JOINED),
    "of the type": ("float v = s[2 * t]; assert(sizeof(v) == 4); v *= s[2 * t + 1];", JOINED),
}


def source(body: str) -> str:
    return f"""#include <cassert>
    __device__ float get(const float *p, int i, int n) {{ assert(i < n); return p[i]; }}
    extern "C" __global__ void k(float *out, const float *in, int n) {{
    __shared__ float s[512]; int t = threadIdx.x; s[5 * t] = in[t]; __syncthreads();
    {body}
    out[t] = v; }}"""


def traced(body: str) -> KernelTrace:
    (module,) = load(source_from_bytes("k.cu", source(body).encode()))
    return evaluate(module, module.kernels()[0], Launch((32, 1, 1)))


@pytest.mark.parametrize(("body", "widths"), [*BODIES.values(), *FREE.values()], ids=[*BODIES, *FREE])
def test_what_waits_is_not_passed(body: str, widths: dict[int, int]) -> None:
    """Loads in front of and behind a barrier in PTX were told as one wide load, or the second as not run."""
    found: Counter[int] = Counter()
    for t in traced(body).traces:
        if t.site.op == "load" and len(t.offsets) and t.weights.any():
            found[t.joined or t.site.width] += int(t.weights.sum())
    assert found == widths


@pytest.mark.parametrize("body", [body for body, _ in ASSERTED.values()], ids=ASSERTED)
def test_across_an_assert_is_a_range(body: str) -> None:
    """Told as joined, exact. Programs that are built with NDEBUG have no assert."""
    loads = [c for c in score_all(traced(body)) if c.site.op == "load" and c.wavefronts]
    assert {c.grade for c in loads} == {Grade.BOUND}
    assert all(c.reason is not None and "`assert`" in c.reason.text for c in loads)


@needs_nvcc
def test_machine_code_has_these_widths(tmp_path: Path) -> None:
    head = source("").partition('extern "C"')[0]
    all_ = {**BODIES, **ASSERTED, **FREE}
    kernels = [
        source(body).removeprefix(head).replace(" k(", f" k{n}(") for n, (body, _) in enumerate(all_.values())
    ]
    found = compiled(head + "".join(kernels), tmp_path)
    for n, (name, (_, widths)) in enumerate(all_.items()):
        loads = {width: count for (op, width), count in found[f"k{n}"].items() if op == "load"}
        assert loads == widths, name
