"""From source to instructions: which of a kernel's accesses run joined, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from instructions import EPILOGUE, PROLOGUE, instructions

from smemlint.evaluate import evaluate, kernel
from smemlint.evaluate.machine.machine import Machine
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

FOUR = "x += s[{0}] * s[{0} + 1] - s[{0} + 2] / s[{0} + 3];"


@pytest.mark.parametrize(
    ("address", "width"),
    [
        ("4 * t", 16),
        ("4 * t + 4 * n", 16),
        ("threadIdx.y * blockDim.x * 4 + 4 * t", 16),
        ("4 * t + n", 4),
        ("4 * t + blockDim.x", 4),
        ("threadIdx.y * blockDim.x + 4 * t", 4),
        ("threadIdx.y * 33 + 4 * t", 4),
        ("2 * t", 8),
    ],
)
def test_numbers_of_the_launch_prove_nothing(address: str, width: int) -> None:
    assert instructions(FOUR.format(address)) == {f"load {width}": 16 // width}


def test_a_volatile_pointer_keeps_accesses_apart() -> None:
    assert instructions("volatile float *v = s; x = v[4 * t] * v[4 * t + 1];") == {"load 4": 2}
    assert instructions("float *v = s; x = v[4 * t] * v[4 * t + 1];") == {"load 8": 1}


def test_a_value_that_is_held_is_not_loaded_again() -> None:
    again = "for (int i = 0; i < 4; ++i) { x += s[t] * in[i]; q[t] = x; }"
    assert instructions(again) == {"load 4": 1, "store 4": 1}
    assert instructions(again.replace("q[t]", "s[t + n]")) == {"load 4": 4, "store 4": 4}
    assert instructions("volatile float *v = s;" + again.replace("s[t]", "v[t]"))["load 4"] == 4


def test_what_is_at_hand_is_not_loaded_again() -> None:
    assert instructions("x = s[t]; x += s[t];") == {"load 4": 1}
    assert instructions("x = s[2 * t] * s[2 * t] + s[2 * t + 1] * s[2 * t + 1];") == {"load 8": 1}
    assert instructions("x = s[t]; __syncthreads(); x += s[t];") == {"load 4": 2}


def test_a_part_of_what_is_at_hand_is_not_loaded_again() -> None:
    whole = "float2 *v = (float2 *)s; float2 y = v[t]; "
    assert instructions(whole + "x = y.x + y.y + s[2 * t + 1];") == {"load 8": 1}
    assert instructions(whole + "__syncthreads(); x = y.x + y.y + s[2 * t + 1];") == {
        "load 4": 1,
        "load 8": 1,
    }
    assert instructions("float2 *v = (float2 *)s; v[t] = make_float2(n, 1); x = s[2 * t];") == {"store 8": 1}


def test_an_access_that_never_runs_is_listed_without_requests() -> None:
    source = (
        "__global__ void k(float *out) { __shared__ float s[512]; int t = threadIdx.x;\n"
        "out[t] = s[2 * t]\n * s[2 * t]; }"
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    costs = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert [(c.site.place.line, c.ways, c.wavefronts) for c in costs] == [(2, 2, 2), (3, None, 0)]


@pytest.mark.parametrize(
    "either",
    [
        "if (n & 1) x += s[2 * t]; if (n > 2) x += s[2 * t + 1];",
        "if (n & 1) x += s[2 * t]; else in[t] = 4; if (n > 2 && n < 100) x += s[2 * t + 1];",
        "switch (n) { case 17: x += s[2 * t]; in[t] = 4; case 15: x += s[2 * t + 1]; }",
    ],
)
def test_conditions_that_only_the_launch_decides_keep_loads_apart(either: str) -> None:
    assert instructions(either, n=17) == {"load 4": 2}


def test_conditions_that_the_compiler_decides_keep_no_loads_apart() -> None:
    text = "const int k = 17; if (k & 1) x += s[2 * t]; if (k > 2) x += s[2 * t + 1];"
    assert instructions(text) == {"load 8": 1}


@pytest.mark.parametrize(
    ("other", "pitch", "width"),
    [("q", 4, 16), ("q", 5, 4), ("s + 2048", 4, 16), ("q + 1", 4, 4), ("s + 2048", 5, 4)],
)
def test_swapped_buffers_join_as_far_as_both_allow(other: str, pitch: int, width: int) -> None:
    # read from machine code: one register holds the address, whichever buffer it is
    swap = (
        f"float *a = s, *b = {other}; int p = 4, r = {pitch};"
        "\n#pragma unroll 1\n"
        "for (int k = 0; k < n; ++k) {"
        " x += a[t * p] + a[t * p + 1] + a[t * p + 2] + a[t * p + 3]; b[t] = x;"
        " __syncthreads(); float *c = a; a = b; b = c; int y = p; p = r; r = y; }"
    )
    assert instructions(swap, line=5)[f"load {width}"] == 16 * 4 * 4 // width


def test_a_sum_in_shared_memory_is_kept_in_a_register_over_a_loop() -> None:
    assert instructions("for (int i = 0; i < n; ++i) s[t] += in[i];") == {"load 4": 1, "store 4": 1}
    assert instructions("for (int i = 0; i < n; ++i) { s[t] += in[i]; __syncthreads(); }") == {
        "load 4": 16,
        "store 4": 16,
    }


def test_loops_that_only_the_launch_ends_join_in_what_the_compiler_unrolls() -> None:
    assert instructions("for (int k = 0; k < n; ++k) x += s[k] * q[32 * k + t];") == {
        "load 16": 4,
        "load 4": 16,
    }


def test_a_small_branch_does_not_end_a_straight_line() -> None:
    assert instructions("x = s[4 * t]; if (t > 5) out[t] = x; x += s[4 * t + 1];") == {"load 8": 1}
    assert instructions("x = s[4 * t]; for (int i = 0; i < n; ++i) out[i] = x; x += s[4 * t + 1];") == {
        "load 4": 2
    }


@pytest.mark.parametrize(
    ("body", "width"),
    [
        ("s[2 * t] = t < n ? in[t] : 0; s[2 * t + 1] = t + 1 < n ? in[t + 1] : 0;", 4),
        ("s[2 * t] = 1; if (t < n) out[t] = 3; s[2 * t + 1] = 2;", 4),
        ("s[2 * t] = in[t]; s[2 * t + 1] = in[t + 1];", 8),
        ("int v = t < n ? in[t] : 0; s[2 * t] = v; s[2 * t + 1] = t < n ? 3 : 4;", 8),
    ],
)
def test_stores_do_not_join_across_a_branch_that_reaches_memory(body: str, width: int) -> None:
    found = instructions(f"int t = threadIdx.x; {body} __syncthreads(); out[t] = s[t];")
    assert {op for op in found if op.startswith("store")} == {f"store {width}"}


def test_loop_variables_that_differ_have_no_known_distance() -> None:
    body = "for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) s[64 * i + t] -= s[64 * j + t];"
    assert instructions(body)["store 4"] == 120


TREE = """
for (int d = 32; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) { int a = offset * (2 * t + 1) - 1; int b = offset * (2 * t + 2) - 1; s[b] += s[a]; }
    offset *= 2;
}"""


def tree(body: str) -> dict[str, int]:
    """Instructions of a block of one warp pair on s, whatever the line."""
    source = "__global__ void k(float *in, float *out, int n) {\n" + PROLOGUE + body + EPILOGUE + "}"
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((64, 1, 1), arguments={"n": 16}))
    found: dict[str, int] = {}
    for t in trace.traces:
        if len(t.offsets) and trace.arrays[t.site.array].name == "s":
            key = f"{t.site.op} {t.joined or t.site.width}"
            found[key] = found.get(key, 0) + int(t.weights.sum())
    return found


def test_the_step_of_a_tree_that_reaches_neighbours_joins_by_itself() -> None:
    """Read from machine code: of six unrolled steps the first loads both words at once."""
    assert tree("int offset = 1;" + TREE)["load 8"] == 1


def test_a_loop_that_stays_a_loop_joins_no_single_step() -> None:
    """With an end that only the launch tells, no step is known to be the first."""
    assert "load 8" not in tree("int offset = 1;" + TREE.replace("d = 32", "d = blockDim.x / 2"))


def test_a_loop_within_a_loop_that_disappears_may_start_from_its_counter() -> None:
    body = """
    for (unsigned int size = 2; size <= 128; size <<= 1)
        for (unsigned int stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned int p = 2 * t - (t & (stride - 1));
            float a = s[p]; float b = s[p + stride];
            s[p] = a < b ? a : b; s[p + stride] = a < b ? b : a;
        }"""
    assert tree(body)["store 8"] == 14  # seven steps with stride 1, two warps


def test_a_mask_proves_no_alignment() -> None:
    assert instructions("if ((t ^ 1) > t) x = s[t] * s[t ^ 1];") == {"load 4": 2}


def test_bent_addresses_that_were_made_apart_have_no_known_distance() -> None:
    """A value just loaded is loaded again when a store between may have hit it."""
    swap = "int a = 2 * t, b = 2 * t + 1; {0} float u = s[a], v = s[b]; s[a] = v; s[b] = s[b] + u;"
    bent = "a += a >> 5; b += b >> 5;"
    plain = tree(swap.format(""))
    assert plain.get("load 8", 0) == 2
    assert sum(n for key, n in tree(swap.format(bent)).items() if key.startswith("load")) > 4


@pytest.mark.parametrize(
    ("address", "widths"), [("272 - 16 * t", {"load 8": 1}), ("17 * (16 - t) + t", {"load 4": 2})]
)
def test_a_sum_is_as_aligned_as_its_worst_term(address: str, widths: dict[str, int]) -> None:
    """The same addresses, which only the first text shows to be multiples of 64 bytes."""
    assert instructions(f"x += s[{address}] * s[{address} + 1];", block=(32, 1, 1)) == widths


@pytest.mark.parametrize(
    ("loop", "wide"),
    [
        ("for (int i = 0; i < n; ++i) x += s[32 * t + i]", True),
        ("for (int i = 1; i < n; i *= 2) x += s[32 * t + 16 * i] * s[32 * t + 16 * i + 1]", True),
        ("for (int i = 1; i < n; i *= 2) x += s[32 * t + i] * s[32 * t + i + 1]", False),
        ("for (int i = n; i > 0; i >>= 1) x += s[32 * t + i] * s[32 * t + i + 1]", False),
        ("int i = 1; while (i < n) { x += s[32 * t + i] * s[32 * t + i + 1]; i <<= 1; }", False),
        ("for (int i = 0; i < n; i++) { x += s[32 * t + i]; if (x > in[i]) break; }", False),
        ("for (int i = 0, d = 1; i < n; i += d) { x += s[32 * t + i]; d = 3 * d; }", False),
    ],
)
def test_iterations_that_cannot_be_counted_before_stand_in_no_straight_line(loop: str, wide: bool) -> None:
    assert any(key != "load 4" for key in instructions(f"{loop};")) == wide


@pytest.mark.parametrize(
    ("branch", "then", "loads"),
    [
        ("float v = s[t]; s[t] = 2 * v;", "x += s[t];", 2),
        ("s[t] += 5;", "x += s[t];", 2),
        ("float v = s[t]; s[t] = s[t + 256]; s[t + 256] = v;", "x += s[t]; x /= s[t + 256];", 4),
        ("float v = s[t]; s[t] = 2 * v;", "x += q[t + 1]; x *= s[t];", 3),
        ("s[t] = s[t + 256] + s[t];", "x += s[t];", 5),
        ("float v = s[t]; s[t] = 2 * v;", "__syncthreads(); x += s[t];", 3),
        ("float v = s[t]; s[t + n] = 2 * v;", "x += s[t];", 3),
        ("float v = s[t]; s[t] = 2 * v;", "s[t ^ 1] = 3; x += s[t];", 3),
    ],
)
def test_a_load_that_begins_a_branch_and_follows_it_runs_once_before_it(
    branch: str, then: str, loads: int
) -> None:
    body = f"for (int d = 2; d > 0; d /= 2) {{ __syncthreads(); if (t < 40 + d) {{ {branch} }} }} {then}"
    assert instructions(body)["load 4"] == loads


DECLARED = "__shared__ __align__(16) float a[4096]; a[t] = in[t]; __syncthreads(); "


@pytest.mark.parametrize(
    ("between", "loads", "declared_loads", "stores", "declared_stores"),
    [
        ("v = v * v + __expf(v);", 8, 8, 8, 8),
        ("v = v / 4.f;", 8, 8, 8, 8),
        ("v += __shfl_xor_sync(~0u, v, 1) + __ballot_sync(~0u, v > 3);", 8, 8, 8, 8),
        ("v = v / w;", 4, 8, 4, 8),
        ("v = v / 3.f;", 4, 8, 4, 8),
        ("v = sqrtf(v);", 4, 8, 4, 8),
        ("v = sqrt(v);", 4, 8, 4, 8),
        ("v += (long long)w / n;", 4, 8, 4, 8),
        ("v = logf(v);", 8, 8, 4, 4),
        ("v = powf(v, w);", 8, 8, 4, 4),
        ("v = exp((double)v);", 8, 8, 4, 4),
        ("v += __fdividef(v, w);", 8, 8, 4, 8),
        ("v = sinf(v);", 4, 4, 4, 4),
        ("v = fmodf(v, w);", 4, 4, 4, 4),
        ("__nanosleep(5);", 4, 4, 4, 4),
    ],
)
def test_slow_arithmetic_keeps_accesses_apart_as_in_the_machine_code(
    between: str, loads: int, declared_loads: int, stores: int, declared_stores: int
) -> None:
    for array, head, read_by, written_by in (
        ("s", "", loads, stores),
        ("a", DECLARED, declared_loads, declared_stores),
    ):
        values = "float w = in[t + 9], v = in[t + 8];"
        read = f"v *= {array}[4 * t]; {between} x = v + {array}[4 * t + 1];"
        first = instructions(head + values + "x = w + v;").get("load 4", 0)
        found = instructions(head + values + read)
        found["load 4"] = found.get("load 4", 0) - first
        assert {k: n for k, n in found.items() if k.startswith("load") and n} == {
            f"load {read_by}": 8 // read_by
        }
        write = f"{array}[4 * t] = w; {between} {array}[4 * t + 1] = v; __syncthreads(); x = {array}[t];"
        found = instructions(head + values + write)
        others = written_by == 4 and array == "a"
        assert found.get(f"store {written_by}", 0) - others == 8 // written_by


@pytest.mark.parametrize(
    ("address", "width"),
    [
        ("8 * t + (t >> 5)", 4),
        ("8 * t + (t >> 5) * 4", 16),
        ("4 * t + (t >> 5) * 2", 8),
        ("(4 * t) ^ (t >> 3)", 4),
        ("(4 * t) ^ (t >> 3 << 2)", 16),
        ("__brev(t) >> 20", 4),
        ("4 * (t + (t >> 5))", 16),
        ("4 * t + blockDim.x / 32", 4),
        ("(t & 7) * 4 + (t >> 3) * 36", 16),
    ],
)
def test_a_block_of_one_warp_proves_nothing(address: str, width: int) -> None:
    body = f"int i = {address};" + FOUR.format("i")
    assert instructions(body, block=(32, 1, 1)) == {f"load {width}": 16 // width}


@pytest.mark.parametrize(
    ("loop", "width"),
    [
        ("for (int k = threadIdx.y * 8; k < threadIdx.y * 8 + 8; k++) x += s[32 * t + k];", 16),
        ("for (int k = 8 * n; k < 8 * n + 8; k++) x += s[32 * t + k];", 16),
        ("for (int k = 8 * n; k < 8 * n + 8; k++) { x += s[32 * t + k]; k += n - 16; }", 4),
        ("for (unsigned k = 8 * n; k < 8 * n + 8u; k++) x += s[32 * t + k];", 8),
        ("const float *p = &s[32 * t], *end = p + 8; while (p != end) x += *p++;", 16),
        ("int k = 0; while (k < 8) { x += s[32 * t + k]; k++; }", 16),
        ("int k = 0; do { x += s[32 * t + k]; k++; } while (k < 8);", 16),
    ],
)
def test_a_loop_runs_as_often_as_its_ends_are_apart(loop: str, width: int) -> None:
    assert instructions(loop) == {f"load {width}": 32 // width}


def test_what_follows_a_continue_is_an_arm_of_its_own() -> None:
    head = "for (int k = 0; k < 8; k++) { "
    assert instructions(head + "if (k > 2 * t) continue; x += s[8 * t + k]; }") == {"load 4": 8}
    assert instructions(head + "if (in[k] > 3) { x *= 2; continue; } x += s[8 * t + k]; }") == {"load 4": 8}
    assert instructions(head + "if (k > 9) continue; x += s[8 * t + k]; }") == {"load 16": 2}


def test_accesses_under_a_predicate_of_assembly_and_its_contrary_stay_apart() -> None:
    text = (
        "unsigned at = (unsigned)__cvta_generic_to_shared(&s[2 * t]);"
        'asm volatile("{ .reg .pred p; setp.lt.s32 p, %2, 32; @p st.shared.f32 [%0], %1;"'
        ' "@!p st.shared.f32 [%0+4], %1; }" :: "r"(at), "f"(x), "r"(t));'
    )
    assert instructions(text) == {"store 4": 1}


EIGHT_HALVES = """#include <cuda_fp16.h>
extern __shared__ unsigned char bytes[];
__global__ void k(const half *in, const float *wide, half *out, int n) {
  half *s = (half *)(bytes + (%s)) + threadIdx.x * 32;
  half a[8];
  for (int i = 0; i < 8; ++i) a[i] = in[threadIdx.x * 9 + i];
  for (int i = 0; i < 8; ++i) { s[i] = %s; }
  __syncthreads();
  out[threadIdx.x] = s[7 - threadIdx.x %% 8];
}
"""


def joined_stores(start: str, value: str) -> list[int | None]:
    """Bytes of each store instruction that runs. Read off the machine code of nvcc 13.0 for sm_90."""
    (module,) = load(source_from_bytes("k.cu", (EIGHT_HALVES % (start, value)).encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((32, 1, 1)))
    return [t.joined or t.site.width for t in trace.traces if t.site.op == "store" for w in t.weights if w]


@pytest.mark.parametrize(
    ("value", "bytes_a_lane"),
    [
        ("a[i]", 16),
        ("__ushort_as_half(i)", 16),
        ("__float2half(wide[i])", 8),
        ("(half)wide[i]", 8),
        ("__hadd(a[i], a[i ^ 1])", 8),
        ("a[i] * a[0]", 8),
        ("i < 4 ? a[i] : __hneg(a[i])", 8),
    ],
)
def test_halves_that_are_computed_join_by_four(value: str, bytes_a_lane: int) -> None:
    assert joined_stores("0", value) == [bytes_a_lane] * (16 // bytes_a_lane)


@pytest.mark.parametrize("start", ["n & ~15", "(n + 15) & ~15", "(n * 4 + 15) & ~15", "(n + 15) / 16 * 16"])
def test_a_size_rounded_up_is_aligned(start: str) -> None:
    assert joined_stores(start, "a[i]") == [16]


def test_a_size_rounded_up_to_less_is_aligned_to_less() -> None:
    assert joined_stores("(n + 7) & ~7", "a[i]") == [8, 8]


def test_scalars_join_with_the_one_below_in_whatever_lanes() -> None:
    """LDS.64 of both in nvcc 13's machine code, in each case, which is one wavefront for one address."""
    cases = "".join(f"case {u}: o[{u}] = high * (s[x + {u}] - s[x + 3]) + low; break;\n" for u in range(3))
    source = f"""__global__ void k(float *o, const float *in) {{
        int x = threadIdx.x * 6;
        __shared__ float low, high;
        extern __shared__ float s[];
        s[x + threadIdx.y] = in[x];
        low = in[blockIdx.x]; high = in[blockIdx.y];
        __syncthreads();
        switch (threadIdx.y) {{ {cases} }}
    }}"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((6, 6, 1), dynamic=144))
    loads = [(t, s) for t, s in zip(trace.traces, score_all(trace), strict=True) if t.site.op == "load"]
    assert all(s.reason is None for _, s in loads)
    assert [t.joined for t, _ in loads if t.site.array.startswith("high")] == [8, 8, 8]


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        ("s[2 * t] = 1; if (t >= n) return; s[2 * t + 1] = 2;", {"store 4": 2}),
        ("for (int j = 0; j < 2; j++) { s[2 * t + j] = 1; if (t % 32 == 0) return; }", {"store 4": 2}),
        ("x += s[2 * t]; if (t >= n) return; x += s[2 * t + 1];", {"load 8": 1}),
    ],
)
def test_a_store_never_joins_one_that_fewer_lanes_run(body: str, runs: dict[str, int]) -> None:
    """The machine code of nvcc 13 for sm_90: two STS around the exit, one LDS.64 before it."""
    assert instructions(body, block=(32, 1, 1)) == runs


def test_an_array_is_volatile_only_where_a_function_goes_to_it_so() -> None:
    """LDS.128 and STS.128 in every round, LDS.64 and STS.64 in the callee (nvcc 13.0, sm_90)."""
    text = """
