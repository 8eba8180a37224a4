"""Functions of one name in several namespaces, called in templates. What is called is what g++ 12 calls."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

HEAD = """
namespace user {
struct Tile { int rows; };
template <class T> struct Box { T x; };
struct Sub : Tile { int columns; };
__device__ inline int log_of(Tile) { return 3; }
template <class T> __device__ int log_of(Box<T>) { return 4; }
inline namespace v2 { struct Row { int n; }; __device__ inline int log_of(Row) { return 0; } }
}
namespace other {
__device__ inline int log_of(long) { return 5; }
__device__ inline int log_of(unsigned) { return 5; }
template <class T> __device__ int log_of(T) { return 5; }
}
struct Plain { int g; };
__device__ inline int log_of(Plain) { return 2; }
namespace ops {
__device__ inline int log_of(int) { return 1; }
__device__ inline int log_of(double) { return 2; }
template <class T> __device__ int pick(T x) { return log_of(x); }
template <class T> __device__ int own(T x) { return ops::log_of(x); }
namespace detail {
__device__ inline int log_of(int) { return 4; }
__device__ inline int log_of(float) { return 3; }
template <class T> __device__ int pick(T x) { return log_of(x); }
__device__ inline int one(int) { return 1; }
template <class T> __device__ int alone(T x) { return one(x); }
}
}
namespace user { __device__ inline int one(Tile) { return 3; } }
namespace ops { __device__ inline int one(int) { return 5; } }
template <class T> __device__ int far_away(T x) { return ops::detail::log_of(x); }
namespace short_name = ops::detail;
template <class T> __device__ int by_alias(T x) { return short_name::log_of(x); }
namespace mine {
__device__ inline int min(int a, int) { return 3 * a; }
template <class T> __device__ T max(T a, T) { return 3 * a; }
}
template <class T> __device__ T of_cuda(T a, T b) { return min(a, b); }
template <class T> __device__ T of_mine(T a, T b) { using mine::min; return min(a, b); }
template <class T> __device__ T of_mine_too(T a, T b) { return mine::max(a, b); }
namespace elsewhere { __device__ int log_of(int); }
namespace friends { struct P { int p; friend __device__ int log_of(P) { return 3; } }; }
"""


@pytest.mark.parametrize(
    ("call", "shift"),
    [
        ("ops::pick(1)", 1),
        ("ops::pick(1.5)", 2),
        ("ops::pick(user::Tile{})", 3),
        ("ops::pick(user::Box<int>{})", 4),
        ("ops::pick(user::Sub{})", 3),
        ("ops::pick(user::Row{})", 0),
        ("ops::pick(Plain{})", 2),
        ("ops::pick(friends::P{})", 3),
        ("ops::own(1)", 1),
        ("ops::detail::pick(1)", 4),
        ("ops::detail::pick(user::Tile{})", 3),
        ("ops::detail::alone(1)", 1),
        ("ops::detail::alone(user::Tile{})", 3),
        ("far_away(1)", 4),
        ("far_away(1.f)", 3),
        ("by_alias(1)", 4),
        ("by_alias(1.f)", 3),
        ("of_cuda(1, 2)", 1),
        ("of_mine(1, 2)", 3),
        ("of_mine_too(1, 2)", 3),
    ],
)
def test_a_call_means_the_functions_of_its_own_namespace_and_of_its_arguments(call: str, shift: int) -> None:
    text = f"{HEAD}__global__ void k() {{ extern __shared__ char s[]; s[threadIdx.x << ({call})] = 0; }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    (trace,) = evaluate(module, kernel, Launch((32, 1, 1))).traces
    row = trace.offsets[0].tolist()
    assert row[1] - row[0] == 1 << shift


def test_a_function_without_a_body_is_none_of_that_name_elsewhere() -> None:
    call = "elsewhere::log_of(1)"
    text = f"{HEAD}__global__ void k() {{ extern __shared__ char s[]; s[threadIdx.x << {call}] = 0; }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert trace.grade is not Grade.EXACT
