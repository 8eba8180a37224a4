# ruff: noqa: E501 - kernels on one line
"""Damaged text makes less of a module, never an exception."""

import pytest

from smemlint.frontend import load
from smemlint.source import SourceError, source_from_bytes

TEXT = b"""#define AT(i) s[(i) * 2]
template <typename T, int N> struct Tile { T d[N][N + 1]; __device__ T &at(int i, int j) { return d[i][j]; } };
template <typename T> struct Shared { __device__ operator T *() { extern __shared__ int raw[]; return (T *)raw; } };
template <typename T, int N = 8> __global__ void __launch_bounds__(256, 2) k(T *p, int n) {
  __shared__ alignas(16) Tile<T, N> t;
  __shared__ float s[2 * N];
  T *q = Shared<T>();
  #pragma unroll 4
  for (int i = threadIdx.x, j = 0; i < n; i += blockDim.x, ++j) {
    if constexpr (N > 4) AT(i) = p[i]; else t.at(i, j) = q[sizeof(T) * j];
  }
  auto f = [&](int i) { return s[i] + 1; };
  switch (n) { case 1: s[0] = f(2); default: break; }
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(s[1]) : "r"(n));
  reinterpret_cast<float4 *>(&s[0])[n] = make_float4(1, 2, 3, 4);
}
template __global__ void k<double, 16>(double *, int);
int main() { dim3 g(1), b(32, 8); k<float><<<g, b, 64>>>(nullptr, 3); return 0; }
"""


@pytest.mark.parametrize("end", range(40, len(TEXT), 53))
def test_text_that_ends_early(end: int) -> None:
    _load(TEXT[:end])


@pytest.mark.parametrize("at", range(30, len(TEXT) - 40, 71))
def test_text_with_a_hole(at: int) -> None:
    _load(TEXT[:at] + TEXT[at + 23 :])


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"}", b"__global__", b"template <", b"__shared__ float s[", b"#define A(", b"<<<>>>"]
)
def test_scraps(text: bytes) -> None:
    _load(text)


def test_the_undamaged_text_is_wholly_seen() -> None:
    (module, *_) = load(source_from_bytes("k.cu", TEXT))
    assert module.unparsed == () and len(module.kernels()) == 1


def _load(text: bytes) -> None:
    try:
        modules = load(source_from_bytes("k.cu", text))
    except SourceError:
        return
    assert modules and modules[0].files