__device__ void last(volatile double2 *s, int t) {
    if (t < 16) { s[t].x += s[t + 16].x; s[t].y += s[t + 16].y; }
}
__global__ void k(double2 *q) {
    __shared__ double2 s[128];
    int t = threadIdx.x;
    for (int j = 0; j < 3; j++) {
        s[t] = q[t + j];
        __syncthreads();
        if (t < 64) {
            s[t].x += s[t + 64].x;
            s[t].y += s[t + 64].y;
        }
        __syncthreads();
        if (t < 32) last(s, t);
        __syncthreads();
        q[t] = s[0];
        __syncthreads();
    }
}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    kernel = next(f for f in module.kernels() if f.name == "k")
    found: dict[int, set[int | None]] = {}
    for trace in evaluate(module, kernel, Launch((128, 1, 1))).traces:
        found.setdefault(trace.site.place.line, set()).add(trace.joined)
    assert found[12] == found[13] == {16} and found[3] == {None}


@pytest.mark.parametrize(
    ("body", "times"),
    [
        ("x = s[4 * t] * s[4 * t + 1];", 0),
        ("x = s[4 * t] * s[4 * t + 1] * s[in[t]];", 0),
        ("for (int i = 0; i < n; i += 2) x += s[i] * s[i + 1];", 0),
        ("int2 v = {in[t], n}; if (t == 0) p[0] = v;", 0),
        ("s[in[t]] = 1; x = s[4 * t] * s[4 * t + 1];", 1),
        ("x = s[in[t]]; s[4 * t] = 1; s[4 * t + 1] = x;", 1),
    ],
)
def test_a_kernel_runs_under_other_numbers_only_where_they_may_keep_accesses_apart(
    body: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    real = kernel._elsewhere

    def other(*given: Any) -> Iterator[Machine]:
        for m in real(*given):
            made.append(m)
            yield m

    monkeypatch.setattr(kernel, "_elsewhere", other)
    source = (
        "__global__ void k(float *out, const int *in, int n) {\n"
        "__shared__ float s[512]; __shared__ int2 p[8];\n"
        f"int t = threadIdx.x + blockDim.x - n; float x = 0; {body} out[t] = x; }}"
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 32}))
    assert len(made) == times


