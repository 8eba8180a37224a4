"""Guards that only the first block of a grid of unknown extent gets past."""

from __future__ import annotations

from collections import Counter

import pytest

from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import Conflict, score_all
from smemlint.source import source_from_bytes


def costs(body: str, block: tuple[int, int, int] = (25, 5, 1)) -> list[Conflict]:
    """The costs of a kernel's accesses; j is the thread's place along x, in the grid, and t in its block."""
    text = (
        "__global__ void k(float *g, int n) {\n"
        "  __shared__ float s[4096]; int t = threadIdx.x;\n"
        "  int j = blockIdx.x * blockDim.x + t + 1;\n"
        f"  {body}\n}}"
    )
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    return list(score_all(evaluate(module, module.kernels()[0], Launch(block))))


def wavefronts(block: tuple[int, int], bound: int) -> int:
    """Of `s[32 * y + x]` in the lanes whose x is below a bound: lanes on one bank wait in turn."""
    total, threads = 0, [(x, y) for y in range(block[1]) for x in range(block[0])]
    for first in range(0, len(threads), 32):
        words = {32 * y + x for x, y in threads[first : first + 32] if x < bound}
        total += max(Counter(word % 32 for word in words).values(), default=0)
    return total


def test_lanes_of_the_first_block_are_counted_where_no_other_block_gets() -> None:
    (store,) = costs("if (j > 22) return;\n s[threadIdx.y * 32 + t] = g[j];")
    assert (store.wavefronts, store.grade) == (wavefronts((25, 5), 22), Grade.EXACT)


@pytest.mark.parametrize("guard", ["j > 22 || flag", "flag || j > 22", "flag || j > 22 || j > 40"])
def test_who_surely_leaves_leaves_the_others_to_go_together(guard: str) -> None:
    (store,) = costs(
        f"bool flag = n > 3 && g[0] > 1.f; if ({guard}) return;\n __syncthreads(); s[t * 2] = 1;"
    )
    (known,) = costs("if (j > 22) return;\n __syncthreads(); s[t * 2] = 1;")
    assert (store.ways_low, store.ways) == (known.ways, known.ways)


def test_a_guard_against_the_first_element_is_met_in_the_middle() -> None:
    (store,) = costs("if (j > 1) s[t] = g[j];", (32, 1, 1))
    assert store.wavefronts == 1 and store.ways == 1


def test_what_a_few_lanes_of_the_first_block_do_is_no_reason_to_look_at_it_alone() -> None:
    (rest,) = costs("if (j < 4) g[t] = 1;\n else s[t] = 2;", (32, 1, 1))
    assert (rest.wavefronts, rest.ways) == (1, 1)


@pytest.mark.parametrize(
    "code",
    [
        "s[j > 22 ? t : t * 32] = 1;",
        "auto at = [&](int i) { if (i > 22) return t; return t * 32; }; s[at(j)] = 1;",
    ],
)
def test_a_choice_is_no_guard(code: str) -> None:
    (store,) = costs(code, (25, 1, 1))
    assert store.ways_low == 1


def test_a_guard_around_the_work_is_one_like_a_guard_in_front_of_it() -> None:
    (around,) = costs("if (j <= 22) s[t * 2] = g[j];")
    (before,) = costs("if (j > 22) return;\n s[t * 2] = g[j];")
    assert (around.wavefronts, around.ways) == (before.wavefronts, before.ways)
