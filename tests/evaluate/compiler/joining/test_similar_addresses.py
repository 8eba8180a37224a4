"""Neighbours whose address nvcc may compute from an earlier one of the same array: a range.

Read from machine code (nvcc 13.0, sm_90): `apart` means one load for each element, else one for all.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

HEAD = "#include <cuda_fp16.h>\nstruct Pair { float a, b; };\n"


def ends(type_: str, before: str, index: str, count: int = 4, declared: str = "") -> tuple[float, float]:
    """The least and the most wavefronts of the loads of neighbours, after some code."""
    text = f"""{HEAD}__global__ void k({type_} *out, const {type_} *in, int n)
    {{ __shared__ {declared} {type_} s[1024]; int t = threadIdx.x; {before} __syncthreads();
    for (int c = 0; c < {count}; c++) out[t * {count} + c] = s[{index} + c]; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found = [c for c in score_all(trace) if c.site.op == "load" and c.wavefronts]
    return sum(c.wavefronts_low for c in found), sum(c.wavefronts for c in found)


@pytest.mark.parametrize(
    ("type_", "before", "index", "apart"),
    [
        ("half", "s[t] = in[t];", "4 * t", True),
        ("half", "s[t * 3] = in[t];", "4 * t", True),
        ("half", "s[t] = in[5];", "4 * t", True),
        ("half", "s[t + 64] = in[t];", "4 * t + 64", True),
        ("half", "s[t + 1] = in[t];", "4 * t", False),
        ("half", "s[t * 4] = in[t];", "4 * t", False),
        ("half", "s[t] = in[t];", "4 * t + 64", False),
        ("half", "for (int i = t; i < n; i += 32) s[i] = in[i];", "4 * t", False),
        ("float", "s[t] = in[t];", "4 * t", False),
        ("float", "s[t + 64] = in[t];", "4 * t + 64", True),
        ("unsigned short", "s[t] = in[t];", "4 * t", False),
    ],
)
def test_an_address_before_may_keep_neighbours_apart(
    type_: str, before: str, index: str, apart: bool
) -> None:
    low, high = ends(type_, before, index)
    assert (low < high) is apart


def test_an_array_of_declared_alignment_is_joined_before_addresses_are_made() -> None:
    low, high = ends("half", "s[t] = in[t];", "4 * t", declared="__align__(16)")
    assert low == high == 2


def test_pairs_with_no_alignment_of_their_own_are_such_records() -> None:
    # The two members of each record join in any case: LDS.64 twice, or LDS.128.
    assert ends("Pair", "s[t + 1] = in[t];", "2 * t", 2) == (4, 4)
    low, high = ends("Pair", "s[t] = in[t];", "2 * t", 2)
    assert low == 4 < high
