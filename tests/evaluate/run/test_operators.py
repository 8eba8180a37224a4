"""Assignments: what runs first, and where they lead."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes


def addresses(body: str) -> list[tuple[str, list[int]]]:
    """Operation and the first four addresses of each request, in elements."""
    text = f"__global__ void k() {{ __shared__ int s[4096]; int k = threadIdx.x * 2; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)), as_written=True)
    return [(t.site.op, [o // 4 for o in t.offsets[0][:4].tolist()]) for t in trace.traces]


@pytest.mark.parametrize("op", ["=", "+="])
def test_the_right_side_runs_first(op: str) -> None:
    """nvcc loads `s[k + 64]` of `s[k ^= 1] += s[k + 64]` before it makes the new k."""
    found = addresses(f"s[k ^= 1] {op} s[k + 64];")
    own = [("load", [1, 3, 5, 7])] if op == "+=" else []
    assert sorted(found) == [*own, ("load", [64, 66, 68, 70]), ("store", [1, 3, 5, 7])]


def test_a_number_that_the_right_side_counts_up_is_the_new_one_on_the_left() -> None:
    assert addresses("s[k] = k++;") == [("store", [1, 3, 5, 7])]


def test_the_place_of_an_assignment_is_found_once() -> None:
    assert addresses("(s[k++] = 1) ^= 2; s[k] = 0;")[-1] == ("store", [1, 3, 5, 7])
