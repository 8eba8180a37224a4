"""Whether conditions between stores keep them apart: stores of both arms, choices, and arms that compute.

Truth: the widths of the stores in machine code (nvcc 13.0, sm_90).
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TypeAlias

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import Grade, KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

FOUR = "for (int i = 0; i < 4; i++) "
ROUND = FOUR + "if (%s) s[4 * t + i] = %s; else s[4 * t + i] = %s;"
LADDER = "if (t & 1) s[4 * t + i] = %s; else if (t < 9) s[4 * t + i] = %s; else s[4 * t + i] = %s;"
PARTED = ("t & 1", "q[t] > 3", "q[t + i] > 3", "in[t] > w", "t < n", "blockIdx.x * 32 + t < n")
TOGETHER = ("n > 3", "w > u", "n > 3 && w > u")
BETWEEN = "s[2 * t] = w; %s s[2 * t + 1] = x;"

Widths: TypeAlias = "dict[int, int]"
ONE, APART, EACH, PAIR, SINGLES = {16: 1}, {4: 4}, {16: 2}, {8: 1}, {4: 2}

EXACT: dict[str, Widths] = {
    **{ROUND % (c, "w", "u"): ONE for c in (*PARTED, *TOGETHER)},
    **{ROUND % (c, "w * a", "u + a"): ONE for c in PARTED},
    **{ROUND % (c, "v[i] * w", "v[i]"): ONE for c in PARTED},
    **{ROUND % (c, "in[4 * t + i]", "0"): APART for c in PARTED},
    **{ROUND % (c, "w * a + i", "u"): EACH for c in TOGETHER},
    **{ROUND % (c, "in[4 * t + i]", "0"): EACH for c in TOGETHER},
    FOUR
    + "{ if (n < 9) { if (n & 1) s[4 * t + i] = w * i; else s[4 * t + i] = u; } else s[4 * t + i] = 0; }": {
        16: 3
    },
    FOUR + "{ s[4 * t + i] = 0; if (t < 9) s[4 * t + i] = w; }": ONE,
    FOUR + "{ s[4 * t + i] = 0; if (q[t] > 3) s[4 * t + i] = w * a; }": ONE,
    FOUR + "{ s[4 * t + i] = v[i]; if (t + i >= n) s[4 * t + i] = 0; }": ONE,
    FOUR + "{ s[4 * t + i] = v[i]; if (blockIdx.x * 32 + t >= n) s[4 * t + i] = w * a; }": ONE,
    "s[2 * t] = w; if (blockIdx.x * 32 + t >= n) s[2 * t] = 0; s[2 * t + 1] = u;": PAIR,
    # of an `if` that is all that a round does, nvcc makes one for all rounds
    **{
        FOUR + f"if ({c}) s[4 * t + i] = v[i] * w;": ONE
        for c in ("t & 1", "t < 9", "t < n", "a > x", *TOGETHER)
    },
    FOUR + "if (t < 9) s[4 * t + i] = in[4 * t + i];": ONE,
    FOUR + "{ if (t < 9) { float z = expf(v[i] - a); s[4 * t + i] = z; } }": ONE,
    "for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) if (t < 9) s[4 * t + 2 * i + j] = v[j];": ONE,
    FOUR + "if (t + i < 9) s[4 * t + i] = v[i];": APART,
    FOUR + "if (t < 9) { x += v[i]; s[4 * t + i] = x; }": APART,
    FOUR + "{ turn(n, 5); if (n & 1) s[4 * t + i] = v[i]; }": APART,
    FOUR + "{ poke(&n, 5); if (n & 1) s[4 * t + i] = v[i]; }": APART,
    FOUR + "{ if (t < 9) s[4 * t + i] = v[i]; s[512 + 32 * i + t] = a; }": {4: 8},
    FOUR + "if (t < 9) s[4 * t + i] = v[i]; else out[32 * i + t] = a;": APART,
    # in braces of its own, as macros and `if constexpr` leave it
    FOUR + "{ { if (t < 9) s[4 * t + i] = v[i]; } }": ONE,
    FOUR + "{ if constexpr (sizeof(w) == 4) { if (t < 9) s[4 * t + i] = v[i]; } }": ONE,
    FOUR + "{ { if (t >= 9) continue; s[4 * t + i] = v[i]; } }": ONE,
    FOUR + "{ { if (t < 9) s[4 * t + i] = v[i]; } { x += v[i]; } } out[t + 64] = x;": APART,
    # also by `continue`, in other loops, beside what leaves nothing in front of it
    **{
        FOUR + f"{{ if ({c}) continue; s[4 * t + i] = {value}; }}": ONE
        for c in ("t >= 9", "q[t] > 3", "n > 3")
        for value in ("v[i]", "in[4 * t + i]", "expf(v[i])")
    },
    FOUR + "{ if (t >= 9) continue; if (n > 5) continue; float z = v[i] * w; s[4 * t + i] = z; }": ONE,
    "int i = 0; while (i < 4) { if (t < 9) s[4 * t + i] = v[i]; i++; }": ONE,
    "int i = 0; do { if (a > x) s[4 * t + i] = v[i]; ++i; } while (i < 4);": ONE,
    FOUR + "{ int o = 4 * t + i; if (t < 9) s[o] = v[i]; }": ONE,
    FOUR + "{ float z = v[i] * w; if (t < 9) s[4 * t + i] = z; }": APART,
    FOUR + "{ float z = in[4 * t + i]; if (t >= 9) continue; s[4 * t + i] = z; }": APART,
    FOUR + "{ if (q[t] > 3) s[4 * t + i] = v[i]; out[32 * i + t] = a; }": APART,
    FOUR + "{ if (q[t] > 3) s[4 * t + i] = v[i]; __syncwarp(); }": APART,
    FOUR + "{ if (t >= 9) continue; x += v[i]; s[4 * t + i] = v[i]; } out[t + 64] = x;": APART,
    FOUR + "{ if (t >= 9) continue; if (v[i] > 3) continue; s[4 * t + i] = v[i]; }": APART,
    # those who go on behind a way out know the answer
    FOUR + "{ if (t >= 9) break; s[4 * t + i] = v[i]; }": ONE,
    FOUR + "{ float z = in[4 * t + i]; if (a > x) break; s[4 * t + i] = z; }": ONE,
    FOUR + "{ if (q[t] > 3) return; s[4 * t + i] = v[i]; }": ONE,
    FOUR + "{ if (t >= 9) break; if (v[i] > 3) break; s[4 * t + i] = v[i]; }": APART,
    # a value that is computed in front moves into the arm that stores it
    **{
        FOUR + f"{{ float z = {value}; if (t < 9) s[4 * t + i] = z; else s[4 * t + i] = 0; }}": widths
        for value, widths in {
            "in[4 * t + i]": APART,
            "expf(v[i])": APART,
            "fmaxf(v[i], 0.f)": APART,
            "v[i] * a": ONE,
            "fmaxf(v[i], a)": ONE,
        }.items()
    },
    FOUR + "{ float z = expf(v[i]); if (t < 9) s[4 * t + i] = z * z; else s[4 * t + i] = 0; }": ONE,
    FOUR + "{ float z = expf(v[i]); s[4 * t + i] = t < 9 ? z : 0; }": ONE,
    # ladders: one store of all arms where the innermost ones compute, one in each where they have it at hand
    **{
        FOUR + LADDER % values: widths
        for values, widths in {
            ("w", "u", "a"): {4: 12},
            ("w * a", "u", "0"): {4: 12},
            ("in[4 * t + i]", "u", "0"): {4: 12},
            ("w", "in[4 * t + i]", "u"): {4: 12},
            ("w", "u + a", "0"): ONE,
            ("w * a", "u", "a * u"): ONE,
            ("w", "fmaxf(a, u)", "0"): APART,
        }.items()
    },
    FOUR
    + "if (t & 1) { if (t < 9) s[4 * t + i] = w * a; else s[4 * t + i] = u; } else s[4 * t + i] = a;": ONE,
    # in a loop: what no round changes is done in front, also a division of floats, but no function
    **{
        FOUR + f"{{ float y = v[i]; if (t < 9) y = {value}; s[4 * t + i] = y; }}": widths
        for value, widths in {
            "a / w": ONE,
            "(a * w + u) * (a - u) * a * a": ONE,
            "fmaxf(a, w)": APART,
            "n % (n - 1)": APART,
        }.items()
    },
    FOUR + "s[4 * t + i] = t < 9 ? in[4 * t + i] : a;": APART,
    FOUR + "{ s[4 * t + i] = v[i]; if (t < 9) s[4 * t + i] = floorf(a); }": APART,
    FOUR + "if (t < 9) s[4 * t + i] = tanhf(a); else s[4 * t + i] = w + i;": APART,
    # stored over under a condition
    **{
        FOUR + f"{{ s[4 * t + i] = 0; if ({c}) s[4 * t + i] = v[i] * w; }}": ONE
        for c in ("t < 9", "v[i] > w", "t + i < 9", "q[t] > 3")
    },
    FOUR + "{ s[4 * t + i] = 0; if (q[t + i] > 3) s[4 * t + i] = w; }": ONE,
    # what no round changes is divided in front
    FOUR + "s[4 * t + i] = v[i] * (1.f / w);": ONE,
    FOUR + "{ const float by = 1.f / sqrtf(w + a); s[4 * t + i] = v[i] * by; }": ONE,
    FOUR + "if (t < 9) s[4 * t + i] = v[i] * __frcp_rn(w);": ONE,
    FOUR + "{ s[4 * t + i] = v[i]; x += v[i] * (a / w); } out[t + 64] = x;": ONE,
    FOUR + "{ s[4 * t + i] = v[i]; x += v[i] * (n / 3 % n); } out[t + 64] = x;": ONE,
    FOUR + "s[4 * t + i] = v[i] * logf(a);": APART,
    **{FOUR + f"s[4 * t + i] = __fdividef({e});": ONE for e in ("v[i], w", "w, v[i]", "a, w")},
    "s[2 * t] = w; x = __fdividef(x, a); s[2 * t + 1] = x;": PAIR,
    "s[2 * t] = x; x += __fdividef(x, a); s[2 * t + 1] = x;": PAIR,
    "s[2 * t] = w; x = __fdividef(a, w); s[2 * t + 1] = x;": SINGLES,
    "s[2 * t] = a; s[2 * t + 1] = __fdividef(x + 1, a);": SINGLES,
    "s[2 * t] = w; if (t < 9) x = __fdividef(x, a); s[2 * t + 1] = x;": SINGLES,
    FOUR + "s[4 * t + i] = v[i] / w;": APART,
    FOUR + "s[4 * t + i] = w / v[i];": APART,
    FOUR + "s[4 * t + i] = v[i] * powf(a, w);": APART,
    "s[2 * t] = 0; if (t < 9) s[2 * t] = w * a; s[2 * t + 1] = u;": PAIR,
    "s[2 * t] = 0; if (t < 9) s[2 * t] = in[t]; s[2 * t + 1] = w;": SINGLES,
    "if (t < 9) s[2 * t] = fmaxf(a, w); else s[2 * t] = w; s[2 * t + 1] = u;": PAIR,
    "s[2 * t + 1] = u; if (t < 9) s[2 * t] = fmaxf(a, w); else s[2 * t] = w;": SINGLES,
    "if (t < 9) s[2 * t] = w; if (t < 9) s[2 * t + 1] = u;": PAIR,
    "if (n > 9) s[2 * t] = w; if (n > 9) s[2 * t + 1] = u;": PAIR,
    BETWEEN % "if (t < 9) x = a * w;": PAIR,
    BETWEEN % "if (t < 9) x = a * w; else x = a + w * u;": PAIR,
    BETWEEN % "if (t < 9) x = fmaxf(a, w);": SINGLES,
    BETWEEN % "x = n > 3 ? fabsf(a) : x;": SINGLES,
    BETWEEN % "x = t < 9 ? a / w : x;": SINGLES,
    BETWEEN % "if (t < 9) x = rsqrtf(a);": SINGLES,
    BETWEEN % "if (t < 9) x = (float)(int)a;": SINGLES,
    BETWEEN % "int y = n; if (t < 9) y = (int)a; x += y;": SINGLES,
    BETWEEN % "int y = n; if (t < 9) y = a; x += y;": SINGLES,
    BETWEEN % "long long y = n; if (n > 3) y = (long long)(a * 255.f); x += y;": SINGLES,
    BETWEEN % "if (t < 9) x = (float)(unsigned)n;": PAIR,
    BETWEEN % "int y = n; if (t < 9) y = (int)(a * 255.f); x += y;": SINGLES,
}
SEQUENCE = " ".join(f"if (t & 1) s[2 * t + {i}] = w * 2; else s[2 * t + {i}] = 0;" for i in (0, 1))
COPIES: dict[str, Widths] = {
    FOUR + "s[4 * t + i] = v[i] * logf(w);": {16: 3},
    FOUR + "if (t < 9) s[4 * t + i] = v[i] * logf(w);": {16: 3},
    FOUR + "s[4 * t + i] = n > 3 ? in[4 * t + i] : v[i];": EACH,
    FOUR + "{ float y = a; if (w > u) y = fmaxf(a, w) + i; s[4 * t + i] = y; }": EACH,
    FOUR + "{ s[4 * t + i] = v[i]; if (n > 3) s[4 * t + i] = expf(a); }": EACH,
}
"""A copy of the loop for each case, of which one runs."""
DOUBTFUL: dict[str, Widths] = {
    FOUR + "{ s[4 * t + i] = 0; if (in[t + i] > w) s[4 * t + i] = w; }": {4: 5},
    FOUR + "{ float z = in[32 * i + t]; if (t < 9) s[4 * t + i] = z; }": APART,
    FOUR + "if (t & 1) s[4 * t + i] = 0; else if (t < 9) s[4 * t + i] = u + a; else s[4 * t + i] = u;": {
        4: 12
    },
    # ladders whose arms store another value in each round, or beside one on the same conditions
    FOUR + LADDER % ("v[i] * w", "v[i]", "v[3 - i]"): ONE,
    FOUR + LADDER % ("v[i] * w", "v[i] + 1", "v[i] - 1"): APART,
    FOUR + LADDER % ("a * (i + 2)", "a + (i + 1)", "a - (i + 1)"): APART,
    FOUR + "{ float z = in[32 * i + t]; %s }" % (LADDER % ("z * w", "z + 1", "z - 1")): APART,
    "int k = t; " + FOUR + "{ if (t < 9) s[4 * t + i] = in[k]; k += n; }": APART,
    SEQUENCE: {8: 2},
    BETWEEN % "if (t < 9) x = a * w * u * a * w * u * a;": SINGLES,
    FOUR + "{ s[4 * t + i] = 0; if (t < 9) s[4 * t + i] = in[4 * t + i]; }": {4: 5},
    FOUR + "{ bool c = t < 9; if (c) s[4 * t + i] = v[i]; }": ONE,
    FOUR + "{ bool c = t >= 9; if (c) continue; s[4 * t + i] = v[i]; }": ONE,
}


LAUNCHED: dict[str, Widths] = {
    # what the launch decides is open to the compiler, and an arm that nobody takes stays a branch
    BETWEEN % "x = n > 3 ? in[t] : x;": SINGLES,
    BETWEEN % "x = n > 99 ? in[t] : x;": SINGLES,
    BETWEEN % "x = t < n ? in[t] : x;": SINGLES,
    BETWEEN % "if (n > 99) x = in[t];": SINGLES,
    BETWEEN % "if (t >= n) x = in[t];": SINGLES,
    BETWEEN % "if (n > 99) out[t + 32] = a;": SINGLES,
    BETWEEN % "if (n > 99) atomicAdd(out + 32, a);": SINGLES,
    BETWEEN % "if (n > 99) x = a * w;": PAIR,
    FOUR + "s[4 * t + i] = 4 * t + i < n ? in[4 * t + i] : a;": APART,
    FOUR + "s[4 * t + i] = i < n ? in[4 * t + i] : a;": APART,
    FOUR + "s[4 * t + i] = t < n ? in[4 * t + i] : a;": APART,
}
LAUNCHED_DOUBTFUL: dict[str, Widths] = {
    FOUR + "s[4 * t + i] = n > 3 ? in[4 * t + i] : a;": EACH,
    FOUR + "{ if (n > 3) x += in[4 * t + i]; s[4 * t + i] = x; }": EACH,
}


def source(code: str, name: str = "k") -> str:
    code = re.sub(r"\b(turn|poke)\b", rf"\1_{name}", code)
    return f"""__device__ void turn_{name}(int &k, int by) {{ k = k * 3 + by; }}
    __device__ void poke_{name}(int *k, int by) {{ *k = *k * 3 + by; }}
    extern "C" __global__ void {name}(float *out, const float *in, const int *q,
    float w, float u, int n)
    {{ __shared__ float s[1024]; int t = threadIdx.x; float a = in[t + 99], x = in[t + 77];
    float v[4]; for (int i = 0; i < 4; i++) v[i] = in[32 * i + t];
    {code} __syncthreads(); out[t] = s[t ^ 33] + s[t + 1]; }}
