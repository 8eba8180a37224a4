"""What lanes do on their way out of a loop stands behind it: they come there from different rounds together.

In machine code of nvcc 13.0 for sm_90, -O3, that is one access behind a BSYNC. An H100 counted 94 requests of
94 warps, and 31.8 ways, for `atomicAdd(s + j, 1)` in such a place: its lanes update one word each in turn.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

LOOP = "for (int j = 0; j < 13; j++)"


def told(statement: str) -> tuple[float | None, float | None, int]:
    """Least and most ways of the last access of a warp, and how often it runs."""
    source = f"""__global__ void k(const int *in, int *o, int n) {{
        __shared__ int s[32 * 33];
        int t = threadIdx.x, x = in[t];
        s[t] = x;
        __syncthreads();
        {statement}
    }}"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    last = max(score_all(evaluate(module, kernel, Launch((32, 1, 1)))), key=lambda c: c.site.place.offset)
    return last.ways_low, last.ways, last.executions


@pytest.mark.parametrize("leave", ["break;", "return;"])
@pytest.mark.parametrize(
    "arms",
    ["if (x <= j * j) {{ {} {} }}", "if (x > j * j) x--; else {{ {} {} }}", "if (n) if (x <= j) {{ {} {} }}"],
)
def test_lanes_of_different_rounds_may_conflict(arms: str, leave: str) -> None:
    assert told(f"{LOOP} {arms.format('o[t] = s[32 * j];', leave)}") == (1, 13, 1)


def test_they_may_conflict_in_what_a_function_gives_back() -> None:
    search = f"auto find = [&]() {{ {LOOP} if (x <= j * j) return s[32 * j]; return 0; }}; o[t] = find();"
    assert told(search) == (1, 13, 1)


def test_they_may_update_one_word_in_turn() -> None:
    assert told(f"{LOOP} if (x <= j * j) {{ o[atomicAdd(s + j, 1)] = t; break; }}") == (1, 32, 1)


def test_where_no_two_of_them_conflict_it_is_said() -> None:
    assert told(f"{LOOP} if (x <= j * j) {{ o[t] = s[j]; break; }}") == (1, 1, 1)


def test_a_condition_that_is_the_same_for_all_lanes_parts_none() -> None:
    low, high, _ = told(f"{LOOP} if (n <= j * j) {{ o[t] = s[32 * j + t]; break; }}")
    assert (low, high) == (1, 1)


def test_what_stays_in_the_loop_runs_in_each_round() -> None:
    _, _, executions = told(f"{LOOP} if (x <= j * j) {{ o[t] = 1; break; }} else o[j] = s[32 * j];")
    assert executions == 13
