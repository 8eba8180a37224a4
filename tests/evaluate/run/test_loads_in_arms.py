"""Which loads in arms of conditions join: those of one condition asked twice, and in the rounds of loops.

Truth: the widths of the loads in machine code (nvcc 13.0, sm_90).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import Grade, KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

FOUR = "for (int i = 0; i < 4; i++) "
LANES = ("t < 9", "t < n", "t + 32 * m < n", "t < 9 && m > 2", "blockIdx.x * 32 + t < n")
ALL = ("n > 3", "w > u", "m > 2 && n > 3")
ONE, APART, PAIR, SINGLES, PAIRS = {16: 1}, {4: 4}, {8: 1}, {4: 2}, {8: 4}
TWICE = "if (%s) %s = s[2 * t]; %s if (%s) %s = s[2 * t + 1];"

EXACT: dict[str, dict[int, int]] = {
    # a sum goes on from round to round: each asks anew, unless all lanes share the answer
    **{FOUR + f"if ({c}) x += s[4 * t + i];": APART for c in LANES},
    **{FOUR + f"{{ if (!({c})) continue; x += s[4 * t + i]; }}": APART for c in LANES},
    **{FOUR + f"if ({c}) x += s[4 * t + i];": ONE for c in ALL},
    **{FOUR + f"{{ if (!({c})) continue; x += s[4 * t + i]; }}": ONE for c in ALL},
    **{FOUR + f"{{ float y = {c} ? s[4 * t + i] : 0.f; x += y * v[i]; }}": ONE for c in ALL[:2]},
    FOUR + "{ float y = t < 9 ? s[4 * t + i] : 0.f; x += y * v[i]; }": APART,
    FOUR + "{ float y = 0; if (t < 9) y = s[4 * t + i]; x += y * v[i]; }": APART,
    FOUR + "{ x += v[i]; if (t < 9) out[64 * i + t] = s[4 * t + i]; }": APART,
    FOUR + "{ if (t < 9) x = fmaxf(x, s[4 * t + i]); else x -= v[i]; }": APART,
    FOUR + "{ if (m > 2) if (t < 9) x += s[4 * t + i]; }": APART,
    FOUR + "if (t < 9) out[64 * i + t] = s[4 * t + i];": ONE,
    FOUR + "if (t < 9) v[i] += s[4 * t + i];": ONE,
    FOUR + "{ if (t >= 9) break; x += s[4 * t + i]; }": ONE,
    # what stands behind `&&` and `||`
    **{FOUR + f"if ({c} && s[4 * t + i] > w) x += a;": APART for c in LANES if "&&" not in c},
    **{FOUR + f"if ({c} && s[4 * t + i] > w) x += a;": ONE for c in ALL[:2]},
    FOUR + "if (t >= n || s[4 * t + i] > w) x += a;": APART,
    "if (t < n && s[2 * t] > w) x += s[2 * t + 1];": PAIR,
    # within a round as ever
    FOUR + "if (t < 9) { x += s[8 * t + 2 * i]; a *= s[8 * t + 2 * i + 1]; }": PAIRS,
    FOUR + "{ if (t < 9) x += s[8 * t + 2 * i]; if (t < 9) a *= s[8 * t + 2 * i + 1]; }": PAIRS,
    FOUR + "{ if (t < 9) x += s[8 * t + 2 * i]; a += w; if (t < 9) a *= s[8 * t + 2 * i + 1]; }": {4: 8},
    FOUR + "{ x += s[8 * t + 2 * i]; if (t >= 9) continue; x *= s[8 * t + 2 * i + 1]; }": {16: 2},
    # in a line: one is made of conditions that stand side by side
    **{TWICE % (c, "v[0]", "", c, "v[1]"): PAIR for c in ("t < 9", "n > 3", "t < n")},
    **{TWICE % (c, "v[0]", "v[2] += w;", c, "v[1]"): SINGLES for c in ("t < 9", "t < n")},
    **{TWICE % (c, "v[0]", "x = x * w + u;", c, "v[1]"): SINGLES for c in ("t < 9", "n > 3", "t < n")},
    TWICE % ("t < 9", "v[0]", "out[t + 64] = a;", "t < 9", "v[1]"): SINGLES,
    **{
        f"const float y = {c} ? s[2 * t] : 0.f, z = {c} ? s[2 * t + 1] : 0.f; x += y * z;": PAIR
        for c in ("t < 9", "n > 3")
    },
    "x += t < 9 ? s[2 * t] : 0.f; a += t < 9 ? s[2 * t + 1] : 0.f;": SINGLES,
    "x += (t < 9 ? s[2 * t] : 0.f) + (t < 9 ? s[2 * t + 1] : 0.f);": PAIR,
}
RANGES: dict[str, dict[int, int]] = {
    TWICE % ("n > 3", "v[0]", "out[t + 64] = a;", "n > 3", "v[1]"): PAIR,
    "if (t < 9) v[0] = s[2 * t]; int o = t * 2 + 1; if (t < 9) v[1] = s[o];": PAIR,
    "if (t < 9) x += s[2 * t]; else x += w; if (t < 9) x += s[2 * t + 1]; else x -= u;": SINGLES,
}
COPIES: dict[str, int] = {
    # in the copies of a loop that stays one
    "for (int j = 0; j < m; j++) if (t < 9) x += s[64 * t + j];": 4,
    "for (int j = 0; j < m; j++) { if (t >= 9) continue; x += s[64 * t + j]; }": 4,
    "for (int j = 0; j < m; j++) if (t < 9) out[64 * j + t] = s[64 * t + j];": 4,
    "for (int j = 0; j < m; j++) if (n > 3) x += s[64 * t + j];": 8,
    "for (int j = 0; j < m; j++) { float y = n > 3 ? s[64 * t + j] : 0.f; x += y; }": 8,
}


def source(code: str, name: str = "k") -> str:
    return f"""extern "C" __global__ void {name}(float *out, const float *in, float w, float u, int n, int m)
    {{ __shared__ float s[4096], r[256]; int t = threadIdx.x; float a = in[t + 99], x = in[t + 77];
    float v[4]; for (int i = 0; i < 4; i++) v[i] = in[32 * i + t];
    r[t] = a; for (int i = t; i < 4096; i += 32) s[i] = in[i]; __syncthreads();
    {code} __syncthreads(); out[t] = r[t ^ 5] + x + a + v[0] + v[1] + v[2] + v[3]; }}