@pytest.mark.parametrize(
    ("moved", "joined"),
    [
        ("for (int j = 0; j < 16; ++j) x += *p++;", {"load 16": 4}),
        ("for (int j = 0; j < 16; ++j) { x += p[0]; p += 1; }", {"load 16": 4}),
        ("for (int j = 0; j < 8; ++j) { x += p[0] * p[1]; p += 2; }", {"load 16": 4}),
        ("if (t < 7) p += 1; for (int j = 0; j < 16; ++j) x += *p++;", {"load 4": 16}),
    ],
)
def test_a_pointer_that_some_lanes_move_joins_as_their_number_would(
    moved: str, joined: dict[str, int]
) -> None:
    """What the other lanes hold is nothing to them. As nvcc's machine code has it."""
    assert instructions(f"float *p = s + 16 * t; if (t % 32 < 20) {{ {moved} }}") == joined


@pytest.mark.parametrize(
    ("pool", "stored"),
    # nvcc 13.0: LDS.64 on the line of the first load; STS.64 of the optimiser on that of count[high]
    [
        ("__shared__ long long pool[32]; int *count = (int *)pool;", 10),
        ("__shared__ int count[64];", 11),
    ],
)
def test_the_line_of_counts_that_are_summed_in_pairs(pool: str, stored: int) -> None:
    text = f"""__global__ void k(int *out) {{
        {pool}
        const int t = threadIdx.x;
        count[t] = out[t]; count[t + 32] = out[t + 32];
        __syncthreads();
        const int low = t * 2, high = low + 1;
        const int c = count[high];
        int sum = count[low] + c; int before = __shfl_up_sync(~0, sum, 1);
        if (t >= 1) sum += before;
        count[high] = sum;
        count[low] = sum - c;
        __syncthreads();
        out[t] = count[63 - t];
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found = [
        (c.site.place.line, c.site.op)
        for c in score_all(trace)
        if 6 < c.site.place.line < 12 and c.wavefronts
    ]
    assert sorted(found) == [(7, "load"), (stored, "store")]
