"""A store, and one to the same place under a condition right behind it: one or two.

Read from machine code (nvcc 13.0, sm_90).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from instructions import compiled, needs_nvcc

from smemlint.evaluate import KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

CONDITIONS = ("t < n", "t < 7", "n > 3", "t < 7 && n > 3")


ROUNDS = "for (int k = 0; k < n; k++) {{ {} __syncthreads(); w += s[t ^ 1]; __syncthreads(); }}"
ONE_IN_A_LOOP = (
    ROUNDS.format("s[2 * t] = 0; if (t < 7) s[2 * t] = in[t + k];"),
    ROUNDS.format("*p = 0; if (t < 7) *p = in[t + k];"),
    "int x = t & 7, y = t >> 3;"
    + ROUNDS.format("s[y * 34 + 2 * x] = 0; if (x < 3) s[y * 34 + 2 * x] = in[t + k];"),
)
TWO_IN_A_LOOP = (
    ROUNDS.format("int i = 2 * t + 32 * k; s[i] = 0; if (t < 7) s[i] = in[t + k];"),
    ROUNDS.format("s[2 * t + (k & 3) * 64] = 0; if (t < 7) s[2 * t + (k & 3) * 64] = in[t + k];"),
    ROUNDS.format("*p = 0; if (t < 7) *p = in[t + k]; p += 64;"),
    ROUNDS.format("if (k < 7) {{ s[2 * t] = 0; if (t < 7) s[2 * t] = in[t + k]; }}"),
)
PERHAPS_IN_A_LOOP = (
    ROUNDS.format("int i = 2 * t + 32 * k; s[i] = 0; if (t < 7) s[i] = w;"),
    "for (int k = 0; k < n; k++) { s[2 * t] = 0; if (t < 7) s[2 * t] = in[t + k]; w += s[t ^ 1]; }",
    "for (int k = 0; k < 4; k++) { s[2 * t] = 0; if (t < 7) s[2 * t] = in[t + k]; __syncthreads(); }",
)


def source(code: str, name: str = "k") -> str:
    return f"""extern "C" __global__ void {name}(float *out, const float *in, const int *q, float w, int n)
    {{ __shared__ float s[512]; int t = threadIdx.x; float *p = s + 2 * t;
    {code} __syncthreads(); out[t] = w + s[t ^ 1]; }}"""


def traced(code: str) -> KernelTrace:
    (module,) = load(source_from_bytes("k.cu", source(code).encode()))
    return evaluate(module, module.kernels()[0], Launch((32, 1, 1)))


def requests(code: str, op: str = "store") -> int:
    """The shared stores, or loads, in the code of a warp."""
    return sum(int(t.weights.sum()) for t in traced(code).traces if t.site.op == op and len(t.offsets))


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize(
    "arm",
    [
        "s[t] = in[t];",
        "s[t] = w * 2;",
        "{ float q = in[t]; s[t] = q * q; }",
        "{ s[t] = in[t]; out[t + 9] = 3; }",
        "if (w > 3) s[t] = in[t];",
    ],
)
def test_one_store_of_what_was_chosen(condition: str, arm: str) -> None:
    code = f"s[t] = 0; if ({condition}) {arm}"
    assert requests(code) == 1
    (store,) = [t for t in traced(code).traces if t.site.op == "store" and len(t.offsets)]
    assert int((store.offsets >= 0).sum()) == 32


def test_a_pointer_leads_to_the_same_place() -> None:
    assert requests("*p = 0; if (t < 7) *p = w;") == 1


def test_what_is_added_to_is_at_hand() -> None:
    code = "s[t] = 0; if (t < 7) s[t] += w;"
    assert (requests(code), requests(code, "load")) == (1, 1)  # the load behind the barrier


@pytest.mark.parametrize(
    ("code", "stores"),
    [
        ("s[t] = 0; if (t < 7) { s[t] = w; s[t + 64] = 3; }", 3),
        ("s[t] = 0; s[t + 64] = 1; if (t < 7) s[t] = in[t];", 3),
        ("s[t] = 0; w = in[t + 99]; if (t < 7) s[t] = w;", 2),
        ("s[t] = 0; out[t + 33] = w; if (t < 7) s[t] = w;", 2),
        ("s[t] = 0; if (q[t] > 3) s[t] = in[t];", 2),
        ("s[t] = 0; if (t < 7) s[t] = sinf(w);", 2),
        ("s[t] = 0; if (t < 7) s[t] = in[t]; else s[t + 64] = 1;", 3),
        ("s[t] = 0; __syncthreads(); if (t < 7) s[t] = in[t];", 2),
    ],
)
def test_what_stands_between_leaves_both(code: str, stores: int) -> None:
    assert requests(code) == stores


def test_where_it_is_not_clear_the_first_may_run_or_not() -> None:
    first = next(
        t for t in traced("s[2 * t] = 0; if (q[t] > 3) s[2 * t] = 2;").traces if t.site.op == "store"
    )
    assert first.reason is not None
    assert first.reason.code == "joined-or-not"


def in_doubt(code: str) -> list[bool]:
    """Of each of the stores that run, whether it is told as one or two."""
    stores = [t for t in traced(code).traces if t.site.op == "store" and t.weights.any()]
    return [t.reason is not None and t.reason.code == "joined-or-not" for t in stores]


@pytest.mark.parametrize("code", ONE_IN_A_LOOP)
def test_in_a_loop_it_is_one_of_a_place_that_no_round_changes(code: str) -> None:
    assert in_doubt(code) == [False]


@pytest.mark.parametrize("code", TWO_IN_A_LOOP + PERHAPS_IN_A_LOOP)
def test_in_other_loops_it_may_be_one_or_two(code: str) -> None:
    assert in_doubt(code) == [True, True]


@needs_nvcc
def test_nvcc_does_so_in_loops(tmp_path: Path) -> None:
    bodies = [code.replace("for (", '_Pragma("unroll 1") for (') for code in ONE_IN_A_LOOP + TWO_IN_A_LOOP]
    found = compiled("".join(source(code, f"k{n}") for n, code in enumerate(bodies)), tmp_path)
    assert [found[f"k{n}"]["store", 4] for n in range(len(bodies))] == [1, 1, 1, 2, 2, 2, 2]
