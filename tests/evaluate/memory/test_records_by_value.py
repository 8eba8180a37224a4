"""Structures that kernels take by value, and hand on by value."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

TEXT = """
struct Shape {{ double scale; int rows; unsigned short steps[3]; int start; }};
__device__ void put(Shape {passed}s, double *g) {{ g[threadIdx.x + s.start + s.steps[2]] = s.scale; }}
__global__ void k(Shape s, int n) {{
  extern __shared__ double g[];
  {body}
}}
"""


@pytest.mark.parametrize("passed", ["", "const &"])
@pytest.mark.parametrize(
    "body", ["put(s, g);", "for (int i = 0; i < n; i++) put(s, g);", "Shape t = s; t.rows = 7; put(t, g);"]
)
def test_numbers_of_a_copy_are_the_same_in_all_lanes(passed: str, body: str) -> None:
    text = TEXT.format(passed=passed, body=body)
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    (store,) = score_all(evaluate(module, module.kernels()[0], Launch((64, 1, 1))))
    assert (store.ways_low, store.ways) == (1, 1)
    assert store.grade in (Grade.EXACT, Grade.ASSUMED)


def test_a_number_is_itself_in_a_copy() -> None:
    body = "Shape t = s; if (t.rows == s.rows) g[threadIdx.x] = 0; else g[threadIdx.x * 32] = 0;"
    text = TEXT.format(passed="", body=body)
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    (store,) = score_all(evaluate(module, module.kernels()[0], Launch((64, 1, 1))))
    assert store.ways == 1
