"""How wide loads of half and bfloat16 run, and stores beside them.

The widths are those of the machine code of nvcc 13.0 for sm_90, -O3. Every operator and conversion of these
types is inline PTX, which the optimiser does not join across.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

KERNEL = """
#include <cuda_fp16.h>
__global__ void k(const half *in, half *out, half2 *pairs, float *o)
{
    __shared__ ALIGN half s[1024];
    __shared__ half q[1024];
    const int t = threadIdx.x;
    float w = 0;
    half r = in[9];
    s[t + 1] = in[t];
    __syncthreads();
    CODE
    o[t] = w;
    out[t] = r;
}
"""


def widths(code: str, op: str = "load", align: str = "") -> Counter[int]:
    """How many accesses of how many bytes a lane one warp runs."""
    text = KERNEL.replace("CODE", code).replace("ALIGN", align)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found: Counter[int] = Counter()
    for t in trace.traces:
        if t.site.op == op and len(t.offsets):
            found[t.joined or t.site.width] += int(t.weights.sum())
    return found


@pytest.mark.parametrize(
    ("code", "plain", "aligned"),
    [
        ("for (int c = 0; c < 8; c++) out[t * 8 + c] = s[t * 8 + c];", {8: 2}, {16: 1}),
        ("for (int c = 0; c < 8; c++) w += (float)s[t * 8 + c];", {8: 2}, {8: 2}),
        ("for (int c = 0; c < 8; c++) w += __half2float(s[t * 8 + c]);", {8: 2}, {8: 2}),
        ("for (int c = 0; c < 8; c++) r = __hadd(r, s[t * 8 + c]);", {8: 2}, {8: 2}),
        ("for (int c = 0; c < 8; c++) r = r + s[t * 8 + c];", {8: 2}, {8: 2}),
        ("for (int c = 0; c < 8; c++) if (s[t * 8 + c] > r) w += 1;", {8: 2}, {8: 2}),
    ],
)
def test_halves_join_to_eight_bytes_and_copies_of_declared_alignment_to_sixteen(
    code: str, plain: dict[int, int], aligned: dict[int, int]
) -> None:
    assert widths(code) == Counter(plain)
    assert widths(code, align="__align__(16)") == Counter(aligned)


def test_loads_that_move_up_leave_stores_together() -> None:
    # The loads of the aligned array are joined early, so that nothing stands between the stores.
    copy = "for (int c = 0; c < 4; c++) q[t * 4 + c] = s[t * 4 + c]; __syncthreads(); out[t + 64] = q[t ^ 1];"
    assert widths(copy, "store", "__align__(16)") == Counter({2: 1, 8: 1})
    assert widths(copy, "store") == Counter({2: 5})


@pytest.mark.parametrize(
    ("code", "plain"),
    [
        ("for (int c = 0; c < 4; c++) w += (float)b[t * 4 + c];", {2: 4}),
        ("for (int c = 0; c < 4; c++) w += __bfloat162float(b[t * 4 + c]) * c;", {2: 4}),
        ("for (int c = 0; c < 4; c++) { float x = b[t * 4 + c]; w += x * x; }", {2: 4}),
        ("B v[4]; for (int c = 0; c < 4; c++) v[c] = b[t * 4 + c];\n"
         "for (int c = 0; c < 4; c++) w += (float)v[c];", {2: 4}),
        ("B x = b[t * 4], y = b[t * 4 + 1]; o[t + 64] = __bfloat162float(x) * __bfloat162float(y);", {2: 2}),
        ("B x = b[t * 4], y = b[t * 4 + 1]; if (x > y) w = 3;", {4: 1}),
        ("B v[4]; for (int c = 0; c < 4; c++) v[c] = b[t * 4 + c];\n"
         "for (int c = 0; c < 4; c++) bs[t * 4 + c] = v[c] * v[0];", {8: 1}),
    ],
)  # fmt: skip
def test_bfloat16_that_becomes_a_float_is_loaded_alone(code: str, plain: dict[int, int]) -> None:
    text = f"""#include <cuda_bf16.h>
    typedef __nv_bfloat16 B;
    __global__ void k(const B *in, B *bs, float *o) {{ __shared__ B b[1024]; const int t = threadIdx.x;
      for (int c = 0; c < 4; c++) b[t * 4 + c] = in[t * 4 + c];
      __syncthreads(); float w = 0; {code} o[t] = w; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found: Counter[int] = Counter()
    for t in evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces:
        if t.site.op == "load" and len(t.offsets):
            found[t.joined or t.site.width] += int(t.weights.sum())
    assert found == plain


@pytest.mark.parametrize(
    ("members", "narrow"),
    [
        ("int x; bool b; int y; bool c;", False),
        ("int x; short b; int y; short c;", True),
        ("int x; int y; int z; bool c;", True),
        ("bool b; int y; short c;", True),
    ],
)
def test_a_record_with_gaps_that_is_loaded_whole(members: str, narrow: bool) -> None:
    """nvcc 13.0: LDS.128 and LDS.S8 of the first; of the others words and narrow members by themselves."""
    third = "out[t].b = v.b;" if " b;" in members else "out[t].z = v.z + 2;"
    source = f"""struct A {{ {members} }};
    __global__ void k(A *in, A *out) {{ __shared__ A s[256]; int t = threadIdx.x; s[t] = in[t];
    __syncthreads(); A v = s[t ^ 3];
    out[t].c = v.c; out[t].y = v.y + 1; {third} }}"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    loads = [c for c in found if c.site.op == "load" and c.site.place.line == 3 and c.wavefronts]
    assert {c.site.width < 4 for c in loads} >= {narrow}
    assert all(c.wavefronts == c.wavefronts_low for c in loads) is narrow


EIGHT = "for (int i = 0; i < 4; i++) { "
BETWEEN_BRANCHES = {
    # an `if` or a choice that leaves a branch: words would join across it
    "a guarded load": (
        EIGHT + "u[i] = s[4 * t + i]; d[i] = 4 * t + i < n ? in[4 * t + i] : 0.f; } w += u[0] * d[0] + "
        "u[1] * d[1] + u[2] * d[2] + u[3] * d[3];",
        {2: 4},
    ),
    "a guarded store": (
        EIGHT + "const float v = s[4 * t + i]; w += v; if (v > 3) o[t + i] = w; }",
        {2: 4},
    ),
    "an atomic": (EIGHT + "const float v = s[4 * t + i]; if (v > w) atomicAdd(o + i, v); }", {2: 4}),
    "a break": (EIGHT + "w += (float)s[4 * t + i]; if (w > 9.f) break; }", {2: 4}),
    "slow arithmetic": (EIGHT + "const float v = s[4 * t + i]; if (t + i < n) w += __expf(v); }", {2: 4}),
    "on one side each": (
        "w = (float)s[4 * t] + (float)s[4 * t + 1]; if (t < n) o[t + 99] = w; "
        "w += (float)s[4 * t + 2] * (float)s[4 * t + 3];",
        {4: 2},
    ),
    "in an arm": ("w = (float)s[4 * t]; if (t < n) w += (float)s[4 * t + 1];", {2: 2}),
    "all in an arm": ("if (t < n) " + EIGHT + "w += (float)s[4 * t + i]; }", {8: 1}),
    # choices, and arms that only compute
    "a maximum": (EIGHT + "const float v = s[4 * t + i]; if (v > w) w = v; }", {8: 1}),
    "a choice": (EIGHT + "const float v = s[4 * t + i]; w = t + i < n ? w * v + 2.f : v - 3.f; }", {8: 1}),
    "a count": (EIGHT + "if ((float)s[4 * t + i] > u[0]) w += 1.f; }", {8: 1}),
    "a plain store": (EIGHT + "w += (float)s[4 * t + i]; o[64 + 32 * i + t] = w; }", {8: 1}),
}
ASKED_IN_FRONT = {
    "loads": EIGHT + "const float v = s[4 * t + i]; w += n > 3 ? v * in[i] : v; }",
    "stores": EIGHT + "const float v = s[4 * t + i]; w += v; if (n > 3) o[64 * i + t] = v; }",
}
TYPES = {"half": "half", "short": "short"}


def filled(body: str, name: str, type: str) -> str:
    return f"""
    extern "C" __global__ void {name}(const float *in, float *o, int n) {{ __shared__ {type} s[512];
    const {type} *h = (const {type} *)in; int t = threadIdx.x; for (int i = t; i < n; i += 32) s[i] = h[i];
    __syncthreads(); float w = in[99], u[4] = {{w}}, d[4]; {body} o[t] = w; }}"""


def traced(body: str, type: str) -> list[tuple[int, int, str]]:
    """Bytes a lane, accesses of a warp, why it is a range: of the loads."""
    text = "#include <cuda_fp16.h>\n" + filled(body, "k", type)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 300})).traces
    return [
        (t.joined or t.site.width, int(t.weights.sum()), t.reason.code if t.reason else "")
        for t in traces
        if t.site.op == "load" and len(t.offsets) and t.weights.any()
    ]


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize(("body", "widths"), BETWEEN_BRANCHES.values(), ids=BETWEEN_BRANCHES)
def test_narrow_loads_do_not_join_across_a_branch(body: str, widths: dict[int, int], type: str) -> None:
    found: Counter[int] = Counter()
    for width, count, _ in traced(body, type):
        found[width] += count
    assert found == widths


@pytest.mark.parametrize("body", ASKED_IN_FRONT.values(), ids=ASKED_IN_FRONT)
def test_a_condition_that_all_rounds_share_may_be_asked_in_front_of_the_loop(body: str) -> None:
    """Also where the launch tells what it is. nvcc 13.0 has a copy for each arm, with LDS.64."""
    assert [why for _, _, why in traced(body, "short")] == ["joined-or-not"]


@needs_nvcc
def test_nvcc_joins_narrow_loads_between_branches_alone(tmp_path: Path) -> None:
    cases = [(body, widths, type) for body, widths in BETWEEN_BRANCHES.values() for type in TYPES]
    text = "".join(filled(body, f"k{n}", type) for n, (body, _, type) in enumerate(cases))
    found = compiled("#include <cuda_fp16.h>\n" + text, tmp_path)
    for n, (body, widths, _) in enumerate(cases):
        assert {w: c for (op, w), c in found[f"k{n}"].items() if op == "load"} == widths, body
