"""Requests of one access that never run together."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.evaluate.alternatives import alternatives
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import Conflict, score_all
from smemlint.source import source_from_bytes

FIVE = "for (int i = 0; i < 5; ++i) x += at(i);"


def called(body: str) -> Conflict:
    """What one warp asks for by a lambda that loads."""
    source = (
        "__global__ void k(float *in, float *out, int n, int m) {\n"
        "__shared__ float s[4096]; int t = threadIdx.x;\n"
        f"float x = 0; auto at = [&](int i) {{ return s[t + 5 * i]; }};\n{body}\nout[t] = x; }}"
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return conflict


@pytest.mark.parametrize(
    ("body", "requests"),
    [
        (f"switch (n) {{ case 0: {FIVE} break; case 1: x = at(6) / at(7); break; }}", 5),
        (f"switch (n) {{ case 1: x = at(6) / at(7); break; default: {FIVE} }}", 5),
        (
            "switch (n) { case 0: x += at(0); case 1: x += at(1); case 2: x += at(2) * 3; }",
            3,
        ),  # falls through
        (f"if (n > 3) {{ {FIVE} }} else x = at(6) / at(7);", 5),
        (f"if (n == 1) {{ {FIVE} }} else if (n == 2) x = at(6) / at(7); else if (n == 3) x = at(8);", 5),
        (f"if (n > 3) {{ {FIVE} }} if (n <= 3) x += sqrtf(at(7));", 5),
        (f"if (n > 3) {{ {FIVE} }} if (m > 3) x += sqrtf(at(7));", 6),  # both may hold
        (f"{FIVE} if (n > 3) x += at(7) * at(8); else x += sqrtf(at(9));", 7),  # 5 run on each way
        ("for (int i = 0; i < 4; ++i) if (n == i) x += at(i) * at(i + 9);", 2),
        (f"if (in[t] > 3) {{ {FIVE} }} else x = sqrtf(at(6));", 6),  # lanes of a warp go both ways
    ],
)
def test_of_what_never_runs_together_the_way_that_costs_most_counts(body: str, requests: int) -> None:
    assert called(body).executions == requests


def test_the_way_that_costs_most_need_not_have_the_most_requests() -> None:
    body = "if (n > 3) x = at(0) * at(1) * at(2); else x = at(31 * t);"
    conflict = called(body)
    # 5 * 31 * t + t words: of 156 * t the remainders by 32 are the multiples of 4, four lanes to a bank
    assert (conflict.executions, conflict.wavefronts) == (1, 4)
    assert conflict.wavefronts_low == 1
    assert conflict.grade is Grade.BOUND


def test_conditions_that_hold_others_many_times_over_are_asked_once_each() -> None:
    """Behind each way out of a loop stands that nobody has left before: twice as much for each round."""
    stayed: Hashable = (1, 1)
    for _ in range(200):
        stayed = ("stayed", frozenset({stayed, ("stayed", frozenset({stayed}))}))
    (ways,) = alternatives([frozenset({(1, 1)}), frozenset({(1, 0), stayed})], {})
    assert ways.shape == (2, 2)
    assert not ways.all(axis=1).any()
