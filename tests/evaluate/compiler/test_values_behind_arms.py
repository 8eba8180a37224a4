"""Loads behind two arms that each load or store there: which of them nvcc has at hand.

Read from machine code (nvcc 13.0, sm_90): the widths of the loads that are left.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

MORE = "out[t + 99] = 1;"
LOOP = "for (int k = 0; k < n; k++) v += in[k];"


def loads(code: str) -> int:
    """The shared loads in the code of a warp."""
    text = f"""__global__ void k(float *out, const float *in, float w, int n)
    {{ __shared__ float s[512]; int t = threadIdx.x; s[t] = w; s[t + 256] = w; __syncthreads();
    float v = w; {code} }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    return sum(int(t.weights.sum()) for t in trace.traces if t.site.op == "load" and len(t.offsets))


@pytest.mark.parametrize(
    ("code", "left"),
    [
        # the address is there in front of the arms
        (f"int i = 2 * t; if (n > 3) {{ v = s[i]; {MORE} }} else {{ v *= 7; v += s[i]; }} v += s[i];", 2),
        (f"if (n > 3) {{ v = s[t] * w; {MORE} }} else {{ s[t] = w * 2; }} v += s[t];", 1),
        (f"if (n > 3) {{ {LOOP} s[t + 1] = v; }} else {{ s[t + 1] = w; {MORE} }} v += s[t + 1];", 0),
        (f"v = s[3 * t]; if (n > 3) s[3 * t] = w; else {{ {LOOP} s[3 * t] = v; }} v += s[3 * t];", 1),
        # both arms begin with it
        ("if (n > 3) s[4 * t] = w; else { float q = s[4 * t]; out[t + 64] = q * q; } v += s[4 * t];", 1),
        # predicated loads
        (f"if (n > 3) {{ v = s[2 * t] * w; {MORE} }} else {{ v = w * 7; v += s[2 * t]; }} v += s[2 * t];", 2),
    ],
)
def test_what_both_arms_leave_is_at_hand(code: str, left: int) -> None:
    assert loads(f"{code} out[t] = v;") == left


@pytest.mark.parametrize(
    ("code", "left"),
    [
        # an address that each arm makes, and stores or loops in them
        ("if (t > 3) { v = s[2 * t]; s[2 * t] = w; } else { v = w * 2; s[2 * t] = v; } v += s[2 * t];", 2),
        (f"if (n > 3) {{ {LOOP} s[2 * t] = v; }} else {{ s[2 * t] = w; {MORE} }} v += s[2 * t];", 1),
        (f"if (n > 3) {{ v = s[2 * t]; {LOOP} }} else {{ v = w * 7; v += s[2 * t]; }} v += s[2 * t];", 3),
        # one arm leaves nothing, or something else may be stored there since
        (f"if (n > 3) {{ v = s[t + 1]; {MORE} }} else v = w * 2; v += s[t + 1];", 2),
        (f"if (n > 3) {{ v = s[t]; s[n * t] = w; }} else {{ v = w - s[t]; {MORE} }} v += s[t];", 2),
        (f"if (n > 3) {{ v = s[t] * 2; {MORE} }} else {{ v = w - s[t]; }} __syncwarp(); v += s[t];", 2),
    ],
)
def test_what_one_arm_may_not_leave_is_loaded_again(code: str, left: int) -> None:
    assert loads(f"{code} out[t] = v;") == left


@pytest.mark.parametrize(
    ("arms", "left"),
    [
        ("v = s[2 * t] * w; else v = s[2 * t] + w;", 1),
        ("v = s[2 * t] * w; else v = w * 7 - s[2 * t];", 2),
        ("{ float q = w * 3; v = s[2 * t] + q; } else { float q = w * 3; v = s[2 * t] - q; }", 1),
        ("{ float q = w * 3; v = s[2 * t] + q; } else { float q = w * 5; v = s[2 * t] - q; }", 2),
    ],
)
def test_a_load_is_made_in_front_where_both_arms_compute_the_same_before(arms: str, left: int) -> None:
    assert loads(f"if (n > 3) {arms} out[t] = v;") == left