"""


def traced(code: str) -> KernelTrace:
    (module,) = load(source_from_bytes("k.cu", source(code).encode()))
    return evaluate(module, module.kernels()[0], Launch((32, 1, 1)))


def loads(trace: KernelTrace) -> dict[int, int]:
    """Bytes a lane -> loads of the array in the code of a warp."""
    found: Counter[int] = Counter()
    for t in trace.traces:
        if t.site.op == "load" and t.weights.any():
            found[t.joined or t.site.width] += int(t.weights.sum())
    found[4] -= 1  # of the other array
    return dict(+found)


@pytest.mark.parametrize(("code", "widths"), EXACT.items())
def test_what_conditions_leave_of_loads(code: str, widths: dict[int, int]) -> None:
    trace = traced(code)
    assert loads(trace) == widths
    assert all(t.reason is None or t.reason.code != "joined-or-not" for t in trace.traces)


@pytest.mark.parametrize("code", RANGES)
def test_what_may_go_either_way_is_a_range(code: str) -> None:
    told = [t for t in traced(code).traces if t.site.op == "load" and t.joined]
    assert any(t.grade is Grade.BOUND and t.reason and t.reason.code == "joined-or-not" for t in told)


@pytest.mark.parametrize(("code", "width"), COPIES.items())
def test_copies_of_a_loop_join_where_all_lanes_share_the_answer(code: str, width: int) -> None:
    assert set(loads(traced(code))) == {width}


@needs_nvcc
def test_nvcc_does_so(tmp_path: Path) -> None:
    cases = [*EXACT, *RANGES, *COPIES]
    found = compiled("".join(source(code, f"k{n}") for n, code in enumerate(cases)), tmp_path)
    for n, code in enumerate(cases):
        made = Counter({w: c for (op, w), c in found[f"k{n}"].items() if op == "load"})
        made[4] -= 1  # of the other array
        if code in COPIES:
            assert max(w for w, c in made.items() if c > 0) == COPIES[code], code
        else:
            assert +made == Counter((EXACT | RANGES)[code]), code
