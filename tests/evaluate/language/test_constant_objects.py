"""Objects that stand for a number (`std::integral_constant`, or a class that converts to one), where a
generic lambda computes with them."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

HEAD = """
template <int V> struct Own { __device__ constexpr operator int() const { return V; } };
template <typename F> __device__ void std_five(F f) { f(std::integral_constant<int, 5>()); }
template <typename F> __device__ void own_five(F f) { f(Own<5>()); }
"""

INDICES = {
    "s[t + i] = 1;": lambda t: t + 5,
    "s[i + t] = 1;": lambda t: t + 5,
    "s[t * i] = 1;": lambda t: 5 * t,
    "s[-i + t + 9] = 1;": lambda t: t + 4,
    "s[(t << i) & 1023] = 1;": lambda t: t << 5 & 1023,
    "s[(t & 1 ? i : t) * 2] = 1;": lambda t: 10 if t & 1 else 2 * t,
    "int x = t; x += i; x *= i; s[x] = 1;": lambda t: 5 * (t + 5),
    "if constexpr (i % 2 == 1) s[t * 2 + i] = 1; else s[t] = 1;": lambda t: 2 * t + 5,
    "if (!i) s[t] = 1; else s[3 * t] = 1;": lambda t: 3 * t,
}


@pytest.mark.parametrize("call", ["std_five", "own_five"])
@pytest.mark.parametrize("body", INDICES)
def test_an_object_that_stands_for_a_number_is_computed_with(call: str, body: str) -> None:
    text = (
        f"{HEAD}__global__ void k() {{ __shared__ int s[1024]; int t = threadIdx.x;"
        f" {call}([&](auto i) {{ {body} }}); }}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = (t for t in evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces if len(t.offsets))
    assert trace.grade is Grade.EXACT
    assert [o // 4 for o in trace.offsets[0].tolist()] == [INDICES[body](t) for t in range(32)]


def test_a_lambda_has_default_arguments() -> None:
    body = "auto f = [](int i, int j = 7) { return i + j; }; s[f(3)] = 1;"
    text = f"__global__ void k() {{ __shared__ int s[64]; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((1, 1, 1))).traces
    assert trace.offsets[0][0] == 40
