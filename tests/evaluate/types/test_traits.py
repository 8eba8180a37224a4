"""Types that traits of the standard library and of PyTorch tell of a template argument."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch, PointerTo, Type
from smemlint.ir.types import BFLOAT16, DOUBLE, FLOAT, HALF, INT
from smemlint.source import source_from_bytes

SOURCE = """
#include <type_traits>
#include <ATen/OpMathType.h>
#include <ATen/AccumulateType.h>
template <class T> __global__ void k(const TYPE *in, TYPE *out) {
    __shared__ TYPE s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}
"""


@pytest.mark.parametrize(
    ("trait", "given", "width"),
    [
        ("at::opmath_type<T>", FLOAT, 4),
        ("at::opmath_type<T>", DOUBLE, 8),
        ("at::opmath_type<T>", HALF, 4),
        ("at::opmath_type<T>", BFLOAT16, 4),
        ("typename at::OpMathType<T>::type", HALF, 4),
        ("at::acc_type<T, true>", FLOAT, 4),
        ("at::acc_type<T, true>", HALF, 4),
        ("at::acc_type<T, false>", FLOAT, 8),
        ("at::acc_type<T, true>", INT, 8),
        ("std::remove_pointer_t<T>", PointerTo(DOUBLE), 8),
        ("std::remove_pointer_t<T>", FLOAT, 4),
    ],
)
def test_the_type_that_a_trait_tells_has_its_size(trait: str, given: Type, width: int) -> None:
    (module,) = load(source_from_bytes("k.cu", SOURCE.replace("TYPE", trait).encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((64, 1, 1), template={"T": given}))
    assert [(t.site.op, t.site.width) for t in trace.traces] == [("store", width), ("load", width)]
