"""Operators that records declare, where clang leaves them to instantiation, and loops over iterators."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch, RecordRef
from smemlint.score import score
from smemlint.source import source_from_bytes

RECORDS = """
struct Rows {
    float *p; int step;
    __device__ float &operator*() const { return *p; }
    __device__ Rows &operator++() { p += step; return *this; }
    __device__ Rows &operator+=(int n) { p += n * step; return *this; }
    __device__ bool operator==(const Rows &o) const { return p == o.p; }
    __device__ bool operator!=(const Rows &o) const { return p != o.p; }
    __device__ Rows operator+(int n) const { return Rows{p + n * step, step}; }
};
struct Equal {
    float *p;
    __device__ float &operator*() const { return *p; }
    __device__ Equal operator++(int) { Equal old{p}; p += 32; return old; }
    __device__ bool operator==(const Equal &o) const { return p == o.p; }
};
struct Range {
    Rows b, e;
    __device__ Rows begin() const { return b; }
    __device__ Rows end() const { return e; }
};
"""


def requests(statement: str, type_: str = "Rows") -> tuple[set[float], set[int]]:
    """The ways of the accesses of a statement in a template, and how many requests each of them makes."""
    source = f"""{RECORDS}
    template <class It> __global__ void k(float *out) {{
        __shared__ float s[1024];
        float *first = s + 4 * threadIdx.x, *last = first + 4 * 32;
        {statement}
    }}
    void start() {{ k<{type_}><<<1, 32>>>(nullptr); }}"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    bound = {kernel.template[0].name: RecordRef(type_)}
    trace = evaluate(module, kernel, Launch((32, 1, 1), template=bound))
    assert not trace.notes and all(t.grade is Grade.EXACT for t in trace.traces)
    return {score(t).ways for t in trace.traces}, {int(t.weights.sum()) for t in trace.traces}


EVERY_FOURTH = max([4 * lane % 32 for lane in range(32)].count(bank) for bank in range(32))
FOUR_TIMES = ({float(EVERY_FOURTH)}, {4})


@pytest.mark.parametrize(
    "statement",
    [
        "It i{first, 32}, e{last, 32}; for (; i != e; ++i) out[0] += *i;",
        "It i{first, 32}, e{last, 32}; while (!(i == e)) { *i = 1; i += 1; }",
        "It i{first, 32}; for (int n = 0; n < 4; ++n) out[0] += *(i + n);",
        "Range r{{first, 32}, {last, 32}}; for (float &x : r) out[0] += x;",
    ],
)
def test_an_operator_of_a_record_runs(statement: str) -> None:
    assert requests(statement) == FOUR_TIMES


def test_unequal_is_not_equal_where_only_that_is_declared() -> None:
    assert requests("It i{first}, e{last}; for (; i != e; i++) out[0] += *i;", "Equal") == FOUR_TIMES
