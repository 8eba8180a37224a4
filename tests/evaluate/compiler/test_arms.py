"""Accesses in the arms of branches: which are one instruction, and which are kept."""

from __future__ import annotations

import pytest
from instructions import instructions

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

DATA = "int d = ((const int *)in)[t]; float w = in[t + 9];"


@pytest.mark.parametrize(
    ("body", "loads"),
    [
        ("x = (d ? s[2 * t] : 0) + s[2 * t + 1];", {4: 2}),
        ("x = s[2 * t + 1] + (d ? s[2 * t] : 0);", {4: 2}),
        ("x = (n > 3 ? s[2 * t] : 0) * w; x += n > 3 ? s[2 * t + 1] : 0;", {4: 2}),
        ("float a = s[2 * t]; if (d) x = s[2 * t + 1] * w; x += a;", {8: 1}),
        ("float a = s[2 * t + 1]; if (d) x = s[2 * t] * w; x += a;", {4: 2}),
        ("float a = s[4 * t + 1]; if (d) x = s[4 * t + 2] * s[4 * t + 3] * w; x += a;", {16: 1}),
        ("float a = s[2 * t]; q[t] = a; if (d) x = s[2 * t + 1];", {4: 2}),
        ("float a = s[2 * t]; if (d) { x = sqrtf(w); x += s[2 * t + 1]; } x += a;", {4: 2}),
        ("if (s[2 * t] > 3 && s[2 * t + 1] > 3) out[t + n] = x;", {8: 1}),
        ("if (w > 3 && s[2 * t] > 3) out[t + n] = s[2 * t + 1];", {8: 1}),
        ("if (w > 3 && s[2 * t] > 3) out[t + n] = x; x += s[2 * t + 1];", {4: 2}),
        ("if (d) { x += s[2 * t]; out[t + n] = x; } if (d) { x *= s[2 * t + 1]; }", {8: 1}),
        ("x = d ? s[t] : s[t + 5];", {4: 1}),
        ("if (d) x = s[t]; else x = s[t + 7];", {4: 1}),
        ("x = d ? s[t] + 1 : s[t + 5] + 2;", {4: 2}),
        ("x = d ? s[t] * w : s[t] + w;", {4: 1}),
        ("if (d) x = s[2 * t] * s[2 * t + 1]; else x = s[2 * t] + s[2 * t + 1];", {8: 1}),
        ("if (d) { x = in[t + n]; x *= s[t]; out[t] = x; } else { x = s[t]; out[t + n] = 1; }", {4: 2}),
    ],
)
def test_branches_load_together_as_in_the_machine_code(body: str, loads: dict[int, int]) -> None:
    found = instructions(DATA + body)
    assert {k: n for k, n in found.items() if "load" in k} == {f"load {w}": n for w, n in loads.items()}


