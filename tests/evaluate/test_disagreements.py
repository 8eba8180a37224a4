"""Small kernels on which the evaluator once differed from the interpreter."""

from __future__ import annotations

import pytest
from oracle import run
from oracle.compare import compare, evaluate_as_written

from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

HEAD = """struct P { int a; int b; };
template <int S> struct Tile {
  static constexpr int kStride = S + 1;
  float *base; int off; int more = 4;
  __device__ Tile(float *b, int e = 1) : base(b + 7 + e), off(3) { more += e; }
  __device__ float *row(int i) const { return base + i * S + off + more; }
  static __device__ int flat(int i, int j) { return i * kStride + j; }
};
template <int BM> __global__ void k(float *out) {
__shared__ float t[4096];
"""

BODIES = [
    # narrow types wrap
    "unsigned char i = threadIdx.x; --i; t[i + 1] = 0;",
    "short s = 32767; unsigned char c = s; c++; t[c + threadIdx.x] = 0;",
    # the arm that no lane takes has a say in the type
    "long i = ~((32 >= threadIdx.x ? 3 : threadIdx.z) % 1); t[(8 >= i) * 32 + threadIdx.x] = 0;",
    # what a reference or a pointer to a local changes
    "for (int i = 0; i < 3; i++) { float &f = t[i]; f = 2; }",
    "int m = 1; for (int i = 0; i < 4; i++) { int &r = m; r += 5; t[m] = 1; }",
    "int m = 1; int *r = &m; for (int i = 0; i < 4; i++) { *r += 5; t[m] = 1; }",
    "int m[2] = {1, 2}; int *r = m; for (int i = 0; i < 4; i++) { r[1] += 5; t[m[1]] = 1; }",
    "int m[2] = {1, 2}; for (int i = 0; i < 4; i++) { auto *r = &m[1]; if (i > 1) *r += 5; t[m[1]] = 1; }",
    "P m = {1, 2}; for (int i = 0; i < 4; i++) { m.a += 3; P *r = &m; r->b += m.a; t[m.b] = 1; }",
    "int m = 0; for (int i = 0; i < 4; i++) { auto l = [&](int a) { m += a; }; l(2); t[m] = 1; }",
    # vectors made by the library's functions
    "for (int i = 0; i < 3; i++) { int2 d = make_int2(2, i); t[d.x + d.y] = 1; }",
    # members of class templates
    "t[Tile<32>::flat(threadIdx.x, 1)] = 1;",
    "Tile<BM> tile(t); out[0] = tile.row(threadIdx.x)[0];",
    "Tile<BM> tile(t, 5); out[0] = tile.row(threadIdx.x)[0];",
    "Tile<4> tile{t}; out[0] = tile.row(threadIdx.x)[0];",
]


@pytest.mark.parametrize("body", BODIES)
def test_addresses_are_those_of_the_interpreter(body: str) -> None:
    module = load(source_from_bytes("kernel.cu", f"{HEAD}{body}\n}}\n".encode()))[0]
    kernel = module.kernels()[0]
    launch = Launch((32, 1, 1), grid=(1, 1, 1), template={"BM": 4})
    outcome = compare(run(module, kernel, launch), evaluate_as_written(module, kernel, launch))
    assert not outcome.wrong
    assert not outcome.open
    assert outcome.exact
