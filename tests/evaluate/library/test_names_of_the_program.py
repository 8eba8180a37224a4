"""Functions that a program declares, that no file defines, and that have the name of one of the library's."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import INT
from smemlint.source import source_from_bytes

DECLARED = """
namespace lib {
__device__ int clamp(int, int, int);
template <class T> __device__ T min(T a, T b);
struct Of { static __device__ int abs(int); };
}
__device__ int max(int a, int b, int c);
"""
OPEN = [
    "s[lib::clamp(t, 0, 15)] = 1;",
    "s[lib::min(t, 15)] = 1;",
    "s[lib::Of::abs(t)] = 1;",
    "using lib::clamp; s[clamp(t, 0, 15)] = 1;",
    "using namespace lib; s[clamp(t, 0, 15)] = 1;",
]
KNOWN = ["s[max(t, 3)] = 1;", "s[min(t, 3)] = 1;", "s[std::min(t, 3)] = 1;", "s[abs(t)] = 1;"]


def _grade(body: str, template: str) -> Grade:
    text = f"""{DECLARED} {template} __global__ void k() {{
        __shared__ float s[64]; const {"T" if template else "int"} t = threadIdx.x; {body} }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    launch = Launch((32, 1, 1), template={"T": INT} if template else {})
    (trace,) = evaluate(module, module.kernels()[0], launch).traces
    return trace.grade


@pytest.mark.parametrize("template", ["", "template <class T>"])
@pytest.mark.parametrize("body", OPEN)
def test_what_they_give_is_not_the_librarys(body: str, template: str) -> None:
    assert _grade(body, template) is not Grade.EXACT


def test_a_longer_list_of_arguments_is_not_the_librarys() -> None:
    assert _grade("s[max(t, 0, 15)] = 1;", "") is not Grade.EXACT


@pytest.mark.parametrize("template", ["", "template <class T>"])
@pytest.mark.parametrize("body", KNOWN)
def test_the_librarys_own_stay_known(body: str, template: str) -> None:
    assert _grade(body, template) is Grade.EXACT