def test_a_chosen_element_is_loaded_once_by_all_lanes() -> None:
    source = (
        "__global__ void k(float *out) { __shared__ float s[4096]; int t = threadIdx.x; s[t] = t; "
        "__syncthreads();\nout[t] = (t & 1) ? s[32 * t] : s[32 * t + 32]; }"
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    traces = [t for t in evaluate(module, kernel, Launch((32, 1, 1))).traces if t.site.op == "load"]
    rows = [row for t in traces for row in t.offsets.tolist()]
    assert rows == [[128 * t if t & 1 else 128 * t + 128 for t in range(32)]]
    assert len(traces) == 2  # the other element is reported too, and runs as a part of the first


HEADS = {
    "one lane": ("if (t == 3) in[t] = s[2 * t] * 5; else in[t + 40] = s[2 * t] + s[t + 999];", [2, 1]),
    "one lane that only run time tells": (
        "if (t == n) in[t] = s[2 * t] * 5; else in[t + 40] = s[2 * t] + s[t + 999];",
        [2, 1],
    ),
    "a function of it": (
        "if (t == 3) f[t] = sinf(s[2 * t]); else f[t + 40] = __fdiv_rn(s[2 * t], s[t + 999]);",
        [2, 1],
    ),
    "others follow": (
        "if (t == 3) s[t] = s[2 * t] - s[3 * t]; else s[t] = s[2 * t] * s[t + 999] - 2;",
        [2, 1, 1],
    ),
    "a lane in each arm": (
        "if (t == 4 || t == 9) { int i = 7 * t; if (t == 9) s[t] = s[i] - s[3 * t]; "
        "else s[t] = s[i] * s[t + 999] - 2; }",
        [1, 1, 1],
    ),
    "the same element by another index": (
        "if (t == 3) in[t] = s[6]; else in[t + 40] = s[2 * t] + s[t + 999];",
        [1, 2, 1],
    ),
}


@pytest.mark.parametrize(("body", "wavefronts"), HEADS.values(), ids=HEADS)
def test_loads_with_which_both_arms_begin_are_one(body: str, wavefronts: list[int]) -> None:
    """As nvcc 13.0 compiles it for sm_90: one LDS before the arms, whichever lanes take them."""
    text = (
        "__global__ void k(int *in, float *f, int n) {"
        f" __shared__ int s[2048]; int t = threadIdx.x;\n{body}\n}}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert [c.wavefronts for c in found if c.ideal and c.site.op == "load"] == wavefronts


ARMS = {
    "both arms end with it": ("if (t & 1) s[2 * t] = 1; else s[2 * t] = in[t];", [2]),
    "what an arm does before does not matter": (
        "if (t & 1) { in[5] = 3; s[2 * t] = 1; } else { s[2 * t] = 0; }",
        [2],
    ),
    "data decides": ("if (in[t] > 1) s[2 * t] = 1; else s[2 * t] = 0;", [2]),
    "neighbours join": (
        "if (t & 1) { s[2 * t] = 1; s[2 * t + 1] = 1; } else { s[2 * t] = 0; s[2 * t + 1] = 2; }",
        [2],
    ),
    "other memory comes after it": (
        "if (t & 1) { s[2 * t] = 1; in[5] = 3; } else { s[2 * t] = 0; in[6] = 3; }",
        [2, 2],
    ),
    "other places": ("if (t & 1) s[2 * t] = 1; else s[2 * t + 64] = 0;", [2, 2]),
    "one of them adds": ("if (t & 1) s[2 * t] = 1; else s[2 * t] += 32;", [2, 2]),
    "one of them adds, behind more": (
        "if (t & 1) { in[t] = 1; s[2 * t] = 1; } else { in[t] = 3; s[2 * t] += 32; }",
        [2, 2, 2],
    ),
}


@pytest.mark.parametrize(("body", "wavefronts"), ARMS.values(), ids=ARMS)
def test_stores_with_which_both_arms_end_are_one(body: str, wavefronts: list[int]) -> None:
    """As nvcc 13.0 compiles it for sm_90: one STS behind the arms, or one in each."""
    text = f"__global__ void k(int *in) {{ __shared__ int s[1024]; int t = threadIdx.x;\n{body}\n}}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert [c.wavefronts for c in found if c.ideal] == wavefronts


PAIR = "if (in[t + k] > 0) s[2 * t] = %s; else s[2 * t] = %s;"


KEPT = {
    "more code, in no loop: the second": (PAIR % ("in[t + 5]", "in[t + 9]"), (False, True)),
    "more code, in a loop: the second": (
        "for (; k < n; ++k) { %s in[k] = 1; }" % (PAIR % ("in[t + 5]", "in[t + 9]")),
        (False, True),
    ),
    "the end of a while loop: the second": (
        "while (in[3] > k) { ++k; %s }" % (PAIR % ("in[t + 5]", "in[t + 9]")),
        (False, True),
    ),
    "the step of a for loop: the first": (
        "for (; k < 8; ++k) { %s }" % (PAIR % ("in[t + 5]", "in[t + 9]")),
        (True, False),
    ),
    "a condition of all lanes, before a step: both": (
        "for (; k < 8; ++k) { if (n > 3) s[2 * t] = in[t + 5]; else s[2 * t] = in[t + 9]; }",
        (True, True),
    ),
    "the end of another arm: both": (
        "if (in[7] > 3) { %s }" % (PAIR % ("in[t + 5]", "in[t + 9]")),
        (True, True),
    ),
    "the second is a number, in no loop: both": (PAIR % ("in[t + 5]", "-1"), (True, True)),
    "the first is a number, in no loop: the second": (PAIR % ("0", "in[t + 5]"), (False, True)),
    "both are numbers: the second": (PAIR % ("0", "1"), (False, True)),
    "the first is a number, before a step: both": (
        "for (; k < 8; ++k) { %s }" % (PAIR % ("0", "in[t + 5]")),
        (True, True),
    ),
    "the second is a number, before a step: the first": (
        "for (; k < 8; ++k) { %s }" % (PAIR % ("in[t + 5]", "0")),
        (True, False),
    ),
}


@pytest.mark.parametrize(("body", "runs"), KEPT.values(), ids=KEPT)
def test_what_comes_behind_two_arms_decides_which_store_is_kept(body: str, runs: tuple[bool, bool]) -> None:
    """As nvcc 13.0 compiles it for sm_90: the line of the STS is that of one arm, or each has its own."""
    text = (
        "__global__ void k(int *in, int n) { __shared__ int s[1024]; int t = threadIdx.x; int k = 0;\n"
        f"{body}\n__syncthreads(); in[t] = s[t]; }}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert tuple(bool(c.ideal) for c in found if c.site.op == "store") == runs


def test_a_store_is_not_overwritten_for_lanes_that_have_left() -> None:
    """Lane 9 leaves after its first store; those that go on store there again."""
    text = (
        "__global__ void k(int *in) { __shared__ int s[64]; int t = threadIdx.x, i = 1;\n"
        "for (int j = 0; j < 3; j++) { s[t & 3] = t; s[i + 8] = j; if (t == 9) break; i *= 2; } }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    lanes = {
        i for t in found for row in t.offsets for i in range(32) if row[i] >= 0 and row[i] == (i & 3) * 4
    }
    assert 9 in lanes
