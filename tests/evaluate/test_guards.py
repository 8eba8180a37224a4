"""Guards against sizes, as a block away from the edge meets them."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import Conflict, score_all
from smemlint.source import source_from_bytes

KERNEL = """__global__ void k(float *out, int first, int last, const int *data) {{
  __shared__ float tile[32][32];
  const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if ({guard}) return;
  out[i - first] = tile[threadIdx.x][0];
}}
"""


def _only(guard: str) -> Conflict:
    """The cost of the one load, in one warp."""
    source = source_from_bytes("kernel.cu", KERNEL.format(guard=guard).encode())
    module = load(source)[0]
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return conflict


@pytest.mark.parametrize("guard", ["i >= last", "i > last - 1", "i >= last || i < first", "i + 4 >= last"])
def test_a_guard_between_two_sizes_takes_no_lane_of_an_inner_block(guard: str) -> None:
    column = _only(guard)
    assert (column.grade, column.wavefronts_low, column.wavefronts) == (Grade.EXACT, 32, 32)


def test_a_guard_on_data_may_take_any_lane() -> None:
    column = _only("data[i] > last")
    assert (column.grade, column.wavefronts_low, column.wavefronts) == (Grade.BOUND, 1, 32)
