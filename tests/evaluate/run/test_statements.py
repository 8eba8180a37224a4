"""Statements in text that clang complains about and keeps."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes


def test_a_number_returned_from_a_void_function_is_dropped() -> None:
    text = (
        "__device__ void set(int &x) { x = 2; return x; }\n"
        "__global__ void k() { __shared__ int s[64]; int x = 1; set(x); s[threadIdx.x * x] = 0; }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert not [n for n in trace.notes if n.code == "internal-error"]
    assert [c.ways for c in score_all(trace)] == [2]


def test_the_place_of_a_step_in_front_is_found_once() -> None:
    text = (
        "__global__ void k() { __shared__ int s[64]; int a[4] = {0, 0, 0, 0}; int i = 0;\n"
        "++(++a[i++]); s[threadIdx.x * i * a[0]] = 0; }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert [c.ways for c in score_all(trace)] == [2]


def test_a_long_chain_of_steps_takes_as_many_steps() -> None:
    text = f"__global__ void k() {{ int x = 1; __shared__ int s[64 * ({'++' * 60}x)]; s[threadIdx.x] = 0; }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    assert evaluate(module, module.kernels()[0], Launch((32, 1, 1))).work < 1000


@pytest.mark.parametrize(
    ("statement", "noted"),
    [
        pytest.param("COMPUTE_FFT", ["unknown-macro"], id="a name alone"),
        pytest.param("LOAD_TILE(3);", ["unknown-macro"], id="with arguments"),
        pytest.param("KERNEL_ASSERT(n > 0);", [], id="an assertion"),
        pytest.param("DEBUG_PRINT(n);", [], id="a print"),
        pytest.param("STEP(n);", [], id="a function of the file"),
    ],
)
def test_a_statement_in_capitals_that_nothing_defines_is_not_lost(statement: str, noted: list[str]) -> None:
    text = (
        "template <class T> __device__ void STEP(T) {}\n"
        "template <class T> __global__ void k(T n) { __shared__ int s[64]; s[threadIdx.x] = 0;\n"
        f"{statement}\n}}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert [n.code for n in trace.notes] == noted
