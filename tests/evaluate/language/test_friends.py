"""Operators that are defined as friends inside their record, and members of unnamed structs and unions."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score
from smemlint.source import source_from_bytes

MEMBERS = "l.x += r.x; l.y += r.y; l.z += r.z; l.w += r.w; return l;"
PLAIN = f"""struct V {{
    float x, y, z, w;
    __device__ friend V &operator+=(V &l, const V &r) {{ {MEMBERS} }}
}};"""
TEMPLATE = f"""template <class T> struct W {{
    T x, y, z, w;
    __device__ friend W<T> &operator+=(W<T> &l, const W<T> &r) {{ {MEMBERS} }}
}};
using V = W<float>;"""
UNNAMED = """struct V {
    union { struct { float x, y, z, w; }; struct { float r, g, b, a; }; float v[4]; };
    __device__ float sum() const { return x + w; }
};"""


def ways(record: str, statement: str) -> set[tuple[str, float, bool]]:
    """Kind, ways and whether it is exact of every access that runs."""
    source = f"""{record}
    __global__ void k(float *out) {{
        __shared__ V s[256];
        int t = threadIdx.x;
        {statement}
    }}
    void start() {{ k<<<1, 128>>>(nullptr); }}"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((128, 1, 1)))
    assert not trace.notes
    return {(t.site.op, score(t).ways, t.grade is Grade.EXACT) for t in trace.traces if t.weights.sum()}


FOURTH = float(max([4 * lane % 32 for lane in range(32)].count(bank) for bank in range(32)))


@pytest.mark.parametrize("record", [PLAIN, TEMPLATE])
def test_a_friend_adds_member_by_member(record: str) -> None:
    """In the machine code of nvcc 13: eight LDS and four STS of 4 bytes, four lanes of a bank apart."""
    assert ways(record, "s[t] += s[t + 128];") == {("load", FOURTH, True), ("store", FOURTH, True)}


@pytest.mark.parametrize(
    "statement",
    ["out[t] = s[t].y;", "V *p = s + t; out[t] = p->g;", "out[t] = s[t].v[1];", "out[t] = s[t].sum();"],
)
def test_a_member_of_an_unnamed_struct_in_a_union_is_one_word(statement: str) -> None:
    assert ways(UNNAMED, statement) == {("load", FOURTH, True)}
