"""A store, and one to the same place under a condition right behind it: one or two.

Read from machine code (nvcc 13.0, sm_90).
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

CONDITIONS = ("t < n", "t < 7", "n > 3", "t < 7 && n > 3")


def traced(code: str) -> KernelTrace:
    text = f"""__global__ void k(float *out, const float *in, const int *q, float w, int n)
    {{ __shared__ float s[512]; int t = threadIdx.x; float *p = s + 2 * t;
    {code} __syncthreads(); out[t] = s[t ^ 1]; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
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
