"""Unknown terms of addresses: which move whole requests, which each lane by itself."""

from __future__ import annotations

from itertools import product

import pytest

from smemlint.banks import wavefronts
from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.evaluate.terms import values_text
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.score.model import Conflict
from smemlint.source import source_from_bytes


def scored(index: str) -> Conflict:
    """The one access of a warp; a lane's index is an expression of C that Python reads as well."""
    text = (
        "__global__ void k(int n, int m, int *out) { extern __shared__ int s[]; int t = threadIdx.x;"
        f" out[t] = s[{index}]; }}"
    )
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    (conflict,) = score_all(trace)
    return conflict


def true_cost(index: str, n: int, m: int) -> int:
    offsets = [4 * eval(index, {"t": t, "n": n, "m": m}) for t in range(32)]
    return wavefronts("load", 4, offsets).wavefronts


@pytest.mark.parametrize(
    "index",
    [
        "(t % 8) * n + (t & 24) * m",
        "t * 4 * n + (t & 1) * 8 * m",
        "(t & 3) * 2 * n + (t & 4) * m + n",
        "(t & 1) * n + (t & 2) * 16 * m",
    ],
)
def test_several_run_time_strides_give_a_range_that_holds_the_truth(index: str) -> None:
    conflict = scored(index)
    assert conflict.grade in (Grade.BOUND, Grade.EXACT)
    assert conflict.reason is not None and conflict.reason.code == "several-parameters"
    assert conflict.wavefronts_low is not None and conflict.wavefronts is not None
    costs = {true_cost(index, n, m) for n, m in product(range(1, 34), repeat=2)}
    assert conflict.wavefronts_low <= min(costs) and max(costs) <= conflict.wavefronts


def test_a_stride_beside_data_gives_a_range() -> None:
    conflict = scored("t * n + (out[t] & 3)")
    assert conflict.grade is Grade.BOUND
    assert conflict.wavefronts_low == 1 and conflict.wavefronts == 32


def test_one_run_time_stride_stays_told_by_its_value() -> None:
    assert scored("t * n").grade is Grade.PARAMETRIC


def test_a_number_of_64_bits_reaches_every_bank() -> None:
    for index in ("(n | (long)t) * 8", "(m | (unsigned long)t) * 8", "(n | (unsigned long)t) << 3"):
        conflict = scored(index)
        assert conflict.grade is Grade.BOUND
        assert (conflict.wavefronts_low, conflict.wavefronts) == (1, 32), index


@pytest.mark.parametrize(
    "index",
    [
        "t // n",
        "(m + t) // n",
        "(m + t) // 16 * 3",
        "(m + 2 * t) >> 4",
        "t // n * 8",
        "((m + 8 * t) >> 4) * 2",
        "((m + 8 * t) >> 4) * 4",
        "((m + 8 * t) // 16) * 4",
        "((m + 64 * t) >> n) * 32",
    ],
)
def test_quotients_of_neighbouring_lanes_are_steps_of_one_stair(index: str) -> None:
    conflict = scored(index.replace("//", "/"))
    costs = {true_cost(index, n, m) for n, m in product((*range(1, 18), 31, 32, 33, 64, 79), range(34))}
    assert conflict.wavefronts_low is not None and conflict.wavefronts is not None
    assert conflict.wavefronts_low <= min(costs) and max(costs) <= conflict.wavefronts <= max(costs) + 1


def test_several_values_of_one_variable_are_named_once() -> None:
    assert values_text(["n", "offset", "offset", "offset"]) == "`n` and several values of `offset`"
