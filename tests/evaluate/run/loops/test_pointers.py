"""Pointers that a loop moves from one object to another. What they lead to is lost after some rounds; which
type it has stands in their declaration."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

NEAREST = """
extern __shared__ float kept[];
__device__ void swap(float *a, float *b) { float t = *a; *a = *b; *b = t; }
__device__ void insert(float *mine, float2 found, int *size, int k, int stride) {
  int i = 1;
  float *value = &(found.x);
  float *tail = &(mine[(*size - i) * stride]);
  if (*size < k) { mine[*size * stride] = found.x; value = &(mine[*size * stride]); *size += 1; }
  while (i <= *size && *tail > *value) {
    swap(tail, value); value = tail; i++; tail = &(mine[(*size - i) * stride]);
  }
}
__global__ void nearest(const float2 *in, float *out, int n, int k) {
  int size = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) insert(kept + threadIdx.x, in[i], &size, k, blockDim.x);
  out[threadIdx.x] = kept[threadIdx.x];
}
"""

GLOBAL_FIRST = """
__global__ void walk(float *out, const float *in, int n) {
  __shared__ TYPE part[256];
  int i = threadIdx.x, k = 1;
  part[i] = in[i];
  const TYPE *at = (const TYPE *)in + i;
  while (k <= n && *at > 2) { at = &part[i + k]; k++; }
  out[i] = at[0];
}
"""


def test_a_pointer_swapped_through_a_list_keeps_the_type_of_its_elements() -> None:
    (module,) = load(source_from_bytes("nearest.cu", NEAREST.encode()))
    conflicts = score_all(evaluate(module, module.kernels()[0], Launch((128, 1, 1))))
    assert {c.site.width for c in conflicts} == {4}
    assert all(c.grade in (Grade.EXACT, Grade.BOUND) for c in conflicts)


@pytest.mark.parametrize(("name", "width"), [("float", 4), ("double", 8), ("unsigned char", 1), ("short", 2)])
def test_a_pointer_that_leaves_global_memory_has_its_own_width(name: str, width: int) -> None:
    text = GLOBAL_FIRST.replace("TYPE", name)
    (module,) = load(source_from_bytes("walk.cu", text.encode()))
    loads = [
        c
        for c in score_all(evaluate(module, module.kernels()[0], Launch((128, 1, 1))))
        if c.site.op == "load"
    ]
    assert {c.site.width for c in loads} == {width}
    assert {c.grade for c in loads} == {Grade.BOUND}  # only run time tells where it leads
