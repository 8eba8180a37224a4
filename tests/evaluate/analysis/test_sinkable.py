"""Loads that the compiler moves under the condition of their only use.

What each kernel does was read from its machine code (nvcc 13.0, sm_90): the load stands under a predicate,
behind a branch or behind an early exit, or it does not.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

HEAD = """__global__ void k(float *out, const float *in, int n) {
__shared__ float s[4096]; __shared__ float q[1024]; int t = threadIdx.x; s[t] = in[t]; q[t] = in[t + 1];
__syncthreads();
"""
HALF = "if (t % 16 < 8)"


def lanes(body: str) -> list[int]:
    """Active lanes of each load on s in `body`, one warp, in the order of the text."""
    (module,) = load(source_from_bytes("k.cu", (HEAD + body + "\n}").encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    return [
        int(row)
        for t in trace.traces
        if t.site.op == "load" and trace.arrays[t.site.array].name == "s"
        for row in (t.offsets >= 0).sum(axis=1)
    ]


@pytest.mark.parametrize(
    "body",
    [
        f"float v = s[2 * t]; {HALF} out[t] = v;",
        f"float v; v = s[2 * t]; {HALF} {{ out[t] = v; out[t + n] = v * 2; }}",
        f"float v = s[2 * t]; {HALF} {{ for (int i = 0; i < n; i++) out[t + i] = v; }}",
        f"float v = s[2 * t]; out[t + n] = 3; {HALF} out[t] = v;",
        f"float v = s[2 * t]; q[t] = 3; {HALF} out[t] = v; __syncthreads(); out[t + n] = q[t ^ 1];",
        f"float v = s[2 * t]; if (n > 5) out[5] = 7; {HALF} out[t] = v;",
        f"float v = s[2 * t]; float w = v * v; {HALF} out[t] = w;",
        f"float v = s[2 * t] * 3 + 1; {HALF} out[t] = v;",
        f"float v = s[2 * t]; float a = 0; {HALF} a += v * in[t]; out[t] = a;",
        f"float v = s[2 * t]; float a = in[t]; {HALF} a = sqrtf(v); out[t] = a;",
        f"float v = s[2 * t]; {HALF} out[t] = v; else out[t] = 0;",
        "float v = s[2 * t]; if (t % 16 >= 8) return; out[t] = v;",
        "float v = s[2 * t]; if (n > 3) { if (t % 16 < 8) out[t] = v; } else out[t] = 3;",
    ],
)
def test_a_load_runs_where_alone_its_value_is_used(body: str) -> None:
    assert lanes(body) == [16]


@pytest.mark.parametrize(
    "body",
    [
        f"float v = s[2 * t]; __syncthreads(); {HALF} out[t] = v;",
        f"float v = s[2 * t]; {HALF} out[t] = v; if (t % 8 < 2) out[t + n] = v;",
        f"float v = s[2 * t]; {HALF} out[t] = v; else out[t + n] = v + 1;",
        f"float v = s[2 * t]; float w = __shfl_xor_sync(~0u, v, 1); {HALF} out[t] = v + w;",
        "float v = s[2 * t]; if (v > 3) out[t] = v;",
        f"float v = s[2 * t] + in[t + n]; {HALF} out[t] = v;",
        f"volatile float *p = s; float v = p[2 * t]; {HALF} out[t] = v;",
        f"float v = s[2 * t]; float m = 0; for (int i = 0; i < n; i++) m += in[i]; {HALF} out[t] = v + m;",
    ],
)
def test_a_load_stays_where_more_needs_it_or_something_stands_between(body: str) -> None:
    assert lanes(body) == [32]


def test_a_store_that_may_hit_the_array_keeps_a_load_above_it() -> None:
    assert lanes(f"float v = s[2 * t]; s[t + n] = 3; {HALF} out[t] = v; __syncthreads(); out[0] = s[0];") == [
        32,
        32,
    ]


def test_a_few_operations_on_values_at_hand_become_a_choice_between_results() -> None:
    few = "a += v; a *= v; a += 5; a *= v + 1;"
    assert lanes(f"float v = s[2 * t]; float a = in[t]; {HALF} {{ {few} }} out[t] = a;") == [32]
    assert lanes(f"float v = s[2 * t]; float a = in[t]; {HALF} {{ {few} a += 2; }} out[t] = a;") == [16]


def test_a_sum_of_three_loads_stays_and_one_of_two_moves_and_joins() -> None:
    assert lanes(f"float v = s[2 * t] + s[3 * t] + s[5 * t]; {HALF} out[t] = v;") == [32, 32, 32]
    assert lanes(f"float v = s[2 * t]; float w = v + s[2 * t + 1]; {HALF} out[t] = w;") == [16]


def test_a_value_that_nobody_uses_is_not_loaded() -> None:
    body = "for (int i = 0; i < 4; i++) { float v = s[t + i]; if (i < 2) a += v * q[t]; }"
    assert lanes(f"float a = 0; {body} out[t] = a;") == [32, 32]


def test_a_load_that_does_not_run_is_reported_as_it_is_written() -> None:
    assert lanes("float v = s[2 * t]; if (t % 16 < 8) return; out[t] = 3;") == [32]


def test_lanes_that_data_decides_bound_the_moved_load() -> None:
    source = HEAD + "float v = s[64 * t]; if (q[t] > 2) out[t] = v;\n}"
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    (moved,) = [t for t in trace.traces if t.site.op == "load" and trace.arrays[t.site.array].name == "s"]
    assert moved.maybe is not None
    assert moved.maybe.all()
