"""From source to instructions: which of a kernel's accesses run joined, or not at all."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

PROLOGUE = (
    "__shared__ float s[4096]; __shared__ float q[4096]; int t = threadIdx.x;"
    "q[t] = in[t]; s[t] = in[t + 1]; __syncthreads(); float x = 0;"
)
EPILOGUE = "; __syncthreads(); out[t] = x + s[t] + q[t]; "
WARPS = 2


def instructions(body: str, *, block: tuple[int, int, int] = (64, 1, 1), n: int = 16) -> dict[str, int]:
    """'load 16' -> warp instructions of `body` on s and q a warp, where s and q are read around it."""
    source = (
        "__global__ void k(float *in, float *out, int n) {\n" + PROLOGUE + "\n" + body + "\n" + EPILOGUE + "}"
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch(block, arguments={"n": n}))
    warps = block[0] * block[1] * block[2] // 32
    found: dict[str, int] = {}
    for t in trace.traces:
        if t.site.place.line == 3 and len(t.offsets):
            key = f"{t.site.op} {t.joined or t.site.width}"
            found[key] = found.get(key, 0) + int(t.weights.sum()) // warps
    return found


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


def test_an_access_stays_in_the_report_although_it_never_runs() -> None:
    assert instructions("x = s[t]; x += s[t];") == {"load 4": 2}


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
