"""What is called, and what calling it reads."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT
from smemlint.score import score_all
from smemlint.source import source_from_bytes

TILE = """
template <class T, int N> struct Row {
  T v[N];
  __device__ T &operator()(int i) { return v[i]; }
};
template <class T> __global__ void k(const T *in, T *out) {
  __shared__ Row<T, 64> all; __shared__ Row<T, 8> rows[32];
  int t = threadIdx.x;
  Row<T, 8> &mine = rows[t];
  auto twice = [](int i) { return 2 * i; };
  BODY
}"""


def sites(body: str) -> list[tuple[int, str, float | None]]:
    """(column, op, ways) of each access."""
    (module,) = load(source_from_bytes("k.cu", TILE.replace("BODY", body).encode()))
    (kernel,) = module.kernels()
    launch = Launch((32, 1, 1), template={"T": FLOAT})
    return [(c.site.place.column, c.site.op, c.ways) for c in score_all(evaluate(module, kernel, launch))]


def test_a_dependent_call_of_an_object_reads_nothing_of_it() -> None:
    assert sites("all(t) = 1;") == [(3, "store", 1)]
    assert sites("all(2 * t) = 1;") == [(3, "store", 2)]
    assert sites("rows[t](0) = 1;") == [(3, "store", 8)]
    assert sites("mine(0) = 1;") == [(3, "store", 8)]


def test_a_lambda_is_called_as_before() -> None:
    assert sites("all(twice(t)) = 1;") == [(3, "store", 2)]


@pytest.mark.parametrize(
    "head",
    [
        "constexpr int wide(int n)",
        "static constexpr int wide(int n)",
        "template <class T> constexpr T wide(T n)",
        "__host__ __device__ int wide(int n)",
    ],
)
def test_a_constant_expression_may_call_host_code(head: str) -> None:
    text = head + " { int r = 1; while (r < n) r *= 2; return r; } "
    text += (
        "__global__ void k() { __shared__ int s[1024]; constexpr int P = wide(13); s[threadIdx.x * P] = 1; }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    (site,) = score_all(evaluate(module, kernel, Launch((32, 1, 1))))
    assert (site.ways, site.grade) == (16, Grade.EXACT)


def test_a_dependent_subscript_of_an_element_reads_nothing_of_it() -> None:
    text = """
    template <class T, int N> struct Row { T v[N]; __device__ T &operator[](int i) { return v[i]; } };
    template <int N> __device__ int wrap(int i) { return i & (N - 1); }
    template <class T> __global__ void k(T *out) {
      __shared__ Row<T, 8> rows[32];
      Row<T, 8> *p = rows;
      rows[threadIdx.x][wrap<sizeof(T)>(3)] = 1;
      __syncthreads();
      out[threadIdx.x] = p[threadIdx.x / 2][wrap<sizeof(T)>(2)];
    }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    launch = Launch((32, 1, 1), template={"T": FLOAT})
    trace = evaluate(module, module.kernels()[0], launch)
    assert [(c.site.place.line, c.site.op, c.ways) for c in score_all(trace)] == [
        (7, "store", 8),
        (9, "load", 4),
    ]


def test_a_reference_that_nobody_reads_through_loads_nothing() -> None:
    text = """
    struct Sum { float v; __device__ Sum &operator+=(float x) { v += x; return *this; } };
    __global__ void k(float x) {
      __shared__ Sum s[64];
      s[2 * threadIdx.x] += x;
    }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert [(c.site.place.line, c.site.op, c.ways) for c in score_all(trace)] == [
        (2, "load", 2),
        (2, "store", 2),
    ]


HOLDERS = """
template <int P> struct Pitch { float v[32 * P]; __device__ float &operator()(int i) { return v[i * P]; } };
template <class X> struct Refers { X &x; __device__ float get(int i) { return x(i); } };
template <class X> struct Holds { X x; __device__ float get(int i) { return this->x(i); } };
__global__ void k(const float *in, float *out) {
  __shared__ Pitch<4> p; __shared__ Holds<Pitch<8>> held;
  int t = threadIdx.x;
  BODY
}"""


@pytest.mark.parametrize(
    ("body", "ways"),
    [
        ("Refers<Pitch<4>> r{p}; out[t] = r.get(t);", 4),
        ("Holds<Pitch<4> &> r{p}; out[t] = r.get(t);", 4),  # the member is a reference by its argument
        ("out[t] = held.get(t);", 8),
    ],
)
def test_a_member_that_is_called_in_a_template_is_not_read_itself(body: str, ways: int) -> None:
    (module,) = load(source_from_bytes("k.cu", HOLDERS.replace("BODY", body).encode()))
    (kernel,) = module.kernels()
    scored = score_all(evaluate(module, kernel, Launch((32, 1, 1))))
    assert [(c.site.op, c.executions, c.ways) for c in scored] == [("load", 1, ways)]
