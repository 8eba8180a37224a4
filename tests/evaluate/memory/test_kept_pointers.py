"""Pointers into shared memory that wait in structures there: who reads one gets what was written there.

What else lies in such a structure are pointers to other memory, whose accesses are none of shared memory.
"""

from __future__ import annotations

import pytest
from costs import scored

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

SHARED = (
    "struct Op { float *out; int n; float *rows; int more[2]; } ops[4], op; __shared__ float a[1024], b[1024]"
)

PLACES = [
    pytest.param("op.out = a; __syncthreads(); op.out[t * 4] = 1;", [4], id="as it was written"),
    pytest.param("op.out = a; __syncthreads(); op.rows[t * 4] = 1;", [], id="another member"),
    pytest.param("op.out = a; op.rows = b; __syncthreads(); op.rows[t * 4] = 1;", [4], id="each its own"),
    pytest.param("ops[n].out = a; __syncthreads(); ops[n].rows[t * 4] = 1;", [], id="of one of several"),
    pytest.param("ops[n].out = a; __syncthreads(); ops[n + 1].out[t * 4] = 1;", [4], id="of any of them"),
    pytest.param("ops[t & 3].out = a; __syncthreads(); ops[t & 3].rows[t] = 1;", [], id="by lane"),
    pytest.param(
        "ops[t & 3].out = a; __syncthreads(); ops[(t + 1) & 3].out[t * 4] = 1;", [4], id="of another lane"
    ),
    pytest.param(
        "if (t < 4) ops[t].out = a + 31 * t; __syncthreads(); ops[1].out[t] = 1;", [1], id="each lane its own"
    ),
    pytest.param(
        "if (t == 0) op = {a, 2, b}; __syncthreads(); op.out[t * 4] = 1; op.rows[t * 8] = 1;",
        [4, 8],
        id="with all of its structure",
    ),
    pytest.param(
        "op.out = a; __syncthreads(); ((double *)op.out)[t] = 1;", [1], id="read as another type by a cast"
    ),
]


@pytest.mark.parametrize(("body", "ways"), PLACES)
def test_a_pointer_is_read_where_it_was_written(body: str, ways: list[float]) -> None:
    found = scored(f"int t = threadIdx.x;\n{body}", shared=SHARED, block=(32, 1, 1))
    through = [c for c in found if c.site.op == "store" and c.site.array.partition("@")[0] in ("a", "b")]
    assert [c.ways for c in through] == ways


def test_a_pointer_that_is_read_as_another_type_leads_to_that_type() -> None:
    body = "op.out = a; __syncthreads();\n(*(double **)&op)[threadIdx.x] = 1;"
    last = scored(body, shared=SHARED, block=(32, 1, 1))[-1]
    assert (last.site.width, last.ways) == (8, 1)


TABLE = "__shared__ float *tb[2]; tb[0] = s; tb[1] = s + 512 * (n + 1);"
SWAPPED = """__shared__ float2 *x, *y; x = (float2 *)s; y = (float2 *)s + 512;
    for (int l = 1; l < n; l *= 2) { y[t] = x[t + l]; __syncthreads(); float2 *z = x; x = y; y = z; }"""
JOINED = {
    # nvcc 13.0, sm_90: whether what stands on the last line is one access of 8 bytes (LD.E.64, LDS.64)
    (TABLE, "float *p = tb[1]; q[t] = p[2 * t] + p[2 * t + 1];"): True,
    (TABLE, "float *p = tb[n & 1]; q[t] = p[2 * t] + p[2 * t + 1];"): False,
    (TABLE, "q[t] = tb[n & 1][2 * t] + tb[n & 1][2 * t + 1];"): False,
    (TABLE, "tb[n & 1][2 * t] = 1; tb[n & 1][2 * t + 1] = 2;"): False,
    (TABLE + " __syncthreads();", "float *p = tb[1]; q[t] = p[2 * t] + p[2 * t + 1];"): False,
    (SWAPPED, "q[t] = x[t].x * x[t].x + x[t].y * x[t].y;"): True,
    (SWAPPED, "q[t] = x[t].x; q[t + 1] = x[t].y;"): False,
    (SWAPPED, "q[t] = x[2 * t].x + x[2 * t + 1].y;"): False,
}


def source(before: str, last: str, name: str = "k") -> str:
    return f"""extern "C" __global__ void {name}(float *q, int n) {{
    extern __shared__ float s[]; int t = threadIdx.x; {before}
    {last}
    __syncthreads(); q[t + 999] = s[t]; }}"""


@pytest.mark.parametrize(("before", "last"), JOINED)
def test_a_pointer_that_is_read_again_tells_only_its_type(before: str, last: str) -> None:
    (module,) = load(source_from_bytes("k.cu", source(before, last).encode()))
    trace = evaluate(module, module.kernels()[0], Launch((128, 1, 1), arguments={"n": 9}))
    end = 2 + before.count("\n") + 1
    found = {
        c.joined
        for c in score_all(trace)
        if c.site.place.line == end and c.trace.weights.any() and c.site.width == 4
    }
    assert (8 in found) is JOINED[before, last]
