"""Types that the standard library tells of iterators."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch, PointerTo, RecordRef, Scalar
from smemlint.source import source_from_bytes

SOURCE = """
#include <iterator>
template <class V> struct Constant { typedef V value_type; V v; };
template <class V> struct Lambda : std::iterator_traits<const V *> { V v; };
template <class It> __global__ void k(It in, float *out) {
    typedef typename TRAIT value_t;
    __shared__ union { value_t values[64]; int keys[64]; } s;
    s.values[threadIdx.x] = value_t();
    __syncthreads();
    out[threadIdx.x] = s.values[threadIdx.x ^ 1];
}
void all(Constant<double> c, Lambda<double> l, float *out) { k<<<1, 64>>>(c, out); k<<<1, 64>>>(l, out); }
"""
TRAITS = ["std::iterator_traits<It>::value_type", "thrust::iterator_value<It>::type"]
DOUBLE = Scalar("double", 8, "float")


CONSTANT, LAMBDA = RecordRef("Constant", (DOUBLE,)), RecordRef("Lambda", (DOUBLE,))


@pytest.mark.parametrize(
    "trait, iterator",
    [
        (TRAITS[0], PointerTo(DOUBLE)),
        (TRAITS[0], CONSTANT),
        (TRAITS[0], LAMBDA),
        (TRAITS[1], PointerTo(DOUBLE)),
        (TRAITS[1], CONSTANT),
    ],
)
def test_the_value_type_of_an_iterator_is_known(trait: str, iterator: PointerTo | RecordRef) -> None:
    (module,) = load(source_from_bytes("k.cu", SOURCE.replace("TRAIT", trait).encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((64, 1, 1), template={"It": iterator}))
    assert [(t.site.op, t.site.width) for t in trace.traces] == [("store", 8), ("load", 8)]
