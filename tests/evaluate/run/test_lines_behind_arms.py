"""Loads in front of a condition or a `switch` and behind it: in one line, unless an arm ends it.

Truth: the widths of the loads in machine code (nvcc 13.0, sm_90).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

AROUND = "w = s[2 * t]; %s w += a * s[2 * t + 1];"
ROUNDS = "for (k = 0; k < 4; k++) { a = s[4 * t + k]; %s w += a; }"
SWITCH = "switch (%s) { case 1: a = a * 2.f; break; case 2: %s break; default: a = x; }"
STEPS = "a = a * a + x; a = a * w + a; a = a * a - w; a = a * x + w; " * 5
ONE, APART = {8: 1}, {4: 2}

EXACT: dict[str, dict[int, int]] = {
    # a switch: predicates, whatever its size
    **{AROUND % SWITCH % (c, "a = a + 3.f;"): ONE for c in ("n", "q[t]", "t & 3")},
    AROUND % SWITCH % ("q[t]", STEPS): ONE,
    AROUND % SWITCH % ("q[t]", "a += in[t + k];"): ONE,
    AROUND % SWITCH % ("n", "out[t + 99] = a;"): ONE,
    AROUND % "switch (q[t]) { case 1: a = a * 2.f; case 2: a = a + 3.f; break; }": ONE,
    AROUND % SWITCH % ("q[t]", "a = a / x;"): APART,
    AROUND % SWITCH % ("n", "a = a / x;"): APART,
    AROUND % SWITCH % ("q[t]", "a = sinf(a);"): APART,
    AROUND % SWITCH % ("q[t]", "for (int i = 0; i < n; i++) a += in[i];"): APART,
    ROUNDS % SWITCH % ("q[t]", "a = a + 3.f;"): {16: 1},
    # an `if` of any size, and no function with branches or loop in it
    AROUND % f"if (q[t] > n) {{ {STEPS} }}": ONE,
    AROUND % f"if (q[t] > n) {{ {STEPS} out[t + 99] = a; }}": ONE,
    AROUND % "if (q[t] > n) a = tanhf(a);": ONE,
    AROUND % "if (q[t] > n) a = powf(a, x);": ONE,
    AROUND % "if (a != 0.f) a = 2.f / a;": APART,
    AROUND % "if (q[t] > n) { for (int i = 0; i < 4; i++) a = a * x + in[i + t]; }": ONE,
    AROUND % "if (q[t] > n) a = sinf(a);": APART,
    AROUND % "if (q[t] > n) a = fmodf(a, x);": APART,
    AROUND % "if (q[t] > n) { if (w > x) a = cosf(a); else a = 0.f; }": APART,
    AROUND % "if (q[t] > n) { for (int i = 0; i < n; i++) a += in[i]; }": APART,
    AROUND % "if (n > 1) { while (a > x) a *= x; }": APART,
    AROUND % "a = q[t] > n ? sinf(a) : a;": APART,
    AROUND % "a = sizeof(float) == 4 ? sinf(a) : a;": APART,
    AROUND % "a = q[t] > n ? a * x : w;": ONE,
}
BRANCHED = {
    # the optimiser joins what a declared alignment allows, and not across a branch; machine code may join
    # some again (`s[x + 1]`, a division, `s[x + 3]`, a branch, `s[x + 2]`, `s[x]`: all but the first)
    AROUND % "if (a != 0.f) a = 1.f / a;": APART,
}
ALIGNED = {
    AROUND % "if (q[t] > n) a = a * x;": ONE,
    AROUND % "if (q[t] > 2 * n) out[t + 99] = a;": ONE,
}
SWITCHED_OFF = {
    # n is 2: what an arm that nobody takes would keep apart is a range
    AROUND % "if (n > 99) a = a / x;": APART,
    AROUND % "a = n > 99 ? a / x : a;": APART,
    AROUND % "if (t >= n + 99) a = sinf(a);": APART,
    AROUND % "if (n > 99) a = sqrtf(a);": APART,
    AROUND % "if (n > 9) { for (int i = 0; i < n; i++) a += in[i]; }": APART,
    AROUND % "switch (n) { case 1: a = a / x; break; case 2: a = a > 0 ? a : 0; break; }": APART,
}
COPIES = {
    # all lanes take one case in all rounds: the loop has a copy for each, of which one runs
    ROUNDS % SWITCH % ("n", "a = a + 3.f;"): 16,
    ROUNDS % SWITCH % ("n", STEPS): 16,
    ROUNDS % "switch (n) { case 1: a = a / x; break; case 2: a = a > 0 ? a : 0; break; }": 16,
}


def source(code: str, name: str = "k") -> str:
    align = "__align__(16) " if code in ALIGNED or code in BRANCHED else ""
    return f"""extern "C" __global__ void {name}(float *out, const float *in, const int *q, int n, float x)
    {{ __shared__ {align}float s[1024]; int t = threadIdx.x, k = 0; float w = x, a = in[t + 3];
    s[t] = in[t]; s[t + 64] = in[t + 64]; __syncthreads(); {code} out[t] = w + a; }}
"""


def loads(code: str) -> tuple[dict[int, int], set[str]]:
    """Bytes a lane -> loads of a warp, and why some are ranges."""
    (module,) = load(source_from_bytes("k.cu", source(code).encode()))
    found: Counter[int] = Counter()
    why = set()
    for t in evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 2})).traces:
        if t.site.op == "load" and t.weights.any():
            found[t.joined or t.site.width] += int(t.weights.sum())
            why |= {t.reason.code} if t.reason else set()
    return dict(found), why


@pytest.mark.parametrize(("code", "widths"), [*EXACT.items(), *ALIGNED.items()])
def test_loads_join_across_arms_that_do_not_end_the_line(code: str, widths: dict[int, int]) -> None:
    assert loads(code) == (widths, set())


@pytest.mark.parametrize("code", BRANCHED)
def test_what_a_branch_parts_of_an_aligned_row_is_a_range(code: str) -> None:
    assert loads(code)[1] == {"joined-or-not"}


@pytest.mark.parametrize("code", SWITCHED_OFF)
def test_what_an_arm_would_end_that_the_launch_switches_off_is_a_range(code: str) -> None:
    assert loads(code)[1] == {"joined-or-not"}


@pytest.mark.parametrize(("code", "width"), COPIES.items())
def test_a_loop_goes_on_in_a_copy_for_each_case(code: str, width: int) -> None:
    assert loads(code) == ({width: 1}, set())


@needs_nvcc
def test_nvcc_does_so(tmp_path: Path) -> None:
    cases = {**EXACT, **ALIGNED, **BRANCHED, **SWITCHED_OFF}
    text = "".join(source(code, f"k{n}") for n, code in enumerate([*cases, *COPIES]))
    found = compiled(text, tmp_path)
    read = [{w: c for (op, w), c in found[f"k{n}"].items() if op == "load"} for n in range(len(found))]
    for (code, widths), there in zip(cases.items(), read, strict=False):
        assert there == widths, code
    for (code, width), there in zip(COPIES.items(), read[len(cases) :], strict=True):
        assert max(there) == width, code