"""


def traced(code: str, n: int | None = None) -> KernelTrace:
    (module,) = load(source_from_bytes("k.cu", source(code).encode()))
    arguments = {} if n is None else {"n": n}
    return evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments=arguments))


def stores(code: str, n: int | None = None) -> Widths:
    """Bytes a lane -> stores in the code of a warp, but those that only the edge of the grid runs."""
    found: Counter[int] = Counter()
    for t in traced(code, n).traces:
        if t.site.op == "store" and t.weights.any() and (t.reason is None or t.reason.code != "edge-of-grid"):
            found[t.joined or t.site.width] += int(t.weights.sum())
    return dict(found)


@pytest.mark.parametrize(("code", "widths"), EXACT.items())
def test_what_conditions_leave_of_stores(code: str, widths: Widths) -> None:
    assert stores(code) == widths
    assert all(t.reason is None or t.reason.code != "joined-or-not" for t in traced(code).traces)


@pytest.mark.parametrize("n", [32, 3])
@pytest.mark.parametrize(("code", "widths"), LAUNCHED.items())
def test_a_condition_that_the_launch_decides_leaves_what_it_leaves_of_another(
    code: str, widths: Widths, n: int
) -> None:
    assert stores(code, n) == widths


@pytest.mark.parametrize("code", COPIES)
def test_of_copies_of_a_loop_one_runs(code: str) -> None:
    assert stores(code) == ONE


@pytest.mark.parametrize("code", [*DOUBTFUL, *LAUNCHED_DOUBTFUL])
def test_what_may_go_either_way_is_a_range(code: str) -> None:
    traces = traced(code, 32 if code in LAUNCHED_DOUBTFUL else None).traces
    told = [t for t in traces if t.site.op == "store" and t.weights.any()]
    assert any(t.grade is Grade.BOUND and t.reason and t.reason.code == "joined-or-not" for t in told)


TWO = "if (%s) s[2 * t] = w; else s[2 * t + 512] = u;"
AGAIN = "if (%s) s[2 * t + 1] = u; else s[2 * t + 513] = w;"
NOT_THE_SAME = {
    "shadowed": "{ bool c = n > 3; " + TWO % "c" + " } { bool c = n < 9; " + AGAIN % "c" + " }",
    "by a reference": "int c = n; int &p = c; " + TWO % "c > 3" + " p = q[0]; " + AGAIN % "c > 3",
    "by a function": TWO % "n > 3" + " turn(n, -99); " + AGAIN % "n > 3",
    "by assembly": TWO % "n > 3" + ' asm("mov.b32 %0, %1;" : "=r"(n) : "r"(q[0])); ' + AGAIN % "n > 3",
    "a chosen place": TWO % "q[t] > 3" + AGAIN % "q[t] > 3",
}


@pytest.mark.parametrize("code", NOT_THE_SAME.values(), ids=NOT_THE_SAME)
def test_stores_under_conditions_that_are_not_the_same_stay_apart(code: str) -> None:
    found = [t for t in traced(code).traces if t.site.op == "store" and t.weights.any()]
    assert len(found) == 4
    assert all((t.joined or t.site.width) == 4 for t in found)


@needs_nvcc
def test_nvcc_does_so(tmp_path: Path) -> None:
    """A guard against a size is one store in two arms there, of which a block in the middle runs one."""
    cases = EXACT | COPIES | DOUBTFUL | LAUNCHED | LAUNCHED_DOUBTFUL
    found = compiled("".join(source(code, f"k{n}") for n, code in enumerate(cases)), tmp_path)
    for n, (code, widths) in enumerate(cases.items()):
        assert {w: c for (op, w), c in found[f"k{n}"].items() if op == "store"} == widths, code
