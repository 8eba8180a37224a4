"""Classes with more than one conversion function: each use takes the one that C++ takes."""

from __future__ import annotations

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

TEXT = """
struct Token {
  int stage; bool valid;
  __device__ explicit operator bool() const { return valid; }
  __device__ operator int() const { return stage; }
};
struct Pipe {
  int at = 0;
  __device__ Token peek() const { return {at % 3, at < 4}; }
};
__global__ void k() {
  __shared__ int s[64];
  Pipe p;
  while (Token t = p.peek()) { s[t * 10 + p.at] = 1; p.at++; }
}
"""


def test_a_condition_takes_the_truth_and_an_index_the_number() -> None:
    (module,) = load(source_from_bytes("k.cu", TEXT.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert {o // 4 for t in trace.traces for o in t.offsets.ravel().tolist()} == {0, 11, 22, 3}
